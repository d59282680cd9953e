/*
 * The racy twin of bounded_queue.c: before it takes the mutex, the consumer looks whether there is anything, "to be
 * fast". The look races with the producer's change of the size.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { CAPACITY = 4, ITEMS = 20 };

struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t not_full;
	int items[CAPACITY];
	int head, size;
};

struct queue queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER};

static void put(struct queue *q, int item)
{
	pthread_mutex_lock(&q->mutex);
	while (q->size == CAPACITY)
		pthread_cond_wait(&q->not_full, &q->mutex);
	q->items[(q->head + q->size) % CAPACITY] = item;
	q->size++; /* @put */
	pthread_mutex_unlock(&q->mutex);
}

static int get(struct queue *q, int *item)
{
	if (q->size == 0) /* @look */
		return 0;
	pthread_mutex_lock(&q->mutex);
	*item = q->items[q->head];
	q->head = (q->head + 1) % CAPACITY;
	q->size--; /* @get */
	pthread_cond_signal(&q->not_full);
	pthread_mutex_unlock(&q->mutex);
	return 1;
}

static void *producer(void *arg)
{
	for (int i = 1; i <= ITEMS; i++)
		put(&queue, i);
	return arg;
}

static void *consumer(void *sum)
{
	int item;

	for (int i = 0; i < ITEMS;) {
		if (get(&queue, &item)) {
			*(int *)sum += item;
			i++;
		} else {
			usleep(1000);
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t p, c;
	int sum = 0;

	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, &sum);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	printf("sum = %d\n", sum);
	return 0;
}
