/* Every atomic operation of every size does what it says, with threads at it; and every one is in the trace once. */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static unsigned long rmw, cas, failed, loads, stores;

#define CHECK(type)                                                                                                    \
	do {                                                                                                           \
		static type x;                                                                                         \
		type expected = 5;                                                                                     \
		__atomic_store_n(&x, (type)5, __ATOMIC_RELEASE), stores++;                                             \
		assert(__atomic_load_n(&x, __ATOMIC_ACQUIRE) == 5), loads++;                                           \
		assert(__atomic_fetch_add(&x, (type)3, __ATOMIC_RELAXED) == 5), rmw++;                                 \
		assert(__atomic_fetch_sub(&x, (type)1, __ATOMIC_ACQ_REL) == 8), rmw++;                                 \
		assert(__atomic_fetch_and(&x, (type)6, __ATOMIC_SEQ_CST) == 7), rmw++;                                 \
		assert(__atomic_fetch_or(&x, (type)9, __ATOMIC_SEQ_CST) == 6), rmw++;                                  \
		assert(__atomic_fetch_xor(&x, (type)1, __ATOMIC_SEQ_CST) == 15), rmw++;                                \
		assert(__atomic_fetch_nand(&x, (type)3, __ATOMIC_SEQ_CST) == 14), rmw++;                               \
		assert(__atomic_exchange_n(&x, (type)4, __ATOMIC_SEQ_CST) == (type) ~(type)2), rmw++;                  \
		assert(                                                                                                \
		    !__atomic_compare_exchange_n(&x, &expected, (type)9, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)),  \
		    failed++;                                                                                          \
		assert(expected == 4);                                                                                 \
		assert(__atomic_compare_exchange_n(&x, &expected, (type)9, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)), \
		    cas++;                                                                                             \
		assert(__atomic_load_n(&x, __ATOMIC_SEQ_CST) == 9), loads++;                                           \
	} while (0)

static int counter;
static unsigned __int128 wide;

static void *count(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&wide, ((unsigned __int128)1 << 64) + 1, __ATOMIC_RELAXED);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	CHECK(uint8_t);
	CHECK(uint16_t);
	CHECK(uint32_t);
	CHECK(uint64_t);
	CHECK(unsigned __int128);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert(counter == 60000 && wide == ((unsigned __int128)60000 << 64) + 60000);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	printf("expect atomic-rmw %lu\nexpect atomic-cas %lu\nexpect atomic-cas-fail %lu\nexpect atomic-load %lu\n"
	       "expect atomic-store %lu\nexpect fence 1\n",
	       rmw + 120000, cas, failed, loads, stores);
	return 0;
}
