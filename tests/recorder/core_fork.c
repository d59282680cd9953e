/* Children made by fork and vfork run as they would, unrecorded, and leave their parent's trace alone. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile short cells[1 << 20];

static __attribute__((noinline)) void touch(unsigned i)
{
	cells[i] = 1;
}

static void *child_thread(void *from)
{
	for (unsigned i = 0; i < 20000; i++)
		touch((unsigned)(size_t)from + i);
	return NULL;
}

/* A child that is busier than its parent, with threads of its own. */
static void child(void)
{
	pthread_t thread;

	for (unsigned i = 0; i < 50000; i++)
		touch(i);
	assert(pthread_create(&thread, NULL, child_thread, (void *)100000) == 0 && pthread_join(thread, NULL) == 0);
	_exit(cells[119999] == 1 ? 5 : 6);
}

static void on_signal(int sig)
{
	int status;
	pid_t pid = fork();

	(void)sig;
	if (pid == 0)
		child();
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5)
		abort();
}

int main(void)
{
	int status;
	pid_t pid;

	signal(SIGUSR1, on_signal);
	for (unsigned i = 0; i < 1000; i++) {
		touch(i);
		if (i % 250 == 100) {
			pid = fork();
			if (pid == 0)
				child();
			assert(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
		}
		if (i % 250 == 150)
			raise(SIGUSR1);
	}
	pid = vfork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
		_exit(1);
	}
	assert(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 9);
	assert(system("exit 3") >> 8 == 3);
	printf("expect write2 1000\nexpect begin 1\nexpect enter 1005\n");
	return 0;
}
