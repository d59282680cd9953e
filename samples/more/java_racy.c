/*
 * What a Java virtual machine says of its heap and its monitors (ThreadSanitizer's interface for Java): each kind once
 * with what orders it left out. Two threads touch the same fields; the waits between them order nothing.
 */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#define ORDERED(call) call
#else
#define ORDERED(call) (void)0
#endif

void __tsan_java_init(unsigned long begin, unsigned long size);
int __tsan_java_fini(void);
void __tsan_java_alloc(unsigned long p, unsigned long size);
void __tsan_java_free(unsigned long p, unsigned long size);
void __tsan_java_move(unsigned long from, unsigned long to, unsigned long size);
unsigned long __tsan_java_find(unsigned long *from, unsigned long to);
void __tsan_java_mutex_lock(unsigned long monitor);
void __tsan_java_mutex_unlock(unsigned long monitor);
void __tsan_java_mutex_read_lock(unsigned long monitor);
void __tsan_java_mutex_read_unlock(unsigned long monitor);
void __tsan_java_mutex_lock_rec(unsigned long monitor, int levels);
int __tsan_java_mutex_unlock_rec(unsigned long monitor);
void __tsan_java_acquire(unsigned long field);
void __tsan_java_release(unsigned long field);
void __tsan_java_release_store(unsigned long field);

enum { HEAP = 1024, OBJECT = 64 };
static _Alignas(16) char heap[HEAP];
#define AT(n) ((unsigned long)&heap[(n)*OBJECT])

int counted, shared, waited, published, stored;
int *freed, *moved;
static int seen[2];

/* Reentered, as Java's monitors are. */
static void count(void)
{
	ORDERED(__tsan_java_mutex_lock(AT(8)));
	ORDERED(__tsan_java_mutex_lock(AT(8)));
	counted++; /* @count */
	ORDERED(__tsan_java_mutex_unlock(AT(8)));
	ORDERED(__tsan_java_mutex_unlock(AT(8)));
}

PART(first)
{
	count();
	ORDERED(__tsan_java_mutex_read_lock(AT(9)));
	seen[0] = shared; /* @read */
	ORDERED(__tsan_java_mutex_read_unlock(AT(9)));

	__tsan_java_mutex_lock(AT(10));
	__tsan_java_mutex_lock(AT(10));
	int levels = __tsan_java_mutex_unlock_rec(AT(10));
	ORDERED(__tsan_java_mutex_lock_rec(AT(10), levels));
	waited++; /* @wait */
	ORDERED(__tsan_java_mutex_unlock(AT(10)));
	ORDERED(__tsan_java_mutex_unlock(AT(10)));

	published = 1; /* @publish */
	ORDERED(__tsan_java_release(AT(11)));
	stored = 1; /* @store */
	ORDERED(__tsan_java_release_store(AT(12)));
	*freed = 1; /* @old */
	*moved = 1; /* @source */
	return NULL;
}

/* The collector: what has stopped the other thread meanwhile is not seen. */
static void collect(void)
{
	ORDERED(__tsan_java_free(AT(1), OBJECT));
	ORDERED(__tsan_java_alloc(AT(1), OBJECT));
	ORDERED(__tsan_java_move(AT(2), AT(3), OBJECT));
	ORDERED(__tsan_java_alloc(AT(2), OBJECT / 2));
	*freed = 2; /* @new */
	*moved = 2; /* @next */
}

PART(second)
{
	LATER;
	count();
	ORDERED(__tsan_java_mutex_lock(AT(9)));
	shared = 1; /* @write */
	ORDERED(__tsan_java_mutex_unlock(AT(9)));
	__tsan_java_mutex_lock(AT(10));
	waited++; /* @notify */
	__tsan_java_mutex_unlock(AT(10));
	ORDERED(__tsan_java_acquire(AT(11)));
	seen[1] += published; /* @acquire */
	ORDERED(__tsan_java_acquire(AT(12)));
	seen[1] += stored; /* @load */
	collect();
	return NULL;
}

static unsigned long block_from(unsigned long from)
{
	unsigned long size = __tsan_java_find(&from, AT(HEAP / OBJECT));
	return size ? (from - AT(0)) / OBJECT : 0;
}

int main(void)
{
	__tsan_java_init(AT(0), HEAP);
	__tsan_java_alloc(AT(1), OBJECT);
	__tsan_java_alloc(AT(2), OBJECT);
	freed = (int *)AT(1);
	moved = (int *)AT(2);
	both(first, second);
	printf("%lu %lu %lu\n", block_from(AT(0)), block_from(AT(2)), block_from(AT(4)));
	return __tsan_java_fini();
}
