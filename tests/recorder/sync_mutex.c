/* Mutexes of every type, and spin locks. Only calls that really acquired or released a lock are recorded, and only
 * outermost levels.
 */
#include "named.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checking, robust, robust_recursive, inheriting;
static pthread_spinlock_t spin;
static const struct timespec past;

static struct timespec soon(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	t.tv_sec += 10;
	return t;
}

static void make(pthread_mutex_t *m, int type, int robustness, int protocol)
{
	pthread_mutexattr_t a;
	MUST(pthread_mutexattr_init(&a) == 0);
	MUST(pthread_mutexattr_settype(&a, type) == 0);
	MUST(pthread_mutexattr_setrobust(&a, robustness) == 0);
	MUST(pthread_mutexattr_setprotocol(&a, protocol) == 0);
	MUST(pthread_mutex_init(m, &a) == 0);
	pthread_mutexattr_destroy(&a);
}

/* expect main.1: nothing: every attempt fails. */
static void *attempts(void *unused)
{
	MUST(pthread_mutex_trylock(&plain) == EBUSY);
	MUST(pthread_mutex_timedlock(&plain, &past) == ETIMEDOUT);
	MUST(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	MUST(pthread_mutex_unlock(&recursive) == EPERM);
	MUST(pthread_mutex_unlock(&checking) == EPERM);
	MUST(pthread_mutex_unlock(&robust) == EPERM);
	MUST(pthread_mutex_unlock(&robust_recursive) == EPERM);
	MUST(pthread_mutex_unlock(&inheriting) == EPERM);
	MUST(pthread_mutex_trylock(&recursive) == EBUSY);
	MUST(pthread_spin_trylock(&spin) == EBUSY);
	return unused;
}

/* Who finds it dead comes after its end. */
// expect main.2: acquire robust, acquire robust_recursive
// expect main.2: hb-before robust_recursive, release robust_recursive, hb-before robust, release robust
static void *die_with_locks(void *unused)
{
	pthread_mutex_lock(&robust);
	pthread_mutex_lock(&robust_recursive);
	pthread_mutex_lock(&robust_recursive);
	return unused;
}

/* expect main.3, main.4: nothing. Each call says so and none keeps it, though a lock is tried before it is waited for.
 */
static void *not_recoverable(void *unused)
{
	MUST(pthread_mutex_lock(&robust_recursive) == ENOTRECOVERABLE);
	return unused;
}

static void in_thread(void *(*routine)(void *))
{
	pthread_t t;
	MUST(pthread_create(&t, NULL, routine, NULL) == 0);
	MUST(pthread_join(t, NULL) == 0);
}

// expect main.5: release plain
static void *unlock_for_other(void *unused)
{
	MUST(pthread_mutex_unlock(&plain) == 0);
	return unused;
}

/* What it held is gone before it ends. */
// expect main.6: map gone=4096, write gone=4096, acquire gone, write gone=4096+free, unmap gone=4096
static void *lose_lock(void *unused)
{
	pthread_mutex_t *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST((void *)gone != MAP_FAILED);
	NAME_AT(gone, "gone");
	make(gone, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	pthread_mutex_lock(gone);
	MUST(munmap(gone, 4096) == 0);
	return unused;
}

int main(void)
{
	struct timespec realtime = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC);
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	make(&checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	make(&robust_recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	make(&inheriting, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	NAME(plain), NAME(recursive), NAME(checking), NAME(robust), NAME(robust_recursive), NAME(inheriting);
	NAME(spin);

	// expect main: acquire plain, release plain, acquire plain+timed, release plain
	pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain);
	MUST(pthread_mutex_trylock(&plain) == 0), pthread_mutex_unlock(&plain);
	// expect main: acquire plain+timed, release plain, acquire plain+timed, release plain
	MUST(pthread_mutex_timedlock(&plain, &realtime) == 0), pthread_mutex_unlock(&plain);
	MUST(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &monotonic) == 0), pthread_mutex_unlock(&plain);

	// expect main: acquire recursive, release recursive, acquire recursive+timed, release recursive
	pthread_mutex_lock(&recursive), pthread_mutex_lock(&recursive);
	MUST(pthread_mutex_trylock(&recursive) == 0);
	pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive);
	MUST(pthread_mutex_unlock(&recursive) == EPERM);
	MUST(pthread_mutex_trylock(&recursive) == 0), pthread_mutex_unlock(&recursive);

	// expect main: acquire checking, release checking
	pthread_mutex_lock(&checking);
	MUST(pthread_mutex_lock(&checking) == EDEADLK);
	pthread_mutex_unlock(&checking);
	MUST(pthread_mutex_unlock(&checking) == EPERM);

	// expect main: acquire plain, acquire recursive, acquire checking, acquire robust, acquire robust_recursive
	// expect main: acquire inheriting, acquire spin
	pthread_mutex_lock(&plain), pthread_mutex_lock(&recursive), pthread_mutex_lock(&checking);
	pthread_mutex_lock(&robust), pthread_mutex_lock(&robust_recursive), pthread_mutex_lock(&inheriting);
	pthread_mutex_lock(&robust_recursive);
	pthread_spin_lock(&spin);
	in_thread(attempts);
	// expect main: release spin, release inheriting, release robust_recursive, release robust
	pthread_spin_unlock(&spin);
	pthread_mutex_unlock(&inheriting);
	pthread_mutex_unlock(&robust_recursive), pthread_mutex_unlock(&robust_recursive);
	pthread_mutex_unlock(&robust);

	// expect main: acquire robust, hb-after robust, release robust
	// expect main: acquire robust_recursive+timed, hb-after robust_recursive, release robust_recursive
	in_thread(die_with_locks);
	MUST(pthread_mutex_lock(&robust) == EOWNERDEAD);
	MUST(pthread_mutex_consistent(&robust) == 0);
	MUST(pthread_mutex_unlock(&robust) == 0);
	MUST(pthread_mutex_trylock(&robust_recursive) == EOWNERDEAD);
	MUST(pthread_mutex_unlock(&robust_recursive) == 0);
	MUST(pthread_mutex_lock(&robust_recursive) == ENOTRECOVERABLE);
	MUST(pthread_mutex_unlock(&robust_recursive) == EPERM);
	in_thread(not_recoverable);
	in_thread(not_recoverable);

	// expect main: acquire plain+timed, release plain, acquire spin+timed, release spin
	in_thread(unlock_for_other);
	MUST(pthread_mutex_trylock(&plain) == 0);
	MUST(pthread_mutex_unlock(&plain) == 0);
	MUST(pthread_spin_trylock(&spin) == 0);
	pthread_spin_unlock(&spin);
	in_thread(lose_lock);
	return 0;
}
