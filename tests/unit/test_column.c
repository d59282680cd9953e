/* Properties of the column coder: what goes in comes out, and loops cost next to nothing. */
#include "tests/unit/suite.h"
#include "tracefmt/native/column.h"

#include <check.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Codes n records into as many chunks as it takes, decodes them, compares. Returns the coded bytes. */
static size_t check_round_trip(const struct rt_record *records, size_t n)
{
	struct rt_encoder *e = rt_encoder_create();
	struct rt_record *back = malloc(RT_CHUNK_RECORDS * sizeof *back);
	struct rt_bytes out = {0};
	size_t total = 0;
	ck_assert(e && back);
	for (size_t done = 0; done < n;) {
		size_t taken = 0, k;
		while (done + taken < n && (k = rt_encoder_add(e, records + done + taken, n - done - taken)))
			taken += k;
		ck_assert_uint_gt(taken, 0);
		struct rt_chunk_facts facts = *rt_encoder_facts(e);
		ck_assert_uint_eq(facts.records, taken);
		ck_assert_uint_le(taken, RT_CHUNK_RECORDS);
		out.len = 0;
		rt_encoder_finish(e, &out);
		ck_assert(!out.failed);
		ck_assert_uint_le(out.len, RT_CHUNK_RAW_MAX);
		total += out.len;
		struct rt_decoder d;
		bool memory = false;
		size_t got;
		ck_assert(rt_decoder_init(&d, out.data, out.len, facts.base_stamp, &memory));
		ck_assert(rt_decoder_records(&d, back, RT_CHUNK_RECORDS, &got));
		ck_assert_uint_eq(got, taken);
		ck_assert(!memcmp(back, records + done, taken * sizeof *back));
		rt_decoder_release(&d);
		done += taken;
	}
	rt_bytes_release(&out);
	rt_encoder_free(e);
	free(back);
	return total;
}

START_TEST(random_words_survive)
{
	uint64_t seed = 88172645463325252 + (uint64_t)_i;
	enum { N = 70000 };
	struct rt_record *r = malloc(N * sizeof *r);
	for (size_t i = 0; i < N; i++)
		r[i] = (struct rt_record){next_random(&seed), next_random(&seed)};
	check_round_trip(r, N);
	free(r);
}
END_TEST

/* Records as a recorder could write them, with everything that may stand before an event, in any mixture. */
START_TEST(random_traces_survive)
{
	uint64_t seed = 99 + (uint64_t)_i, stamp = 5;
	enum { N = 200000 };
	struct rt_record *r = malloc((N + 4) * sizeof *r);
	size_t n = 0;
	while (n < N) {
		uint64_t x = next_random(&seed);
		if (x % 16 == 0) {
			stamp += x >> 60 ? (x >> 20) % 1000 : 0 - (x >> 20) % 1000;
			r[n++] = rt_record_ext(stamp, x >> 40);
		}
		if (x % 64 < 2)
			r[n++] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, next_random(&seed)};
		if (x % 1024 == 3)
			r[n++] = rt_record_make(RT_OP_SKIP, x >> 50, 0, 0, 0);
		if (x % 1024 == 4)
			r[n++] = rt_record_make(RT_OP_NONE, 0, 0, 0, 0);
		r[n++] = rt_record_make((unsigned)(RT_OP_READ + x / 7 % 50), (x >> 30) % 999, (x >> 8) % 3000,
		                        (x >> 20) & 1, x % 5 ? 0 : (x >> 9) & 255);
	}
	check_round_trip(r, n);
	free(r);
}
END_TEST

START_TEST(a_loop_costs_its_flags_alone)
{
	enum { N = 60000 };
	struct rt_record *r = malloc(N * sizeof *r);
	for (size_t i = 0; i < N; i += 3) {
		r[i] = rt_record_make(RT_OP_READ, 0x1000 + 8 * i, 0x401000, 8, 0);
		r[i + 1] = rt_record_make(RT_OP_READ, 0x90000 - 4 * i, 0x401004, 4, 0);
		r[i + 2] = rt_record_make(RT_OP_WRITE, 0x7000, 0x401008, 4, 0);
	}
	ck_assert_uint_le(check_round_trip(r, N), N + 200);
	free(r);
}
END_TEST

START_TEST(facts_count_events_repeats_and_losses)
{
	const struct rt_record r[] = {rt_record_ext(100, 0),
	                              rt_record_make(RT_OP_BEGIN, 0, 1, 0, 0),
	                              rt_record_make(RT_OP_READ, 8, 2, 8, 3),
	                              rt_record_make(RT_OP_SKIP, 1000, 0, 0, 0),
	                              rt_record_make(RT_OP_READ, 8, 2, 8, 3),
	                              rt_record_ext(90, 7),
	                              rt_record_make(RT_OP_LOST, RT_LOST_SIGNAL, 0, 0, 0)};
	struct rt_encoder *e = rt_encoder_create();
	ck_assert_uint_eq(rt_encoder_add(e, r, 7), 7);
	const struct rt_chunk_facts *f = rt_encoder_facts(e);
	ck_assert_uint_eq(f->records, 7);
	ck_assert_uint_eq(f->events, 4);
	ck_assert_uint_eq(f->left_out, 1006);
	ck_assert_uint_eq(f->lost, 7);
	ck_assert_uint_eq(f->first_stamp, 100);
	ck_assert_uint_eq(f->last_stamp, 90);
	rt_encoder_free(e);
}
END_TEST

/* Decodes damaged bytes; that it returns is what counts (the sanitizers see the rest). */
START_TEST(damaged_columns_are_refused_or_decoded_to_something)
{
	uint64_t seed = 4711 + (uint64_t)_i;
	struct rt_encoder *e = rt_encoder_create();
	struct rt_bytes out = {0};
	struct rt_record *back = malloc(RT_CHUNK_RECORDS * sizeof *back);
	for (unsigned i = 0; i < 300; i++) {
		struct rt_record r[2] = {rt_record_ext(i * 10, i),
		                         rt_record_make(RT_OP_READ, next_random(&seed) % 64, i % 20, 4, 0)};
		ck_assert_uint_eq(rt_encoder_add(e, r, 2), 2);
	}
	rt_encoder_finish(e, &out);
	for (unsigned round = 0; round < 2000; round++) {
		uint8_t *copy = malloc(out.len); /* of the exact size, so that a sanitizer sees one byte too many */
		memcpy(copy, out.data, out.len);
		for (uint64_t k = next_random(&seed) % 4 + 1; k--;)
			copy[next_random(&seed) % out.len] = (uint8_t)next_random(&seed);
		struct rt_decoder d;
		bool memory = false;
		size_t got = 0;
		if (rt_decoder_init(&d, copy, out.len - (round & 1), 0, &memory))
			rt_decoder_records(&d, back, RT_CHUNK_RECORDS, &got);
		ck_assert_uint_le(got, RT_CHUNK_RECORDS);
		rt_decoder_release(&d);
		free(copy);
	}
	rt_bytes_release(&out);
	rt_encoder_free(e);
	free(back);
}
END_TEST

SUITE(column)
{
	Suite *s = suite_create("column");
	TCase *c = tcase_create("coding");
	tcase_add_loop_test(c, random_words_survive, 0, 3);
	tcase_add_loop_test(c, random_traces_survive, 0, 5);
	tcase_add_test(c, a_loop_costs_its_flags_alone);
	tcase_add_test(c, facts_count_events_repeats_and_losses);
	tcase_add_loop_test(c, damaged_columns_are_refused_or_decoded_to_something, 0, 3);
	suite_add_tcase(s, c);
	return s;
}
