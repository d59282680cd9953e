/*
 * C11's threads: mutexes, conditions, call_once, thread-specific storage, thrd_join; each with a variable of its own.
 * In the racy program the second thread goes past it; c11.c is the same without that.
 */
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>
#include <time.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

static void later(void)
{
	thrd_sleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static struct timespec soon(void)
{
	struct timespec t;
	timespec_get(&t, TIME_UTC);
	t.tv_sec += 30;
	return t;
}
#define SOON (&(struct timespec[]){soon()}[0])

/* Two threads add to a variable between take and give. The second, which is later, takes nothing if there is to be a
 * race. */
#define GUARDED(name, take, give)                                                                                      \
	static int name;                                                                                               \
	static int name##_use(void *second)                                                                            \
	{                                                                                                              \
		if (second)                                                                                            \
			later();                                                                                       \
		if (RACE_FREE || !second)                                                                              \
			take;                                                                                          \
		name++;                                                                                                \
		if (RACE_FREE || !second)                                                                              \
			give;                                                                                          \
		return 0;                                                                                              \
	}

/* One thread sets a variable and sends; the other receives and sets it, or sets it and receives if there is to be a
 * race. */
#define ORDERED(name, send, receive)                                                                                   \
	static volatile int name;                                                                                      \
	static int name##_use(void *second)                                                                            \
	{                                                                                                              \
		if (!second) {                                                                                         \
			name = 1;                                                                                      \
			send;                                                                                          \
			return 0;                                                                                      \
		}                                                                                                      \
		later();                                                                                               \
		if (!RACE_FREE)                                                                                        \
			name = 2;                                                                                      \
		receive;                                                                                               \
		if (RACE_FREE)                                                                                         \
			name = 2;                                                                                      \
		return 0;                                                                                              \
	}

static mtx_t plain, timed, recursive;
static void lock_twice(mtx_t *m)
{
	mtx_lock(m);
	mtx_lock(m);
	mtx_unlock(m);
}
GUARDED(by_plain, mtx_lock(&plain), mtx_unlock(&plain))                                           /* @plain */
GUARDED(by_timed, mtx_timedlock(&timed, SOON), mtx_unlock(&timed))                                /* @timed */
GUARDED(by_recursive, lock_twice(&recursive), mtx_unlock(&recursive))                             /* @recursive */
GUARDED(by_trylock, while (mtx_trylock(&plain) != thrd_success) thrd_yield(), mtx_unlock(&plain)) /* @trylock */

struct word {
	mtx_t mutex;
	cnd_t cond;
	bool said;
};
static struct word w1, w2;
static void say(struct word *w)
{
	later();
	later();
	mtx_lock(&w->mutex);
	w->said = true;
	cnd_broadcast(&w->cond);
	mtx_unlock(&w->mutex);
}
static void hear(struct word *w, bool in_time)
{
	mtx_lock(&w->mutex);
	while (!w->said)
		if (in_time)
			cnd_timedwait(&w->cond, &w->mutex, SOON);
		else
			cnd_wait(&w->cond, &w->mutex);
	mtx_unlock(&w->mutex);
}
static once_flag once = ONCE_FLAG_INIT;
static void nothing(void)
{
}
ORDERED(by_wait, say(&w1), hear(&w1, false))                           /* @wait */
ORDERED(by_timed_wait, say(&w2), hear(&w2, true))                      /* @timed_wait */
ORDERED(by_once, call_once(&once, nothing), call_once(&once, nothing)) /* @once */

static volatile int by_join, by_tss;
static tss_t key;
static int ends(void *unused)
{
	(void)unused;
	by_join = 1; /* @ends */
	tss_set(key, &key);
	thrd_exit(0);
}
static void destroy(void *unused)
{
	(void)unused;
	by_tss = 1; /* @destroys */
}

int main(void)
{
	static const thrd_start_t parts[] = {by_plain_use, by_timed_use,      by_recursive_use, by_trylock_use,
	                                     by_wait_use,  by_timed_wait_use, by_once_use};
	thrd_t a, b;
	mtx_init(&plain, mtx_plain), mtx_init(&timed, mtx_timed), mtx_init(&recursive, mtx_recursive);
	mtx_init(&w1.mutex, mtx_plain), mtx_init(&w2.mutex, mtx_timed);
	cnd_init(&w1.cond), cnd_init(&w2.cond);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		thrd_create(&a, parts[i], NULL);
		thrd_create(&b, parts[i], &b);
		thrd_join(a, NULL);
		thrd_join(b, NULL);
	}
	tss_create(&key, destroy);
	thrd_create(&a, ends, NULL);
	if (RACE_FREE)
		thrd_join(a, NULL);
	later();
	by_join = by_tss = 2; /* @past */
	if (!RACE_FREE)
		thrd_join(a, NULL);
	return 0;
}
