/*
 * Ends and interruptions that a scheduler has to survive; the argument names one. Each prints what is said behind it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int stage;

static void unlocks(void *arg)
{
	pthread_mutex_unlock(arg);
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push(unlocks, &m);
	for (;;)
		pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(1);
	return arg;
}

/* A thread is cancelled in a wait; its handler gives the mutex back. "free" */
static void cancel(void)
{
	pthread_t t;

	pthread_create(&t, NULL, waits, NULL);
	usleep(1000);
	pthread_cancel(t);
	pthread_join(t, NULL);
	puts(pthread_mutex_trylock(&m) == 0 ? "free" : "held");
}

static void *spins(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		stage++;
	return arg;
}

/* A thread is cancelled in the middle of its work. "canceled" */
static void asynchronous(void)
{
	pthread_t t;
	void *result;

	pthread_create(&t, NULL, spins, NULL);
	usleep(1000);
	pthread_cancel(t);
	pthread_join(t, &result);
	puts(result == PTHREAD_CANCELED ? "canceled" : "?");
}

static void *dies_with_lock(void *arg)
{
	pthread_mutex_lock(&robust);
	return arg;
}

/* The owner of a robust mutex ends: the next one is told, and repairs it. "owner dead, consistent" */
static void robust_mutex(void)
{
	pthread_mutexattr_t a;
	pthread_t t;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	pthread_create(&t, NULL, dies_with_lock, NULL);
	if (stage == 0)
		usleep(1000);
	int result = pthread_mutex_lock(&robust);
	if (result == EOWNERDEAD)
		pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);
	pthread_join(t, NULL);
	printf("%s, %s\n", result == EOWNERDEAD ? "owner dead" : strerror(result),
	       pthread_mutex_lock(&robust) == 0 ? "consistent" : "?");
}

/* A signal that no thread waits for yet is lost: the threads are deadlocked. */
static void lost(void)
{
	pthread_t t;

	pthread_cond_signal(&c);
	pthread_create(&t, NULL, waits, NULL);
	pthread_join(t, NULL);
}

static void *blocks(void *arg)
{
	pthread_mutex_lock(&m);
	for (;;)
		pause();
	return arg;
}

/* Main ends while others wait, run and sleep. "bye" */
static void alive(void)
{
	pthread_t t[3];

	pthread_create(&t[0], NULL, waits, NULL);
	pthread_create(&t[1], NULL, blocks, NULL);
	pthread_create(&t[2], NULL, spins, NULL);
	usleep(1000);
	puts("bye");
	exit(3);
}

static void *executes(void *arg)
{
	execlp("echo", "echo", "executed", (char *)NULL);
	return arg;
}

/* Another thread than main executes a program. "executed" */
static void execute(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, waits, NULL);
	pthread_create(&t[1], NULL, executes, NULL);
	pthread_join(t[1], NULL);
}

static void *aborts(void *arg)
{
	abort();
	return arg;
}

/* A thread aborts while another one has a lock. */
static void aborted(void)
{
	pthread_t t;

	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, aborts, NULL);
	pthread_join(t, NULL);
}

static void on_signal(int number)
{
	(void)number;
	stage = 1;
}

/* A handler interrupts a thread that waits for a lock, and lets main go on. "handled" */
static void *holds_up(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return arg;
}
static void handler(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, holds_up, NULL);
	usleep(1000);
	pthread_kill(t, SIGUSR1);
	while (!stage)
		sched_yield();
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	puts("handled");
}

/* Conditions and joins whose waiters are about to run a handler when they are woken. "woken" */
static void *waits_once(void *arg)
{
	pthread_mutex_lock(&m);
	stage = 2;
	while (stage != 3)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return arg;
}
static void nothing(int number)
{
	(void)number;
}
static void woken(void)
{
	struct sigaction action = {.sa_handler = nothing};
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&t, NULL, waits_once, NULL);
	usleep(1000);
	pthread_mutex_lock(&m);
	stage = 3;
	pthread_mutex_unlock(&m);
	pthread_kill(t, SIGUSR1);
	pthread_cond_signal(&c);
	pthread_join(t, NULL);
	puts("woken");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {{"cancel", cancel}, {"asynchronous", asynchronous}, {"robust", robust_mutex}, {"lost", lost},
	             {"alive", alive},   {"execute", execute},           {"aborted", aborted},     {"handler", handler},
	             {"woken", woken}};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (argc > 1 && !strcmp(argv[1], parts[i].name))
			parts[i].run();
	return 0;
}
