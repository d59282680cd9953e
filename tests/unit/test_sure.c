/*
 * What is proved of a trace whose order is stamped is possible whatever the real order was: of small random traces,
 * each order that has the same threads and the same synchronisation is asked by the oracle about every pair that is
 * proved.
 */
#include "lib/analysis/analysis.h"
#include "lib/prove/certain.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS,
};
enum { TRACES = 60000, MIXES = sizeof mixes / sizeof *mixes, ORDERS = 12, SWAPS = 200 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool is_plain(const struct rt_event *e)
{
	return e->op == RT_OP_READ || e->op == RT_OP_WRITE;
}

/* May two events that follow each other have occurred the other way round, as far as is recorded? */
static bool may_swap(const struct rt_event *a, const struct rt_event *b)
{
	return a->thread != b->thread && (is_plain(a) || is_plain(b)) &&
	       !(a->op == RT_OP_FORK && a->addr == b->thread) && !(b->op == RT_OP_JOIN && b->addr == a->thread);
}

/* Makes *other another real order of the trace. places: by event of t, where it is there. */
static void reorder(const struct oracle_trace *t, uint64_t *random, struct oracle_trace *other, int *places)
{
	int ids[ORACLE_EVENTS];
	*other = *t;
	for (int i = 0; i < t->count; i++)
		ids[i] = i;
	for (int k = 0; k < SWAPS && t->count > 1; k++) {
		int i = (int)(next_random(random) % (uint64_t)(t->count - 1));
		struct rt_event *e = &other->events[i], first = e[0];
		if (!may_swap(&e[0], &e[1]))
			continue;
		e[0] = e[1];
		e[1] = first;
		int id = ids[i];
		ids[i] = ids[i + 1];
		ids[i + 1] = id;
	}
	for (int i = 0; i < t->count; i++)
		places[ids[i]] = i;
}

static void check_proved(const struct oracle_trace *t, const struct model *m, const struct anomaly *r, uint64_t *random)
{
	static struct oracle_trace other;
	int places[ORACLE_EVENTS], events[ANOMALY_EVENTS_MAX];
	for (int k = 0; k < ORDERS; k++) {
		reorder(t, random, &other, places);
		for (uint32_t i = 0; i < r->event_count; i++)
			events[i] = places[r->events[i]];
		bool sequence = r->kind != ANOMALY_RACE && r->kind != ANOMALY_DEADLOCK;
		if (!oracle_reaches(&other, sequence, events, (int)r->event_count))
			ck_abort_msg("%s %s (%u, %u, ...) is proved in\n%sbut not if it really was\n%s",
			             anomaly_kind_name(r->kind), r->pattern, m->events[r->events[0]].number,
			             m->events[r->events[1]].number, random_text(t), random_text(&other));
	}
}

START_TEST(what_is_proved_holds_for_each_real_order)
{
	static struct oracle_trace t, reduced;
	uint64_t random = 88172645463325252u + (uint64_t)_i, proved = 0, sure = 0;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		struct memory_trace memory;
		struct analysis *a;
		struct rt_error err = {0};
		struct analysis_options options = {.every = true,
		                                   .kinds = 1u << ANOMALY_RACE | 1u << ANOMALY_DEADLOCK |
		                                            1u << ANOMALY_ATOMICITY | 1u << ANOMALY_ASV};
		oracle_random(&t, seed * 31 + (uint64_t)_i * 1000003, mixes[_i], 10 + (int)(seed % 20));
		struct rt_trace *trace = random_trace(&memory, &t);
		trace->info.exact = false;
		ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
		struct certain *certain = certain_create(&a->facts, false);
		ck_assert_ptr_nonnull(certain);
		ck_assert_uint_eq(a->proofs.rejected, 0);
		/* A thread's next event is its next one that another thread may see: the model has no others. */
		reduced = t;
		for (uint32_t e = 0; e < a->model->event_count; e++)
			reduced.events[e] = t.events[a->model->events[e].number - 1];
		reduced.count = (int)a->model->event_count;
		for (size_t i = 0; i < a->anomalies.count; i++) {
			const struct anomaly *r = &a->anomalies.items[i];
			uint32_t first;
			if (r->verdict != VERDICT_PROVED)
				continue;
			proved++;
			sure += certain_count_uncertain(certain, r->schedule, r->events, r->event_count, &first) > 0;
			check_proved(&reduced, a->model, r, &random);
		}
		certain_free(certain);
		analysis_free(a);
	}
	printf("stamped, mix %d: %lu proved, %lu of them whichever write racy reads saw\n", _i, (unsigned long)proved,
	       (unsigned long)sure);
	ck_assert_uint_ge(proved, sure);
	if (!(mixes[_i] & ORACLE_BARRIERS)) {
		assert_enough(sure, 1, TRACES);
		assert_enough(proved - sure, 1, TRACES);
	}
}
END_TEST

/* ---- With values ---- */

/* Memory after each number of events of the real order. */
static uint32_t real_memory[ORACLE_EVENTS + 1][ORACLE_HALVES];

static uint64_t value_at(const struct rt_event *e, int when)
{
	unsigned halves = oracle_halves(e), first = (unsigned)(e->addr - ORACLE_MEMORY) / 4;
	uint64_t value = 0;
	for (unsigned half = first; half < ORACLE_HALVES; half++)
		if (halves >> half & 1)
			value |= (uint64_t)real_memory[when][half] << 32 * (half - first);
	return value;
}

/* Runs the real order: its events get the values that they read, or wrote. */
static void run_real(struct oracle_trace *real, uint64_t *random)
{
	for (int half = 0; half < ORACLE_HALVES; half++)
		real_memory[0][half] = real->zeroed ? 0 : (uint32_t)(next_random(random) % 2);
	for (int i = 0; i < real->count; i++) {
		struct rt_event *e = &real->events[i];
		uint32_t written = (uint32_t)(next_random(random) % 3);
		memcpy(real_memory[i + 1], real_memory[i], sizeof real_memory[i]);
		for (int half = 0; half < ORACLE_HALVES && rt_op_writes(e->op); half++)
			if (oracle_halves(e) >> half & 1)
				real_memory[i + 1][half] = written;
		e->value = oracle_halves(e) ? value_at(e, rt_op_reads(e->op) ? i : i + 1) : 0;
		e->flags = oracle_halves(e) ? RT_F_VALUE : 0;
	}
}

/* The real place of the thread's next event in which the recorder looks at what e, at i, wrote: not a read right behind
 * it. */
static int next_place(const struct oracle_trace *t, const int *places, int i)
{
	bool read = false;
	for (int k = i + 1; k < t->count; k++) {
		if (t->events[k].thread != t->events[i].thread)
			continue;
		if (t->events[k].op != RT_OP_READ || read)
			return places[k];
		read = true;
	}
	return t->count;
}

static int place_before(const struct oracle_trace *t, const int *places, int i)
{
	for (int k = i; k-- > 0;)
		if (t->events[k].thread == t->events[i].thread)
			return places[k];
	return -1;
}

/*
 * The trace gets the values that the recorder finds: of a plain read what was there at some moment before it, of a
 * plain write what was there at some moment before the thread's next event; of some, nothing.
 */
static void record_values(struct oracle_trace *t, const struct oracle_trace *real, const int *places, uint64_t *random)
{
	for (int i = 0; i < t->count; i++) {
		struct rt_event *e = &t->events[i];
		int from = places[i], to = from;
		if (e->op == RT_OP_READ)
			from = place_before(t, places, i) + 1;
		else if (e->op == RT_OP_WRITE)
			from++, to = next_place(t, places, i);
		int when = from + (int)(next_random(random) % (uint64_t)(to - from + 1));
		bool known = oracle_halves(e) && next_random(random) % 8;
		e->flags = known ? RT_F_VALUE : 0;
		e->value = !known ? 0 : is_plain(e) ? value_at(e, when) : real->events[places[i]].value;
	}
}

/* The real order without the events that are not in the model. places: of t's events, then of the model's. */
static void reduce_real(const struct oracle_trace *real, const struct model *m, const int *places,
                        struct oracle_trace *reduced, int *of_model)
{
	bool kept[ORACLE_EVENTS] = {false};
	int rank[ORACLE_EVENTS];
	for (uint32_t e = 0; e < m->event_count; e++)
		kept[places[m->events[e].number - 1]] = true;
	*reduced = *real;
	reduced->count = 0;
	for (int k = 0; k < real->count; k++) {
		rank[k] = reduced->count;
		if (kept[k])
			reduced->events[reduced->count++] = real->events[k];
	}
	for (uint32_t e = 0; e < m->event_count; e++)
		of_model[e] = rank[places[m->events[e].number - 1]];
}

static const unsigned value_mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS,
};
enum { VALUE_MIXES = sizeof value_mixes / sizeof *value_mixes };

/* Values that were read beside the accesses prove nothing that the real order and the real values do not allow. */
START_TEST(what_recorded_values_prove_holds_for_the_real_ones)
{
	static struct oracle_trace t, real, reduced;
	uint64_t random = 88172645463325252u + (uint64_t)_i, proved = 0, substitutes = 0;
	int places[ORACLE_EVENTS], of_model[ORACLE_EVENTS], events[ANOMALY_EVENTS_MAX];
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, VALUE_MIXES); seed++) {
		struct memory_trace memory_of;
		struct analysis *a;
		struct rt_error err = {0};
		struct analysis_options options = {.every = true,
		                                   .kinds = 1u << ANOMALY_RACE | 1u << ANOMALY_DEADLOCK |
		                                            1u << ANOMALY_ATOMICITY | 1u << ANOMALY_ASV};
		oracle_random(&t, seed * 37 + (uint64_t)_i * 1000003, value_mixes[_i], 10 + (int)(seed % 20));
		t.zeroed = seed % 2;
		reorder(&t, &random, &real, places);
		run_real(&real, &random);
		record_values(&t, &real, places, &random);
		struct rt_trace *trace = random_trace(&memory_of, &t);
		trace->info.exact = false;
		ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
		ck_assert_uint_eq(a->proofs.rejected, 0);
		reduce_real(&real, a->model, places, &reduced, of_model);
		for (size_t i = 0; i < a->anomalies.count; i++) {
			const struct anomaly *r = &a->anomalies.items[i];
			if (r->verdict != VERDICT_PROVED)
				continue;
			proved++;
			substitutes += r->substitutes > 0;
			for (uint32_t k = 0; k < r->event_count; k++)
				events[k] = of_model[r->events[k]];
			bool sequence = r->kind != ANOMALY_RACE && r->kind != ANOMALY_DEADLOCK;
			if (!oracle_reaches(&reduced, sequence, events, (int)r->event_count))
				ck_abort_msg(
				    "%s %s (%u, %u, ...) is proved in\n%sbut not if it really was\n%s",
				    anomaly_kind_name(r->kind), r->pattern, a->model->events[r->events[0]].number,
				    a->model->events[r->events[1]].number, random_text(&t), random_text(&real));
		}
		analysis_free(a);
	}
	printf("values, mix %d: %lu proved, %lu of them by values\n", _i, (unsigned long)proved,
	       (unsigned long)substitutes);
	assert_enough(proved, 1, TRACES);
	if (!(value_mixes[_i] & (ORACLE_BARRIERS | ORACLE_ATOMICS)))
		assert_enough(substitutes, 1, TRACES);
}
END_TEST

static bool count_writer(void *count, uint32_t write)
{
	(void)write;
	++*(int *)count;
	return true;
}

/* The read comes after both writes, but of these either may have been the last. */
START_TEST(a_read_may_have_seen_its_own_thread_where_the_other_write_races_with_that)
{
	static const struct rt_event events[] = {
	    {.number = 1, .op = RT_OP_FORK, .thread = 0, .addr = 1},
	    {.number = 2, .op = RT_OP_WRITE, .thread = 0, .addr = ORACLE_MEMORY, .arg = 8, .pc = 1},
	    {.number = 3, .op = RT_OP_ACQUIRE, .thread = 1, .addr = 0x100},
	    {.number = 4, .op = RT_OP_WRITE, .thread = 1, .addr = ORACLE_MEMORY, .arg = 8, .pc = 2},
	    {.number = 5, .op = RT_OP_RELEASE, .thread = 1, .addr = 0x100},
	    {.number = 6, .op = RT_OP_ACQUIRE, .thread = 0, .addr = 0x100},
	    {.number = 7, .op = RT_OP_READ, .thread = 0, .addr = ORACLE_MEMORY, .arg = 8, .pc = 3},
	};
	struct memory_trace memory;
	struct analysis *a;
	struct rt_error err = {0};
	struct rt_trace *trace = memory_trace(&memory, events, sizeof events / sizeof *events, 2);
	trace->info.exact = false;
	ck_assert_msg(analysis_run(trace, &(struct analysis_options){0}, &a, &err) == RT_OK, "%s", err.message);
	struct certain *certain = certain_create(&a->facts, false);
	ck_assert_ptr_nonnull(certain);
	uint32_t read = a->model->event_count - 1;
	int writers = 0;
	ck_assert_uint_eq(a->model->events[read].number, 7);
	ck_assert(certain_writers(certain, read, 100, count_writer, &writers));
	ck_assert_int_eq(writers, 2);
	certain_free(certain);
	analysis_free(a);
}
END_TEST

SUITE(sure)
{
	Suite *s = suite_create("sure");
	TCase *c = tcase_create("random traces");
	tcase_add_loop_test(c, what_is_proved_holds_for_each_real_order, 0, MIXES);
	tcase_add_loop_test(c, what_recorded_values_prove_holds_for_the_real_ones, 0, VALUE_MIXES);
	tcase_add_test(c, a_read_may_have_seen_its_own_thread_where_the_other_write_races_with_that);
	suite_add_tcase(s, c);
	return s;
}
