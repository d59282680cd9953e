/*
 * A flag that is spun on by plain reads. The flag itself races; what is behind it cannot: its reader goes on only when
 * it has seen the flag's write, which comes after the data's. Locks and partial order do not know that, what each read
 * saw does.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifndef SHARED
#define SHARED volatile /* spin_flag_atomic.c: _Atomic */
#endif

static int data[2];
static SHARED int ready;

static void *produce(void *arg)
{
	usleep(20000);
	data[0] = 40; /* @put0 */
	data[1] = 2;  /* @put1 */
	ready = 1;    /* @set */
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
