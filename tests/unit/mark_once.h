/*
 * Check's assertions. Check writes down each that holds, to say which was the last before a crash: a third of the
 * suites' processor time, as most are in loops. The first time that a line is reached is enough.
 */
#ifndef TESTS_UNIT_MARK_ONCE_H
#define TESTS_UNIT_MARK_ONCE_H

/* Check's macros around this one are a system header's, and so free of warnings. */
#pragma GCC system_header

#include <check.h>
#include <stdbool.h>

static inline void mark_once(const char *file, int line)
{
	enum { LINES = 2048 };
	static bool marked[LINES];
	if (line >= LINES || !marked[line])
		_mark_point(file, line);
	if (line < LINES)
		marked[line] = true;
}
#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                                       \
	((expr) ? mark_once(__FILE__, __LINE__)                                                                        \
	        : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

#endif
