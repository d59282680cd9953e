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
enum { TRACES = 6000, MIXES = sizeof mixes / sizeof *mixes, ORDERS = 12, SWAPS = 200 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* May two events that follow each other have occurred the other way round, as far as is recorded? */
static bool may_swap(const struct rt_event *a, const struct rt_event *b)
{
	return a->thread != b->thread && (rt_op_is_access(a->op) || rt_op_is_access(b->op)) &&
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
		struct certain *certain = certain_create(a->model, false, &err);
		ck_assert_ptr_nonnull(certain);
		ck_assert_uint_eq(a->proofs.rejected, 0);
		/* A thread's next event is its next one that somebody else may see: the model has no others. */
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
	struct certain *certain = certain_create(a->model, false, &err);
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
	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, what_is_proved_holds_for_each_real_order, 0, MIXES);
	tcase_add_test(c, a_read_may_have_seen_its_own_thread_where_the_other_write_races_with_that);
	suite_add_tcase(s, c);
	return s;
}
