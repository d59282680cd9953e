/*
 * Signals from one thread to another: sigwait, a handler, a queued value, a timer's signal and a timer's thread each
 * see what was written before. No race.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int waited, handled, queued, alarmed, noticed, seen;
static sem_t ready, done;

static void handler(int sig)
{
	(void)sig;
	seen += handled;
	sem_post(&done);
}

static void notice(union sigval value)
{
	*(int *)value.sival_ptr += noticed;
	sem_post(&done);
}

static void *waiter(void *set)
{
	siginfo_t info;
	int sig;

	sem_post(&ready);
	sigwait(set, &sig);
	seen += waited;
	sigwaitinfo(set, &info);
	seen += queued + info.si_value.sival_int;
	sigwait(set, &sig);
	seen += alarmed;
	return NULL;
}

static void *idle(void *unused)
{
	sem_wait(&ready);
	return unused;
}

int main(void)
{
	pthread_t a, b;
	sigset_t set, one;
	static int total;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notice};
	struct itimerspec soon = {.it_value = {0, 1000000}};
	timer_t timer;

	sem_init(&ready, 0, 0);
	sem_init(&done, 0, 0);
	signal(SIGUSR2, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&a, NULL, waiter, &set);
	sem_wait(&ready);
	waited = 1;
	pthread_kill(a, SIGUSR1);
	usleep(20000);
	queued = 1;
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 2});
	usleep(20000);
	alarmed = 1;
	event.sigev_value.sival_ptr = &total;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	alarm(1);
	pthread_join(a, NULL);

	pthread_create(&b, NULL, idle, NULL);
	usleep(5000);
	handled = 1;
	pthread_kill(b, SIGUSR2);
	sem_wait(&done);
	sem_post(&ready);
	pthread_join(b, NULL);

	noticed = 1;
	timer_settime(timer, 0, &soon, NULL);
	sem_wait(&done);
	sigemptyset(&one);
	printf("%d %d\n", seen, total);
	return 0;
}
