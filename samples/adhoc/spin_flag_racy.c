/*
 * The racy twin of spin_flag.c: the flag is set too early, so its reader may get what is not there yet.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int data[2];
static volatile int ready;

static void *produce(void *arg)
{
	usleep(20000);
	data[0] = 40; /* @put0 */
	ready = 1;    /* @set */
	data[1] = 2;  /* @put1 */
	return arg;
}

static void *consume(void *sum)
{
	while (!ready) /* @wait */
		usleep(3000);
	*(int *)sum = data[0];  /* @get0 */
	*(int *)sum += data[1]; /* @get1 */
	return NULL;
}

int main(void)
{
	pthread_t p, c;
	int sum = 0;

	pthread_create(&p, NULL, produce, NULL);
	pthread_create(&c, NULL, consume, &sum);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	printf("sum = %d\n", sum);
	return sum != 42;
}
