/*
 * Everything by which pthread synchronises, each with a variable of its own. In the racy program the second thread goes
 * past it; pthreads.c is the same without that.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif
#define LATER usleep(20000)
#define MUST(call) ((call) == 0 ? (void)0 : abort())

static struct timespec after(clockid_t clock, int seconds)
{
	struct timespec t;
	clock_gettime(clock, &t);
	t.tv_sec += seconds;
	return t;
}
#define SOON(clock) (&(struct timespec[]){after(clock, 30)}[0])
#define REAL SOON(CLOCK_REALTIME)
#define MONO CLOCK_MONOTONIC, SOON(CLOCK_MONOTONIC)

/* Two threads add to a variable between take and give. The second, which is later, takes nothing if there is to be a
 * race. */
#define GUARDED(name, take, give)                                                                                      \
	static volatile int name;                                                                                      \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		if (second)                                                                                            \
			LATER;                                                                                         \
		if (RACE_FREE || !second)                                                                              \
			take;                                                                                          \
		name++;                                                                                                \
		if (RACE_FREE || !second)                                                                              \
			give;                                                                                          \
		return NULL;                                                                                           \
	}

/* One thread sets a variable and sends; the other receives and sets it, or sets it and receives if there is to be a
 * race. */
#define ORDERED(name, send, receive)                                                                                   \
	static volatile int name;                                                                                      \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		if (!second) {                                                                                         \
			name = 1;                                                                                      \
			send;                                                                                          \
			return NULL;                                                                                   \
		}                                                                                                      \
		LATER;                                                                                                 \
		if (!RACE_FREE)                                                                                        \
			name = 2;                                                                                      \
		receive;                                                                                               \
		if (RACE_FREE)                                                                                         \
			name = 2;                                                                                      \
		return NULL;                                                                                           \
	}

/* A variable that a writer sets and a reader reads, who takes the lock if there is not to be a race. */
#define READ(name, take)                                                                                               \
	static volatile int name;                                                                                      \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		if (!second) {                                                                                         \
			upgrade();                                                                                     \
			name = 1;                                                                                      \
			GIVE;                                                                                          \
			return NULL;                                                                                   \
		}                                                                                                      \
		LATER;                                                                                                 \
		if (RACE_FREE)                                                                                         \
			take;                                                                                          \
		(void)name;                                                                                            \
		if (RACE_FREE)                                                                                         \
			GIVE;                                                                                          \
		return NULL;                                                                                           \
	}

/* A thread sets a variable on its way; who made it sets it as well: when it has ended, or before. */
#define ENDED(name, attributes, body, end)                                                                             \
	static volatile int name;                                                                                      \
	static void *name##_body(void *self)                                                                           \
	{                                                                                                              \
		(void)self;                                                                                            \
		body;                                                                                                  \
		return NULL;                                                                                           \
	}                                                                                                              \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		pthread_t t;                                                                                           \
		if (!second)                                                                                           \
			return NULL;                                                                                   \
		MUST(pthread_create(&t, attributes, name##_body, NULL));                                               \
		LATER;                                                                                                 \
		if (!RACE_FREE)                                                                                        \
			name = 2;                                                                                      \
		end;                                                                                                   \
		if (RACE_FREE)                                                                                         \
			name = 2;                                                                                      \
		return NULL;                                                                                           \
	}

/* Mutexes */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive, checking, adaptive, inheriting, robust;
static pthread_mutex_t recursive_static = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#define UNLOCK(m) pthread_mutex_unlock(&(m))
static void lock_twice(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}
static void try_lock(pthread_mutex_t *m)
{
	while (pthread_mutex_trylock(m))
		usleep(1000);
}
GUARDED(by_normal, pthread_mutex_lock(&mutex), UNLOCK(mutex))                         /* @normal */
GUARDED(by_recursive, lock_twice(&recursive), UNLOCK(recursive))                      /* @recursive */
GUARDED(by_recursive_static, lock_twice(&recursive_static), UNLOCK(recursive_static)) /* @recursive_static */
GUARDED(by_checking, MUST(pthread_mutex_lock(&checking)), UNLOCK(checking))           /* @checking */
GUARDED(by_adaptive, pthread_mutex_lock(&adaptive), UNLOCK(adaptive))                 /* @adaptive */
GUARDED(by_inheriting, pthread_mutex_lock(&inheriting), UNLOCK(inheriting))           /* @inheriting */
GUARDED(by_robust, pthread_mutex_lock(&robust), UNLOCK(robust))                       /* @robust */
GUARDED(by_trylock, try_lock(&mutex), UNLOCK(mutex))                                  /* @trylock */
GUARDED(by_timedlock, pthread_mutex_timedlock(&mutex, REAL), UNLOCK(mutex))           /* @timedlock */
GUARDED(by_clocklock, pthread_mutex_clocklock(&mutex, MONO), UNLOCK(mutex))           /* @clocklock */

/* Reader-writer locks; spin locks */
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
#define GIVE pthread_rwlock_unlock(&rwlock)
static void upgrade(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
}
GUARDED(by_wrlock, pthread_rwlock_wrlock(&rwlock), GIVE)                                          /* @wrlock */
GUARDED(by_trywrlock, while (pthread_rwlock_trywrlock(&rwlock)) usleep(1000), GIVE)               /* @trywrlock */
GUARDED(by_timedwrlock, pthread_rwlock_timedwrlock(&rwlock, REAL), GIVE)                          /* @timedwrlock */
GUARDED(by_clockwrlock, pthread_rwlock_clockwrlock(&rwlock, MONO), GIVE)                          /* @clockwrlock */
GUARDED(by_upgrade, upgrade(), GIVE)                                                              /* @upgrade */
GUARDED(by_spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))                            /* @spin */
GUARDED(by_tryspin, while (pthread_spin_trylock(&spin)) usleep(1000), pthread_spin_unlock(&spin)) /* @tryspin */
READ(by_rdlock, pthread_rwlock_rdlock(&rwlock))                                                   /* @rdlock */
READ(by_tryrdlock, pthread_rwlock_tryrdlock(&rwlock))                                             /* @tryrdlock */
READ(by_timedrdlock, pthread_rwlock_timedrdlock(&rwlock, REAL))                                   /* @timedrdlock */
READ(by_clockrdlock, pthread_rwlock_clockrdlock(&rwlock, MONO))                                   /* @clockrdlock */

/* Conditions. The second thread has another wait for the first, or comes after the signal. */
enum way { WAIT, TIMED, CLOCK };
struct word {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int said;
};
#define WORD static struct word
#define SILENT                                                                                                         \
	{                                                                                                              \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0                                                 \
	}
static void say(struct word *w, int all)
{
	pthread_mutex_lock(&w->mutex);
	w->said = 1;
	if (all)
		pthread_cond_broadcast(&w->cond);
	else
		pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->mutex);
}
static void hear(struct word *w, enum way way)
{
	pthread_mutex_lock(&w->mutex);
	while (!w->said)
		if (way == WAIT)
			pthread_cond_wait(&w->cond, &w->mutex);
		else if (way == TIMED)
			pthread_cond_timedwait(&w->cond, &w->mutex, REAL);
		else
			pthread_cond_clockwait(&w->cond, &w->mutex, MONO);
	pthread_mutex_unlock(&w->mutex);
}
WORD w1 = SILENT, w2 = SILENT, w3 = SILENT, w4 = SILENT, w5 = SILENT;
#define SLOWLY usleep(40000)
ORDERED(by_signal, (SLOWLY, say(&w1, 0)), hear(&w1, WAIT))     /* @signal */
ORDERED(by_broadcast, (SLOWLY, say(&w2, 1)), hear(&w2, WAIT))  /* @broadcast */
ORDERED(by_timedwait, (SLOWLY, say(&w3, 0)), hear(&w3, TIMED)) /* @timedwait */
ORDERED(by_clockwait, (SLOWLY, say(&w4, 0)), hear(&w4, CLOCK)) /* @clockwait */
ORDERED(by_nobody, say(&w5, 0), hear(&w5, WAIT))               /* @nobody: the signal comes before the wait */

/* Barriers, used again; semaphores; once */
static pthread_barrier_t barrier;
static void pass_thrice(void)
{
	for (int i = 0; i < 3; i++)
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			usleep(1000);
}
static sem_t s1, s2, s3, s4, *named;
static pthread_once_t once = PTHREAD_ONCE_INIT, cancelled = PTHREAD_ONCE_INIT;
static void nothing(void)
{
}
static volatile int patient;
static void wait_for_cancel(void)
{
	patient = !patient;
	if (patient)
		pause();
}
static void *once_cancelled(void *unused)
{
	pthread_once(&cancelled, wait_for_cancel);
	return unused;
}
static void cancel_once(void)
{
	pthread_t t;
	pthread_create(&t, NULL, once_cancelled, NULL);
	LATER;
	pthread_cancel(t);
	pthread_join(t, NULL);
	pthread_once(&cancelled, wait_for_cancel);
}
ORDERED(by_barrier, pass_thrice(), pass_thrice())                            /* @barrier */
ORDERED(by_semaphore, sem_post(&s1), sem_wait(&s1))                          /* @semaphore */
ORDERED(by_trywait, sem_post(&s2), while (sem_trywait(&s2)) usleep(1000))    /* @trywait */
ORDERED(by_sem_timedwait, sem_post(&s3), sem_timedwait(&s3, REAL))           /* @sem_timedwait */
ORDERED(by_sem_clockwait, sem_post(&s4), sem_clockwait(&s4, MONO))           /* @sem_clockwait */
ORDERED(by_named, sem_post(named), sem_wait(named))                          /* @named */
ORDERED(by_once, pthread_once(&once, nothing), pthread_once(&once, nothing)) /* @once */
ORDERED(by_cancelled_once, cancel_once(), pthread_once(&cancelled, nothing)) /* @cancelled_once */

/* Threads: how they end, and how that is seen */
static pthread_attr_t small, own_stack, detached;
static char stack[1 << 18] __attribute__((aligned(4096)));
static pthread_key_t key;
static sem_t gone;
static volatile int by_cleanup, by_key;
static void clean_up(void *unused)
{
	(void)unused;
	by_cleanup = 1; /* @cleanup */
}
static void destroy_key(void *unused)
{
	(void)unused;
	by_key = 1; /* @key */
}
#define JOIN MUST(pthread_join(t, NULL))
ENDED(by_join, NULL, by_join = 1, JOIN)                                                   /* @join */
ENDED(by_small, &small, by_small = 1, JOIN)                                               /* @small */
ENDED(by_own_stack, &own_stack, by_own_stack = 1, JOIN)                                   /* @own_stack */
ENDED(by_exit, NULL, (by_exit = 1, pthread_exit(NULL)), JOIN)                             /* @exit */
ENDED(by_cancel, NULL, (by_cancel = 1, pause()), (pthread_cancel(t), JOIN))               /* @cancel */
ENDED(by_tryjoin, NULL, by_tryjoin = 1, while (pthread_tryjoin_np(t, NULL)) usleep(1000)) /* @tryjoin */
ENDED(by_timedjoin, NULL, by_timedjoin = 1, MUST(pthread_timedjoin_np(t, NULL, REAL)))    /* @timedjoin */
ENDED(by_clockjoin, NULL, by_clockjoin = 1, MUST(pthread_clockjoin_np(t, NULL, MONO)))    /* @clockjoin */
ENDED(by_detached, &detached, (by_detached = 1, sem_post(&gone)), sem_wait(&gone))        /* @detached */

static void *with_cleanup(void *unused)
{
	pthread_cleanup_push(clean_up, NULL);
	pause();
	pthread_cleanup_pop(0);
	return unused;
}
static void *with_key(void *unused)
{
	pthread_setspecific(key, &key);
	return unused;
}
static void *handlers_use(void *second)
{
	pthread_t a, b;
	if (!second)
		return NULL;
	pthread_create(&a, NULL, with_cleanup, NULL);
	pthread_create(&b, NULL, with_key, NULL);
	LATER;
	pthread_cancel(a);
	LATER;
	if (!RACE_FREE)
		by_cleanup = by_key = 2; /* @handlers */
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (RACE_FREE)
		by_cleanup = by_key = 2;
	return NULL;
}

static void make(pthread_mutex_t *m, int type, int protocol, int robustness)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	pthread_mutexattr_setprotocol(&a, protocol);
	pthread_mutexattr_setrobust(&a, robustness);
	MUST(pthread_mutex_init(m, &a));
	pthread_mutexattr_destroy(&a);
}

int main(void)
{
	static void *(*const parts[])(void *) = {by_normal_use,         by_recursive_use,   by_recursive_static_use,
	                                         by_checking_use,       by_adaptive_use,    by_inheriting_use,
	                                         by_robust_use,         by_trylock_use,     by_timedlock_use,
	                                         by_clocklock_use,      by_wrlock_use,      by_trywrlock_use,
	                                         by_timedwrlock_use,    by_clockwrlock_use, by_upgrade_use,
	                                         by_spin_use,           by_tryspin_use,     by_rdlock_use,
	                                         by_tryrdlock_use,      by_timedrdlock_use, by_clockrdlock_use,
	                                         by_signal_use,         by_broadcast_use,   by_timedwait_use,
	                                         by_clockwait_use,      by_nobody_use,      by_barrier_use,
	                                         by_semaphore_use,      by_trywait_use,     by_sem_timedwait_use,
	                                         by_sem_clockwait_use,  by_named_use,       by_once_use,
	                                         by_cancelled_once_use, by_join_use,        by_small_use,
	                                         by_own_stack_use,      by_exit_use,        by_cancel_use,
	                                         by_tryjoin_use,        by_timedjoin_use,   by_clockjoin_use,
	                                         by_detached_use,       handlers_use};
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	make(&checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	make(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	make(&inheriting, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&s1, 0, 0), sem_init(&s2, 0, 0), sem_init(&s3, 0, 0), sem_init(&s4, 0, 0), sem_init(&gone, 0, 0);
	pthread_attr_init(&small), pthread_attr_setstacksize(&small, 1 << 17);
	pthread_attr_init(&own_stack), pthread_attr_setstack(&own_stack, stack, sizeof stack);
	pthread_attr_init(&detached), pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	char name[32];
	snprintf(name, sizeof name, "/pthreads-%d", (int)getpid());
	named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	if (named == SEM_FAILED || sem_unlink(name))
		return 1;
	pthread_key_create(&key, destroy_key);
	/* One after the other: what two of them have to do with each other is not the question. */
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		pthread_t a, b;
		pthread_create(&a, NULL, parts[i], NULL);
		pthread_create(&b, NULL, parts[i], main);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
	}
	return 0;
}
