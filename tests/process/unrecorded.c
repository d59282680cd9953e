/*
 * unrecorded CHILDREN [FROM TO]: forks CHILDREN children, each of which works for a while, with threads, whatever
 * becomes of its recording; FROM: the folder that is renamed to TO first. Prints "fine" if each of them ends as it
 * should. unrecorded quiet FILE: leaves a child behind that waits for the file to be there, works, and writes "fine" to
 * it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 400000, THREADS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *work(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&lock);
		sum += i;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* More events than rings hold. */
static int works(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return sum == (long)THREADS * TURNS / 2 * (TURNS - 1) ? 7 : 8;
}

static int quiet(const char *file)
{
	if (fork() == 0) {
		while (access(file, F_OK) != 0)
			usleep(1000);
		FILE *out = fopen(file, "w");
		fputs(works() == 7 ? "fine\n" : "wrong\n", out);
		exit(0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int children, fine = 0, status;
	if (!strcmp(argv[1], "quiet"))
		return quiet(argv[2]);
	if (argc > 3 && rename(argv[2], argv[3]) != 0)
		return 1;
	children = atoi(argv[1]);
	for (int i = 0; i < children; i++)
		if (fork() == 0)
			exit(works());
	for (int i = 0; i < children; i++) {
		if (wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7)
			fine++;
		else
			printf("status %#x\n", status);
	}
	puts(fine == children ? "fine" : "wrong");
	return 5;
}
