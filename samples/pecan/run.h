/*
 * What the programs of this folder have in common: `PROGRAM [THREADS [ROUNDS]]` runs THREADS threads, each of which
 * does its part ROUNDS times. Part i goes to threads i, i + parts, ... In a run of one round each thread waits for the
 * one before to end, so that it is the good run. It waits for a while only, so this orders nothing, and the recorder is
 * not told of it.
 */
#ifndef RUN_H
#define RUN_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void part(int thread, int round);

struct run_thread {
	pthread_t id;
	part *part;
	int number, rounds;
};

/* The recorder's; it sees what is not instrumented, too. */
extern void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

enum { RUN_THREADS = 64 };
static volatile char run_ended[RUN_THREADS]; /* by thread: it has */

__attribute__((no_sanitize("thread"))) static void run_end(int thread)
{
	if (AnnotateIgnoreWritesBegin)
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	if (thread < RUN_THREADS)
		run_ended[thread] = 1;
	if (AnnotateIgnoreWritesEnd)
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

/* Until the thread before this one has ended, two seconds at most. */
__attribute__((no_sanitize("thread"))) static void run_wait(int thread)
{
	if (AnnotateIgnoreReadsBegin)
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	for (int i = 0; i < 2000 && thread > 0 && thread <= RUN_THREADS && !run_ended[thread - 1]; i++)
		usleep(1000);
	if (AnnotateIgnoreReadsEnd)
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

static void *run_thread(void *arg)
{
	struct run_thread *t = arg;

	if (t->rounds == 1)
		run_wait(t->number);
	for (int round = 0; round < t->rounds; round++)
		t->part(t->number, round);
	run_end(t->number);
	return NULL;
}

/* Runs the parts, and ends when all threads have. */
static void run(int argc, char **argv, part *const parts[], int count, int threads)
{
	int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
	struct run_thread *t;

	if (argc > 1)
		threads = (int)strtol(argv[1], NULL, 10);
	if (threads < 1 || rounds < 1 || !(t = calloc((size_t)threads, sizeof *t))) {
		fputs("how many threads, how many rounds?\n", stderr);
		exit(1);
	}
	for (int i = 0; i < threads; i++)
		t[i] = (struct run_thread){.part = parts[i % count], .number = i, .rounds = rounds};
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i].id, NULL, run_thread, &t[i]))
			exit(1);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i].id, NULL);
	free(t);
}

#endif
