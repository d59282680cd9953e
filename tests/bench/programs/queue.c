/* Two producers and two consumers on a bounded queue with condition variables. Usage: queue [N] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 64, PAIRS = 2 };
static struct {
	pthread_mutex_t lock;
	pthread_cond_t room, goods;
	long slot[SLOTS];
	int first, used;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .room = PTHREAD_COND_INITIALIZER, .goods = PTHREAD_COND_INITIALIZER};
static long n = 150000;

static void put(long value)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.used == SLOTS)
		pthread_cond_wait(&queue.room, &queue.lock);
	queue.slot[(queue.first + queue.used++) % SLOTS] = value;
	pthread_cond_signal(&queue.goods);
	pthread_mutex_unlock(&queue.lock);
}

static long take(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.used == 0)
		pthread_cond_wait(&queue.goods, &queue.lock);
	long value = queue.slot[queue.first];
	queue.first = (queue.first + 1) % SLOTS;
	queue.used--;
	pthread_cond_signal(&queue.room);
	pthread_mutex_unlock(&queue.lock);
	return value;
}

static void *produce(void *arg)
{
	for (long i = 0; i < n; i++)
		put(i);
	return arg;
}

static void *consume(void *arg)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += take();
	*(long *)arg = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		n = atol(argv[1]);
	pthread_t threads[2 * PAIRS];
	long sums[PAIRS];
	for (int i = 0; i < PAIRS; i++) {
		pthread_create(&threads[i], NULL, produce, NULL);
		pthread_create(&threads[PAIRS + i], NULL, consume, &sums[i]);
	}
	for (int i = 0; i < 2 * PAIRS; i++)
		pthread_join(threads[i], NULL);
	long sum = 0;
	for (int i = 0; i < PAIRS; i++)
		sum += sums[i];
	printf("%ld\n", sum);
	return sum == PAIRS * (n * (n - 1) / 2) ? 0 : 1;
}
