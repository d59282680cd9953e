/* Runs every suite (suite.h); the Makefile lists them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define X(name) Suite *name##_suite(void);
SUITES
#undef X

int main(void)
{
	Suite *(*const suites[])(void) = {
#define X(name) name##_suite,
	    SUITES
#undef X
	};
	/* A limit against hangs alone: the machine may be busy. */
	setenv("CK_DEFAULT_TIMEOUT", "300", 0);
	SRunner *runner = srunner_create(suites[0]());
	for (size_t i = 1; i < sizeof suites / sizeof *suites; i++)
		srunner_add_suite(runner, suites[i]());
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	printf("%d passed, %d failed\n", srunner_ntests_run(runner) - failed, failed);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
