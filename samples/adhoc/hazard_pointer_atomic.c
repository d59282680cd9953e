/*
 * hazard_pointer.c with atomic pointers, sequentially consistent as the protocol needs it. No race.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct node {
	int value;
};

static struct node *_Atomic head, *_Atomic hazard;

static struct node *make(int value)
{
	struct node *n = malloc(sizeof(*n));

	if (!n)
		exit(1);
	n->value = value;
	return n;
}

static int get(void)
{
	struct node *n;
	int value;

	do {
		n = head;
		hazard = n;
	} while (n != head);
	usleep(40000);
	value = n->value;
	hazard = NULL;
	return value;
}

static void *reader(void *sum)
{
	*(int *)sum = get();
	usleep(40000);
	*(int *)sum += get();
	return NULL;
}

int main(void)
{
	pthread_t t;
	int sum = 0;

	head = make(40);
	pthread_create(&t, NULL, reader, &sum);
	usleep(20000);
	struct node *old = head;
	head = make(2);
	while (hazard == old)
		usleep(3000);
	free(old);
	pthread_join(t, NULL);
	free(head);
	printf("sum = %d\n", sum);
	return sum == 0;
}
