/*
 * System V: written after the message was sent, also where one of another type follows, and after room was made; a lock
 * that is another semaphore of the set.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

struct message {
	long type;
	int text;
};

struct large {
	long type;
	char text[1000];
};
#define LARGE 17 /* more than a queue has room for */

int sent, locked, typed, room;
static int queue, semaphores;

static void change(unsigned short number, short by)
{
	struct sembuf operation = {number, by, 0};

	semop(semaphores, &operation, 1);
}

static void *worker(void *unused)
{
	struct message m;

	msgrcv(queue, &m, sizeof m.text, 0, 0);
	usleep(20000);
	sent += m.text; /* @taken */
	change(1, -1);
	locked++; /* @one */
	change(1, 1);
	return unused;
}

static void *taker(void *unused)
{
	struct large m;

	usleep(20000);
	msgrcv(queue, &m, sizeof m.text, 2, 0);
	typed++; /* @typed */
	for (int i = 0; i < LARGE; i++)
		msgrcv(queue, &m, sizeof m.text, 3, 0);
	room = 1; /* @made */
	return unused;
}

static void put(long type)
{
	struct large m = {type, {0}};

	msgsnd(queue, &m, sizeof m.text, 0);
}

int main(void)
{
	struct message m = {1, 2};
	pthread_t t;

	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 2, 0600);
	change(0, 1);
	change(1, 1);
	pthread_create(&t, NULL, worker, NULL);
	msgsnd(queue, &m, sizeof m.text, 0);
	sent = 1; /* @late */
	change(0, -1);
	locked++; /* @other */
	change(0, 1);
	pthread_join(t, NULL);

	pthread_create(&t, NULL, taker, NULL);
	put(2);
	typed = 1; /* @retyped */
	for (int i = 0; i < LARGE; i++)
		put(3);
	room++; /* @found */
	pthread_join(t, NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	printf("%d %d\n", sent, locked);
	return 0;
}
