/* System V: messages, of two types, room in a full queue, and a semaphore used as a lock and as a signal. No race. */
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
	sent += m.text;
	change(0, -1);
	locked++;
	change(0, 1);
	return unused;
}

static void *taker(void *unused)
{
	struct large m;

	usleep(20000);
	msgrcv(queue, &m, sizeof m.text, 2, 0);
	typed++;
	room = 1;
	for (int i = 0; i < LARGE; i++)
		msgrcv(queue, &m, sizeof m.text, 3, 0);
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
	pthread_create(&t, NULL, worker, NULL);
	sent = 1;
	msgsnd(queue, &m, sizeof m.text, 0);
	change(0, -1);
	locked++;
	change(0, 1);
	pthread_join(t, NULL);

	pthread_create(&t, NULL, taker, NULL);
	typed = 1;
	put(2);
	for (int i = 0; i < LARGE; i++)
		put(3);
	room++;
	pthread_join(t, NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	printf("%d %d\n", sent, locked);
	return 0;
}
