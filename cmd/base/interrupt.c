/* Signals that end the runs of a program; see interrupt.h. */
#include "cmd/base/interrupt.h"

static const int signals[INTERRUPTS] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = signal;
}

void interrupt_take(struct sigaction old[INTERRUPTS])
{
	const struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
	for (int i = 0; i < INTERRUPTS; i++) {
		sigaction(signals[i], &action, &old[i]);
		if (signals[i] == SIGHUP && old[i].sa_handler == SIG_IGN) /* nohup */
			sigaction(signals[i], &old[i], NULL);
	}
}

void interrupt_give(const struct sigaction old[INTERRUPTS])
{
	for (int i = 0; i < INTERRUPTS; i++)
		sigaction(signals[i], &old[i], NULL);
}

int interrupt_came(void)
{
	return interrupted;
}

void interrupt_forget(void)
{
	interrupted = 0;
}

void interrupt_wait(struct pollfd *fds, nfds_t n, const struct timespec *time)
{
	sigset_t taken, before;
	sigemptyset(&taken);
	for (int i = 0; i < INTERRUPTS; i++)
		sigaddset(&taken, signals[i]);
	sigprocmask(SIG_BLOCK, &taken, &before);
	if (!interrupted)
		ppoll(fds, n, time, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
