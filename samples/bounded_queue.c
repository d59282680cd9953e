/* A bounded queue: one mutex, two condition variables, and each wait in a loop that tests the state. No race. */
#include <pthread.h>
#include <stdio.h>

enum { CAPACITY = 4, ITEMS = 20 };

struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t not_empty, not_full;
	int items[CAPACITY];
	int head, size;
};

struct queue queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER};

static void put(struct queue *q, int item)
{
	pthread_mutex_lock(&q->mutex);
	while (q->size == CAPACITY)
		pthread_cond_wait(&q->not_full, &q->mutex);
	q->items[(q->head + q->size) % CAPACITY] = item;
	q->size++; /* @put */
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->mutex);
}

static int get(struct queue *q)
{
	int item;

	pthread_mutex_lock(&q->mutex);
	while (q->size == 0)
		pthread_cond_wait(&q->not_empty, &q->mutex);
	item = q->items[q->head];
	q->head = (q->head + 1) % CAPACITY;
	q->size--; /* @get */
	pthread_cond_signal(&q->not_full);
	pthread_mutex_unlock(&q->mutex);
	return item;
}

static void *producer(void *arg)
{
	for (int i = 1; i <= ITEMS; i++)
		put(&queue, i);
	return arg;
}

static void *consumer(void *sum)
{
	for (int i = 0; i < ITEMS; i++)
		*(int *)sum += get(&queue);
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
	return sum != ITEMS * (ITEMS + 1) / 2;
}
