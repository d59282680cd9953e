/*
 * Handlers that access shared memory: of faults, on stacks of their own, in two threads at once; and of a timer, in a
 * thread other than the one that looks at what it counts. In handlers.c faults are counted atomically, and who looks at
 * the timer's count is the thread that it interrupts, while the signal is blocked, and another one after that thread
 * has ended.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

int faults, ticks, seen;
static char *pages;
static sem_t done;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	if (RACE_FREE)
		__atomic_fetch_add(&faults, 1, __ATOMIC_SEQ_CST);
	else
		faults++; /* @fault */
	mprotect((void *)((unsigned long)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

static void on_alarm(int sig)
{
	(void)sig;
	ticks++; /* @tick */
}

static void *fault(void *page)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	sigaltstack(&stack, NULL);
	*(volatile char *)page = 1;
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
	return NULL;
}

static void *take_alarms(void *set)
{
	pthread_sigmask(SIG_UNBLOCK, set, NULL);
	while (sem_wait(&done) != 0) {
		if (!RACE_FREE)
			continue;
		pthread_sigmask(SIG_BLOCK, set, NULL);
		seen = ticks;
		ticks = 0;
		pthread_sigmask(SIG_UNBLOCK, set, NULL);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigset_t set;

	sem_init(&done, 0, 0);
	sigaction(SIGSEGV, &action, NULL);
	signal(SIGALRM, on_alarm);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pages = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, fault, pages + 4096 * i);

	pthread_create(&threads[2], NULL, take_alarms, &set);
	setitimer(ITIMER_REAL, &often, NULL);
	usleep(200000); /* the thread runs, however busy the machine is */
	if (!RACE_FREE)
		ticks = 0; /* @reset */
	usleep(10000);
	setitimer(ITIMER_REAL, &never, NULL);
	sem_post(&done);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (RACE_FREE)
		return faults == 2 ? 0 * (seen + ticks) : 1;
	return 0;
}
