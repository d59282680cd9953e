/*
 * Event queue: PECAN's figure 7, a bug in the event manager of Jigsaw.
 *
 * The bug: next_event() asks the queue for its size (1 in the figure), then for its first element (2), then removes it
 * (3). Each call takes the queue's lock, and all of them together are meant to be atomic, but another thread may empty
 * the queue in between: element_at(0) of an empty queue, Jigsaw's ArrayIndexOutOfBoundsException.
 *
 * In the recorded run the queue is emptied when the event has been taken. (In the figure the other one takes an event
 * as well. It then looks at the size itself, and sees it as the first has left it; that it would as well have gone on
 * with the size as it was before, the events of this run do not show.)
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

static int queue_size(struct queue *q)
{
	int size;

	pthread_mutex_lock(&q->lock);
	size = q->size; /* @size */
	pthread_mutex_unlock(&q->lock);
	return size;
}

/* -1: out of bounds. */
static int queue_element_at(struct queue *q, int i)
{
	int event = -1;

	pthread_mutex_lock(&q->lock);
	if (i < q->size) /* @bound */
		event = q->events[i];
	pthread_mutex_unlock(&q->lock);
	return event;
}

static void queue_remove_first(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	if (q->size > 0) { /* @any */
		for (int i = 1; i < q->size; i++)
			q->events[i - 1] = q->events[i];
		q->size--; /* @remove */
	}
	pthread_mutex_unlock(&q->lock);
}

static void queue_empty(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->size = 0; /* @empty */
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
	int event = 0;

	(void)thread;
	racetrace_region_begin();
	if (queue_size(&queue)) {
		event = queue_element_at(&queue, 0);
		queue_remove_first(&queue);
	}
	racetrace_region_end();
	if (event < 0 && !round)
		puts("ERROR: the event has gone");
}

/* Drops events that no thread waits for any more. */
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
