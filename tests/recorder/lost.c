/*
 * A value goes from main by way of a third thread to the second: race-free, but only who sees the third knows. Another
 * is written by both at once. The argument: how the third thread is made; `fork` and `syscall` make a process instead.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 1 << 16, MANY = 1000 };

static sem_t from_main, to_second;
int handed, together, last, busy;

static void *second(void *unused)
{
	together = 1;
	sem_wait(&to_second);
	handed = 2;
	return unused;
}

static void *third(void *unused)
{
	sem_wait(&from_main);
	sem_post(&to_second);
	return unused;
}

/* Works beside the thread that has made it, with the same thread-local memory. */
static int cloned(void *unused)
{
	(void)unused;
	third(NULL);
	for (int i = 0; i < MANY; i++)
		__atomic_fetch_add(&busy, 1, __ATOMIC_RELAXED);
	return 3;
}

static void await(pid_t pid, int expected)
{
	int status;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != expected)
		_exit(9);
}

static int in_process(void *unused)
{
	(void)unused;
	return handed == 1 ? 3 : 4;
}

int main(int argc, char **argv)
{
	pthread_t t, u;
	pid_t pid = 0;
	char *stack = malloc(STACK);
	const char *how = argv[argc - 1];
	sem_init(&from_main, 0, 0);
	sem_init(&to_second, 0, 0);
	pthread_create(&t, NULL, second, NULL);
	if (!strcmp(how, "pthread"))
		pthread_create(&u, NULL, third, NULL);
	else if (!strcmp(how, "clone"))
		pid = clone(cloned, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
	handed = 1;
	together = 2;
	sem_post(&from_main);
	if (!strcmp(how, "fork") || !strcmp(how, "syscall"))
		third(NULL);
	for (int i = 0; i < MANY; i++)
		__atomic_fetch_add(&busy, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	if (!strcmp(how, "pthread"))
		pthread_join(u, NULL);
	if (!strcmp(how, "clone"))
		await(pid, 3);
	handed = 1;
	if (!strcmp(how, "fork"))
		await(clone(in_process, stack + STACK, SIGCHLD, NULL), 3);
	if (!strcmp(how, "syscall")) {
		pid = (pid_t)syscall(SYS_fork);
		if (pid == 0)
			_exit(in_process(NULL));
		await(pid, 3);
	}
	last = 1;
	free(stack);
	return 0;
}
