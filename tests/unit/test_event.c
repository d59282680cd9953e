#include "tests/unit/suite.h"
#include "tracefmt/event.h"

#include <check.h>
#include <string.h>

START_TEST(every_operation_has_a_name_that_parses_back)
{
	for (unsigned op = RT_OP_READ; op < RT_OP_COUNT; op++)
		ck_assert_uint_eq(rt_op_parse(rt_op_name(op)), op);
	ck_assert_str_eq(rt_op_name(RT_OP_COUNT), "unknown");
	ck_assert_uint_eq(rt_op_parse("no such"), RT_OP_NONE);
}
END_TEST

START_TEST(a_failed_compare_exchange_only_reads)
{
	ck_assert(rt_op_reads(RT_OP_ATOMIC_CAS_FAIL));
	ck_assert(!rt_op_writes(RT_OP_ATOMIC_CAS_FAIL));
	ck_assert(rt_op_is_access(RT_OP_ATOMIC_CAS_FAIL));
	ck_assert(!rt_op_is_access(RT_OP_FENCE));
}
END_TEST

/* What the table says, said once more by other means: of each trait the operations that have it. */
START_TEST(the_predicates_are_the_table_s)
{
	static const struct {
		unsigned trait;
		const char *names;
	} traits[] = {
	    {RT_READS, " read atomic-load atomic-rmw atomic-cas atomic-cas-fail"},
	    {RT_WRITES, " write atomic-store atomic-rmw atomic-cas"},
	    {RT_ATOMIC, " atomic-load atomic-store atomic-rmw atomic-cas atomic-cas-fail"},
	    {RT_TAKES, " acquire acquire-shared wait-end"},
	    {RT_RELEASES, " release wait-begin"},
	    {RT_WAITS, " acquire acquire-shared wait-end barrier-leave sem-wait once-seen join"},
	    {RT_WAKES, " signal broadcast"},
	    {RT_FOLLOWS, " wait-end barrier-leave sem-post sem-wait once-seen join hb-after"},
	    {RT_OF_THREAD, " fork join detach"},
	    {RT_RENEWS, " begin alloc map unmap new-memory"},
	    {RT_ON_OBJECT, " acquire acquire-shared release wait-begin wait-end signal broadcast barrier-arrive "
	                   "sem-post sem-wait"},
	};
	for (size_t i = 0; i < sizeof traits / sizeof *traits; i++) {
		char names[512] = "";
		for (unsigned op = 0; op < RT_OP_COUNT; op++)
			if (rt_op_has(op, traits[i].trait))
				strcat(strcat(names, " "), rt_op_name(op));
		ck_assert_str_eq(names, traits[i].names);
	}
	ck_assert(!rt_op_has(RT_OP_COUNT, ~0u));
	ck_assert(!rt_op_has(64 + RT_OP_READ, RT_READS));
}
END_TEST

SUITE(event)
{
	Suite *s = suite_create("event");
	TCase *c = tcase_create("vocabulary");
	tcase_add_test(c, every_operation_has_a_name_that_parses_back);
	tcase_add_test(c, the_predicates_are_the_table_s);
	tcase_add_test(c, a_failed_compare_exchange_only_reads);
	suite_add_tcase(s, c);
	return s;
}
