/*
 * What a child passes on to another thread: the child hears by a pipe, a pair of sockets, a semaphore or its creation,
 * and the other thread hears of it by such, by a message or a signal. Here what it should find is written after the
 * child was told. In children.c it comes before.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

int by_pipe, by_pair, by_semaphore, by_queue, by_signal, by_fork;
static int to_child[2], from_child[2], pair[2], news[2], queue;
static sem_t *to_semaphore, *from_semaphore, heard;

/* The thread that hears of it has acted before the next one is told. */
#define HAND(variable, tell)                                                                                           \
	do {                                                                                                           \
		if (RACE_FREE)                                                                                         \
			variable = 1;                                                                                  \
		tell;                                                                                                  \
		if (!RACE_FREE)                                                                                        \
			variable = 1;                                                                                  \
		sem_wait(&heard);                                                                                      \
	} while (0)

struct message {
	long type;
	char text[1];
};

/* The child hands on, in turn, whatever comes to it. */
static void hand_on(void)
{
	char byte;
	struct message message = {1, {0}};
	read(to_child[0], &byte, 1);
	write(from_child[1], &byte, 1);
	read(pair[1], &byte, 1);
	write(from_child[1], &byte, 1);
	sem_wait(to_semaphore);
	sem_post(from_semaphore);
	sem_wait(to_semaphore);
	msgsnd(queue, &message, sizeof message.text, 0);
	read(to_child[0], &byte, 1);
	kill(getppid(), SIGUSR1);
	_exit(0);
}

static void tell(void)
{
	write(news[1], "f", 1);
	_exit(0);
}

static void *hears(void *unused)
{
	char byte;
	int sig;
	sigset_t usr1;
	struct message message;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	read(from_child[0], &byte, 1);
	by_pipe++; /* @pipe */
	sem_post(&heard);
	read(from_child[0], &byte, 1);
	by_pair++; /* @pair */
	sem_post(&heard);
	sem_wait(from_semaphore);
	by_semaphore++; /* @semaphore */
	sem_post(&heard);
	msgrcv(queue, &message, sizeof message.text, 1, 0);
	by_queue++; /* @queue */
	sem_post(&heard);
	sigwait(&usr1, &sig);
	by_signal++; /* @signal */
	sem_post(&heard);
	read(news[0], &byte, 1);
	by_fork++; /* @fork */
	sem_post(&heard);
	return unused;
}

int main(void)
{
	pthread_t thread;
	sigset_t usr1;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	to_semaphore = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	from_semaphore = to_semaphore + 1;
	sem_init(to_semaphore, 1, 0);
	sem_init(from_semaphore, 1, 0);
	pipe(to_child);
	pipe(from_child);
	pipe(news);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	if (!fork())
		hand_on();
	sem_init(&heard, 0, 0);
	pthread_create(&thread, NULL, hears, NULL);

	HAND(by_pipe, write(to_child[1], "p", 1));   /* @to_pipe */
	HAND(by_pair, write(pair[0], "s", 1));       /* @to_pair */
	HAND(by_semaphore, sem_post(to_semaphore));  /* @to_semaphore */
	HAND(by_queue, sem_post(to_semaphore));      /* @to_queue */
	HAND(by_signal, write(to_child[1], "k", 1)); /* @to_signal */
	HAND(by_fork, if (!fork()) tell());          /* @to_fork */
	pthread_join(thread, NULL);
	while (wait(NULL) > 0)
		;
	msgctl(queue, IPC_RMID, NULL);
	return 0;
}
