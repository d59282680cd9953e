/* Traces of machine code: what is taken for atomic, and which races are certain; which source lines call nothing. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/statement.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdio.h>

START_TEST(a_line_is_plain_if_it_calls_nothing_and_has_no_macro)
{
	static const char *const plain[] = {"x++;",
	                                    "x = x + 1; /* f(x) */",
	                                    "while (!ready)",
	                                    "if (a[i].next == p->next) {",
	                                    "for (int i = 0; i < n; i++)",
	                                    "return x; // store(x)",
	                                    "s = \"call(\";",
	                                    "x = (a + b) * sizeof(int);"};
	static const char *const not_plain[] = {"__atomic_store_n(&x, 1, __ATOMIC_RELEASE);",
	                                        "x = load(&y);",
	                                        "STORE(x, 1);",
	                                        "x = HEAD;",
	                                        "#define x y",
	                                        "&x, 1);",
	                                        "f(a,",
	                                        "b,",
	                                        "_Atomic int x;",
	                                        "std::atomic_ref r{x};",
	                                        "x = /* unfinished",
	                                        ""};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		ck_assert_msg(statement_is_plain(plain[i]), "%s", plain[i]);
	for (size_t i = 0; i < sizeof not_plain / sizeof *not_plain; i++)
		ck_assert_msg(!statement_is_plain(not_plain[i]), "%s", not_plain[i]);
}
END_TEST

START_TEST(a_line_above_may_make_a_statement_atomic)
{
	static const struct {
		const char *line;
		enum statement_above what;
	} lines[] = {{"x = 1;", ABOVE_ENDS},
	             {"__atomic_store_n(&x, 1, __ATOMIC_RELAXED); // before", ABOVE_ENDS},
	             {"if (x) {", ABOVE_ENDS},
	             {"}", ABOVE_ENDS},
	             {"out:", ABOVE_ENDS},
	             {"while (is_full(q))", ABOVE_ENDS},
	             {"#endif", ABOVE_ENDS},
	             {"#pragma omp single", ABOVE_ENDS},
	             {"else", ABOVE_GOES_ON},
	             {"x =", ABOVE_GOES_ON},
	             {"", ABOVE_GOES_ON},
	             {"// x = 1;", ABOVE_GOES_ON},
	             {"#pragma omp \\", ABOVE_GOES_ON},
	             {"#pragma omp atomic write", ABOVE_ATOMIC},
	             {"#pragma omp atomic read acquire /* x = 1; */", ABOVE_ATOMIC},
	             {"ATOMIC_WRITE", ABOVE_ATOMIC},
	             {"\tOMP(write)", ABOVE_ATOMIC}};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		ck_assert_msg(statement_above(lines[i].line) == lines[i].what, "%s", lines[i].line);
}
END_TEST

#define EVENT(thread, op, object, more)                                                                                \
	"{\"thread\":\"" thread "\",\"op\":\"" op "\",\"object\":\"" object "\",\"arg\":4" more "}\n"
#define FORKS                                                                                                          \
	"{\"schema\":\"racetrace.events/1\",\"model\":\"c11\",\"binary\":true,\"threads\":[{\"name\":\"main\"},"       \
	"{\"name\":\"A\",\"parent\":\"main\"},{\"name\":\"B\",\"parent\":\"main\"}]}\n"                                \
	"{\"thread\":\"main\",\"op\":\"fork\",\"object\":\"A\"}\n{\"thread\":\"main\",\"op\":\"fork\",\"object\":"     \
	"\"B\"}\n"

/* The most certain verdict on a race on the variable at the address; VERDICT_REFUTED if there is none; *capped: why it
 * is not certain, REASONS: nothing limits it. */
static enum verdict race_on(const char *text, uint64_t address, enum reason *capped)
{
	struct rt_error err = {0};
	struct rt_trace *trace;
	struct analysis *a;
	struct analysis_options options = {.kinds = 1u << ANOMALY_RACE};
	enum verdict best = VERDICT_REFUTED;
	*capped = REASONS;
	ck_assert_msg(scratch_open(text, strlen(text), &trace, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		if (a->model->cells[a->model->events[x->events[0]].object].addr != address || x->verdict < best)
			continue;
		best = x->verdict;
		*capped = reasons_has(&x->reasons, REASON_MACHINE_CODE)    ? REASON_MACHINE_CODE
		          : reasons_has(&x->reasons, REASON_MACHINE_ORDER) ? REASON_MACHINE_ORDER
		                                                           : REASONS;
	}
	analysis_free(a);
	rt_trace_free(trace);
	return best;
}

#define PLAIN ",\"flags\":[\"plain\"]"
enum { DATA = 0x1000 };

START_TEST(what_may_be_atomic_is_no_certain_race)
{
	enum reason capped;
	const char *both = FORKS EVENT("A", "write", "0x1000", "") EVENT("B", "write", "0x1000", "");
	ck_assert_int_eq(race_on(both, DATA, &capped), VERDICT_PREDICTED);
	ck_assert_int_eq(capped, REASON_MACHINE_CODE);
	/* An instruction that no compiler makes of an atomic operation. */
	const char *one = FORKS EVENT("A", "write", "0x1000", PLAIN) EVENT("B", "write", "0x1000", "");
	ck_assert_int_eq(race_on(one, DATA, &capped), VERDICT_OBSERVED);
	ck_assert_int_eq(capped, REASONS);
	const char *across = FORKS EVENT("A", "write", "0x1002", "") EVENT("B", "write", "0x1002", "");
	ck_assert_int_eq(race_on(across, DATA + 2, &capped), VERDICT_OBSERVED);
}
END_TEST

START_TEST(a_load_that_sees_a_store_may_order)
{
	enum reason capped;
	const char *handed = FORKS EVENT("A", "write", "0x1000", PLAIN) EVENT("A", "write", "0x2000", "")
	    EVENT("B", "read", "0x2000", "") EVENT("B", "write", "0x1000", PLAIN);
	ck_assert_int_eq(race_on(handed, DATA, &capped), VERDICT_PREDICTED);
	ck_assert_int_eq(capped, REASON_MACHINE_ORDER);
}
END_TEST

START_TEST(what_is_locked_somewhere_is_atomic_everywhere)
{
	enum reason capped;
#define RMW EVENT("main", "atomic-rmw", "0x2000", ",\"order\":\"seq_cst\"")
	const char *handed = FORKS RMW EVENT("A", "write", "0x1000", PLAIN) EVENT("A", "write", "0x2000", "")
	    EVENT("B", "read", "0x2000", "") EVENT("B", "write", "0x1000", PLAIN);
	ck_assert_int_eq(race_on(handed, DATA, &capped), VERDICT_REFUTED);
	/* But for what is plain for certain: that is a race with an atomic access. */
	const char *mixed = FORKS RMW EVENT("A", "write", "0x2000", PLAIN) EVENT("B", "read", "0x2000", "");
	ck_assert_int_eq(race_on(mixed, 0x2000, &capped), VERDICT_OBSERVED);
}
END_TEST

SUITE(binary)
{
	Suite *s = suite_create("binary");
	TCase *c = tcase_create("binary");
	tcase_add_test(c, a_line_is_plain_if_it_calls_nothing_and_has_no_macro);
	tcase_add_test(c, a_line_above_may_make_a_statement_atomic);
	tcase_add_test(c, what_may_be_atomic_is_no_certain_race);
	tcase_add_test(c, a_load_that_sees_a_store_may_order);
	tcase_add_test(c, what_is_locked_somewhere_is_atomic_everywhere);
	suite_add_tcase(s, c);
	return s;
}
