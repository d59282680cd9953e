/*
 * libatomic.c [racy]: hands numbers over by libatomic's functions, as Clang calls them for 16 bytes and both compilers
 * for any size. Without an argument each stores with release; with one relaxed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

typedef unsigned __int128 quad;

/* Compilers have functions of these names, of other types. */
quad load_16(const void *p, int order) __asm__("__atomic_load_16");
void store_16(void *p, quad v, int order) __asm__("__atomic_store_16");
quad exchange_16(void *p, quad v, int order) __asm__("__atomic_exchange_16");
quad fetch_add_16(void *p, quad v, int order) __asm__("__atomic_fetch_add_16");
bool compare_exchange_16(void *p, void *expected, quad v, int order,
                         int failure) __asm__("__atomic_compare_exchange_16");
void load(size_t size, const void *p, void *to, int order) __asm__("__atomic_load");
void store(size_t size, void *p, const void *from, int order) __asm__("__atomic_store");
void exchange(size_t size, void *p, const void *from, void *to, int order) __asm__("__atomic_exchange");
bool compare_exchange(size_t size, void *p, void *expected, const void *from, int order,
                      int failure) __asm__("__atomic_compare_exchange");

static int gives = __ATOMIC_RELEASE;
static quad zero, one = 1, was;

#define PAIR(number, gives_it, takes_it)                                                                               \
	static quad number##_flag;                                                                                     \
	static int number;                                                                                             \
	static void *number##_give(void *unused)                                                                       \
	{                                                                                                              \
		quad *flag = &number##_flag;                                                                           \
		number++;                                                                                              \
		gives_it;                                                                                              \
		return unused;                                                                                         \
	}                                                                                                              \
	static void number##_run(void)                                                                                 \
	{                                                                                                              \
		pthread_t t;                                                                                           \
		quad *flag = &number##_flag;                                                                           \
		pthread_create(&t, NULL, number##_give, NULL);                                                         \
		while (!(takes_it))                                                                                    \
			sched_yield();                                                                                 \
		number++;                                                                                              \
		pthread_join(t, NULL);                                                                                 \
	}

static bool loaded(size_t size, const quad *flag)
{
	quad v = 0;
	load(size, flag, &v, __ATOMIC_ACQUIRE);
	return v != 0;
}

static bool taken(size_t size, quad *flag)
{
	quad expected = 1;
	return compare_exchange(size, flag, &expected, &zero, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool taken_16(quad *flag)
{
	quad expected = 1;
	return compare_exchange_16(flag, &expected, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

PAIR(stored, store_16(flag, 1, gives), load_16(flag, __ATOMIC_ACQUIRE))
PAIR(exchanged, exchange_16(flag, 1, gives), taken_16(flag))
PAIR(added, fetch_add_16(flag, 1, gives), exchange_16(flag, 0, __ATOMIC_ACQUIRE))
PAIR(stored_8, store(8, flag, &one, gives), loaded(8, flag))
PAIR(exchanged_4, exchange(4, flag, &one, &was, gives), taken(4, flag))
PAIR(stored_any, store(16, flag, &one, gives), loaded(16, flag))

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		gives = __ATOMIC_RELAXED;
	stored_run();
	exchanged_run();
	added_run();
	stored_8_run();
	exchanged_4_run();
	stored_any_run();
	return 0;
}
