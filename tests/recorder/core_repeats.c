/*
 * Repeats: of one access in a loop two are kept; synchronisation starts anew; every access is recorded or counted.
 * A function call is never left out. Nor is an atomic operation, but for a load that sees what the two loads right
 * before it saw: not after another event, nor after a write, even of the same value.
 */
#include <pthread.h>
#include <stdio.h>

static volatile short cell;
static volatile short many[100000];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void touch(void)
{
	cell = 1;
}

static int flag, other;

static __attribute__((noinline)) int spin(int times)
{
	int sum = 0;
	for (int i = 0; i < times; i++)
		sum += __atomic_load_n(&flag, __ATOMIC_ACQUIRE);
	return sum;
}

/* Number of loads that are kept. */
static __attribute__((noinline)) int spins(void)
{
	int kept = 0, sum = spin(100000);
	kept += 2;
	for (int i = 0; i < 30; i++) {
		__atomic_store_n(&flag, 1, __ATOMIC_RELEASE); /* the same value after the first time */
		sum += spin(3);
		kept += 2;
	}
	for (int i = 0; i < 100; i++) { /* in turn, at one place each; a plain access in between */
		sum += __atomic_load_n(&flag, __ATOMIC_RELAXED) + __atomic_load_n(&other, __ATOMIC_RELAXED);
		sum += __atomic_load_n(&flag, __ATOMIC_RELAXED);
		cell = 2;
		kept += 3;
	}
	/* A write without a hook. */
	int was = spin(10);
	__asm__ volatile("movl $7, %0" : "=m"(flag));
	kept += 4;
	return sum + was + spin(10) > 0 ? kept : 0;
}

int main(void)
{
	for (int i = 0; i < 100000; i++)
		touch();
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		for (int k = 0; k < 10; k++)
			touch();
		pthread_mutex_unlock(&lock);
	}
	/* The table grows on the way, and keeps its word: 20 rounds, of which the last 18 are left out once it is
	 * large. */
	for (int i = 0; i < 20; i++)
		for (int k = 0; k < 100000; k++)
			(void)many[k];
	/* When the table grows, what is in it already may be kept two times more. */
	int kept = spins();
	/* At the end of a block of records one more is. */
	printf("at-least atomic-load %d\nat-most atomic-load %d\n", kept, kept + 10);
	printf("at-least write2 %d\nat-most write2 %d\nexpect enter %d\n", 102 + 2 * 50, 104 + 2 * 50,
	       100000 + 500 + 1 + 34);
	printf("at-least accesses %d\nat-most accesses %d\n", 2200500, 2200700);
	printf("at-most read2 %d\n", 400000);
	return 0;
}
