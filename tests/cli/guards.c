/* For t_guards.sh: guards that are kept, forgotten once, and not there. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define GUARDED_BY(lock)

static struct queue {
	pthread_mutex_t lock;
	int size GUARDED_BY(lock);
	int peak GUARDED_BY(lock);
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static int half, kept, slots[4] __attribute__((unused));
static int never GUARDED_BY(other); // touched by main alone
struct box {
	pthread_mutex_t m;
	int value;
};
static struct box *boxes[2];
static atomic_int done; /* relaxed: it orders nothing */

static int peek(void)
{
	return queue.size; /* @outlier */
}

static void *work(void *which)
{
	int seen = 0;
	for (int i = 0; i < 30; i++) {
		pthread_mutex_lock(&queue.lock);
		queue.size++;
		queue.peak += queue.size;
		pthread_mutex_unlock(&queue.lock);
		pthread_mutex_lock(&other);
		half++;
		kept++;
		slots[i % 4]++;
		pthread_mutex_unlock(&other);
		half++;
		struct box *b = boxes[i % 2];
		pthread_mutex_lock(&b->m);
		b->value++;
		pthread_mutex_unlock(&b->m);
	}
	atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
	while (which && atomic_load_explicit(&done, memory_order_relaxed) < 2)
		usleep(1000);
	if (which)
		seen = peek();
	return seen < 0 ? which : NULL;
}

int main(void)
{
	pthread_t t[2];
	int total = 0;
	never = 1;
	for (int i = 0; i < 2; i++) {
		boxes[i] = calloc(1, sizeof *boxes[i]);
		pthread_mutex_init(&boxes[i]->m, NULL);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, i ? &total : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	total += queue.size + queue.peak + half + kept + slots[0] + boxes[0]->value + never;
	free(boxes[0]);
	free(boxes[1]);
	return total < 0;
}
