/*
 * A hazard pointer of plain variables: the reader says which node it uses and looks whether that is still the head; who
 * takes the head away frees it only when no thread uses it. The pointers race, node and free cannot.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef SHARED
#define SHARED volatile /* hazard_pointer_atomic.c: _Atomic */
#endif

struct node {
	int value;
};

static struct node *SHARED head, *SHARED hazard;

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
	usleep(40000);
	value = n->value; /* @use */
	hazard = NULL;    /* @done */
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
	head = make(2);       /* @swap */
	while (hazard == old) /* @wait */
		usleep(3000);
	free(old); /* @free */
	pthread_join(t, NULL);
	free(head);
	printf("sum = %d\n", sum);
	return sum == 0;
}
