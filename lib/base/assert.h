/*
 * Asserts: what would be a comment ("rising", "sorted", "its own thread's"), looked at while the tests run. They are
 * on in the unit tests (runner.c) and in builds with a sanitizer, off in the program, and gone with -DNDEBUG. Nothing
 * that a trace or a user says is asserted: that is checked, and an error.
 */
#ifndef LIB_BASE_ASSERT_H
#define LIB_BASE_ASSERT_H

#include <assert.h>
#include <stdbool.h>

extern bool rt_asserting;
#define rt_assert(condition) assert(!rt_asserting || (condition))

#endif
