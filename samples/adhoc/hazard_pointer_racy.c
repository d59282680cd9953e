/*
 * The racy twin of hazard_pointer.c: the reader is done with the node before it uses it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct node {
	int value;
};

static struct node *volatile head, *volatile hazard;

static struct node *make(int value)
{
	struct node *n = malloc(sizeof(*n));

	if (!n)
		exit(1);
	n->value = value; /* @make */
	return n;
}

static int get(void)
{
	struct node *n;
	int value;

	do {
		n = head;    /* @look */
		hazard = n;  /* @protect */
	} while (n != head); /* @again */
	hazard = NULL;       /* @done */
	value = n->value;    /* @use */
	return value;
}

static void *reader(void *sum)
{
	*(int *)sum = get();
	usleep(40000);
	*(int *)sum += get(); /* @add */
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
	head = make(2);       /* @swap */
	while (hazard == old) /* @wait */
		usleep(3000);
	free(old); /* @free */
	pthread_join(t, NULL);
	free(head);
	printf("sum = %d\n", sum);
	return sum == 0;
}
