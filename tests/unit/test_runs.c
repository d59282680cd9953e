/* Runs of programs by their keepers (cmd/try/runner.h). */
#include "cmd/try/runner.h"
#include "tests/unit/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void taken(int signal)
{
	(void)signal;
}

/* The commands have handlers for interrupts: between its fork and its first look the keeper has them, too. */
START_TEST(a_run_that_is_ended_at_once_ends)
{
	char file[] = "/tmp/racetrace-test-XXXXXX";
	char *argv[] = {"sh", "-c", "sleep 1; echo late >\"$0\"", file, NULL};
	struct run_options o = {.argv = argv, .timeout_ms = 60000};
	struct rt_error err = {0};
	int fd = mkstemp(file);
	ck_assert_int_ge(fd, 0);
	signal(SIGTERM, taken);
	for (int i = 0; i < 20; i++) {
		struct runner *r;
		ck_assert_int_eq(runner_start(&o, &r, &err), RT_OK);
		runner_free(r);
		ck_assert_msg(lseek(fd, 0, SEEK_END) == 0, "run %d has gone on to its end", i);
	}
	close(fd);
	unlink(file);
}
END_TEST

/* What this process blocks and ignores: what runs the tests may ignore some. */
static void read_signals(char text[256])
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	ck_assert(status != NULL);
	text[0] = '\0';
	while (fgets(line, sizeof line, status))
		if (!strncmp(line, "SigBlk:", 7) || !strncmp(line, "SigIgn:", 7))
			strncat(text, line, 255 - strlen(text));
	fclose(status);
}

START_TEST(a_run_has_the_signals_of_its_caller)
{
	char own[256];
	char *argv[] = {"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", NULL};
	struct run_options o = {.argv = argv, .timeout_ms = 60000};
	struct rt_error err = {0};
	sigset_t mask, after;
	struct runner *r;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	read_signals(own);
	ck_assert_ptr_nonnull(strstr(own, "SigBlk:\t0000000000000800\n"));
	ck_assert_int_eq(runner_start(&o, &r, &err), RT_OK);
	sigprocmask(SIG_SETMASK, NULL, &after);
	ck_assert_int_eq(sigismember(&after, SIGTERM), 0);
	ck_assert_int_eq(sigismember(&after, SIGUSR2), 1);
	const struct run_end *end = runner_wait(r);
	ck_assert_int_eq(end->kind, RUN_EXITED);
	ck_assert_str_eq(end->out.text, own);
	runner_free(r);
}
END_TEST

SUITE(runs)
{
	Suite *s = suite_create("runs");
	TCase *t = tcase_create("keeper");
	tcase_add_test(t, a_run_that_is_ended_at_once_ends);
	tcase_add_test(t, a_run_has_the_signals_of_its_caller);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
