/* Atomic instructions of inline assembly that are not between the two accesses, or in one of the threads alone. */
#include "both.h"

#include <sched.h>

#define ALONE __attribute__((noinline))

int before, after, one_sided, alone;
static int number, lock1, done;

static ALONE int fetch_and_inc(int *p)
{
	int v = 1;
	__asm__ volatile("lock xaddl %0, %1" : "+r"(v), "+m"(*p)::"memory");
	return v;
}
static inline int number_of(int *p)
{
	int v = 1;
	__asm__ volatile("lock xaddl %0, %1" : "+r"(v), "+m"(*p)::"memory");
	return v;
}

/* Each thread takes a number first. */
PART(early)
{
	fetch_and_inc(&number);
	before++; /* @early */
	return NULL;
}
PART(late)
{
	LATER;
	fetch_and_inc(&number);
	before++; /* @late */
	return NULL;
}
PART(early_inlined)
{
	after += number_of(&number) & 1; /* @early_inlined */
	return NULL;
}
PART(late_inlined)
{
	LATER;
	after += number_of(&number) & 1; /* @late_inlined */
	return NULL;
}

static ALONE void take(int *lock)
{
	int v = 1;
	do
		__asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(*lock)::"memory");
	while (v);
}
static ALONE void give(int *lock)
{
	__asm__ volatile("movl $0, %0" : "=m"(*lock)::"memory");
}
PART(with)
{
	take(&lock1);
	one_sided++; /* @with */
	give(&lock1);
	return NULL;
}
PART(without)
{
	LATER;
	one_sided++; /* @without */
	return NULL;
}

/* Both have done so before any of them was made. */
PART(first)
{
	alone++; /* @first */
	return NULL;
}
PART(second)
{
	LATER;
	alone++; /* @second */
	return NULL;
}

int main(void)
{
	both(early, late);
	both(early_inlined, late_inlined);
	both(with, without);
	fetch_and_inc(&done);
	both(first, second);
	return before ? 0 : 1;
}
