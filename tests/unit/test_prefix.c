/*
 * The judge's checkpoints: a schedule that begins as the trace does is judged from one of them as it is from its first
 * step on. So is one that leaves out events, and of which the judge replays no accesses. On random traces and
 * schedules, right and wrong ones, with a checkpoint after every few events.
 */
#include "lib/base/assert.h"
#include "lib/judge/judge.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

enum { SCHEDULES = 12 };

static const unsigned mixes[] = {
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS | ORACLE_LOCKS,
    ORACLE_VALUES | ORACLE_ATOMICS | ORACLE_HALF_ACCESSES | ORACLE_LOCKS,
    ORACLE_ALL,
};
enum { TRACES = 3000, MIXES = sizeof mixes / sizeof *mixes };

static uint32_t below(uint64_t *random, uint32_t n)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*random >> 33) % n);
}

struct judged {
	struct memory_trace memory;
	struct model *m;
	struct judge *plain, *with; /* from the first step on; with checkpoints */
};

static void begin(struct judged *j, const struct oracle_trace *t, uint32_t interval)
{
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct rt_error err = {0};
	ck_assert_msg(!model_load(random_trace(&j->memory, t), &options, &j->m, &err), "%s", err.message);
	j->plain = judge_create(j->m);
	j->with = judge_create(j->m);
	ck_assert(j->plain && j->with);
	ck_assert(judge_checkpoints(j->plain, 0) && judge_checkpoints(j->with, interval));
}

static void end(struct judged *j)
{
	judge_free(j->plain);
	judge_free(j->with);
	model_free(j->m);
}

/* The trace as far as some event, perhaps without the later events of a thread, then its threads' next events, whether
 * they may come next or not; now and then a step that is none. */
static void random_schedule(const struct model *m, uint64_t *random, struct schedule *s)
{
	uint32_t next[ORACLE_THREADS] = {0}, prefix = below(random, m->event_count + 1), more = below(random, 8);
	uint32_t stops = below(random, 2 * m->thread_count), stop = below(random, prefix + 1);
	for (uint32_t e = 0; e < prefix; e++) {
		if (e >= stop && model_thread_of(m, e) == stops)
			continue;
		ck_assert(schedule_push(s, m, e));
		next[model_thread_of(m, e)] = m->events[e].pos + 1;
	}
	for (uint32_t i = 0; i < more; i++) {
		uint32_t thread = below(random, m->thread_count);
		if (next[thread] < m->threads[thread].count)
			ck_assert(schedule_push(s, m, m->threads[thread].events[next[thread]++]));
	}
	if (s->count && !below(random, 4)) {
		struct schedule_step *step = &s->steps[below(random, s->count)];
		uint32_t *part[] = {&step->thread, &step->from, &step->to};
		*part[below(random, 3)] += below(random, 2) ? 1 : UINT32_MAX;
	}
}

static struct goal random_goal(const struct model *m, uint64_t *random)
{
	static const enum goal_kind kinds[] = {GOAL_RACE, GOAL_SEQUENCE, GOAL_DEADLOCK};
	struct goal goal = {.kind = kinds[below(random, 3)], .count = 2};
	goal.count += goal.kind == GOAL_SEQUENCE ? below(random, 2) : 0;
	for (uint32_t i = 0; i < goal.count; i++)
		goal.events[i] = below(random, m->event_count);
	return goal;
}

/* Do both say the same, to the last word? */
static bool same_verdict(const struct verdict_of_judge *a, const struct verdict_of_judge *b)
{
	return a->fault == b->fault && a->step == b->step && a->event == b->event && a->other == b->other &&
	       a->substitutes == b->substitutes && a->substitute == b->substitute && a->updates == b->updates;
}

/* Both judge a schedule where reads may see any write. */
static bool agree_freely(struct judged *j, const struct schedule *s, const struct goal *goal)
{
	struct judge_reads reads = {0}, others = {0};
	struct verdict_of_judge plain, with;
	judge_verify_free(j->plain, s, goal, &plain, &reads);
	judge_verify_free(j->with, s, goal, &with, &others);
	bool same = same_verdict(&plain, &with) && reads.count == others.count &&
	            (!reads.count || !memcmp(reads.events, others.events, reads.count * sizeof *reads.events));
	free(reads.events);
	free(others.events);
	return same;
}

/* Both judge a schedule. */
static bool agree(struct judged *j, uint64_t *random, enum verify_fault *fault)
{
	struct schedule s = {0};
	struct goal goal = random_goal(j->m, random);
	struct verdict_of_judge plain, with;
	random_schedule(j->m, random, &s);
	bool same = agree_freely(j, &s, &goal);
	judge_verify(j->plain, &s, &goal, &plain);
	judge_verify(j->with, &s, &goal, &with);
	schedule_release(&s);
	*fault = plain.fault;
	return same && same_verdict(&plain, &with);
}

/* And do they stand where the other stands? */
static bool same_state(struct judged *j)
{
	bool same = j->plain->state_size == j->with->state_size &&
	            !memcmp(j->plain->state, j->with->state, j->plain->state_size);
	for (uint32_t c = 0; c < j->m->cell_count; c++) {
		judge_cell(j->plain, c);
		judge_cell(j->with, c);
		same &= j->plain->last[c] == j->with->last[c] && j->plain->changed[c] == j->with->changed[c];
	}
	return same;
}

START_TEST(from_a_checkpoint_the_verdict_is_the_same)
{
	static struct oracle_trace t;
	int faults = 0, witnesses = 0;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		struct judged j;
		uint64_t random = seed;
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 24));
		begin(&j, &t, 1 + (uint32_t)(seed % 5));
		for (int i = 0; i < SCHEDULES && j.m->event_count; i++) {
			enum verify_fault fault;
			if (!agree(&j, &random, &fault) || !same_state(&j))
				ck_abort_msg("schedule %d of seed %u:\n%s", i, (unsigned)seed, random_text(&t));
			faults += fault && fault != VERIFY_GOAL_NOT_NEXT && fault != VERIFY_GOAL_MISSED;
			witnesses += !fault;
		}
		end(&j);
	}
	/* Schedules of either kind were among them. */
	assert_enough(faults, 101, TRACES);
	assert_enough(witnesses, 11, TRACES);
}
END_TEST

/* The trace itself, step by step; no goal is reached. */
static void replay_trace(struct judge *judge, uint32_t count)
{
	struct schedule s = {0};
	struct goal goal = {.kind = GOAL_RACE};
	struct verdict_of_judge v;
	for (uint32_t e = 0; e < count; e++)
		ck_assert(schedule_push(&s, judge->m, e));
	judge_verify(judge, &s, &goal, &v);
	ck_assert_int_eq(v.fault, VERIFY_GOAL_MISSED);
	ck_assert_uint_eq(v.step, count);
	schedule_release(&s);
}

START_TEST(a_checkpoint_is_the_state_after_the_trace_s_first_events)
{
	static struct oracle_trace t;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES / 10, MIXES); seed++) {
		struct judged j;
		uint32_t interval = 1 + (uint32_t)(seed % 3);
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 24));
		begin(&j, &t, interval);
		replay_trace(j.with, j.m->event_count);
		/* None is kept at the very end. */
		ck_assert_uint_eq(j.with->checkpoint_count, j.m->event_count ? (j.m->event_count - 1) / interval : 0);
		for (uint32_t k = 0; k < j.with->checkpoint_count; k++) {
			replay_trace(j.plain, (k + 1) * interval);
			ck_assert(!memcmp(j.plain->state, j.with->checkpoints[k], j.plain->state_size));
		}
		end(&j);
	}
}
END_TEST

/* Keeps the tests above from proving nothing: with another state in the checkpoints they fail. */
START_TEST(with_a_wrong_checkpoint_the_verdict_is_another)
{
	rt_asserting = false; /* the judge would not go on with it */
	static struct oracle_trace t;
	enum { OWNER, NEXT, PARTS };
	int noticed[PARTS] = {0};
	for (uint64_t seed = 1; seed <= 60; seed++)
		for (int part = 0; part < PARTS; part++) {
			struct judged j;
			uint64_t random = seed;
			oracle_random(&t, seed, ORACLE_LOCKS, 35);
			begin(&j, &t, 3);
			replay_trace(j.with, j.m->event_count);
			const char *state = j.with->state;
			const char *at = (const char *)(part == OWNER ? j.with->owner : j.with->next);
			for (uint32_t k = 0; k < j.with->checkpoint_count; k++)
				((uint32_t *)j.with->checkpoints[k])[(at - state) / (int)sizeof(uint32_t)] ^= 1;
			for (int i = 0; i < SCHEDULES; i++) {
				enum verify_fault fault;
				noticed[part] += !agree(&j, &random, &fault);
			}
			end(&j);
		}
	for (int part = 0; part < PARTS; part++)
		ck_assert_int_gt(noticed[part], 60);
}
END_TEST

START_TEST(only_steps_that_are_the_trace_s_own_count_as_its_beginning)
{
	static struct oracle_trace t;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		struct judged j;
		struct schedule s = {0};
		uint64_t random = seed;
		uint32_t events, expected = 0, steps = 0;
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 24));
		begin(&j, &t, 4);
		random_schedule(j.m, &random, &s);
		for (bool own = true; own && steps < s.count;) {
			const struct schedule_step *step = &s.steps[steps];
			uint64_t count = (uint64_t)step->to - step->from + 1;
			own = step->from <= step->to && count <= j.m->event_count - expected;
			for (uint32_t i = 0; own && i < count; i++)
				own = model_thread_of(j.m, expected + i) == step->thread &&
				      j.m->events[expected + i].pos == step->from + i;
			steps += own;
			expected += own ? (uint32_t)count : 0;
		}
		ck_assert_uint_eq(judge_prefix(j.with, &s, &events), steps);
		ck_assert_uint_eq(events, expected);
		schedule_release(&s);
		end(&j);
	}
}
END_TEST

SUITE(prefix)
{
	Suite *s = suite_create("prefix");
	TCase *c = tcase_create("checkpoints");
	tcase_add_loop_test(c, from_a_checkpoint_the_verdict_is_the_same, 0, MIXES);
	tcase_add_loop_test(c, a_checkpoint_is_the_state_after_the_trace_s_first_events, 0, MIXES);
	tcase_add_test(c, with_a_wrong_checkpoint_the_verdict_is_another);
	tcase_add_loop_test(c, only_steps_that_are_the_trace_s_own_count_as_its_beginning, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
