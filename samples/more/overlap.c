/* Accesses of different sizes that overlap in part: eight bytes against the upper four of them. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

union {
	uint64_t whole;
	uint32_t half[2];
} number[2];

static void *whole(void *arg)
{
	number[0].whole = 1; /* @whole */
	return arg;
}

static void *half(void *arg)
{
	number[0].half[1] = 2; /* @half */
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, whole, NULL);
	pthread_create(&t2, NULL, half, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
