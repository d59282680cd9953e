/*
 * The search of all executions against an oracle: small random programs, whose states are all visited by brute force.
 * What the search sees of a program is what the recorder's strategy notes of a run.
 */
#include "lib/explore/executions.h"
#include "tests/unit/suite.h"
#include "tracefmt/event.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, LENGTH = 5, VARIABLES = 2, LOCKS = 2, RECORDS = 1000, PROGRAMS = 200 };
enum kind { LOCAL, LOAD, STORE, LOCK, UNLOCK, SKIP, KINDS }; /* SKIP: the next one, if the last load saw 0 */

struct program {
	enum kind kind[THREADS][LENGTH];
	uint8_t object[THREADS][LENGTH];
};

struct machine {
	uint8_t at[THREADS], seen[THREADS], value[VARIABLES];
	int8_t holder[LOCKS]; /* -1: none */
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

/* Locks are released by who holds them: an UNLOCK behind each LOCK. */
static void make(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof *p);
	for (int t = 0; t < THREADS; t++) {
		int held = -1;
		for (int i = 0; i < LENGTH; i++) {
			enum kind kind = (enum kind)draw(&seed, KINDS);
			if (kind == LOCK && (held >= 0 || i + 1 == LENGTH))
				kind = STORE;
			if (kind == SKIP && (held >= 0 || i + 2 >= LENGTH))
				kind = LOAD;
			if (i > 0 && p->kind[t][i - 1] == SKIP && (kind == LOCK || kind == UNLOCK || kind == SKIP))
				kind = STORE;
			if (kind == UNLOCK || (held >= 0 && i + 1 == LENGTH))
				kind = held >= 0 ? UNLOCK : LOAD;
			p->kind[t][i] = kind;
			p->object[t][i] = (uint8_t)draw(&seed, kind == LOCK ? LOCKS : VARIABLES);
			if (kind == UNLOCK)
				p->object[t][i] = (uint8_t)held;
			held = kind == LOCK ? p->object[t][i] : kind == UNLOCK ? -1 : held;
		}
	}
}

static void start(struct machine *m)
{
	memset(m, 0, sizeof *m);
	memset(m->holder, -1, sizeof m->holder);
}

static bool is_enabled(const struct program *p, const struct machine *m, int t)
{
	int i = m->at[t];
	return i < LENGTH && !(p->kind[t][i] == LOCK && m->holder[p->object[t][i]] >= 0);
}

static void step(const struct program *p, struct machine *m, int t)
{
	int i = m->at[t]++, object = p->object[t][i];
	switch (p->kind[t][i]) {
	case LOAD:
		m->seen[t] = m->value[object];
		break;
	case STORE:
		m->value[object] = (uint8_t)(t + 1);
		break;
	case LOCK:
		m->holder[object] = (int8_t)t;
		break;
	case UNLOCK:
		m->holder[object] = -1;
		break;
	case SKIP:
		m->at[t] = (uint8_t)(m->at[t] + (m->seen[t] == 0));
		break;
	default:
		break;
	}
}

/* ---- The oracle ---- */

enum { POSITIONS = THREADS * LENGTH };
struct pairs {
	bool has[POSITIONS][POSITIONS];
};

struct oracle {
	const struct program *p;
	struct machine *visited;
	size_t count, room;
	struct pairs races;
};

static bool is_access(enum kind k)
{
	return k == LOAD || k == STORE;
}

static void visit(struct oracle *o, const struct machine *m)
{
	for (size_t i = 0; i < o->count; i++)
		if (!memcmp(&o->visited[i], m, sizeof *m))
			return;
	if (o->count == o->room) {
		o->room = 2 * o->room + 64;
		o->visited = realloc(o->visited, o->room * sizeof *o->visited);
		ck_assert_ptr_nonnull(o->visited);
	}
	o->visited[o->count++] = *m;
	for (int x = 0; x < THREADS; x++)
		for (int y = x + 1; y < THREADS; y++) {
			int i = m->at[x], k = m->at[y];
			if (i < LENGTH && k < LENGTH && is_access(o->p->kind[x][i]) && is_access(o->p->kind[y][k]) &&
			    (o->p->kind[x][i] == STORE || o->p->kind[y][k] == STORE) &&
			    o->p->object[x][i] == o->p->object[y][k])
				o->races.has[x * LENGTH + i][y * LENGTH + k] = true;
		}
	for (int t = 0; t < THREADS; t++)
		if (is_enabled(o->p, m, t)) {
			struct machine next = *m;
			step(o->p, &next, t);
			visit(o, &next);
		}
}

/* ---- A run, as the recorder notes it ---- */

static uint32_t variable_bytes = 1;

static void note_step(const struct program *p, const struct machine *m, int t, struct rt_search_record *r)
{
	static const uint8_t ops[KINDS] = {[LOCAL] = RT_OP_READ,   [LOAD] = RT_OP_READ,      [STORE] = RT_OP_WRITE,
	                                   [LOCK] = RT_OP_ACQUIRE, [UNLOCK] = RT_OP_RELEASE, [SKIP] = RT_OP_READ};
	int i = m->at[t];
	enum kind kind = p->kind[t][i];
	bool own = kind == LOCAL || kind == SKIP;
	*r = (struct rt_search_record){.kind = RT_SEARCH_STEP,
	                               .op = ops[kind],
	                               .flags = own ? RT_SEARCH_OWN : 0,
	                               .thread = (uint32_t)t,
	                               .pc = (uint64_t)(t * LENGTH + i + 1),
	                               .arg = variable_bytes};
	r->object = own ? 0x9000 + 64 * (uint64_t)t
	                : (kind == LOCK || kind == UNLOCK ? 0x100u : 0x8000u) + variable_bytes * p->object[t][i];
}

static size_t run(const struct program *p, const uint8_t *choices, uint32_t count, struct rt_search_record *records)
{
	struct machine m;
	size_t n = 0;
	int current = -1, noted[THREADS];
	uint32_t taken = 0;
	start(&m);
	memset(noted, -1, sizeof noted);
	for (;;) {
		uint64_t set = 0;
		int chosen = -1;
		for (int t = THREADS; t-- > 0;)
			if (is_enabled(p, &m, t)) {
				set |= UINT64_C(1) << t;
				chosen = t;
			}
		if (!set)
			return n;
		chosen = current >= 0 && set >> current & 1 ? current : chosen;
		for (int t = 0; t < THREADS; t++)
			if (set >> t & 1 && noted[t] != m.at[t]) {
				noted[t] = m.at[t];
				note_step(p, &m, t, &records[n++]);
			}
		for (int t = THREADS; t-- > 0;) /* what is its own comes first */
			if (set >> t & 1 && (p->kind[t][m.at[t]] == LOCAL || p->kind[t][m.at[t]] == SKIP))
				chosen = t;
		if (taken < count) {
			chosen = choices[taken++];
			ck_assert(set >> chosen & 1);
		}
		records[n++] = (struct rt_search_record){.kind = RT_SEARCH_CHOICE,
		                                         .thread = (uint32_t)chosen,
		                                         .object = set,
		                                         .arg = current >= 0 ? (uint64_t)current : UINT64_MAX};
		step(p, &m, chosen);
		current = chosen;
		ck_assert_uint_lt(n, RECORDS - 2 * THREADS);
	}
}

enum { JOBS = 2 };

/* As if two jobs had too little room for the records of their executions. */
static void give_back(struct executions *all, const uint8_t *choices, uint32_t count, bool shows)
{
	uint8_t mine[JOBS][RECORDS];
	uint32_t counts[JOBS] = {count}, n = 0;
	bool show[JOBS] = {shows};
	do {
		ck_assert_uint_lt(count, RECORDS);
		if (count)
			memcpy(mine[n], choices, count);
		counts[n] = count;
		show[n] = shows;
	} while (++n < JOBS && executions_next(all, &choices, &count, &shows));
	while (n-- > 0)
		ck_assert(executions_add(all, mine[n], counts[n], show[n]));
	ck_assert(!executions_are_all(all));
}

/* Searches; the races by position. */
static struct executions_counts search(const struct program *p, const struct executions_options *o, struct pairs *found)
{
	static struct rt_search_record records[RECORDS];
	struct executions *all;
	struct rt_error err = {0};
	const uint8_t *choices;
	uint32_t count, fresh;
	bool shows;
	size_t n;
	ck_assert_int_eq(executions_create(o, &all, &err), RT_OK);
	for (uint32_t i = 0; executions_next(all, &choices, &count, &shows); i++) {
		if (i % 3 == 0) {
			give_back(all, choices, count, shows);
			continue;
		}
		size_t length = run(p, choices, count, records);
		ck_assert_int_eq(executions_take(all, count, records, length, &fresh, &err), RT_OK);
		ck_assert_uint_lt(executions_counts(all)->executions, 100000);
	}
	ck_assert(executions_are_all(all));
	const struct executions_race *races = executions_races(all, &n);
	memset(found, 0, sizeof *found);
	for (size_t i = 0; i < n; i++)
		found->has[races[i].pcs[0] - 1][races[i].pcs[1] - 1] = true;
	struct executions_counts counts = *executions_counts(all);
	executions_free(all);
	return counts;
}

START_TEST(finds_the_races_of_all_states_with_no_and_with_partial_reduction_and_with_full_no_others)
{
	uint64_t states[EXECUTIONS_REDUCTIONS] = {0}, racy = 0;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct program p;
		struct machine m;
		make(&p, seed);
		start(&m);
		struct oracle o = {.p = &p};
		visit(&o, &m);
		for (int r = 0; r < EXECUTIONS_REDUCTIONS; r++) {
			struct executions_options options = {.reduction = (enum executions_reduction)r,
			                                     .order = (enum executions_order)(seed % EXECUTIONS_ORDERS),
			                                     .preemptions = UINT32_MAX,
			                                     .seed = seed};
			struct pairs found;
			states[r] += search(&p, &options, &found).states;
			for (int x = 0; x < POSITIONS; x++)
				for (int y = 0; y < POSITIONS; y++) {
					ck_assert_msg(!found.has[x][y] || o.races.has[x][y],
					              "program %d, %s: no race of %d and %d", (int)seed,
					              executions_reduction_name(options.reduction), x, y);
					ck_assert_msg(r == EXECUTIONS_FULL || !o.races.has[x][y] || found.has[x][y],
					              "program %d, %s misses the race of %d and %d", (int)seed,
					              executions_reduction_name(options.reduction), x, y);
					racy += o.races.has[x][y];
				}
		}
		free(o.visited);
	}
	ck_assert_uint_gt(racy, PROGRAMS);
	ck_assert_uint_lt(states[EXECUTIONS_PARTIAL], states[EXECUTIONS_NONE]);
}
END_TEST

/* Of two variables of 4 bytes in one word a lock protects one. */
START_TEST(a_variable_is_not_shared_because_its_neighbour_in_the_word_is)
{
	static const struct program words = {.kind = {{LOCK, STORE, UNLOCK, STORE, LOCAL},
	                                              {LOCK, LOAD, UNLOCK, LOCAL, STORE},
	                                              {LOCAL, LOCAL, LOCAL, LOCAL, LOCAL}},
	                                     .object = {{0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}, {0}}};
	uint64_t states[2][EXECUTIONS_REDUCTIONS];
	struct pairs found;
	for (int apart = 0; apart < 2; apart++)
		for (int r = 0; r < EXECUTIONS_REDUCTIONS; r++) {
			struct executions_options options = {.reduction = (enum executions_reduction)r,
			                                     .preemptions = UINT32_MAX};
			variable_bytes = apart ? 8 : 4;
			states[apart][r] = search(&words, &options, &found).states;
			ck_assert(found.has[3][LENGTH + 4]);
		}
	variable_bytes = 1;
	ck_assert_int_eq(memcmp(states[0], states[1], sizeof states[0]), 0);
	ck_assert_uint_lt(states[0][EXECUTIONS_FULL], states[0][EXECUTIONS_PARTIAL]);
}
END_TEST

START_TEST(an_access_that_is_too_wide_to_be_known_in_full_is_counted)
{
	struct rt_search_record wide = {
	    .kind = RT_SEARCH_STEP, .op = RT_OP_WRITE, .object = 0x10000, .arg = 100000, .pc = 1};
	struct rt_search_record records[] = {wide, {.kind = RT_SEARCH_CHOICE, .object = 1, .arg = UINT64_MAX}};
	for (int own = 0; own < 2; own++) {
		struct executions_options options = {.preemptions = UINT32_MAX};
		struct executions *all;
		struct rt_error err = {0};
		const uint8_t *choices;
		uint32_t count, fresh;
		bool shows;
		ck_assert_int_eq(executions_create(&options, &all, &err), RT_OK);
		ck_assert(executions_next(all, &choices, &count, &shows));
		records[0].flags = own ? RT_SEARCH_OWN : 0;
		ck_assert_int_eq(executions_take(all, count, records, 2, &fresh, &err), RT_OK);
		ck_assert_uint_eq(executions_counts(all)->overflows, own ? 0 : 1);
		executions_free(all);
	}
}
END_TEST

START_TEST(a_bound_of_preemptions_is_a_bound_and_grows_to_all)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct program p;
		struct pairs before = {0}, found;
		bool bounded = true;
		make(&p, seed);
		for (uint32_t bound = 0; bounded; bound++) {
			struct executions_options options = {.reduction = EXECUTIONS_PARTIAL, .preemptions = bound};
			struct executions_counts counts = search(&p, &options, &found);
			bounded = counts.bounded;
			for (int i = 0; i < POSITIONS * POSITIONS; i++)
				ck_assert(!(&before.has[0][0])[i] || (&found.has[0][0])[i]);
			before = found;
			ck_assert_uint_lt(bound, THREADS * LENGTH + 1);
		}
		struct executions_options all = {.reduction = EXECUTIONS_PARTIAL, .preemptions = UINT32_MAX};
		search(&p, &all, &found);
		ck_assert_int_eq(memcmp(&found, &before, sizeof found), 0);
	}
}
END_TEST

SUITE(executions)
{
	Suite *s = suite_create("executions");
	TCase *t = tcase_create("executions");
	tcase_add_test(t, finds_the_races_of_all_states_with_no_and_with_partial_reduction_and_with_full_no_others);
	tcase_add_test(t, a_variable_is_not_shared_because_its_neighbour_in_the_word_is);
	tcase_add_test(t, an_access_that_is_too_wide_to_be_known_in_full_is_counted);
	tcase_add_test(t, a_bound_of_preemptions_is_a_bound_and_grows_to_all);
	suite_add_tcase(s, t);
	return s;
}
