/* Searches for patterns against the golden traces: what can happen is proved or observed, and nothing else is. */
#include "lib/analysis/analysis.h"
#include "lib/relation/por.h"
#include "lib/search/pattern_file.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/subject.h"
#include "tests/unit/suite.h"

struct tally {
	uint64_t found, expected, candidates;
};

/* Every tuple of the list is found once, as real; every real one that is found is on the list. */
static void compare(const struct analysis *a, enum anomaly_kind kind, const json_t *list, const char *name,
                    struct tally *tally)
{
	uint64_t real = 0;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		if (x->kind != kind)
			continue;
		tally->candidates++;
		bool expected = golden_has(list, a->model, x->events, x->event_count);
		ck_assert_msg(expected == (x->verdict >= VERDICT_PROVED), "%s: %s of %u %u %u is %s", name, x->pattern,
		              a->model->events[x->events[0]].number, a->model->events[x->events[1]].number,
		              a->model->events[x->events[2]].number, verdict_name(x->verdict));
		real += expected;
	}
	ck_assert_msg(real == json_array_size(list), "%s: %lu of %zu", name, (unsigned long)real,
	              json_array_size(list));
	tally->found += real;
	tally->expected += json_array_size(list);
}

/* What to look for in a golden trace, and the name of the list of what there is. */
struct wanted {
	struct analysis_options options;
	enum anomaly_kind kind;
	const char *list;
	struct tally tally;
};

static void check_golden(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	struct wanted *w = data;
	struct rt_error err = {0};
	struct analysis *a = NULL;
	ck_assert_msg(analysis_run(trace, &w->options, &a, &err) == RT_OK, "%s: %s", path, err.message);
	compare(a, w->kind, json_object_get(golden, w->list), path, &w->tally);
	analysis_free(a);
}

/* Every golden trace: the anomalies of a kind are those of the golden list. */
static struct tally check_all_golden(enum anomaly_kind kind, const char *list, const struct pattern *user)
{
	struct wanted w = {.options = {.kinds = 1u << kind, .every = true, .user = user}, .kind = kind, .list = list};
	golden_each("hand", check_golden, &w);
	golden_each("random", check_golden, &w);
	ck_assert_uint_gt(w.tally.expected, 0);
	return w.tally;
}

static const enum anomaly_kind kinds[] = {ANOMALY_ATOMICITY, ANOMALY_ASV};

START_TEST(what_can_happen_is_found_and_real_and_nothing_else)
{
	struct tally tally = check_all_golden(kinds[_i], anomaly_kind_name(kinds[_i]), NULL);
	ck_assert_uint_gt(tally.candidates, tally.found);
}
END_TEST

static void print_sequence(FILE *out, const char *name, char letter, const uint8_t *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%s %c%u", i ? " -" : name, i ? "" : " =", letter, numbers[i]);
	fputc('\n', out);
}

/* A built-in pattern in the users' language. */
static void print_pattern(FILE *out, const struct pattern *p)
{
	static const uint8_t places[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	fprintf(out, "pattern my-%s\n", p->name);
	print_sequence(out, "E", 'e', places, p->count);
	print_sequence(out, "T", 't', p->threads, p->count);
	print_sequence(out, "SV", 's', p->cells, p->count);
	print_sequence(out, "AR", 'u', p->regions, p->count);
	for (uint32_t i = 0; i < p->count; i++)
		fprintf(out, "%s %c", i ? " -" : "AT =", p->accesses[i] == PATTERN_WRITE ? 'w' : 'r');
	fputc('\n', out);
}

START_TEST(asv_patterns_written_by_a_user_find_what_the_built_in_ones_do)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (const struct pattern *p = patterns; p->name; p++)
		if (p->kind == ANOMALY_ASV)
			print_pattern(out, p);
	fclose(out);
	struct pattern_list list = {0};
	struct rt_error err = {0};
	ck_assert_msg(pattern_list_parse(&list, text, size, "text", &err) == RT_OK, "%s", err.message);
	ck_assert_uint_eq(list.count, 27);
	free(text);
	check_all_golden(ANOMALY_PATTERN, "asv", list.items);
	pattern_list_release(&list);
}
END_TEST

/* A whole pattern, but for one line of it that is replaced. */
static const char *const lines[] = {"pattern p\n",      "E = a - b - c\n",  "T = t - u - t\n",
                                    "SV = s - s - s\n", "AR = x - y - x\n", "AT = r - w - r\n"};
static const struct {
	int line;
	const char *text, *message;
} mistakes[] = {
    {1, "pattern\n", "FILE:1:1: a name must follow: 'pattern'"},
    {1, "pattern p q\n", "FILE:1:11: expected the end of the line: 'q'"},
    {1, "pattern -\n", "FILE:1:9: a name is letters, digits, '_', '-' and '.', 63 at most: '-'"},
    {1, "# none\n", "FILE:2:1: a sequence before the first 'pattern NAME': 'E'"},
    {2, "E = a - b - a\n", "FILE:2:13: there is such an event already: 'a'"},
    {2, "E a - b - c\n", "FILE:2:3: expected '=': 'a'"},
    {2, "E = a b - c\n", "FILE:2:7: expected '-' or the end of the line: 'b'"},
    {2, "E = a - b -\n", "FILE:2:12: expected a name"},
    {2, "F = a - b - c\n", "FILE:2:1: neither 'pattern' nor one of the sequences E, T, SV, AR and AT: 'F'"},
    {2, "E = a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q\n", "FILE:2:37: a pattern has 16 events at most: 'q'"},
    {3, "\n", "FILE:1:9: the pattern has no sequence T: 'p'"},
    {3, "T = t - u\n", "FILE:3:1: 2 entries, where E has 3: 'T'"},
    {3, "T = t - t - t\n", "FILE:3:1: a pattern has two threads at least: 'T'"},
    {3, "E = a - b - c\n", "FILE:3:1: the pattern has this sequence already: 'E'"},
    {4, "SV = s - q - s\n", "FILE:4:1: nothing, neither cell nor region, connects some of the events: 'SV'"},
    {5, "AR = x - x - x\n", "FILE:5:10: a region is of one thread only: 'x'"},
    {6, "AT = r - x - r\n", "FILE:6:10: an access is r, w or *: 'x'"},
};

START_TEST(mistakes_in_a_pattern_are_told_with_line_and_column)
{
	char text[1024] = "";
	struct pattern_list list = {0};
	struct rt_error err = {0};
	for (int i = 0; i < 6; i++)
		strcat(text, i + 1 == mistakes[_i].line ? mistakes[_i].text : lines[i]);
	ck_assert_int_eq(pattern_list_parse(&list, text, strlen(text), "FILE", &err), RT_EUSAGE);
	ck_assert_str_eq(err.message, mistakes[_i].message);
	pattern_list_release(&list);
}
END_TEST

/* Runs the analysis on a random trace. */
static struct analysis *analyze_random(struct memory_trace *memory, const struct oracle_trace *t, uint32_t kind,
                                       bool every, bool unproved)
{
	const struct analysis_options options = {.kinds = kind, .every = every, .unproved = unproved, .orders = 1};
	struct rt_error err = {0};
	struct analysis *a;
	struct rt_trace *trace = random_trace(memory, t);
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

static bool covers(const struct model *m, uint32_t e, uint32_t cell)
{
	return rt_op_is_access(model_op(m, e)) && cell >= m->events[e].object &&
	       cell < m->events[e].object + m->sites[m->events[e].site].cells;
}

static bool listed(const struct analysis *a, const uint32_t *events, uint32_t count)
{
	uint32_t times = 0;
	for (size_t i = 0; i < a->anomalies.count; i++)
		times += a->anomalies.items[i].event_count == count &&
		         !memcmp(a->anomalies.items[i].events, events, count * sizeof *events);
	ck_assert_uint_le(times, 1);
	return times;
}

/* What proves tuples without having searched for them. */
struct prover {
	struct analysis *a;
	const struct trf *trf;
	struct search *search;
	uint64_t provable;
};

/* Whatever can happen is on the list, unless it is forced to. */
static void must_be_listed(struct prover *p, const uint32_t *events, uint32_t count, bool forced)
{
	struct goal goal = {.kind = GOAL_SEQUENCE, .count = count};
	struct schedule schedule = {0};
	uint64_t spent;
	memcpy(goal.events, events, count * sizeof *events);
	if (!forced && search_goal(p->search, &goal, 1000000, &schedule, &spent) == SEARCH_FOUND) {
		const struct model *m = p->a->model;
		p->provable++;
		ck_assert_msg(listed(p->a, events, count), "(%u %u %u %u) can happen and is not found",
		              m->events[events[0]].number, m->events[events[1]].number, m->events[events[2]].number,
		              count > 3 ? m->events[events[3]].number : 0);
	}
	schedule_release(&schedule);
}

/* Does synchronisation order the two? */
static bool ordered(const struct prover *p, uint32_t e, uint32_t f)
{
	const struct segment_order *por = facts_por(&p->a->facts);
	const struct model *m = p->a->model;
	return m->events[e].pos < segment_order_race_horizon(por, f, model_thread_of(m, e));
}

static void try_triples(struct prover *p, uint32_t cell)
{
	const struct model *m = p->a->model;
	for (uint32_t e3 = 0; e3 < m->event_count; e3++) {
		uint32_t e1 = e3;
		if (!covers(m, e3, cell) || subject_region(m, e3) == MODEL_NONE)
			continue;
		while (e1-- > 0 && !(covers(m, e1, cell) && model_thread_of(m, e1) == model_thread_of(m, e3))) {
		}
		if (e1 == MODEL_NONE || subject_region(m, e1) != subject_region(m, e3))
			continue;
		bool w1 = rt_op_writes(model_op(m, e1)), w3 = rt_op_writes(model_op(m, e3));
		for (uint32_t e2 = 0; e2 < m->event_count; e2++) {
			bool w2 = rt_op_writes(model_op(m, e2));
			if (covers(m, e2, cell) && model_thread_of(m, e2) != model_thread_of(m, e3) &&
			    (w2 ? !w1 || !w3 : w1 && w3))
				must_be_listed(p, (uint32_t[]){e1, e2, e3}, 3,
				               ordered(p, e1, e2) && ordered(p, e2, e3));
		}
	}
}

static bool conflict(const struct model *m, uint32_t a, uint32_t b)
{
	return rt_op_writes(model_op(m, a)) || rt_op_writes(model_op(m, b));
}

static void try_quadruple(struct prover *p, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const struct model *m = p->a->model;
	uint32_t x = m->events[a].object, y = m->events[b].object;
	bool straight = m->events[c].object == x && m->events[d].object == y && conflict(m, a, c) && conflict(m, b, d);
	bool turned = m->events[c].object == y && m->events[d].object == x && conflict(m, a, d) && conflict(m, b, c);
	if (straight)
		must_be_listed(p, (uint32_t[]){a, c, d, b}, 4, ordered(p, a, c) && ordered(p, d, b));
	if (turned) {
		must_be_listed(p, (uint32_t[]){a, c, d, b}, 4, ordered(p, a, d) && ordered(p, c, b));
		must_be_listed(p, (uint32_t[]){a, c, b, d}, 4, ordered(p, a, d) && ordered(p, c, b));
	}
}

static void try_quadruples(struct prover *p)
{
	const struct model *m = p->a->model;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++)
			for (uint32_t c = 0; subject_unit(m, a, b) && c < m->event_count; c++)
				for (uint32_t d = c + 1; d < m->event_count; d++)
					if (subject_unit(m, c, d) && model_thread_of(m, a) != model_thread_of(m, c))
						try_quadruple(p, a, b, c, d);
}

/* What is at the same positions is counted as often as it is listed when everything is. */
static void check_counts(const struct analysis *each, const struct analysis *a, bool exact)
{
	uint64_t listed_count = each->anomalies.count, counted = 0;
	for (size_t i = 0; i < a->anomalies.count; i++)
		counted += a->anomalies.items[i].count;
	if (exact)
		ck_assert_uint_eq(counted, listed_count);
	else
		ck_assert_uint_le(counted, listed_count);
	ck_assert_int_eq(listed_count != 0, counted != 0);
}

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_LOCKS | ORACLE_BARRIERS,
    ORACLE_LOCKS | ORACLE_SEMAPHORES,
    ORACLE_LOCKS | ORACLE_ATOMICS,
    ORACLE_LOCKS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_ATOMICS | ORACLE_FORKS | ORACLE_ANNOTATIONS | ORACLE_ONCES,
};
enum { SEEDS = 300 };

static uint64_t check_random(uint64_t seed, unsigned mix, enum anomaly_kind kind)
{
	static struct oracle_trace t;
	struct memory_trace memory, again;
	oracle_random(&t, seed, mix, 10 + (int)(seed % 26));
	struct prover p = {.a = analyze_random(&memory, &t, 1u << kind, true, true)};
	const struct model *m = p.a->model;
	p.trf = facts_trf(&p.a->facts);
	p.search = search_create(&p.a->facts, p.trf, false, NULL);
	ck_assert_ptr_nonnull(p.search);
	if (kind == ANOMALY_ASV && !(mix & ORACLE_HALF_ACCESSES))
		try_quadruples(&p);
	for (uint32_t cell = 0; kind == ANOMALY_ATOMICITY && cell < m->cell_count; cell++)
		try_triples(&p, cell);
	struct analysis *few = analyze_random(&again, &t, 1u << kind, false, true);
	check_counts(p.a, few, kind == ANOMALY_ATOMICITY);
	analysis_free(few);
	search_free(p.search);
	analysis_free(p.a);
	return p.provable;
}

START_TEST(on_random_traces_whatever_can_happen_is_found_once_and_counted)
{
	uint64_t provable = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		provable += check_random(seed * 100 + (uint64_t)_i, mixes[_i], ANOMALY_ATOMICITY) +
		            check_random(seed * 100 + (uint64_t)_i, mixes[_i], ANOMALY_ASV);
	ck_assert_uint_gt(provable, 0);
}
END_TEST

/* f reads and, in another critical section, writes x; another thread writes it. */
static const struct rt_event in_functions[] = {
    {.number = 1, .thread = 0, .op = RT_OP_ENTER, .pc = 1},
    {.number = 2, .thread = 0, .op = RT_OP_ACQUIRE, .addr = 0x100, .pc = 2},
    {.number = 3, .thread = 0, .op = RT_OP_READ, .addr = 0x1000, .arg = 8, .pc = 3},
    {.number = 4, .thread = 0, .op = RT_OP_RELEASE, .addr = 0x100, .pc = 4},
    {.number = 5, .thread = 0, .op = RT_OP_ACQUIRE, .addr = 0x100, .pc = 5},
    {.number = 6, .thread = 0, .op = RT_OP_WRITE, .addr = 0x1000, .arg = 8, .pc = 6},
    {.number = 7, .thread = 0, .op = RT_OP_RELEASE, .addr = 0x100, .pc = 7},
    {.number = 8, .thread = 0, .op = RT_OP_LEAVE, .pc = 8},
    {.number = 9, .thread = 1, .op = RT_OP_ACQUIRE, .addr = 0x100, .pc = 9},
    {.number = 10, .thread = 1, .op = RT_OP_WRITE, .addr = 0x1000, .arg = 8, .pc = 10},
    {.number = 11, .thread = 1, .op = RT_OP_RELEASE, .addr = 0x100, .pc = 11},
};

START_TEST(what_is_atomic_is_what_regions_say)
{
	static const enum model_regions regions[] = {REGIONS_LOCKS, REGIONS_FUNCTIONS, REGIONS_ANNOTATED};
	const struct analysis_options options = {.kinds = 1u << ANOMALY_ATOMICITY, .model = {regions[_i]}};
	struct memory_trace memory;
	struct rt_error err = {0};
	struct analysis *a;
	struct rt_trace *trace = memory_trace(&memory, in_functions, sizeof in_functions / sizeof *in_functions, 2);
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	ck_assert_uint_eq(a->anomalies.count, regions[_i] == REGIONS_FUNCTIONS);
	if (a->anomalies.count) {
		ck_assert_str_eq(a->anomalies.items[0].pattern, "r-w-w");
		ck_assert_int_eq(a->anomalies.items[0].verdict, VERDICT_PROVED);
	}
	analysis_free(a);
}
END_TEST

/* Two threads that do the same a thousand times, in regions of different locks. */
enum { TURNS = 1000 };
START_TEST(a_hot_loop_is_one_anomaly_with_all_its_tuples_counted)
{
	static struct rt_event events[TURNS * 10];
	size_t n = 0;
	for (uint64_t i = 0; i < TURNS; i++)
		for (uint32_t t = 0; t < 2; t++) {
			events[n++] = (struct rt_event){.op = RT_OP_ACQUIRE, .addr = 0x100 + t, .thread = t, .pc = 1};
			for (uint64_t k = 0; k < 3; k++)
				events[n++] = (struct rt_event){.op = k < 2 ? RT_OP_READ : RT_OP_WRITE,
				                                .addr = 0x1000,
				                                .arg = 8,
				                                .thread = t,
				                                .pc = 2 + k};
			events[n++] = (struct rt_event){.op = RT_OP_RELEASE, .addr = 0x100 + t, .thread = t, .pc = 5};
		}
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	const struct analysis_options options = {.kinds = 1u << ANOMALY_ATOMICITY, .unproved = true};
	struct memory_trace memory;
	struct rt_error err = {0};
	struct analysis *a;
	ck_assert_msg(analysis_run(memory_trace(&memory, events, n, 2), &options, &a, &err) == RT_OK, "%s",
	              err.message);
	/* r-w-r at 2 4 3 and r-w-w at 3 4 4: each of the thousand pairs with each of the thousand writes, both ways. */
	ck_assert_uint_eq(a->anomalies.count, 2);
	for (size_t i = 0; i < 2; i++)
		ck_assert_uint_eq(a->anomalies.items[i].count, 2ull * TURNS * TURNS);
	analysis_free(a);
}
END_TEST

static struct analysis *analyze_kind(struct rt_event *events, size_t n, enum anomaly_kind kind, bool unproved)
{
	const struct analysis_options options = {.kinds = 1u << kind, .unproved = unproved};
	static struct memory_trace memory;
	struct rt_error err = {0};
	struct analysis *a;
	for (uint64_t i = 0, ordinals[2] = {0}; i < n; i++) {
		events[i].number = i + 1;
		events[i].ordinal = ++ordinals[events[i].thread];
	}
	ck_assert_msg(analysis_run(memory_trace(&memory, events, n, 2), &options, &a, &err) == RT_OK, "%s",
	              err.message);
	return a;
}

/* Two threads hand each other the turn, but once the second one writes without having seen that it is its turn. */
START_TEST(one_possible_tuple_of_very_many_is_found)
{
	enum { ROUNDS = 700, ONCE = 500 };
	static struct rt_event events[ROUNDS * 9];
	size_t n = 0;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		events[n++] = (struct rt_event){.op = RT_OP_READ, .addr = 0x3000, .arg = 8, .pc = 1};
		events[n++] = (struct rt_event){.op = RT_OP_ACQUIRE, .addr = 0x100, .pc = 2};
		events[n++] = (struct rt_event){.op = RT_OP_READ, .addr = 0x1000, .arg = 8, .pc = 3};
		events[n++] = (struct rt_event){.op = RT_OP_READ, .addr = 0x1000, .arg = 8, .pc = 4};
		events[n++] = (struct rt_event){.op = RT_OP_RELEASE, .addr = 0x100, .pc = 5};
		events[n++] = (struct rt_event){.op = RT_OP_WRITE, .addr = 0x2000, .arg = 8, .pc = 6};
		if (i != ONCE)
			events[n++] =
			    (struct rt_event){.op = RT_OP_READ, .addr = 0x2000, .arg = 8, .thread = 1, .pc = 7};
		events[n++] = (struct rt_event){.op = RT_OP_WRITE, .addr = 0x1000, .arg = 8, .thread = 1, .pc = 8};
		events[n++] = (struct rt_event){.op = RT_OP_WRITE, .addr = 0x3000, .arg = 8, .thread = 1, .pc = 9};
	}
	struct analysis *a = analyze_kind(events, n, ANOMALY_ATOMICITY, false);
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_uint_eq(a->anomalies.items[0].count, ROUNDS * ROUNDS);
	ck_assert_int_eq(a->anomalies.items[0].verdict, VERDICT_PROVED);
	ck_assert(!a->proofs.instances_cut);
	analysis_free(a);
}
END_TEST

/* A thread's regions, many of them, then a flag that another one has seen when it writes: too late for all of them. */
START_TEST(what_each_of_many_tuples_cannot_be_for_one_read_is_conditional)
{
	enum { MANY = 300 };
	static struct rt_event events[MANY * 4 + 3];
	size_t n = 0;
	for (uint64_t i = 0; i < MANY; i++) {
		events[n++] = (struct rt_event){.op = RT_OP_ACQUIRE, .addr = 0x100, .pc = 1};
		events[n++] = (struct rt_event){.op = RT_OP_READ, .addr = 0x1000, .arg = 8, .pc = 2};
		events[n++] = (struct rt_event){.op = RT_OP_WRITE, .addr = 0x1000, .arg = 8, .pc = 3};
		events[n++] = (struct rt_event){.op = RT_OP_RELEASE, .addr = 0x100, .pc = 4};
	}
	events[n++] = (struct rt_event){.op = RT_OP_WRITE, .addr = 0x2000, .arg = 8, .pc = 5};
	events[n++] = (struct rt_event){.op = RT_OP_READ, .addr = 0x2000, .arg = 8, .thread = 1, .pc = 6};
	events[n++] = (struct rt_event){.op = RT_OP_WRITE, .addr = 0x1000, .arg = 8, .thread = 1, .pc = 7};
	struct analysis *a = analyze_kind(events, n, ANOMALY_ATOMICITY, false);
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_uint_eq(a->anomalies.items[0].count, MANY);
	ck_assert_int_eq(a->anomalies.items[0].verdict, VERDICT_CONDITIONAL);
	ck_assert_uint_eq(a->anomalies.items[0].need_total, 1);
	analysis_free(a);
}
END_TEST

/* Two regions that each copy one block of two cells, and one of a single cell. */
START_TEST(a_tuple_that_shares_several_cells_counts_once)
{
	struct rt_event events[] = {
	    {.op = RT_OP_WRITE, .addr = 0x1008, .arg = 8, .pc = 1},
	    {.op = RT_OP_ACQUIRE, .addr = 0x100, .pc = 2},
	    {.op = RT_OP_WRITE, .addr = 0x1000, .arg = 16, .pc = 3},
	    {.op = RT_OP_WRITE, .addr = 0x2000, .arg = 8, .pc = 4},
	    {.op = RT_OP_RELEASE, .addr = 0x100, .pc = 5},
	    {.op = RT_OP_ACQUIRE, .addr = 0x101, .thread = 1, .pc = 6},
	    {.op = RT_OP_READ, .addr = 0x1000, .arg = 16, .thread = 1, .pc = 7},
	    {.op = RT_OP_READ, .addr = 0x2000, .arg = 8, .thread = 1, .pc = 8},
	    {.op = RT_OP_RELEASE, .addr = 0x101, .thread = 1, .pc = 9},
	};
	struct analysis *a = analyze_kind(events, sizeof events / sizeof *events, ANOMALY_ASV, true);
	ck_assert_uint_gt(a->anomalies.count, 0);
	for (size_t i = 0; i < a->anomalies.count; i++)
		ck_assert_uint_eq(a->anomalies.items[i].count, 1);
	analysis_free(a);
}
END_TEST

SUITE(pattern)
{
	Suite *s = suite_create("pattern");
	TCase *c = tcase_create("golden");
	tcase_add_loop_test(c, what_can_happen_is_found_and_real_and_nothing_else, 0, 2);
	tcase_add_test(c, asv_patterns_written_by_a_user_find_what_the_built_in_ones_do);
	suite_add_tcase(s, c);
	c = tcase_create("search");
	tcase_add_loop_test(c, what_is_atomic_is_what_regions_say, 0, 3);
	tcase_add_test(c, one_possible_tuple_of_very_many_is_found);
	tcase_add_test(c, what_each_of_many_tuples_cannot_be_for_one_read_is_conditional);
	tcase_add_test(c, a_tuple_that_shares_several_cells_counts_once);
	tcase_add_test(c, a_hot_loop_is_one_anomaly_with_all_its_tuples_counted);
	suite_add_tcase(s, c);
	c = tcase_create("language");
	tcase_add_loop_test(c, mistakes_in_a_pattern_are_told_with_line_and_column, 0,
	                    (int)(sizeof mistakes / sizeof *mistakes));
	suite_add_tcase(s, c);
	c = tcase_create("random");
	tcase_add_loop_test(c, on_random_traces_whatever_can_happen_is_found_once_and_counted, 0,
	                    (int)(sizeof mixes / sizeof *mixes));
	suite_add_tcase(s, c);
	return s;
}
