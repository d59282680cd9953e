/*
 * The guarantee of PCT (recorder/sched/pct.c): a bug of depth d in n threads and k steps is hit with a probability of
 * at least 1/(n k^(d-1)). The strategy leads model programs through 10,000 runs each; a run with seed 0 has told it k.
 */
#include "recorder/sched/strategy.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* ---- The strategy's surroundings ---- */

static uint64_t random_state, steps;
static struct rt_aims aims;
const struct rt_aims *rt_sched_aims = &aims;

uint64_t rt_sched_random(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t rt_sched_steps(void)
{
	return steps;
}

/* ---- Programs ---- */

enum { THREADS = 8, OPS = 40, RUNS = 10000 };

/* What a thread does, a letter a step: "." nothing; 'A' to 'C' what a bug is about; a digit: begins that thread; "+":
 * waits until all others have ended. */
struct program {
	unsigned threads, depth;
	const char *code[THREADS]; /* the first one runs from the beginning */
	/* True if the letters of a run, in order, show the bug. */
	bool (*has_bug)(const char *letters);
};

static bool used_before_made(const char *letters)
{
	return letters[0] == 'B';
}
static bool changed_between(const char *letters)
{
	return !strcmp(letters, "ABA");
}
static bool changed_twice(const char *letters)
{
	return !strcmp(letters, "ABAC");
}
static bool comes_last(const char *letters)
{
	return letters[strlen(letters) - 1] == 'C';
}

struct model {
	const struct program *program;
	struct rt_task tasks[THREADS];
	size_t at[THREADS];
	bool begun[THREADS];
};

static bool has_ended(const struct model *m, unsigned i)
{
	return m->begun[i] && !m->program->code[i][m->at[i]];
}

static bool is_enabled(const struct model *m, unsigned i)
{
	if (!m->begun[i] || has_ended(m, i))
		return false;
	for (unsigned k = 0; m->program->code[i][m->at[i]] == '+' && k < m->program->threads; k++)
		if (k != i && !has_ended(m, k))
			return false;
	return true;
}

/* The thread that the scheduler gives the next step to (recorder/sched/turn.c). NULL: all have ended. */
static struct rt_task *next_task(struct model *m, struct rt_task *current)
{
	const struct rt_strategy *s = &rt_strategy_pct;
	struct rt_task *enabled[THREADS];
	unsigned n = 0;
	if (current && !has_ended(m, current->thread)) {
		steps++;
		if (s->goes_on(current))
			return current;
	}
	for (unsigned i = 0; i < m->program->threads; i++)
		if (is_enabled(m, i))
			enabled[n++] = &m->tasks[i];
	return n ? s->choose(current, enabled, n) : NULL;
}

/* One run. True: it has the bug. */
static bool run(const struct program *p, uint64_t seed)
{
	static const struct rt_control control; /* large */
	struct model m = {.program = p, .begun = {true}};
	char letters[THREADS * OPS] = "";
	size_t n = 0;
	random_state = seed;
	steps = 0;
	for (unsigned i = 0; i < p->threads; i++)
		m.tasks[i].thread = i;
	ck_assert(rt_strategy_pct.init(&control));
	for (struct rt_task *t = &m.tasks[0]; (t = next_task(&m, t));) {
		char op = p->code[t->thread][m.at[t->thread]++];
		if (op >= '1' && op <= '9') {
			m.begun[op - '0'] = true;
			steps++; /* it arrives at its first step */
		} else if (op >= 'A') {
			letters[n++] = op;
		}
	}
	for (unsigned i = 0; i < p->threads; i++)
		ck_assert(has_ended(&m, i));
	return p->has_bug(letters);
}

static const struct program programs[] = {
    {2, 1, {"1.....B+", "A"}, used_before_made},
    {2, 1, {"1B+", "....................A"}, used_before_made},
    {8, 1, {"1234567+", "..A", "..A", "..A", "..A", "..A", "..A", "..C"}, comes_last},
    {3, 2, {"12+", "AA", "B"}, changed_between},
    {3, 2, {"12+", "......AA......", "............B"}, changed_between},
    {6, 2, {"12345+", "...AA", "...B", "..........", "..........", ".........."}, changed_between},
    {3, 3, {"12+", "A.A", "B.C"}, changed_twice},
};

START_TEST(bound)
{
	const struct program *p = &programs[_i];
	unsigned hits = 0;
	aims = (struct rt_aims){.depth = p->depth};
	run(p, 0);
	aims.steps = steps;
	for (uint64_t i = 1; i <= RUNS; i++)
		hits += run(p, i * UINT64_C(0x2545f4914f6cdd1d));
	double least = 1.0 / p->threads / pow((double)aims.steps, p->depth - 1);
	/* Some programs have no more than the bound: three standard deviations are chance. */
	double chance = 3 * sqrt(RUNS * least * (1 - least));
	ck_assert_msg(hits >= RUNS * least - chance, "program %d: %u of %d runs hit the bug, the bound is %.0f", _i,
	              hits, RUNS, RUNS * least);
}
END_TEST

/* Without change points no thread stops for another one that was there before: depth 1 does not hit bugs of depth 2. */
START_TEST(depth_is_needed)
{
	unsigned hits = 0;
	aims = (struct rt_aims){.depth = 1, .steps = 10};
	for (uint64_t i = 1; i <= RUNS; i++)
		hits += run(&programs[3], i * UINT64_C(0x2545f4914f6cdd1d));
	ck_assert_uint_eq(hits, 0);
}
END_TEST

SUITE(pct)
{
	Suite *s = suite_create("pct");
	TCase *c = tcase_create("pct");
	tcase_add_loop_test(c, bound, 0, sizeof programs / sizeof *programs);
	tcase_add_test(c, depth_is_needed);
	suite_add_tcase(s, c);
	return s;
}
