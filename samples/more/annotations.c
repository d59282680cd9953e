/*
 * racetrace.h: synchronisation that cannot be seen (a lock of volatile words and assembly, a flag likewise), accesses
 * that are to be left out, memory of an arena. No race as far as is told.
 */
#include "../../recorder/racetrace.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int counter, message, ignored, harmless;
static unsigned char arena[16];
static int word, flag;

/* Not instrumented, as a lock in assembly is not. */
__attribute__((no_sanitize("thread"))) static void lock(void)
{
	while (__sync_lock_test_and_set(&word, 1))
		usleep(1);
	racetrace_acquired(&word, 0);
}
__attribute__((no_sanitize("thread"))) static void unlock(void)
{
	racetrace_released(&word);
	__sync_lock_release(&word);
}
__attribute__((no_sanitize("thread"))) static void raise_flag(void)
{
	racetrace_happens_before(&flag);
	__sync_lock_test_and_set(&flag, 1);
}
__attribute__((no_sanitize("thread"))) static void await_flag(void)
{
	while (!__sync_fetch_and_add(&flag, 0))
		usleep(1);
	racetrace_happens_after(&flag);
}

static unsigned char *take(void)
{
	racetrace_new_memory(arena, sizeof arena);
	return arena;
}

static void work(void)
{
	unsigned char *mine;

	racetrace_region_begin();
	lock();
	counter++;
	mine = take(); /* given back before the lock is released */
	mine[1] = 1;
	unlock();
	racetrace_region_end();
	racetrace_ignore_begin(RACETRACE_ACCESSES);
	ignored++;
	racetrace_ignore_end(RACETRACE_ACCESSES);
	harmless++;
}

static void *worker(void *unused)
{
	racetrace_thread_name("worker");
	await_flag();
	message++;
	work();
	return unused;
}

int main(void)
{
	pthread_t t;

	racetrace_benign(&harmless, sizeof harmless);
	pthread_create(&t, NULL, worker, NULL);
	message = 1;
	raise_flag();
	work();
	pthread_join(t, NULL);
	printf("%d %d %d %d\n", counter, message, ignored, harmless);
	return 0;
}
