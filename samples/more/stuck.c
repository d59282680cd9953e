/*
 * Runs that come to a standstill, one an argument: threads wait for one another (a deadlock), or for what no thread
 * gives (a hang). An alarm ends each, unless the second argument says otherwise.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

enum { MOST = 20 };

static pthread_mutex_t m[MOST], other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static mtx_t mtx[2];
static sem_t sem;
static pthread_t threads[MOST], first;
static int count;

static void *start(void *(*routine)(void *), long i)
{
	pthread_create(&threads[i], NULL, routine, (void *)i);
	return NULL;
}

static void join(int n)
{
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL); /* @join */
}

/* Each holds one and wants the next one's. */
static void *ring(void *arg)
{
	long i = (long)arg;
	pthread_mutex_lock(&m[i]);
	pthread_barrier_wait(&all);
	pthread_mutex_lock(&m[(i + 1) % count]); /* @ring */
	return NULL;
}

static void *hold_and_join(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_barrier_wait(&all);
	pthread_join(threads[1], NULL); /* @hold_and_join */
	return arg;
}
static void *want(void *arg)
{
	pthread_barrier_wait(&all);
	pthread_mutex_lock(&other); /* @want */
	return arg;
}

static void *self(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_mutex_lock(&other); /* @self */
	return arg;
}

static void *upgrade(void *arg)
{
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_wrlock(&rw); /* @upgrade */
	return arg;
}

/* A reader holds what a writer wants, and wants what the writer holds. */
static void *reader(void *arg)
{
	pthread_rwlock_rdlock(&rw);
	pthread_barrier_wait(&all);
	pthread_mutex_lock(&other); /* @reader */
	return arg;
}
static void *writer(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_barrier_wait(&all);
	pthread_rwlock_wrlock(&rw); /* @writer */
	return arg;
}

/* Reads again while a writer waits, of a lock that prefers writers. */
static void *again(void *arg)
{
	pthread_rwlock_rdlock(&rw);
	pthread_barrier_wait(&all);
	usleep(300000);
	pthread_rwlock_rdlock(&rw); /* @again */
	return arg;
}
static void *between(void *arg)
{
	pthread_barrier_wait(&all);
	pthread_rwlock_wrlock(&rw); /* @between */
	return arg;
}

static void *hold_spin(void *arg)
{
	pthread_spin_lock(&spin);
	pthread_barrier_wait(&all);
	pthread_mutex_lock(&other); /* @hold_spin */
	return arg;
}
static void *want_spin(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_barrier_wait(&all);
	pthread_spin_lock(&spin); /* @want_spin */
	return arg;
}

static void *c11(void *arg)
{
	long i = (long)arg;
	mtx_lock(&mtx[i]);
	pthread_barrier_wait(&all);
	mtx_lock(&mtx[!i]); /* @c11 */
	return NULL;
}

static void *hold_file(void *arg)
{
	flockfile(stderr);
	pthread_barrier_wait(&all);
	pthread_mutex_lock(&other); /* @hold_file */
	return arg;
}
static void *want_file(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_barrier_wait(&all);
	flockfile(stderr); /* @want_file */
	return arg;
}

static void again_once(void)
{
	pthread_once(&once, again_once); /* @again_once */
}
static void *run_once(void *arg)
{
	pthread_once(&once, again_once);
	return arg;
}
static void again_call_once(void)
{
	call_once(&flag, again_call_once); /* @again_call_once */
}
static void *run_call_once(void *arg)
{
	call_once(&flag, again_call_once);
	return arg;
}

/* Each joins the next. */
static void *join_ring(void *arg)
{
	long i = (long)arg;
	pthread_barrier_wait(&all);
	pthread_join(threads[(i + 1) % 3], NULL); /* @join_ring */
	return NULL;
}

/* The signal came before the wait, and no thread looked at a condition. */
static void *wait_signal(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_cond_wait(&cond, &other); /* @wait_signal */
	return arg;
}

/* A signal wakes one of those that wait. */
static void *wait_first(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_cond_wait(&cond, &other); /* @wait_first */
	pthread_mutex_unlock(&other);
	return arg;
}

static void *wait_post(void *arg)
{
	sem_wait(&sem); /* @wait_post */
	return arg;
}

static void *wait_party(void *arg)
{
	pthread_barrier_wait(&all); /* @wait_party */
	return arg;
}

/* A nested monitor: who would signal has to take a lock that the waiting thread keeps. */
static void *inner(void *arg)
{
	pthread_mutex_lock(&m[0]);
	pthread_mutex_lock(&other);
	pthread_barrier_wait(&all);
	pthread_cond_wait(&cond, &other); /* @inner */
	return arg;
}
static void *outer(void *arg)
{
	pthread_barrier_wait(&all);
	pthread_mutex_lock(&m[0]); /* @outer */
	pthread_cond_signal(&cond);
	return arg;
}

/* Ends with the lock. */
static void *keep(void *arg)
{
	pthread_mutex_lock(&other);
	return arg;
}

static void *join_main(void *arg)
{
	pthread_join(first, NULL); /* @join_main */
	return arg;
}

static void leave(int sig)
{
	_exit(sig);
}

static const struct mode {
	const char *name;
	int threads;
	void *(*routine)(void *), *(*second)(void *);
} modes[] = {
    {"ring2", 2, ring, NULL},
    {"ring3", 3, ring, NULL},
    {"ring5", 5, ring, NULL},
    {"ring20", 20, ring, NULL},
    {"self", 1, self, NULL},
    {"hold-and-join", 2, hold_and_join, want},
    {"upgrade", 1, upgrade, NULL},
    {"reader-writer", 2, reader, writer},
    {"read-again", 2, again, between},
    {"spin", 2, hold_spin, want_spin},
    {"c11", 2, c11, NULL},
    {"file", 2, hold_file, want_file},
    {"once", 1, run_once, NULL},
    {"call-once", 1, run_call_once, NULL},
    {"join-ring", 3, join_ring, NULL},
    {"signal", 1, wait_signal, NULL},
    {"one-signal", 2, wait_first, NULL},
    {"post", 1, wait_post, NULL},
    {"party", 1, wait_party, NULL},
    {"monitor", 2, inner, outer},
    {"kept", 1, keep, NULL},
    {"main", 1, join_main, NULL},
};

int main(int argc, char **argv)
{
	pthread_rwlockattr_t prefer;
	const struct mode *mode = modes;
	const char *end = argc > 2 ? argv[2] : "alarm";
	size_t known = sizeof modes / sizeof *modes;
	while (known && argc > 1 && strcmp(mode->name, argv[1]) != 0)
		mode++, known--;
	if (!known || argc < 2)
		return 2;
	count = mode->threads;
	first = pthread_self();
	for (int i = 0; i < MOST; i++)
		pthread_mutex_init(&m[i], NULL);
	mtx_init(&mtx[0], mtx_plain);
	mtx_init(&mtx[1], mtx_plain);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&sem, 0, 0);
	if (!strcmp(mode->name, "read-again")) {
		pthread_rwlockattr_init(&prefer);
		pthread_rwlockattr_setkind_np(&prefer, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
		pthread_rwlock_init(&rw, &prefer);
	}
	/* Those who need one another, and main where it meets them. */
	pthread_barrier_init(&all, NULL, (unsigned)count + (strcmp(mode->name, "party") == 0));
	if (!strcmp(end, "leave"))
		signal(SIGALRM, leave);
	if (!strcmp(mode->name, "signal"))
		pthread_cond_signal(&cond);
	alarm(2);
	for (int i = 0; i < count; i++)
		start(i && mode->second ? mode->second : mode->routine, i);
	if (!strcmp(mode->name, "kept")) {
		pthread_join(threads[0], NULL);
		pthread_mutex_lock(&other); /* @kept */
	}
	if (!strcmp(mode->name, "one-signal")) {
		usleep(300000);
		pthread_mutex_lock(&other);
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&other);
	}
	if (!strcmp(end, "kill")) {
		/* Another process, which has nothing to do with what they wait for. */
		pid_t parent = getpid();
		if (fork() == 0) {
			usleep(1000000);
			kill(parent, SIGKILL);
			_exit(0);
		}
	}
	if (!strcmp(mode->name, "hold-and-join")) {
		pthread_join(threads[0], NULL); /* @join_first */
	} else if (!strcmp(mode->name, "join-ring")) {
		pause();
	} else {
		join(count);
	}
	return 0;
}
