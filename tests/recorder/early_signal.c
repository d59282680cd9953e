/* 50 threads, each of which handles a signal to the process before anything else: all others block it. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int handled;

static void handler(int sig)
{
	(void)sig;
	handled++;
}

static void *routine(void *unused)
{
	return unused;
}

int main(void)
{
	sigset_t none, blocked;
	pthread_attr_t attr;
	pthread_t t;

	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &none);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 50; i++) {
		kill(getpid(), SIGUSR1);
		pthread_create(&t, &attr, routine, NULL);
		pthread_join(t, NULL);
	}
	return handled != 50;
}
