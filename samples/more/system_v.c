/* System V: a message, and a semaphore used as a lock and as a signal. No race. */
#include <pthread.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

struct message {
	long type;
	int text;
};

int sent, locked;
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
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	printf("%d %d\n", sent, locked);
	return 0;
}
