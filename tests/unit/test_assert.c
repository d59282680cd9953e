/* What the code asserts is checked in all tests. */
#include "lib/base/assert.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <signal.h>

START_TEST(asserts_are_on_in_tests)
{
	rt_assert(!rt_asserting);
}
END_TEST

SUITE(assert)
{
	Suite *s = suite_create("assert");
	TCase *c = tcase_create("asserts");
	tcase_add_test_raise_signal(c, asserts_are_on_in_tests, SIGABRT);
	suite_add_tcase(s, c);
	return s;
}
