/* Signals: what is written after one was sent, and what a timer's thread writes while the program reads. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int waited, handled, noticed, greeted;
static sem_t begun;

/* How many handlers began, whether the last ended, and whether a signal was taken: without order, so that what they
 * write races. */
static int began, ended, taken, met;
#define ADD_ONE(count) __atomic_fetch_add(&(count), 1, __ATOMIC_RELAXED)
#define WAIT_FOR(count, value)                                                                                         \
	while (__atomic_load_n(&(count), __ATOMIC_RELAXED) < (value))                                                  \
	usleep(1000)

static void handler(int sig)
{
	(void)sig;
	ADD_ONE(began);
	handled++; /* @handler */
}

/* In a thread that has not begun its routine yet. */
static void greet(int sig)
{
	(void)sig;
	ADD_ONE(met);
	greeted++; /* @greet */
}

static void notice(union sigval value)
{
	(void)value;
	ADD_ONE(began);
	noticed++; /* @notice */
	ADD_ONE(ended);
}

static void *waiter(void *set)
{
	int sig;

	sigwait(set, &sig);
	ADD_ONE(taken);
	usleep(20000);
	return waited ? set : NULL; /* @read */
}

static void *idle(void *unused)
{
	sem_post(&begun);
	WAIT_FOR(began, 1);
	return unused;
}

static void *greeter(void *unused)
{
	WAIT_FOR(met, 1);
	return unused;
}

int main(void)
{
	pthread_t a, b, c;
	sigset_t set;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notice};
	struct itimerspec soon = {.it_value = {0, 1000000}};
	timer_t timer;

	signal(SIGUSR2, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&a, NULL, waiter, &set);
	pthread_kill(a, SIGUSR1);
	waited = 1; /* @write */
	sem_init(&begun, 0, 0);
	pthread_create(&b, NULL, idle, NULL);
	sem_wait(&begun);
	pthread_kill(b, SIGUSR2);
	WAIT_FOR(began, 1);
	handled++;          /* @main */
	WAIT_FOR(taken, 1); /* a signal that is taken later may be the timer's */
	signal(SIGWINCH, greet);
	pthread_create(&c, NULL, greeter, NULL);
	pthread_kill(c, SIGWINCH);
	WAIT_FOR(met, 1);
	greeted++; /* @host */
	pthread_join(c, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	WAIT_FOR(began, 2);
	noticed++; /* @too */
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d %d %d\n", waited, handled, noticed); /* @printed */
	WAIT_FOR(ended, 1);
	return 0;
}
