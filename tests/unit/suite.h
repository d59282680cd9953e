/* Each tests/unit/test_NAME.c defines its suite with `SUITE(NAME) { ... }`; the Makefile tells runner.c of it. */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include "tests/unit/mark_once.h"

#define SUITE(name)                                                                                                    \
	Suite *name##_suite(void);                                                                                     \
	Suite *name##_suite(void)

#endif
