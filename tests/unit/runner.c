/*
 * Runs every suite (suite.h), which the Makefile lists: a line for each, with its time and processor time, in the order
 * of the list. As many run at the same time as there are processors, each in a process of its own; with CK_FORK=no, for
 * a debugger, all run in this one, one after the other. CK_RUN_SUITE and CK_RUN_CASE select, as in Check.
 */
#include "lib/base/assert.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define X(name) Suite *name##_suite(void);
SUITES
#undef X

static const struct {
	const char *name;
	Suite *(*suite)(void);
} suites[] = {
#define X(name) {#name, name##_suite},
    SUITES
#undef X
};
enum { SUITE_COUNT = sizeof suites / sizeof *suites };

/* One suite that runs, or has run. */
struct running {
	pid_t pid;
	FILE *out; /* what it prints */
	bool ended;
};

struct counts {
	int passed, failed;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The processor time of this process and of those that it has waited for. */
static double spent(void)
{
	double sum = 0;
	static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	for (size_t i = 0; i < 2; i++) {
		struct rusage u;
		getrusage(whose[i], &u);
		sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
	}
	return sum;
}

/* Runs one suite and prints its line and its failures. */
static struct counts run(size_t i)
{
	SRunner *runner = srunner_create(suites[i].suite());
	double begin = now(), before = spent();
	srunner_run_all(runner, CK_SILENT);
	int all = srunner_ntests_run(runner), bad = srunner_ntests_failed(runner);
	if (all)
		printf("%-12s %4d passed%s %7.1f s, processor %.1f s\n", suites[i].name, all - bad,
		       bad ? ", some failed:" : "", now() - begin, spent() - before);
	if (bad)
		srunner_print(runner, CK_NORMAL);
	fflush(stdout);
	srunner_free(runner);
	return (struct counts){all - bad, bad};
}

static void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* Starts a suite in a process of its own. */
static void start(struct running *r, size_t i, struct counts *counts)
{
	r->out = tmpfile();
	if (!r->out)
		give_up("tmpfile");
	fflush(stdout);
	r->pid = fork();
	if (r->pid < 0)
		give_up("fork");
	if (r->pid)
		return;
	dup2(fileno(r->out), STDOUT_FILENO);
	dup2(fileno(r->out), STDERR_FILENO);
	counts[i] = run(i);
	fflush(NULL);
	_exit(EXIT_SUCCESS);
}

/* Prints what a suite that has ended printed. */
static void print(struct running *r)
{
	char text[4096];
	rewind(r->out);
	for (size_t n; (n = fread(text, 1, sizeof text, r->out)) > 0;)
		fwrite(text, 1, n, stdout);
	fclose(r->out);
	fflush(stdout);
}

/* Waits for one of the suites to end. A suite that does not come to its end has failed. */
static void await(struct running *running, struct counts *counts)
{
	int status;
	pid_t pid = wait(&status);
	if (pid < 0)
		give_up("wait");
	for (size_t i = 0; i < SUITE_COUNT; i++) {
		if (running[i].pid != pid)
			continue;
		running[i].ended = true;
		if (status) {
			fprintf(running[i].out, "%s: ended with status 0x%x\n", suites[i].name, (unsigned)status);
			counts[i].failed++;
		}
	}
}

static void run_all(struct counts *counts)
{
	static struct running running[SUITE_COUNT];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = processors > 1 ? (size_t)processors : 1, started = 0, ended = 0, printed = 0;
	while (printed < SUITE_COUNT) {
		for (; started < SUITE_COUNT && started - ended < most; started++)
			start(&running[started], started, counts);
		await(running, counts);
		ended++;
		for (; printed < started && running[printed].ended; printed++)
			print(&running[printed]);
	}
}

int main(void)
{
	struct counts all = {0}, *counts = mmap(NULL, SUITE_COUNT * sizeof *counts, PROT_READ | PROT_WRITE,
	                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *forks = getenv("CK_FORK");
	if (counts == MAP_FAILED)
		give_up("mmap");
	rt_asserting = true;
	/* A limit against hangs alone: the machine may be busy. */
	setenv("CK_DEFAULT_TIMEOUT", "900", 0);
	if (forks && !strcmp(forks, "no"))
		for (size_t i = 0; i < SUITE_COUNT; i++)
			counts[i] = run(i);
	else
		run_all(counts);
	for (size_t i = 0; i < SUITE_COUNT; i++) {
		all.passed += counts[i].passed;
		all.failed += counts[i].failed;
	}
	printf("%d passed, %d failed\n", all.passed, all.failed);
	return all.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
