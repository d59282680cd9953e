/*
 * What a child passes on to another thread: the child hears by a pipe, a pair of sockets, a semaphore, its creation or
 * what synchronises in shared memory, and the other thread hears of it by such, by a message, a signal, a file or a
 * named pipe. So it is with a process that a child has left behind. Here what the thread should find is written after
 * the child was told, or when no child is left. In children.c it comes before.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

int by_pipe, by_pair, by_semaphore, by_queue, by_signal, by_atomic, by_condition, by_lock, by_barrier, by_file, by_name,
    by_fork, left_behind, after_all, by_orphan;
static int to_child[2], from_child[2], pair[2], news[2], queue;
static char folder[] = "/tmp/children-XXXXXX", file[32], named[32];
static sem_t *to_semaphore, *from_semaphore, heard;

/* In shared memory: one for each way. */
static struct channel {
	atomic_int flag;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	pthread_rwlock_t lock;
	pthread_barrier_t barrier;
	int said, written;
} * to, *from;

static void make(struct channel *c)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;
	pthread_rwlockattr_t lock;
	pthread_barrierattr_t barrier;
	pthread_mutexattr_init(&mutex);
	pthread_condattr_init(&condition);
	pthread_rwlockattr_init(&lock);
	pthread_barrierattr_init(&barrier);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
	pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&c->mutex, &mutex);
	pthread_cond_init(&c->condition, &condition);
	pthread_rwlock_init(&c->lock, &lock);
	pthread_barrier_init(&c->barrier, &barrier, 2);
}

static void await_flag(struct channel *c)
{
	while (!atomic_load_explicit(&c->flag, memory_order_acquire))
		usleep(1000);
}

static void say(struct channel *c)
{
	pthread_mutex_lock(&c->mutex);
	c->said = 1;
	pthread_cond_signal(&c->condition);
	pthread_mutex_unlock(&c->mutex);
}

static void await_said(struct channel *c)
{
	pthread_mutex_lock(&c->mutex);
	while (!c->said)
		pthread_cond_wait(&c->condition, &c->mutex);
	pthread_mutex_unlock(&c->mutex);
}

static void write_down(struct channel *c)
{
	pthread_rwlock_wrlock(&c->lock);
	c->written = 1;
	pthread_rwlock_unlock(&c->lock);
}

static void await_written(struct channel *c)
{
	for (int is = 0; !is; usleep(1000)) {
		pthread_rwlock_rdlock(&c->lock);
		is = c->written;
		pthread_rwlock_unlock(&c->lock);
	}
}

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
	await_flag(to);
	atomic_store_explicit(&from->flag, 1, memory_order_release);
	await_said(to);
	say(from);
	await_written(to);
	write_down(from);
	pthread_barrier_wait(&to->barrier);
	pthread_barrier_wait(&from->barrier);
	read(to_child[0], &byte, 1);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	read(to_child[0], &byte, 1);
	write(open(named, O_WRONLY), &byte, 1);
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
	await_flag(from);
	by_atomic++; /* @atomic */
	sem_post(&heard);
	await_said(from);
	by_condition++; /* @condition */
	sem_post(&heard);
	await_written(from);
	by_lock++; /* @lock */
	sem_post(&heard);
	pthread_barrier_wait(&from->barrier);
	by_barrier++; /* @barrier */
	sem_post(&heard);
	while (access(file, F_OK))
		usleep(1000);
	by_file++; /* @file */
	sem_post(&heard);
	read(open(named, O_RDONLY), &byte, 1);
	by_name++; /* @name */
	sem_post(&heard);
	read(news[0], &byte, 1);
	by_fork++; /* @fork */
	sem_post(&heard);
	return unused;
}

static void pass_on(void)
{
	char byte;
	read(to_child[0], &byte, 1);
	write(from_child[1], &byte, 1);
	_exit(0);
}

/* The child that wrote it may have been waited for. */
static void *reads_rest(void *unused)
{
	char byte;
	usleep(50000);
	read(from_child[0], &byte, 1);
	left_behind++; /* @rest */
	return unused;
}

/* No child is left that could have passed on what main wrote. */
static void *comes_later(void *unused)
{
	char byte;
	usleep(20000);
	write(news[1], "l", 1);
	read(news[0], &byte, 1);
	after_all++; /* @later */
	return unused;
}

/* Its parent ends before it is told. */
static void leave_behind(void)
{
	char byte;
	if (fork())
		_exit(0);
	read(pair[1], &byte, 1);
	write(news[1], &byte, 1);
	_exit(0);
}

static void *hears_orphan(void *unused)
{
	char byte;
	read(news[0], &byte, 1);
	by_orphan++; /* @orphan */
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
	to = mmap(NULL, 2 * sizeof *to, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	from = to + 1;
	make(to);
	make(from);
	sem_init(to_semaphore, 1, 0);
	sem_init(from_semaphore, 1, 0);
	pipe(to_child);
	pipe(from_child);
	pipe(news);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	snprintf(file, sizeof file, "%s/file", mkdtemp(folder));
	snprintf(named, sizeof named, "%s/pipe", folder);
	mkfifo(named, 0600);
	if (!fork())
		hand_on();
	sem_init(&heard, 0, 0);
	pthread_create(&thread, NULL, hears, NULL);

	HAND(by_pipe, write(to_child[1], "p", 1));                                  /* @to_pipe */
	HAND(by_pair, write(pair[0], "s", 1));                                      /* @to_pair */
	HAND(by_semaphore, sem_post(to_semaphore));                                 /* @to_semaphore */
	HAND(by_queue, sem_post(to_semaphore));                                     /* @to_queue */
	HAND(by_signal, write(to_child[1], "k", 1));                                /* @to_signal */
	HAND(by_atomic, atomic_store_explicit(&to->flag, 1, memory_order_release)); /* @to_atomic */
	HAND(by_condition, say(to));                                                /* @to_condition */
	HAND(by_lock, write_down(to));                                              /* @to_lock */
	HAND(by_barrier, pthread_barrier_wait(&to->barrier));                       /* @to_barrier */
	HAND(by_file, write(to_child[1], "f", 1));                                  /* @to_file */
	HAND(by_name, write(to_child[1], "n", 1));                                  /* @to_name */
	HAND(by_fork, if (!fork()) tell());                                         /* @to_fork */
	pthread_join(thread, NULL);

	pthread_create(&thread, NULL, reads_rest, NULL);
	if (!fork())
		pass_on();
	if (RACE_FREE)
		left_behind = 1;
	write(to_child[1], "r", 1);
	if (!RACE_FREE)
		left_behind = 1; /* @left */
	while (wait(NULL) > 0)
		;
	pthread_join(thread, NULL);

	if (RACE_FREE)
		after_all = 1;
	pthread_create(&thread, NULL, comes_later, NULL);
	if (!RACE_FREE)
		after_all = 1; /* @after_all */
	write(to_child[1], "a", 1);
	pthread_join(thread, NULL);

	if (!fork())
		leave_behind();
	wait(NULL);
	pthread_create(&thread, NULL, hears_orphan, NULL);
	if (RACE_FREE)
		by_orphan = 1;
	write(pair[0], "o", 1);
	if (!RACE_FREE)
		by_orphan = 1; /* @to_orphan */
	pthread_join(thread, NULL);
	unlink(file);
	unlink(named);
	rmdir(folder);
	msgctl(queue, IPC_RMID, NULL);
	return 0;
}
