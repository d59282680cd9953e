/*
 * Values: a read may see another write of the value that it saw. The golden traces that tell value-based prediction
 * from reads-from, and the analysis against the oracle on random traces with values.
 */
#include "lib/analysis/analysis.h"
#include "lib/trace/values.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

static struct analysis *analyze(struct rt_trace *trace)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.every = true, .kinds = 1u << ANOMALY_RACE};
	if (analysis_run(trace, &options, &a, &err))
		ck_abort_msg("%s", err.message);
	return a;
}

/* The race of these two events; NULL if it is no candidate. */
static const struct anomaly *race_of(const struct analysis *a, uint32_t n1, uint32_t n2)
{
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		if (a->model->events[r->events[0]].number == n1 && a->model->events[r->events[1]].number == n2)
			return r;
	}
	return NULL;
}

static bool shown(const struct anomaly *r)
{
	return r && r->verdict >= VERDICT_PROVED;
}

/* The text of a golden trace, with its values or without. */
static struct rt_trace *open_golden(const char *name, bool values)
{
	char path[256], line[256], text[4096];
	size_t used = 0;
	snprintf(path, sizeof path, "tests/golden/values/%s.stdv", name);
	FILE *in = fopen(path, "r");
	ck_assert_msg(in != NULL, "%s", path);
	while (fgets(line, sizeof line, in)) {
		int length = values ? (int)strcspn(line, "\n") : (int)(strrchr(line, '|') - line);
		used += (size_t)snprintf(text + used, sizeof text - used, "%.*s\n", length, line);
		ck_assert_uint_lt(used, sizeof text);
	}
	fclose(in);
	return scratch_trace(text);
}

/* Is the pair decided as it should, and are no more pairs shown than that? Returns whether another write was seen. */
static bool check_golden(const char *name, bool values, unsigned n1, unsigned n2, bool predictable)
{
	struct rt_trace *trace = open_golden(name, values);
	struct analysis *a = analyze(trace);
	const struct anomaly *r = race_of(a, n1, n2);
	ck_assert_msg(shown(r) == predictable, "%s: (%u, %u) %s values", name, n1, n2, values ? "with" : "without");
	ck_assert(!r || shown(r) || r->verdict <= VERDICT_CONDITIONAL);
	bool other = r && r->substitutes;
	ck_assert(!other || a->model->events[r->substitute].number);
	analysis_free(a);
	rt_trace_free(trace);
	return other;
}

START_TEST(golden_pairs_are_shown_where_values_make_them_predictable)
{
	char name[64], by_reads[2], by_values[2];
	unsigned n1, n2;
	int lines = 0, more = 0;
	FILE *f = fopen("tests/golden/values/expected.tsv", "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%*[^\n]"), 0);
	for (; fscanf(f, "%63s %u %u %1s %1s %*[^\n]", name, &n1, &n2, by_reads, by_values) == 5; lines++) {
		bool without = by_reads[0] == 'R', with = by_values[0] == 'R';
		ck_assert(!check_golden(name, false, n1, n2, without));
		ck_assert_int_eq(check_golden(name, true, n1, n2, with), with && !without);
		more += with && !without;
	}
	fclose(f);
	ck_assert_int_eq(lines, 15);
	ck_assert_int_eq(more, 2);
}
END_TEST

/* The verdict on the race of these two events, in a trace of JSON lines. header: more members of its header. */
static enum verdict verdict_of(const char *header, const char *events, uint32_t n1, uint32_t n2)
{
	char text[4096];
	snprintf(text, sizeof text, "{\"schema\":\"racetrace.events/1\"%s}\n%s", header, events);
	struct rt_trace *trace = scratch_trace(text);
	struct analysis *a = analyze(trace);
	const struct anomaly *r = race_of(a, n1, n2);
	ck_assert_ptr_nonnull(r);
	enum verdict verdict = r->verdict;
	analysis_free(a);
	rt_trace_free(trace);
	return verdict;
}

#define ACQ(t) "{\"op\":\"acquire\",\"object\":\"L\",\"thread\":\"T" #t "\"}\n"
#define REL(t) "{\"op\":\"release\",\"object\":\"L\",\"thread\":\"T" #t "\"}\n"
#define ACCESS(t, op, x, size, more)                                                                                   \
	"{\"op\":\"" op "\",\"object\":\"" x "\",\"arg\":" size ",\"thread\":\"T" #t "\"" more "}\n"
#define VALUE(v) ",\"value\":\"" v "\""
/* Thread 1 writes x and then y under the lock, thread 2 reads y under the lock and then writes x. */
#define MESSAGE(store, load)                                                                                           \
	ACCESS(1, "write", "0x1000", "8", "")                                                                          \
	ACQ(1) store REL(1) ACQ(2) load REL(2) ACCESS(2, "write", "0x1000", "8", "")

START_TEST(a_pointer_to_memory_that_was_given_out_twice_is_no_value)
{
#define HEAP(t, op, more) "{\"op\":\"" op "\",\"object\":\"0x5000\",\"arg\":64,\"thread\":\"T" #t "\"" more "}\n"
	const char *p = MESSAGE(ACCESS(1, "write", "0x2000", "8", VALUE("0x5010")),
	                        ACCESS(2, "read", "0x2000", "8", VALUE("0x5010")));
	const char *before = ACQ(0) ACCESS(0, "write", "0x2000", "8", VALUE("0x5010")) REL(0);
	const char *once = HEAP(0, "alloc", ""), *freed = HEAP(0, "write", ",\"flags\":[\"free\"]");
	const char *again = HEAP(1, "alloc", "");
	char text[4096];
	/* Thread 0 has published the same block. */
	snprintf(text, sizeof text, "%s%s%s", once, before, p);
	ck_assert_int_eq(verdict_of("", text, 5, 12), VERDICT_PROVED);
	snprintf(text, sizeof text, "%s%s%s%s", once, before, freed, p);
	ck_assert_int_eq(verdict_of("", text, 6, 13), VERDICT_PROVED);
	/* It has published another one, that thread 1 has the memory of. */
	snprintf(text, sizeof text, "%s%s%s%s%s", once, before, freed, again, p);
	ck_assert_int_ne(verdict_of("", text, 7, 14), VERDICT_PROVED);
	snprintf(text, sizeof text, "%s%s%s%s", before, freed, again, p);
	ck_assert_int_ne(verdict_of("", text, 6, 13), VERDICT_PROVED);
#undef HEAP
}
END_TEST

START_TEST(parts_of_accesses_have_parts_of_values)
{
	/* The read's upper half is what memory began with, as another read of it tells. */
	const char *part = MESSAGE(ACCESS(1, "write", "0x2004", "4", VALUE("0x7")),
	                           ACCESS(2, "read", "0x2000", "8", VALUE("0x700000005")));
	const char *before = ACQ(0) ACCESS(0, "read", "0x2004", "4", VALUE("0x7")) REL(0);
	char text[2048];
	ck_assert_int_eq(verdict_of("", part, 1, 8), VERDICT_CONDITIONAL);
	snprintf(text, sizeof text, "%s%s", before, part);
	ck_assert_int_eq(verdict_of("", text, 4, 11), VERDICT_PROVED);
	/* The lock orders what the reads saw, so time stamps do. A write beside them makes it uncertain. */
	ck_assert_int_eq(verdict_of(",\"order\":\"stamped\"", text, 4, 11), VERDICT_PROVED);
	snprintf(text, sizeof text, "%s%s" ACCESS(3, "write", "0x2004", "4", VALUE("0x7")), before, part);
	ck_assert_int_ne(verdict_of(",\"order\":\"stamped\"", text, 4, 11), VERDICT_PROVED);
	ck_assert_int_eq(verdict_of("", text, 4, 11), VERDICT_PROVED);
}
END_TEST

/* Loads these JSON lines and checks the value of event `number` in its last cell. */
static void check_value(const char *events, uint32_t number, uint64_t expected)
{
	char text[4096];
	snprintf(text, sizeof text, "{\"schema\":\"racetrace.events/1\"}\n%s", events);
	struct rt_trace *trace = scratch_trace(text);
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct rt_error err = {0};
	struct model *m;
	ck_assert_int_eq(model_load(trace, &options, &m, &err), RT_OK);
	uint32_t e = 0;
	while (e < m->event_count && m->events[e].number != number)
		e++;
	ck_assert_uint_lt(e, m->event_count);
	uint64_t bits = 0;
	ck_assert(model_value(m, e, m->events[e].object + m->sites[m->events[e].site].cells - 1, &bits));
	ck_assert_uint_eq(bits, expected);
	model_free(m);
	rt_trace_free(trace);
}

START_TEST(what_is_left_of_an_access_has_what_is_left_of_its_value)
{
	const char *alloc = "{\"op\":\"alloc\",\"object\":\"0x2000\",\"arg\":8,\"thread\":\"T0\"}\n";
	const char *shared =
	    ACCESS(1, "write", "0x2000", "4", VALUE("0x1")) ACCESS(2, "read", "0x2000", "4", VALUE("0x1"));
	/* In the memory that is new, thread 2 alone accesses the lower half: its first read goes, of its second one the
	 * upper half stays. */
	const char *again =
	    ACCESS(2, "read", "0x2000", "4", VALUE("0x9")) ACCESS(1, "write", "0x2004", "4", VALUE("0x7"))
	        ACCESS(2, "read", "0x2000", "8", VALUE("0x700000005")) ACCESS(1, "write", "0x2004", "4", VALUE("0x8"));
	char text[2048];
	snprintf(text, sizeof text, "%s%s%s", shared, alloc, again);
	check_value(text, 2, 0x1);
	check_value(text, 5, 0x7);
	check_value(text, 6, 0x7);
	check_value(text, 7, 0x8);
}
END_TEST

START_TEST(memory_begins_as_0_where_the_trace_says_so)
{
	const char *events =
	    MESSAGE(ACCESS(1, "write", "0x2000", "8", VALUE("0x0")), ACCESS(2, "read", "0x2000", "8", VALUE("0x0")));
	ck_assert_int_eq(verdict_of("", events, 1, 8), VERDICT_CONDITIONAL);
	ck_assert_int_eq(verdict_of(",\"zeroed\":true", events, 1, 8), VERDICT_PROVED);
}
END_TEST

START_TEST(memory_that_was_allocated_begins_as_nothing_certain)
{
	const char *alloc = "{\"op\":\"alloc\",\"object\":\"0x2000\",\"arg\":8,\"thread\":\"T0\"}\n";
	const char *before = ACQ(0) ACCESS(0, "read", "0x2000", "8", VALUE("0x7")) REL(0);
	const char *events =
	    MESSAGE(ACCESS(1, "write", "0x2000", "8", VALUE("0x7")), ACCESS(2, "read", "0x2000", "8", VALUE("0x7")));
	char text[2048];
	snprintf(text, sizeof text, "%s%s", before, events);
	ck_assert_int_eq(verdict_of("", text, 4, 11), VERDICT_PROVED);
	snprintf(text, sizeof text, "%s%s%s", alloc, before, events);
	ck_assert_int_eq(verdict_of("", text, 5, 12), VERDICT_CONDITIONAL);
}
END_TEST

START_TEST(a_write_that_a_read_contradicts_is_like_no_other)
{
	const char *other = ACQ(0) ACCESS(0, "write", "0x2000", "8", VALUE("0x5")) REL(0);
	const char *right =
	    MESSAGE(ACCESS(1, "write", "0x2000", "8", VALUE("0x5")), ACCESS(2, "read", "0x2000", "8", VALUE("0x5")));
	const char *wrong =
	    MESSAGE(ACCESS(1, "write", "0x2000", "8", VALUE("0x5")), ACCESS(2, "read", "0x2000", "8", VALUE("0x6")));
	char text[2048];
	snprintf(text, sizeof text, "%s%s", other, right);
	ck_assert_int_eq(verdict_of("", text, 4, 11), VERDICT_PROVED);
	snprintf(text, sizeof text, "%s%s", other, wrong);
	ck_assert_int_eq(verdict_of("", text, 4, 11), VERDICT_CONDITIONAL);
}
END_TEST

START_TEST(an_atomic_read_stays_behind_the_write_that_it_saw)
{
	const char *other = ACQ(0) ACCESS(0, "atomic-store", "0x2000", "8", VALUE("0x5")) REL(0);
	const char *plain = MESSAGE(ACCESS(1, "atomic-store", "0x2000", "8", VALUE("0x5")),
	                            ACCESS(2, "read", "0x2000", "8", VALUE("0x5")));
	const char *atomic = MESSAGE(ACCESS(1, "atomic-store", "0x2000", "8", VALUE("0x5") ",\"order\":\"relaxed\""),
	                             ACCESS(2, "atomic-load", "0x2000", "8", VALUE("0x5")));
	char text[2048];
	snprintf(text, sizeof text, "%s%s", other, plain);
	ck_assert_int_eq(verdict_of("", text, 4, 11), VERDICT_PROVED);
	snprintf(text, sizeof text, "%s%s", other, atomic);
	ck_assert_int_ne(verdict_of("", text, 4, 11), VERDICT_PROVED);
}
END_TEST

struct tally {
	int shown, denied, undecided, others;
};

/* Shown is what is predictable, nothing else; and nothing that is predictable is refuted. */
static void check_random(const struct oracle_trace *t, oracle_pairs predictable, struct tally *tally)
{
	struct memory_trace memory;
	struct analysis *a = analyze(random_trace(&memory, t));
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++) {
			const struct anomaly *r = race_of(a, (uint32_t)i + 1, (uint32_t)j + 1);
			if (shown(r) != predictable[i][j])
				ck_abort_msg("(%d, %d) is %s but %spredictable in\n%s", i + 1, j + 1,
				             r ? verdict_name(r->verdict) : "no candidate",
				             predictable[i][j] ? "" : "not ", random_text(t));
			tally->shown += shown(r);
			tally->denied += r && r->verdict <= VERDICT_CONDITIONAL;
			tally->undecided += r && r->verdict == VERDICT_PREDICTED;
			tally->others += r && r->substitutes;
		}
	ck_assert_uint_eq(a->proofs.rejected, 0);
	analysis_free(a);
}

static const unsigned mixes[] = {
    ORACLE_VALUES,
    ORACLE_VALUES | ORACLE_LOCKS,
    ORACLE_VALUES | ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_VALUES | ORACLE_LOCKS | ORACLE_READERS | ORACLE_HALF_ACCESSES,
    ORACLE_VALUES | ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_VALUES | ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_VALUES | ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_ALL,
};
enum { TRACES = 8000, MIXES = sizeof mixes / sizeof *mixes };

static void find_predictable(const struct oracle_trace *t, oracle_pairs predictable)
{
	memset(predictable, 0, sizeof(oracle_pairs));
	oracle_reorder(t, false, predictable);
}

START_TEST(what_is_shown_is_what_is_predictable_with_values_and_without)
{
	static struct oracle_trace t;
	static oracle_pairs with, without;
	struct tally valued = {0}, bare = {0};
	int more = 0;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 8 + (int)(seed % 20));
		find_predictable(&t, with);
		check_random(&t, with, &valued);
		for (int i = 0; i < t.count; i++)
			t.events[i].flags &= (uint8_t)~RT_F_VALUE;
		find_predictable(&t, without);
		check_random(&t, without, &bare);
		for (int i = 0; i < t.count; i++)
			for (int j = i + 1; j < t.count; j++) {
				ck_assert(with[i][j] || !without[i][j]);
				more += with[i][j] && !without[i][j];
			}
	}
	assert_enough(more, 1, TRACES);
	ck_assert_int_ge(valued.others, more);
	assert_enough(valued.denied, 1, TRACES);
	assert_enough(bare.denied - valued.denied, 1, TRACES);
	ck_assert_int_eq(bare.others, 0);
	printf("values: %d shown (%d without), %d denied (%d), %d undecided (%d)\n", valued.shown, bare.shown,
	       valued.denied, bare.denied, valued.undecided, bare.undecided);
}
END_TEST

SUITE(values)
{
	Suite *s = suite_create("values");
	TCase *c = tcase_create("golden");
	tcase_add_test(c, golden_pairs_are_shown_where_values_make_them_predictable);
	suite_add_tcase(s, c);
	c = tcase_create("rules");
	tcase_add_test(c, parts_of_accesses_have_parts_of_values);
	tcase_add_test(c, a_pointer_to_memory_that_was_given_out_twice_is_no_value);
	tcase_add_test(c, what_is_left_of_an_access_has_what_is_left_of_its_value);
	tcase_add_test(c, memory_begins_as_0_where_the_trace_says_so);
	tcase_add_test(c, memory_that_was_allocated_begins_as_nothing_certain);
	tcase_add_test(c, a_write_that_a_read_contradicts_is_like_no_other);
	tcase_add_test(c, an_atomic_read_stays_behind_the_write_that_it_saw);
	suite_add_tcase(s, c);
	c = tcase_create("random traces");
	tcase_add_loop_test(c, what_is_shown_is_what_is_predictable_with_values_and_without, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
