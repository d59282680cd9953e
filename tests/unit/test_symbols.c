/* The block of symbols: modules, and what blocks of older versions do not have. Else: test_file.c, test_resolve.c. */
#include "tests/unit/suite.h"
#include "tracefmt/native/symbols.h"

#include <check.h>

/* Bytes of the tables behind the modules, which are the counts alone where they have nothing, and of those behind the
 * next ones. */
enum { BEHIND_MODULES = 5, BEHIND_PLAIN = 4, BEHIND_ATOMICS = 3 };

/* A block with two modules at one place, one after the other, and one below; which of them are plain. */
static struct rt_bytes modules_block(bool below, bool first, bool second)
{
	struct rt_symbol_table *t = rt_symbol_table_create();
	struct rt_bytes block = {0};
	ck_assert_ptr_nonnull(t);
	ck_assert(rt_symbol_table_module(t, 0x7000, 0x8000, 0, "/lib/first.so", first));
	ck_assert(rt_symbol_table_module(t, 0x7000, 0x9000, 0, "/lib/second.so", second));
	ck_assert(rt_symbol_table_module(t, 0x4000, 0x5000, 0, "/bin/app", below));
	ck_assert(rt_symbol_table_write(t, &block));
	rt_symbol_table_free(t);
	return block;
}

static void assert_modules(const uint8_t *data, size_t size, bool below, bool first, bool second)
{
	struct rt_symbols *s;
	size_t n;
	ck_assert_int_eq(rt_symbols_parse(data, size, &s), RT_OK);
	const struct rt_module *m = rt_symbols_modules(s, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert_str_eq(m[0].path, "/bin/app");
	ck_assert_uint_eq(m[0].start, 0x4000);
	ck_assert_uint_eq(m[0].end, 0x5000);
	ck_assert_str_eq(m[1].path, "/lib/first.so");
	ck_assert_uint_eq(m[1].end, 0x8000);
	ck_assert_str_eq(m[2].path, "/lib/second.so");
	ck_assert_uint_eq(m[2].start, 0x7000);
	ck_assert_uint_eq(m[2].end, 0x9000);
	ck_assert_int_eq(m[0].plain, below);
	ck_assert_int_eq(m[1].plain, first);
	ck_assert_int_eq(m[2].plain, second);
	rt_symbols_free(s);
}

START_TEST(modules_read_back_by_address_and_which_are_plain)
{
	bool below = _i & 1, first = _i & 2, second = _i & 4;
	struct rt_bytes block = modules_block(below, first, second);
	assert_modules(block.data, block.len, below, first, second);
	rt_bytes_release(&block);
}
END_TEST

START_TEST(a_block_of_version_1_0_ends_before_the_plain_modules)
{
	struct rt_bytes block = modules_block(false, false, false);
	assert_modules(block.data, block.len - BEHIND_MODULES, false, false,
	               false); /* without the count of them, and what follows */
	rt_bytes_release(&block);
}
END_TEST

START_TEST(a_block_that_is_cut_in_a_table_is_refused)
{
	struct rt_bytes block = modules_block(true, true, true), none = modules_block(false, false, false);
	struct rt_symbols *s;
	for (size_t n = 0; n < block.len; n++)
		if (n != none.len - BEHIND_MODULES &&
		    n < block.len - BEHIND_PLAIN) /* where later versions' tables would begin */
			ck_assert_int_eq(rt_symbols_parse(block.data, n, &s), RT_EINPUT);
	rt_bytes_release(&block);
	rt_bytes_release(&none);
}
END_TEST

START_TEST(hidden_atomics_read_back_by_address)
{
	static const struct rt_hidden_atomic given[] = {
	    {0x4100, 0x4180, 0x4120, 0x4130, "fetch", "app", true, false, false, true},
	    {0x4050, 0x4050, 0x4050, 0x4050, NULL, NULL, false, true, true, false}};
	struct rt_symbol_table *t = rt_symbol_table_create();
	struct rt_bytes block = {0};
	struct rt_symbols *s;
	size_t n;
	ck_assert(rt_symbol_table_hidden_atomic(t, &given[0]) && rt_symbol_table_hidden_atomic(t, &given[1]));
	ck_assert(rt_symbol_table_write(t, &block));
	rt_symbol_table_free(t);
	ck_assert_int_eq(rt_symbols_parse(block.data, block.len, &s), RT_OK);
	const struct rt_hidden_atomic *a = rt_symbols_hidden_atomics(s, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(a[0].start, 0x4050);
	ck_assert_uint_eq(a[0].end, 0x4050);
	ck_assert_ptr_null(a[0].function);
	ck_assert_uint_eq(a[1].start, 0x4100);
	ck_assert_uint_eq(a[1].end, 0x4180);
	ck_assert_uint_eq(a[1].from, 0x4120);
	ck_assert_uint_eq(a[1].until, 0x4130);
	ck_assert_str_eq(a[1].function, "fetch");
	ck_assert_str_eq(a[1].module, "app");
	ck_assert(a[1].may_lock && !a[0].may_lock);
	ck_assert(!a[1].orders_nothing && !a[1].reads_nothing && a[1].writes_nothing);
	ck_assert(a[0].orders_nothing && a[0].reads_nothing && !a[0].writes_nothing);
	rt_symbols_free(s);
	for (size_t k = 7; k + BEHIND_ATOMICS < block.len; k++) /* cut in the table, not behind it */
		if (rt_symbols_parse(block.data, k, &s) == RT_OK) {
			rt_symbols_hidden_atomics(s, &n);
			ck_assert_uint_eq(n, 0);
			rt_symbols_free(s);
		}
	rt_bytes_release(&block);
}
END_TEST

START_TEST(declared_names_read_back_in_their_order)
{
	static const struct rt_declared given[] = {{RT_DECLARED_LOCAL, "pay(int)", "to", "Account"},
	                                           {RT_DECLARED_MEMBER, "Account", "lock", ""},
	                                           {RT_DECLARED_MEMBER, "Account", "", "Base"}};
	struct rt_symbol_table *t = rt_symbol_table_create();
	struct rt_bytes block = {0};
	struct rt_symbols *s;
	size_t n;
	for (int i = 0; i < 3; i++)
		ck_assert(rt_symbol_table_declared(t, &given[i]));
	ck_assert(rt_symbol_table_write(t, &block));
	rt_symbol_table_free(t);
	ck_assert_int_eq(rt_symbols_parse(block.data, block.len, &s), RT_OK);
	const struct rt_declared *d = rt_symbols_declared(s, &n);
	ck_assert_uint_eq(n, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(rt_declared_compare(&d[i], &given[2 - i]), 0);
		ck_assert_str_eq(d[i].type, given[2 - i].type);
	}
	rt_symbols_free(s);
	for (size_t k = block.len - 15; k < block.len; k++) /* three entries of five bytes each */
		ck_assert_int_eq(rt_symbols_parse(block.data, k, &s), RT_EINPUT);
	rt_bytes_release(&block);
}
END_TEST

SUITE(symbols)
{
	Suite *s = suite_create("symbols");
	TCase *c = tcase_create("modules");
	tcase_add_loop_test(c, modules_read_back_by_address_and_which_are_plain, 0, 8);
	tcase_add_test(c, a_block_of_version_1_0_ends_before_the_plain_modules);
	tcase_add_test(c, a_block_that_is_cut_in_a_table_is_refused);
	tcase_add_test(c, hidden_atomics_read_back_by_address);
	tcase_add_test(c, declared_names_read_back_in_their_order);
	suite_add_tcase(s, c);
	return s;
}
