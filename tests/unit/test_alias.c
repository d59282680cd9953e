/* Memory that is mapped at several addresses: the table against an array of where each byte is known. */
#include "tests/unit/suite.h"
#include "tracefmt/alias.h"

#include <check.h>

enum { BYTES = 64, ROUNDS = 4000, ELSEWHERE = 1000 };

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* Every byte of an access is in one of its pieces, in order, at the address where it is known. */
static void check_access(const struct rt_aliases *a, const uint64_t *known, uint64_t addr, uint64_t size)
{
	struct rt_event piece = {.op = RT_OP_WRITE, .addr = addr, .arg = size}, rest;
	uint64_t done = 0;
	for (bool more = true; more; piece = rest) {
		more = rt_aliases_split(a, &piece, &rest);
		ck_assert_uint_gt(piece.arg, 0);
		for (uint64_t i = 0; i < piece.arg; i++)
			ck_assert_uint_eq(piece.addr + i, known[addr + done + i]);
		done += piece.arg;
	}
	ck_assert_uint_eq(done, size);
}

START_TEST(each_byte_of_an_access_is_where_the_last_event_says)
{
	uint64_t seed = (uint64_t)_i + 1, known[BYTES];
	struct rt_aliases a = {0};
	for (uint64_t i = 0; i < BYTES; i++)
		known[i] = i;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t addr = next(&seed) % BYTES, size = 1 + next(&seed) % (BYTES - addr), to = addr;
		if (next(&seed) % 3)
			to = next(&seed) % 2 ? next(&seed) % BYTES : ELSEWHERE + next(&seed) % BYTES;
		struct rt_event e = {.op = RT_OP_ALIAS, .addr = addr, .arg = size, .value = to, .flags = RT_F_VALUE};
		ck_assert(rt_aliases_event(&a, &e));
		for (uint64_t i = 0; i < size; i++)
			known[addr + i] = to + i;
		for (uint32_t i = 1; i < a.count; i++)
			ck_assert_uint_le(a.items[i - 1].at + a.items[i - 1].size, a.items[i].at);
		addr = next(&seed) % BYTES;
		check_access(&a, known, addr, 1 + next(&seed) % (BYTES - addr));
	}
	rt_aliases_release(&a);
}
END_TEST

START_TEST(a_value_is_divided_with_its_access)
{
	struct rt_aliases a = {0};
	struct rt_event alias = {.op = RT_OP_ALIAS, .addr = 0x1000, .arg = 16, .value = 0x2000, .flags = RT_F_VALUE};
	struct rt_event piece = {.op = RT_OP_WRITE, .addr = 0xffe, .arg = 4, .value = 0x44332211, .flags = RT_F_VALUE};
	struct rt_event rest;
	ck_assert(rt_aliases_event(&a, &alias));
	ck_assert(rt_aliases_split(&a, &piece, &rest));
	ck_assert_uint_eq(piece.arg, 2);
	ck_assert_uint_eq(piece.value & 0xffff, 0x2211);
	ck_assert(!rt_aliases_split(&a, &rest, &piece));
	ck_assert_uint_eq(rest.addr, 0x2000);
	ck_assert_uint_eq(rest.value, 0x4433);
	rt_aliases_release(&a);
}
END_TEST

/* Mapping one of several views says nothing of the memory; what has a spare name is all there is. */
START_TEST(ranges_are_of_what_has_a_spare_name)
{
	struct rt_aliases a = {0};
	struct rt_event alias = {
	    .op = RT_OP_ALIAS, .addr = 0x1000, .arg = 0x1000, .value = 0x5000, .flags = RT_F_VALUE};
	ck_assert(rt_aliases_event(&a, &alias));
	alias.addr = 0x2000;
	alias.value = RT_RENAMED;
	ck_assert(rt_aliases_event(&a, &alias));
	const enum rt_op ops[] = {RT_OP_MAP, RT_OP_UNMAP, RT_OP_NEW_MEMORY, RT_OP_ALLOC, RT_OP_BEGIN};
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		struct rt_event piece = {.op = ops[i], .addr = 0x1000, .arg = 0x3000}, rest, last;
		ck_assert(rt_aliases_apply(&a, &piece));
		ck_assert(rt_aliases_split(&a, &piece, &rest));
		ck_assert_uint_eq(piece.addr, i < 3 ? 0x1000 : 0x5000);
		ck_assert(rt_aliases_split(&a, &rest, &last));
		ck_assert_uint_eq(rest.addr, RT_RENAMED);
		ck_assert_uint_eq(rest.arg, 0x1000);
		ck_assert_uint_eq(last.addr, 0x3000);
	}
	struct rt_event atomic = {.op = RT_OP_ATOMIC_LOAD, .addr = 0x2000, .arg = 4};
	ck_assert(!rt_aliases_apply(&a, &atomic)); /* it has the address by which the memory is known */
	rt_aliases_release(&a);
}
END_TEST

SUITE(alias)
{
	Suite *suite = suite_create("alias");
	TCase *table = tcase_create("table");
	tcase_add_loop_test(table, each_byte_of_an_access_is_where_the_last_event_says, 0, 5);
	tcase_add_test(table, a_value_is_divided_with_its_access);
	tcase_add_test(table, ranges_are_of_what_has_a_spare_name);
	suite_add_tcase(suite, table);
	return suite;
}
