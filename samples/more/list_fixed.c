/* The race-free twin of list.c: readers take the lock as well. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct node {
	struct node *next;
	int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node nodes[4];
struct node *head;

static void *inserter(void *arg)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		nodes[i].value = i;   /* @fill */
		nodes[i].next = head; /* @link */
		head = &nodes[i];     /* @insert */
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void *summer(void *sum)
{
	usleep(20000); /* there is something to iterate over */
	pthread_mutex_lock(&lock);
	for (struct node *n = head; n;   /* @start */
	     n = n->next)                /* @next */
		*(int *)sum += n->value; /* @value */
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;
	int sum = 0;

	pthread_create(&t1, NULL, inserter, NULL);
	pthread_create(&t2, NULL, summer, &sum);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("sum = %d\n", sum);
	return 0;
}
