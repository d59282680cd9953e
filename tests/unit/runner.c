/*
 * Runs every suite (suite.h), which the Makefile lists, one after the other: a line for each, with its time.
 * CK_RUN_SUITE and CK_RUN_CASE select, as in Check.
 */
#include "lib/base/assert.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define X(name) Suite *name##_suite(void);
SUITES
#undef X

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs one suite and prints its line and its failures. Adds to the counts. */
static void run(const char *name, Suite *suite, int *passed, int *failed)
{
	SRunner *runner = srunner_create(suite);
	double begin = now();
	srunner_run_all(runner, CK_SILENT);
	int all = srunner_ntests_run(runner), bad = srunner_ntests_failed(runner);
	if (all)
		printf("%-12s %4d passed%s %7.1f s\n", name, all - bad, bad ? ", some failed:" : "", now() - begin);
	if (bad)
		srunner_print(runner, CK_NORMAL);
	fflush(stdout);
	*passed += all - bad;
	*failed += bad;
	srunner_free(runner);
}

int main(void)
{
	rt_asserting = true;
	static const struct {
		const char *name;
		Suite *(*suite)(void);
	} suites[] = {
#define X(name) {#name, name##_suite},
	    SUITES
#undef X
	};
	int passed = 0, failed = 0;
	/* A limit against hangs alone: the machine may be busy. */
	setenv("CK_DEFAULT_TIMEOUT", "300", 0);
	for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
		run(suites[i].name, suites[i].suite(), &passed, &failed);
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
