/*
 * Threads that wait, one case an argument, and nothing that is certain to go wrong: who only tries or waits for a time
 * is in no deadlock, and what some thread may still give is no hang.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static sem_t sem;

static struct timespec soon(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 100000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* Opposite orders, but who finds the second lock taken gives up. */
static void *try(void *second)
{
	pthread_mutex_t *mine = second ? &b : &a, *other = second ? &a : &b;
	pthread_mutex_lock(mine);
	pthread_barrier_wait(&both);
	if (pthread_mutex_trylock(other) == 0)
		abort();
	pthread_barrier_wait(&both);
	pthread_mutex_unlock(mine);
	return NULL;
}

static void *timed(void *second)
{
	struct timespec until = soon();
	pthread_mutex_t *mine = second ? &b : &a, *other = second ? &a : &b;
	pthread_mutex_lock(mine);
	pthread_barrier_wait(&both);
	if (pthread_mutex_timedlock(other, &until) == 0)
		abort();
	pthread_barrier_wait(&both);
	pthread_mutex_unlock(mine);
	return NULL;
}

/* The same, with a time that does not come before the alarm: who waits until then is still in no deadlock. */
static void *long_timed(void *second)
{
	struct timespec until = soon();
	pthread_mutex_t *mine = second ? &b : &a, *other = second ? &a : &b;
	until.tv_sec += 100;
	pthread_mutex_lock(mine);
	pthread_barrier_wait(&both);
	return pthread_mutex_timedlock(other, &until) == 0 ? NULL : second;
}

/* Polls. */
static void *poll_wait(void *second)
{
	struct timespec until = soon();
	if (second)
		return NULL;
	pthread_mutex_lock(&a);
	while (pthread_cond_timedwait(&cond, &a, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&a);
	while (sem_timedwait(&sem, &until) != 0 && errno == EINTR)
		;
	return NULL;
}

static void *wait_signal(void *second)
{
	if (second) {
		usleep(10000000); /* and would signal then */
		pthread_cond_signal(&cond);
		return NULL;
	}
	pthread_mutex_lock(&a);
	pthread_cond_wait(&cond, &a);
	pthread_mutex_unlock(&a);
	return NULL;
}

static void *wait_post(void *second)
{
	(void)second;
	while (sem_wait(&sem) != 0)
		;
	return NULL;
}

static void post(int sig)
{
	(void)sig;
	sem_post(&sem);
}

/* A timer's function will post, in a thread of the C library's. */
static void function(union sigval value)
{
	sem_post(value.sival_ptr);
}
static void set_timer(void)
{
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD};
	struct itimerspec later = {.it_value = {.tv_sec = 100}};
	event.sigev_notify_function = function;
	event.sigev_value.sival_ptr = &sem;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &later, NULL) != 0)
		abort();
}

/* A reader may read again while a writer waits, of a lock that prefers readers. */
static void *read_again(void *second)
{
	if (second) {
		pthread_barrier_wait(&both);
		pthread_rwlock_wrlock(&rw);
		pthread_rwlock_unlock(&rw);
		return NULL;
	}
	pthread_rwlock_rdlock(&rw);
	pthread_barrier_wait(&both);
	usleep(100000);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_unlock(&rw);
	return NULL;
}

static void *leave(void *second)
{
	if (second) {
		usleep(100000);
		exit(0);
	}
	return wait_signal(NULL);
}

static const struct mode {
	const char *name;
	void *(*routine)(void *);
	int joins;
} modes[] = {
    {"try", try, 1},           {"timed", timed, 1},       {"long-timed", long_timed, 1}, {"poll", poll_wait, 1},
    {"sleep", wait_signal, 1}, {"handler", wait_post, 1}, {"shared", wait_post, 1},      {"read-again", read_again, 1},
    {"pool", wait_post, 0},    {"timer", wait_post, 1},   {"leave", leave, 1},
};

int main(int argc, char **argv)
{
	pthread_t t[2];
	const struct mode *mode = modes;
	size_t known = sizeof modes / sizeof *modes;
	while (known && argc > 1 && strcmp(mode->name, argv[1]) != 0)
		mode++, known--;
	if (!known || argc < 2)
		return 2;
	pthread_barrier_init(&both, NULL, 2);
	sem_init(&sem, !strcmp(mode->name, "shared"), 0);
	if (!strcmp(mode->name, "handler"))
		signal(SIGUSR1, post);
	if (!strcmp(mode->name, "timer"))
		set_timer();
	/* Some wait until then; the others end before. */
	alarm(strstr("long-timed sleep handler shared timer", mode->name) ? 2 : 30);
	pthread_create(&t[0], NULL, mode->routine, NULL);
	pthread_create(&t[1], NULL, mode->routine, &t);
	for (int i = 0; i < 2 * mode->joins; i++)
		pthread_join(t[i], NULL);
	return 0;
}
