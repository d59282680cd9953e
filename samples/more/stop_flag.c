/* A plain flag that asks a thread to stop. volatile does not help: it is no synchronisation. */
#include <pthread.h>
#include <unistd.h>

volatile int stop;

static void *worker(void *arg)
{
	while (!stop) /* @test */
		usleep(1000);
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, NULL);
	usleep(5000);
	stop = 1; /* @set */
	pthread_join(t, NULL);
	return 0;
}
