/*
 * core_handlers LOOPS: handlers with every combination of flags that a program can give, on an alternate stack and off
 * it, at about 10,000 signals a second; some leave by siglongjmp. The threads lock and count meanwhile, which the
 * recorder is busy with when a signal comes. Everything is as in a plain run if the sums are right.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static volatile sig_atomic_t ticks, wrong, jumps, jumping, depth, going;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t may_jump;
static int flags_now;

static void work(int times)
{
	for (int i = 0; i < times; i++) {
		pthread_mutex_lock(&lock);
		sum++;
		pthread_mutex_unlock(&lock);
	}
}

/*
 * The kernel takes a handler with SA_RESETHAND away a moment before it masks the signal: a second one in that moment
 * ends any program. So there the next signal is asked for when the handler is back.
 */
static void ask(void)
{
	struct itimerval every = {{0, 100}, {0, 100}};
	if (flags_now & (int)SA_RESETHAND)
		every.it_interval.tv_usec = 0;
	setitimer(ITIMER_REAL, &every, NULL);
}

static void handler(int sig, siginfo_t *info, void *context)
{
	struct sigaction now;
	sigset_t mask;

	(void)context;
	ticks++;
	if (++depth > 50)
		wrong = 1; /* it comes again and again */
	if (flags_now & SA_SIGINFO && (!info || info->si_signo != sig))
		wrong = 2;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	if (sigismember(&mask, sig) != !(flags_now & SA_NODEFER) || !sigismember(&mask, SIGUSR2))
		wrong = 3;
	sigaction(sig, NULL, &now);
	if ((flags_now & (int)SA_RESETHAND) != 0
	        ? now.sa_handler != SIG_DFL
	        : now.sa_sigaction != handler || (now.sa_flags & ~0x04000000) != flags_now)
		wrong = 4;
	if (flags_now & (int)SA_RESETHAND) {
		now = (struct sigaction){.sa_sigaction = handler, .sa_flags = flags_now};
		sigemptyset(&now.sa_mask);
		sigaddset(&now.sa_mask, SIGUSR2);
		sigaction(sig, &now, NULL);
		if (going)
			ask();
	}
	depth--;
	if (jumping && may_jump) {
		jumps++;
		siglongjmp(back, 1);
	}
}

static void *helper(void *arg)
{
	work(*(int *)arg);
	return NULL;
}

/* One combination, for at least `loops` turns, some signals and, if they may, a jump: returns how many turns were made.
 */
static long storm(int flags, int jump, int loops)
{
	const int ticked = ticks, jumped = jumps;
	const struct itimerval off = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = flags};
	volatile long done = 0;
	pthread_t thread;
	sigset_t mask, all;

	sigemptyset(&act.sa_mask);
	sigaddset(&act.sa_mask, SIGUSR2);
	flags_now = flags;
	jumping = jump;
	depth = 0;
	sigaction(SIGALRM, &act, NULL);
	/* The thread takes no signal from its first moment on: its handler would count in the middle of main's. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	pthread_create(&thread, NULL, helper, &loops);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	going = 1;
	ask();
	for (int i = 0; i < loops || ticks - ticked < 4 || (jump && jumps == jumped); i++) {
		/* Where it may jump it holds no lock. */
		if (jump && sigsetjmp(back, 1) == 0) {
			may_jump = 1;
			for (volatile int k = 0; k < 20; k++)
				;
		}
		may_jump = 0;
		work(1);
		done++;
	}
	going = 0;
	setitimer(ITIMER_REAL, &off, NULL);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	if (sigismember(&mask, SIGALRM) || sigismember(&mask, SIGUSR2))
		wrong = 5; /* as it was before */
	return done + loops;
}

int main(int argc, char **argv)
{
	static char stack[1 << 16];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	const int bits[] = {SA_NODEFER, SA_RESTART, SA_SIGINFO, SA_ONSTACK, (int)SA_RESETHAND};
	int loops = atoi(argv[1]);
	long total = 0;

	(void)argc;
	sigaltstack(&alternate, NULL);
	for (int jump = 0; jump < 2; jump++)
		for (int combination = 0; combination < 32 && !wrong; combination++) {
			int flags = 0;
			for (int i = 0; i < 5; i++)
				if (combination >> i & 1)
					flags |= bits[i];
			/* On one alternate stack a handler that jumps leaves it, and one that is not masked would take
			 * it twice. */
			if (flags & SA_ONSTACK && flags & SA_NODEFER)
				continue;
			/* And one that is gone while it is not masked ends any program. */
			if (flags & (int)SA_RESETHAND && flags & SA_NODEFER)
				continue;
			total += storm(flags, jump, loops);
		}
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigaction(SIGALRM, &ignore, NULL);
	if (sysv_signal(SIGUSR1, SIG_DFL) == SIG_ERR)
		wrong = 6;
	if (wrong || sum != total || ticks < 100 || jumps < 10) {
		printf("wrong %d, sum %ld of %ld, %d ticks, %d jumps\n", (int)wrong, sum, total, (int)ticks,
		       (int)jumps);
		return 1;
	}
	printf("expect acquire %ld\nexpect release %ld\nexpect lost-events 0\n", total, total);
	return 0;
}
