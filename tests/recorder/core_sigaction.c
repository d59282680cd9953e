/* Installing handlers means what it means without the recorder, and what is asked back is what was installed. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs still use them */

static volatile sig_atomic_t called, value;
static char *alternate;
static volatile int on_alternate;

static void plain(int sig)
{
	char here;

	called = sig;
	on_alternate = &here >= alternate && &here < alternate + 65536;
	errno = EDOM;
}

static void detailed(int sig, siginfo_t *info, void *context)
{
	called = sig;
	value = info->si_value.sival_int;
	assert(context != NULL);
}

static void nested(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	assert(sigismember(&now, sig) && sigismember(&now, SIGUSR2));
	called = sig;
}

static sigjmp_buf back;
static void jumps(int sig)
{
	siglongjmp(back, sig);
}

static int sent(int sig)
{
	called = 0;
	raise(sig);
	return called == sig;
}

int main(void)
{
	struct sigaction act, old;
	stack_t stack = {.ss_size = 65536};

	alternate = stack.ss_sp = malloc(65536);
	assert(sigaltstack(&stack, NULL) == 0);

	assert(signal(SIGUSR1, plain) == SIG_DFL && sent(SIGUSR1) && sent(SIGUSR1) && !on_alternate);
	assert(signal(SIGUSR1, SIG_IGN) == plain && !sent(SIGUSR1) && signal(SIGUSR1, SIG_DFL) == SIG_IGN);

	memset(&act, 0, sizeof act);
	act.sa_sigaction = detailed;
	act.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaddset(&act.sa_mask, SIGUSR2);
	assert(sigaction(SIGUSR1, &act, &old) == 0 && old.sa_handler == SIG_DFL);
	assert(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42}) == 0 && called == SIGUSR1 && value == 42);
	assert(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_sigaction == detailed);
	assert((old.sa_flags & (SA_SIGINFO | SA_RESTART | SA_RESETHAND)) == (SA_SIGINFO | SA_RESTART));
	assert(sigismember(&old.sa_mask, SIGUSR2) && !sigismember(&old.sa_mask, SIGTERM));
	act.sa_handler = nested;
	act.sa_flags = 0;
	assert(sigaction(SIGUSR1, &act, &old) == 0 && old.sa_sigaction == detailed && sent(SIGUSR1));
	assert(sigaction(SIGUSR1, &act, &act) == 0 && act.sa_handler == nested && !(act.sa_flags & SA_SIGINFO));

	act.sa_handler = plain;
	act.sa_flags = (int)SA_RESETHAND | SA_ONSTACK;
	assert(sigaction(SIGUSR1, &act, NULL) == 0 && sigaction(SIGUSR1, NULL, &old) == 0);
	assert(old.sa_flags & (int)SA_RESETHAND && old.sa_handler == plain);
	errno = 0;
	assert(sent(SIGUSR1) && on_alternate);
	assert(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == SIG_DFL);

	assert(sysv_signal(SIGUSR1, plain) == SIG_DFL && sent(SIGUSR1) && signal(SIGUSR1, plain) == SIG_DFL);
	assert(siginterrupt(SIGUSR1, 1) == 0 && sigaction(SIGUSR1, NULL, &old) == 0 && !(old.sa_flags & SA_RESTART));
	assert(old.sa_handler == plain && sent(SIGUSR1));
	assert(sigset(SIGUSR1, SIG_HOLD) == plain && !sent(SIGUSR1));
	assert(sigset(SIGUSR1, plain) == SIG_HOLD && called == SIGUSR1);
	assert(signal(SIGKILL, plain) == SIG_ERR && errno == EINVAL && signal(1000, plain) == SIG_ERR);

	/* A fault, plain and in an atomic operation, that the handler jumps out of. */
	signal(SIGSEGV, jumps);
	for (volatile int i = 0; i < 4; i++)
		if (sigsetjmp(back, 1) == 0) {
			if (i % 2)
				__atomic_fetch_add((int *)16, 1, __ATOMIC_SEQ_CST);
			else
				*(volatile int *)16 = 1;
			return 2;
		}
	int counter = 0;
	for (int i = 0; i < 100; i++)
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	assert(signal(SIGUSR1, plain) == plain && sent(SIGUSR1));
	printf("expect lost-events 0\n");
	return 0;
}
