/* The race-free twin of stop_flag.c: the flag is atomic. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int stop;

static void *worker(void *arg)
{
	while (!atomic_load(&stop)) /* @test */
		usleep(1000);
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, NULL);
	usleep(5000);
	atomic_store(&stop, 1); /* @set */
	pthread_join(t, NULL);
	return 0;
}
