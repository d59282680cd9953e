/*
 * Spins: of reads in a row that see the same write the model keeps two. The others are no loss: with all of them, each
 * at a place of its own, random traces have the same anomalies with the same verdicts; so do the golden traces, with
 * each read three times. (Of four each, more instances are ruled out than are kept.)
 */
#include "lib/analysis/analysis.h"
#include "lib/base/vec.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

enum { TRACES = 4000, TURNS = 4, LONG = ORACLE_EVENTS * TURNS, KEYS = 4096, APART = 1000 };

struct long_trace {
	struct rt_event events[LONG];
	size_t count;
};

struct spinner {
	int load; /* place of the thread's last event, if it is a read that is repeated; else -1 */
	uint64_t turn;
};

static void put(struct long_trace *out, const struct rt_event *e, uint64_t pc)
{
	ck_assert_uint_lt(out->count, LONG);
	out->events[out->count] = *e;
	out->events[out->count].pc = pc;
	out->events[out->count].number = out->events[out->count].stamp = out->count + 1;
	out->count++;
}

static void turn(const struct oracle_trace *t, struct spinner *s, bool apart, struct long_trace *out)
{
	if (s->load < 0 || s->turn == TURNS)
		return;
	put(out, &t->events[s->load], (uint64_t)s->load + 1 + (apart ? s->turn * APART : 0));
	s->turn++;
}

static void finish(const struct oracle_trace *t, struct spinner *s, bool apart, struct long_trace *out)
{
	while (s->load >= 0 && s->turn < TURNS)
		turn(t, s, apart, out);
}

static bool is_repeated(const struct rt_event *e)
{
	return e->op == RT_OP_ATOMIC_LOAD || e->op == RT_OP_READ;
}

/* Each read TURNS times, up to its thread's next event; apart: each turn has a pc of its own, APART further on.
 */
static void expand(const struct oracle_trace *t, bool apart, struct long_trace *out)
{
	struct spinner spinners[ORACLE_THREADS];
	uint64_t random = (uint64_t)t->count;
	for (int i = 0; i < ORACLE_THREADS; i++)
		spinners[i] = (struct spinner){-1, 0};
	out->count = 0;
	for (int i = 0; i < t->count; i++) {
		struct spinner *own = &spinners[t->events[i].thread];
		finish(t, own, apart, out);
		/* A thread that is joined has no more turns. */
		if (t->events[i].op == RT_OP_JOIN)
			finish(t, &spinners[t->events[i].addr], apart, out);
		put(out, &t->events[i], (uint64_t)i + 1);
		*own = (struct spinner){is_repeated(&t->events[i]) ? i : -1, 1};
		for (int k = 0; k < ORACLE_THREADS * 2; k++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			if (random >> 62 == 0)
				turn(t, &spinners[k % ORACLE_THREADS], apart, out);
		}
	}
	for (int k = 0; k < ORACLE_THREADS; k++)
		finish(t, &spinners[k], apart, out);
}

/* An anomaly without its events' numbers and turns. */
struct key {
	int kind, verdict;
	const char *pattern;
	uint64_t pcs[ANOMALY_EVENTS_MAX];
};
struct keys {
	struct key items[KEYS];
	size_t count;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x != *y ? (*x < *y ? -1 : 1) : 0;
}

/* Keeps the strongest verdict. */
static void add(struct keys *keys, const struct key *key)
{
	for (size_t i = 0; i < keys->count; i++) {
		struct key *k = &keys->items[i];
		if (k->kind == key->kind && k->pattern == key->pattern && !memcmp(k->pcs, key->pcs, sizeof k->pcs)) {
			k->verdict = key->verdict > k->verdict ? key->verdict : k->verdict;
			return;
		}
	}
	ck_assert_uint_lt(keys->count, KEYS);
	keys->items[keys->count++] = *key;
}

static size_t analyze(const struct oracle_trace *t, bool apart, struct keys *keys)
{
	static struct memory_trace memory;
	static struct long_trace trace;
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = 0};
	struct rt_error err = {0};
	expand(t, apart, &trace);
	struct rt_trace *source = memory_trace(&memory, trace.events, trace.count, (uint32_t)t->threads);
	source->info.zeroed = t->zeroed;
	source->info.model = t->count % 2 ? RT_MODEL_C11 : RT_MODEL_SC;
	if (analysis_run(source, &options, &a, &err))
		ck_abort_msg("%s", err.message);
	keys->count = 0;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		struct key key = {.kind = (int)x->kind, .verdict = (int)x->verdict, .pattern = x->pattern};
		for (uint32_t k = 0; k < x->event_count; k++)
			key.pcs[k] = a->model->sites[a->model->events[x->events[k]].site].pc % APART;
		if (x->kind == ANOMALY_RACE || x->kind == ANOMALY_DEADLOCK)
			qsort(key.pcs, x->event_count, sizeof *key.pcs, by_value);
		add(keys, &key);
	}
	size_t kept = a->model->event_count;
	analysis_free(a);
	return kept;
}

START_TEST(all_turns_of_a_spin_have_the_anomalies_of_two)
{
	static const unsigned mixes[] = {ORACLE_ATOMICS, ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_HALF_ACCESSES,
	                                 ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_FORKS | ORACLE_CONDITIONS,
	                                 ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_VALUES, ORACLE_ALL};
	enum { MIXES = sizeof mixes / sizeof *mixes };
	static struct keys two, all;
	uint64_t fewer = 0, anomalies = 0;
	for (uint64_t seed = 0; seed < random_seeds(TRACES, MIXES); seed++)
		for (int mix = 0; mix < MIXES; mix++) {
			struct oracle_trace t;
			oracle_random(&t, seed, mixes[mix], 6 + (int)(seed % 12));
			size_t kept = analyze(&t, false, &two), whole = analyze(&t, true, &all);
			fewer += kept < whole;
			anomalies += two.count;
			for (size_t i = 0; i < all.count; i++) {
				size_t before = two.count;
				struct key key = all.items[i];
				add(&two, &key);
				ck_assert_msg(two.count == before, "seed %ju, mix %d: an anomaly is missing\n%s",
				              (uintmax_t)seed, mix, random_text(&t));
			}
			for (size_t i = 0; i < two.count; i++) {
				size_t before = all.count;
				int verdict = two.items[i].verdict;
				add(&all, &two.items[i]);
				ck_assert_msg(all.count == before, "seed %ju, mix %d: one anomaly more\n%s",
				              (uintmax_t)seed, mix, random_text(&t));
				for (size_t k = 0; k < all.count; k++)
					if (all.items[k].kind == two.items[i].kind &&
					    all.items[k].pattern == two.items[i].pattern &&
					    !memcmp(all.items[k].pcs, two.items[i].pcs, sizeof two.items[i].pcs))
						ck_assert_msg(all.items[k].verdict == verdict,
						              "seed %ju, mix %d: verdict %d, not %d\n%s",
						              (uintmax_t)seed, mix, verdict, all.items[k].verdict,
						              random_text(&t));
			}
		}
	assert_enough(fewer, TRACES / 8, TRACES);
	assert_enough(anomalies, TRACES, TRACES);
}
END_TEST

/* Each read of a golden trace, three times. */
struct thrice {
	struct rt_event *events;
	uint32_t count, capacity;
};

static void read_thrice(struct rt_trace *trace, struct thrice *out)
{
	struct rt_pass pass;
	struct rt_error err = {0};
	out->count = 0;
	rt_trace_select(trace, RT_SELECT_ALL);
	for (const struct rt_event *e = rt_pass_first(&pass, trace, &err); e; e = rt_pass_next(&pass))
		for (int turn = 0; turn < (is_repeated(e) ? 3 : 1); turn++) {
			ck_assert(
			    vec_reserve(&out->events, &out->capacity, (uint64_t)out->count + 1, sizeof *out->events));
			out->events[out->count] = *e;
			out->events[out->count].number = out->events[out->count].stamp = out->count + 1;
			out->count++;
		}
	ck_assert_int_eq(pass.status, RT_OK);
}

struct left_out {
	uint64_t reads, anomalies; /* numbers of reads that were left out, and of anomalies that were compared */
	struct thrice thrice;
};

static void analyze_thrice(struct thrice *thrice, uint32_t threads, bool all_reads, struct analysis **out)
{
	static struct memory_trace memories[2];
	struct analysis_options options = {.model.all_reads = all_reads};
	struct rt_error err = {0};
	struct rt_trace *source = memory_trace(&memories[all_reads], thrice->events, thrice->count, threads);
	if (analysis_run(source, &options, out, &err))
		ck_abort_msg("%s", err.message);
}

static void same_without_repeats(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	struct left_out *out = data;
	struct analysis *with, *without;
	uint32_t threads = rt_trace_info(trace)->thread_count;
	(void)golden;
	read_thrice(trace, &out->thrice);
	analyze_thrice(&out->thrice, threads, true, &with);
	analyze_thrice(&out->thrice, threads, false, &without);
	ck_assert_msg(with->anomalies.count == without->anomalies.count, "%s: %zu anomalies, %zu without", path,
	              with->anomalies.count, without->anomalies.count);
	for (size_t i = 0; i < with->anomalies.count; i++) {
		const struct anomaly *x = &with->anomalies.items[i];
		bool found = false;
		for (size_t k = 0; k < without->anomalies.count && !found; k++) {
			const struct anomaly *y = &without->anomalies.items[k];
			found = x->kind == y->kind && x->pattern == y->pattern && x->verdict == y->verdict &&
			        x->orders_unordered == y->orders_unordered;
			for (uint32_t n = 0; n < x->event_count && found; n++)
				found = model_position_of(with->model, x->events[n]) ==
				        model_position_of(without->model, y->events[n]);
		}
		ck_assert_msg(found, "%s: a %s of event %u is missing, or its verdict is another", path, x->pattern,
		              with->model->events[x->events[0]].number);
	}
	out->reads += with->model->event_count - without->model->event_count;
	out->anomalies += with->anomalies.count;
	analysis_free(with);
	analysis_free(without);
}

START_TEST(golden_traces_have_the_same_verdicts_without_repeated_reads)
{
	struct left_out out = {0};
	ck_assert_int_ge(golden_each("hand", same_without_repeats, &out), 54);
	ck_assert_int_ge(golden_each("random", same_without_repeats, &out), 200);
	ck_assert_uint_ge(out.reads, 300);
	ck_assert_uint_ge(out.anomalies, 300);
	free(out.thrice.events);
}
END_TEST

#define LOAD_AT(t, place, how)                                                                                         \
	((struct rt_event){.thread = (t), .op = RT_OP_ATOMIC_LOAD, .addr = 64, .arg = 4, .pc = (place), .order = (how)})
#define LOAD(t) LOAD_AT(t, 1, 0)
#define STORE(t) ((struct rt_event){.thread = (t), .op = RT_OP_ATOMIC_STORE, .addr = 64, .arg = 4, .pc = 9})
#define OTHER(t, name) ((struct rt_event){.thread = (t), .op = RT_OP_##name, .addr = 128, .arg = 4, .pc = 7})

START_TEST(two_loads_of_a_row_are_kept)
{
	struct rt_event events[] = {
	    OTHER(0, FORK),                                       /* of thread 1, below */
	    LOAD(0),          LOAD(0), LOAD(0),          LOAD(0), /* two of them */
	    LOAD(1),          LOAD(0),                            /* another thread's is no end of it */
	    STORE(1),         LOAD(0), LOAD(0),          LOAD(0), /* the write is: two */
	    OTHER(0, FENCE),  LOAD(0), LOAD(0),          LOAD(0), /* another event is: two */
	    LOAD_AT(0, 2, 0), LOAD(0), LOAD_AT(0, 2, 0),          /* another place */
	    LOAD_AT(0, 1, 5),                                     /* another order */
	    STORE(0),
	};
	static struct memory_trace memory;
	struct model *m = NULL;
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS};
	size_t n = sizeof events / sizeof *events;
	events[0].addr = 1;
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	if (model_load(memory_trace(&memory, events, n, 2), &options, &m, &err))
		ck_abort_msg("%s", err.message);
	static const uint32_t kept[] = {1, 2, 3, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 19, 20};
	ck_assert_uint_eq(m->event_count, sizeof kept / sizeof *kept);
	for (uint32_t i = 0; i < m->event_count; i++)
		ck_assert_uint_eq(m->events[i].number, kept[i]);
	/* The estimate of the first pass is not far off. */
	ck_assert_uint_le(m->size.events, m->event_count + 4);
	model_free(m);
}
END_TEST

#define ACCESS(t, name, place)                                                                                         \
	((struct rt_event){.thread = (t), .op = RT_OP_##name, .addr = 64, .arg = 4, .pc = (place)})

/* The model keeps `count` of these events; with: their numbers. */
static void kept_of(struct rt_event *events, size_t n, bool all_reads, const uint32_t *with, uint32_t count)
{
	static struct memory_trace memory;
	struct model *m = NULL;
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS, .all_reads = all_reads};
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	if (model_load(memory_trace(&memory, events, n, 2), &options, &m, &err))
		ck_abort_msg("%s", err.message);
	ck_assert_uint_eq(m->event_count, count);
	for (uint32_t i = 0; with && i < count; i++)
		ck_assert_uint_eq(m->events[i].number, with[i]);
	model_free(m);
}

START_TEST(two_reads_of_a_row_are_kept_once_another_thread_has_accessed_the_variable)
{
	struct rt_event events[] = {
	    OTHER(0, FORK),                                                                  /* of thread 1 */
	    ACCESS(0, WRITE, 9), ACCESS(0, READ, 1), ACCESS(0, READ, 1), ACCESS(0, READ, 1), /* by Eraser, exclusive */
	    ACCESS(1, READ, 2),  ACCESS(1, READ, 2), ACCESS(1, READ, 2), ACCESS(1, READ, 2), /* shared: two */
	    ACCESS(0, READ, 1),  ACCESS(0, READ, 1),                     /* the first of them counts */
	    ACCESS(1, READ, 2),  ACCESS(1, READ, 3), ACCESS(1, READ, 2), /* another place ends a row */
	    ACCESS(1, WRITE, 4), ACCESS(0, READ, 1), ACCESS(0, READ, 1), ACCESS(0, READ, 1), /* and a write */
	};
	static const uint32_t kept[] = {1, 2, 3, 4, 5, 6, 7, 10, 13, 14, 15, 16, 17};
	size_t n = sizeof events / sizeof *events;
	events[0].addr = 1;
	kept_of(events, n, false, kept, sizeof kept / sizeof *kept);
	kept_of(events, n, true, NULL, (uint32_t)n);
}
END_TEST

/* What comes after the row may be ordered after its first reads by what is no event, but not after its last one. */
START_TEST(a_row_is_whole_where_what_is_no_event_may_order_its_reads)
{
	bool lost = _i;
	struct rt_event events[] = {
	    ACCESS(0, READ, 3), OTHER(0, FORK), /* of thread 1 */
	    ACCESS(1, READ, 1), ACCESS(1, READ, 1), OTHER(1, ENTER),   OTHER(1, LEAVE),   ACCESS(1, READ, 1),
	    OTHER(0, ENTER),    OTHER(0, LEAVE),    OTHER(0, ACQUIRE), OTHER(0, RELEASE), ACCESS(0, WRITE, 2),
	};
	static const struct rt_hidden_atomic atomic = {.start = 7, .end = 7};
	static struct memory_trace memory;
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = UINT32_C(1) << ANOMALY_RACE};
	struct rt_error err = {0};
	size_t n = sizeof events / sizeof *events;
	events[1].addr = 1;
	if (lost) {
		events[5].op = RT_OP_LOST;
		events[5].addr = RT_LOST_SIGNAL;
	}
	for (size_t i = 0; i < n; i++)
		events[i].number = events[i].stamp = i + 1;
	struct rt_trace *trace = memory_trace(&memory, events, n, 2);
	memory.hidden = &atomic;
	memory.hidden_count = !lost;
	if (analysis_run(trace, &options, &a, &err))
		ck_abort_msg("%s", err.message);
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_int_eq((int)a->anomalies.items[0].verdict, VERDICT_OBSERVED);
	analysis_free(a);
}
END_TEST

SUITE(spins)
{
	Suite *s = suite_create("spins");
	TCase *c = tcase_create("loads");
	tcase_add_test(c, two_loads_of_a_row_are_kept);
	tcase_add_test(c, two_reads_of_a_row_are_kept_once_another_thread_has_accessed_the_variable);
	tcase_add_loop_test(c, a_row_is_whole_where_what_is_no_event_may_order_its_reads, 0, 2);
	tcase_add_test(c, golden_traces_have_the_same_verdicts_without_repeated_reads);
	tcase_add_test(c, all_turns_of_a_spin_have_the_anomalies_of_two);
	suite_add_tcase(s, c);
	return s;
}
