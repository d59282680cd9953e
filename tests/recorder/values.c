/*
 * Accesses whose values are known: each is noted by code that is not instrumented, and the notes are printed at the
 * end, one access a line: thread, operation, address, size, value. All are ordered by one lock, and no place of the
 * code is reached twice between two of its operations, so every access must be in the trace, with the value that is
 * noted.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 400, CELLS = 5, NOTES = 40 * ROUNDS };
#define PLAIN __attribute__((noinline, no_sanitize("thread")))

struct pair {
	int32_t a, b;
};
struct __attribute__((packed)) unaligned {
	char before;
	uint64_t wide;
	uint16_t half;
};
static struct {
	uint8_t byte[CELLS];
	uint16_t half[CELLS];
	uint32_t word[CELLS];
	uint64_t wide[CELLS];
	struct pair pair[CELLS];
	struct unaligned unaligned[CELLS];
	float real[CELLS];
	void *pointer[CELLS];
	_Atomic uint32_t atomic[CELLS];
	_Atomic uint64_t large[CELLS];
} cells;

struct note {
	const char *op;
	const volatile void *at;
	unsigned size;
	uint64_t value;
};
static struct note notes[THREADS][NOTES];
static unsigned count[THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static PLAIN void note(int t, const char *op, const volatile void *at, unsigned size, uint64_t value)
{
	notes[t][count[t]++] = (struct note){op, at, size, value};
}

static PLAIN uint64_t bytes(const volatile void *at, unsigned size)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		((unsigned char *)&value)[i] = ((const volatile unsigned char *)at)[i];
	return value;
}

static PLAIN unsigned draw(unsigned *state, unsigned below)
{
	*state = *state * 1103515245u + 12345u;
	return *state / 65536 % below;
}

/* What is at the place now, which the operation before wrote, or read. */
#define READ(place) note(t, "read", &(place), sizeof(place), bytes(&(place), sizeof(place)))
#define WRITTEN(place) note(t, "write", &(place), sizeof(place), bytes(&(place), sizeof(place)))
#define PLACES(array, type)                                                                                            \
	case __COUNTER__:                                                                                              \
		cells.array[i] = (type)(uintptr_t)v;                                                                   \
		WRITTEN(cells.array[i]);                                                                               \
		break;                                                                                                 \
	case __COUNTER__:                                                                                              \
		READ(cells.array[i]);                                                                                  \
		*sum += (uintptr_t)cells.array[i];                                                                     \
		break
#define UPDATE(array)                                                                                                  \
	case __COUNTER__:                                                                                              \
		READ(cells.array[i]);                                                                                  \
		cells.array[i] += (uint8_t)v;                                                                          \
		WRITTEN(cells.array[i]);                                                                               \
		break

static void work(int t, unsigned *state, volatile uintptr_t *sum)
{
	unsigned what = draw(state, 24), i = draw(state, CELLS), k = draw(state, CELLS), v = draw(state, 4) * 77;
	uint32_t expected;
	switch (what) {
		PLACES(byte, uint8_t);
		PLACES(half, uint16_t);
		PLACES(word, uint32_t);
		PLACES(wide, uint64_t);
		PLACES(pointer, void *);
		UPDATE(byte);
		UPDATE(half);
		UPDATE(word);
		UPDATE(wide);
	case 14: /* of an aggregate, GCC has the hook of the write first */
		READ(cells.pair[k]);
		cells.pair[i] = cells.pair[k];
		WRITTEN(cells.pair[i]);
		break;
	case 15:
		cells.pair[i].a = (int32_t)v;
		WRITTEN(cells.pair[i].a);
		cells.pair[i].b = (int32_t)i;
		WRITTEN(cells.pair[i].b);
		break;
	case 16:
		cells.real[i] = (float)v;
		WRITTEN(cells.real[i]);
		break;
	case 17:
		atomic_store_explicit(&cells.atomic[i], v, memory_order_relaxed);
		note(t, "atomic-store", &cells.atomic[i], 4, v);
		break;
	case 18:
		note(t, "atomic-load", &cells.atomic[i], 4, bytes(&cells.atomic[i], 4));
		*sum += atomic_load(&cells.atomic[i]);
		break;
	case 19:
		note(t, "atomic-rmw", &cells.atomic[i], 4, bytes(&cells.atomic[i], 4));
		atomic_fetch_add(&cells.atomic[i], v);
		break;
	case 20:
		note(t, "atomic-rmw", &cells.large[i], 8, bytes(&cells.large[i], 8));
		atomic_exchange(&cells.large[i], v);
		break;
	case 21:
		expected = 77;
		note(t, bytes(&cells.atomic[i], 4) == 77 ? "atomic-cas" : "atomic-cas-fail", &cells.atomic[i], 4,
		     bytes(&cells.atomic[i], 4));
		atomic_compare_exchange_strong(&cells.atomic[i], &expected, v);
		break;
	case 22:
		READ(cells.unaligned[i].wide);
		cells.unaligned[i].wide += v;
		WRITTEN(cells.unaligned[i].wide);
		break;
	case 23:
		cells.unaligned[i].half = (uint16_t)v;
		WRITTEN(cells.unaligned[i].half);
		break;
	default:
		break;
	}
}

static void *run(void *arg)
{
	int t = (int)(intptr_t)arg;
	unsigned state = (unsigned)t * 7919 + 1;
	volatile uintptr_t sum = 0;
	for (int round = 0; round < ROUNDS; round++) {
		pthread_mutex_lock(&lock);
		work(t, &state, &sum);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static PLAIN void tell(void)
{
	printf("%" PRIuPTR " %" PRIuPTR "\n", (uintptr_t)&cells, (uintptr_t)(&cells + 1));
	for (int t = 0; t < THREADS; t++)
		for (unsigned i = 0; i < count[t]; i++)
			printf("main.%d %s %" PRIuPTR " %u %" PRIu64 "\n", t + 1, notes[t][i].op,
			       (uintptr_t)notes[t][i].at, notes[t][i].size, notes[t][i].value);
}

int main(void)
{
	pthread_t threads[THREADS];
	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, run, (void *)(intptr_t)t);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	tell();
	return 0;
}
