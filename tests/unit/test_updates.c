/*
 * Updates: reads whose value decides nothing but what their thread writes there next. On random traces every schedule
 * of what is proved is executed with values: each read but these and the goal's own has to see the value that it saw
 * in the run. What is written by an update has a value of its own for each value that it may have read.
 */
#include "lib/analysis/windows.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

enum { THREADS = 3, CELLS = 4, LOCKS = 2, MOST = 64, TRACES = 4000 };
enum { X = 0x1000, UPDATE_READ = 100, UPDATE_WRITE = 200, READ = 300, WRITE = 400, LIKE_READ = 500, LIKE_WRITE = 600 };
static const struct rt_update updates[] = {{UPDATE_READ, UPDATE_WRITE}};

struct random_program {
	struct rt_event events[MOST];
	size_t count;
	uint64_t ordinals[THREADS], holder[LOCKS]; /* holder: thread + 1 */
	uint64_t state;
};

static unsigned draw(struct random_program *p, unsigned below)
{
	p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(p->state >> 33) % below;
}

static void add(struct random_program *p, uint32_t thread, enum rt_op op, uint64_t addr, uint64_t arg, uint64_t pc)
{
	p->events[p->count] = (struct rt_event){.number = p->count + 1,
	                                        .stamp = p->count + 1,
	                                        .ordinal = ++p->ordinals[thread],
	                                        .thread = thread,
	                                        .op = op,
	                                        .addr = addr,
	                                        .arg = arg,
	                                        .pc = pc};
	p->count++;
}

/* An update, some of two cells; or the same accesses with another read's pc or another write's. */
static void add_update(struct random_program *p, uint32_t thread, uint64_t addr)
{
	unsigned kind = draw(p, 6), size = addr < X + 8 * (CELLS - 1) && !draw(p, 4) ? 16 : 8;
	add(p, thread, RT_OP_READ, addr, size, kind == 0 ? LIKE_READ : UPDATE_READ);
	if (kind == 2 && p->count + 2 < MOST)
		add(p, (thread + 1 + draw(p, THREADS - 1)) % THREADS, RT_OP_WRITE, X + 8 * (uint64_t)draw(p, CELLS), 8,
		    WRITE);
	add(p, thread, RT_OP_WRITE, addr, size, kind == 1 ? LIKE_WRITE : UPDATE_WRITE);
}

static void make(struct random_program *p, uint64_t seed)
{
	*p = (struct random_program){.state = seed};
	for (uint32_t t = 1; t < THREADS; t++)
		add(p, 0, RT_OP_FORK, t, 0, 1);
	size_t length = 12 + draw(p, 30);
	while (p->count < length) {
		uint32_t thread = draw(p, THREADS), lock = draw(p, LOCKS);
		uint64_t addr = X + 8 * (uint64_t)draw(p, CELLS), mine = thread + 1;
		unsigned what = draw(p, 10);
		if (what < 4 && (!p->holder[lock] || p->holder[lock] == mine)) {
			add(p, thread, p->holder[lock] ? RT_OP_RELEASE : RT_OP_ACQUIRE, 1 + lock, 0, 2 + lock);
			p->holder[lock] = p->holder[lock] ? 0 : mine;
		} else if (what < 7) {
			add_update(p, thread, addr);
		} else if (what == 7) {
			add(p, thread, RT_OP_READ, addr, 8, READ + draw(p, 3));
		} else if (what > 7) {
			add(p, thread, RT_OP_WRITE, addr, 8, WRITE + draw(p, 3));
		}
	}
}

static uint64_t mix(uint64_t value, uint64_t by)
{
	return (value ^ by) * UINT64_C(0x9e3779b97f4a7c15) + by;
}

/* By number of the event: what it read or left. */
struct execution {
	uint64_t memory[CELLS], read[THREADS], of[MOST + 1];
	bool updating[THREADS];
};

/* An update's write depends on what its thread read; other writes have one value each. */
static void execute(struct execution *x, const struct rt_event *e)
{
	uint64_t *cells = &x->memory[(e->addr - X) / 8 % CELLS], count = e->arg / 8;
	if (e->op == RT_OP_READ) {
		x->of[e->number] = x->read[e->thread] = count > 1 ? mix(cells[0], cells[1]) : cells[0];
		x->updating[e->thread] = e->pc == UPDATE_READ;
	} else if (e->op == RT_OP_WRITE) {
		bool updates_it = x->updating[e->thread] && e->pc == UPDATE_WRITE;
		for (uint64_t i = 0; i < count; i++)
			cells[i] = updates_it ? mix(x->read[e->thread], i + 1) : mix(e->number, i + 2);
		x->of[e->number] = cells[0];
		x->updating[e->thread] = false;
	}
}

/* Executes the thread's events up to one, with those that the model leaves out: of what no other thread accesses. */
static void execute_up_to(struct execution *x, const struct random_program *p, const struct rt_event *e,
                          uint64_t *executed)
{
	for (uint64_t i = executed[e->thread]; i < e->number; i++)
		if (p->events[i].thread == e->thread)
			execute(x, &p->events[i]);
	executed[e->thread] = e->number;
}

/* Returns the number of updates that read another value than in the run. The schedule begins behind the events that
 * come before `first`. */
static unsigned check(const struct random_program *p, const struct execution *run, const struct model *m,
                      const struct anomaly *a, uint64_t first, uint64_t seed)
{
	struct execution x = {.memory = {0}};
	uint64_t executed[THREADS];
	unsigned others = 0;
	for (uint64_t i = 0; i + 1 < first; i++)
		execute(&x, &p->events[i]);
	for (int t = 0; t < THREADS; t++)
		executed[t] = first - 1;
	for (uint32_t i = 0; i < a->schedule->count; i++) {
		const struct schedule_step *step = &a->schedule->steps[i];
		for (uint32_t pos = step->from; pos <= step->to; pos++) {
			uint32_t event = m->threads[step->thread].events[pos];
			if (!m->events[event].number)
				continue; /* of a window's opening */
			const struct rt_event *e = &p->events[m->events[event].number - 1];
			bool own = false;
			for (uint32_t k = 0; k < a->event_count; k++)
				own |= a->events[k] == event;
			execute_up_to(&x, p, e, executed);
			if (own || e->op != RT_OP_READ || x.of[e->number] == run->of[e->number])
				continue;
			ck_assert_msg(e->pc == UPDATE_READ, "seed %ju: event %ju reads another value", (uintmax_t)seed,
			              (uintmax_t)e->number);
			others++;
		}
	}
	return others;
}

struct tally {
	uint64_t proved, by_updates;
};

/* first: the trace's, or that of a window. */
static void check_trace(uint64_t seed, uint64_t first, bool exact, bool listed, struct tally *tally)
{
	struct random_program p;
	struct execution run = {.memory = {0}};
	struct memory_trace memory;
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.every = true};
	make(&p, seed);
	for (size_t i = 0; i < p.count; i++)
		execute(&run, &p.events[i]);
	struct rt_trace *trace = memory_trace(&memory, p.events, p.count, THREADS);
	trace->info.model = RT_MODEL_C11;
	trace->info.exact = exact;
	memory.updates = updates;
	memory.update_count = listed;
	struct window_survey survey;
	struct window window;
	ck_assert_msg(window_survey(trace, &survey, &err) == RT_OK, "%s", err.message);
	if (first == 1)
		ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	else
		ck_assert_msg(windows_one(&survey, first, p.count, &options, &window, &a, &err) == RT_OK, "%s",
		              err.message);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *found = &a->anomalies.items[i];
		if (found->verdict != VERDICT_PROVED || !found->schedule)
			continue;
		tally->proved++;
		tally->by_updates += check(&p, &run, a->model, found, first, seed) > 0;
	}
	analysis_free(a);
	window_survey_release(&survey);
}

START_TEST(what_is_proved_by_updates_is_possible_with_values)
{
	struct tally tally = {0, 0};
	bool exact = _i;
	for (uint64_t i = 0; i < random_wanted(TRACES) / 2; i++)
		check_trace(2 * i + 1, 1, exact, true, &tally);
	printf("updates: %ju proved, %ju by updates\n", (uintmax_t)tally.proved, (uintmax_t)tally.by_updates);
	assert_enough(tally.by_updates, 40, TRACES);
}
END_TEST

START_TEST(updates_of_a_window_are_possible_behind_the_events_before_it)
{
	struct tally tally = {0, 0};
	for (uint64_t i = 0; i < random_wanted(TRACES) / 2; i++)
		check_trace(2 * i + 1, 2 + i % 12, true, true, &tally);
	assert_enough(tally.by_updates, 80, TRACES);
}
END_TEST

START_TEST(what_the_trace_does_not_list_is_no_update)
{
	struct tally tally = {0, 0};
	for (uint64_t i = 0; i < random_wanted(TRACES) / 10; i++)
		check_trace(2 * i + 1, 1, true, false, &tally);
	ck_assert_uint_eq(tally.by_updates, 0);
}
END_TEST

SUITE(updates)
{
	Suite *s = suite_create("updates");
	TCase *c = tcase_create("updates");
	tcase_add_loop_test(c, what_is_proved_by_updates_is_possible_with_values, 0, 2);
	tcase_add_test(c, updates_of_a_window_are_possible_behind_the_events_before_it);
	tcase_add_test(c, what_the_trace_does_not_list_is_no_update);
	suite_add_tcase(s, c);
	return s;
}
