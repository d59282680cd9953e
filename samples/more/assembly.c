/*
 * Atomic instructions of inline assembly, which no compiler shows to a tool: what they may order is at most predicted.
 * With what racetrace.h says about them, it is ordered.
 */
#include "../../recorder/racetrace.h"
#include "both.h"

#include <sched.h>

#define ALONE __attribute__((noinline))

int counted, exchanged, compared, tested, fenced, annotated;
static int arrived, lock1, lock2, lock3, lock4, lock5;

/* Inlined or not: no access and no call, so no hook is in it. */
static int fetch_and_inc(int *p)
{
	int v = 1;
	__asm__ volatile("lock xaddl %0, %1" : "+r"(v), "+m"(*p)::"memory");
	return v;
}
static ALONE int exchange(int *p, int v)
{
	__asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(*p)::"memory");
	return v;
}
/* A plain store in assembly, which nothing shows. */
static ALONE void put(int *p, int v)
{
	__asm__ volatile("movl %1, %0" : "=m"(*p) : "r"(v) : "memory");
}
static ALONE int get(int *p)
{
	int v;
	__asm__ volatile("movl %1, %0" : "=r"(v) : "m"(*p) : "memory");
	return v;
}

PART(count_first)
{
	counted++; /* @count_first */
	fetch_and_inc(&arrived);
	return NULL;
}
PART(count_last)
{
	LATER;
	while (get(&arrived) == 0)
		sched_yield();
	if (fetch_and_inc(&arrived) == 1)
		counted++; /* @count_last */
	return NULL;
}

/* Has calls, so it has hooks; what releases the lock is no atomic instruction. */
static ALONE void take(int *lock)
{
	while (exchange(lock, 1))
		sched_yield();
}
PART(exchange_first)
{
	take(&lock1);
	exchanged++; /* @exchange_first */
	put(&lock1, 0);
	return NULL;
}
PART(exchange_last)
{
	LATER;
	take(&lock1);
	exchanged++; /* @exchange_last */
	put(&lock1, 0);
	return NULL;
}

static ALONE int compare(int *p, int from, int to)
{
	__asm__ volatile("lock; cmpxchgl %2, %1" : "+a"(from), "+m"(*p) : "r"(to) : "memory", "cc");
	return from;
}
PART(compare_first)
{
	while (compare(&lock2, 0, 1))
		;
	compared++; /* @compare_first */
	compare(&lock2, 1, 0);
	return NULL;
}
PART(compare_last)
{
	LATER;
	while (compare(&lock2, 0, 1))
		;
	compared++; /* @compare_last */
	compare(&lock2, 1, 0);
	return NULL;
}

static inline int test_and_set(int *p)
{
	unsigned char was;
	__asm__ volatile("lock btsl $0, %1\n\tsetc %0" : "=q"(was), "+m"(*p)::"memory", "cc");
	return was;
}
static inline void clear(int *p)
{
	__asm__ volatile("lock andl $0, %0" : "+m"(*p)::"memory", "cc");
}
PART(test_first)
{
	while (test_and_set(&lock3))
		sched_yield();
	tested++; /* @test_first */
	clear(&lock3);
	return NULL;
}
PART(test_last)
{
	LATER;
	while (test_and_set(&lock3))
		sched_yield();
	tested++; /* @test_last */
	clear(&lock3);
	return NULL;
}

PART(fence_first)
{
	fenced++; /* @fence_first */
	__asm__ volatile("mfence" ::: "memory");
	put(&lock4, 1);
	return NULL;
}
PART(fence_last)
{
	LATER;
	while (!get(&lock4))
		sched_yield();
	__asm__ volatile("mfence" ::: "memory");
	fenced++; /* @fence_last */
	return NULL;
}

/* What it orders is said: nothing is found. */
static ALONE void lock(int *l)
{
	while (exchange(l, 1))
		sched_yield();
	racetrace_acquired(l, 0);
}
static ALONE void unlock(int *l)
{
	racetrace_released(l);
	put(l, 0);
}
PART(annotate)
{
	for (int i = 0; i < 100; i++) {
		lock(&lock5);
		annotated++;
		unlock(&lock5);
	}
	return NULL;
}

int main(void)
{
	both(count_first, count_last);
	both(exchange_first, exchange_last);
	both(compare_first, compare_last);
	both(test_first, test_last);
	both(fence_first, fence_last);
	both(annotate, annotate);
	return counted + exchanged + compared + tested + fenced + annotated == 210 ? 0 : 1;
}
