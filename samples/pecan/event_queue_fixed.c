/*
 * event_queue.c put right: one call that takes the first event if there is one, under one hold of the lock.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

enum { CAPACITY = 16, EVENTS = 4 };

struct queue {
	pthread_mutex_t lock;
	int size;
	int events[CAPACITY];
};

struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = EVENTS, .events = {1, 2, 3, 4}};

/* 0: there is none. */
static int queue_take_first(struct queue *q)
{
	int event = 0;

	pthread_mutex_lock(&q->lock);
	if (q->size > 0) {
		event = q->events[0];
		for (int i = 1; i < q->size; i++)
			q->events[i - 1] = q->events[i];
		q->size--;
	}
	pthread_mutex_unlock(&q->lock);
	return event;
}

static void queue_empty(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->size = 0;
	pthread_mutex_unlock(&q->lock);
}

static void queue_fill(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	for (int i = 0; i < EVENTS; i++)
		q->events[i] = i + 1;
	q->size = EVENTS;
	pthread_mutex_unlock(&q->lock);
}

static void next_event(int thread, int round)
{
	int event;

	(void)thread;
	racetrace_region_begin();
	event = queue_take_first(&queue);
	racetrace_region_end();
	if (!event && !round)
		puts("no event");
}

static void restart(int thread, int round)
{
	(void)thread;
	if (round % 2)
		queue_fill(&queue);
	else
		queue_empty(&queue);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {next_event, restart};

	run(argc, argv, parts, 2, 2);
	printf("%d left\n", queue.size);
	return 0;
}
