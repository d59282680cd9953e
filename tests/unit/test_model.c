/* Loading: what is kept, how memory is cut into cells and generations, locks held, regions. */
#include "lib/analysis/analysis.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>

/* A trace as a test writes it down: numbers are filled in. */
static struct model *load(struct rt_event *events, size_t n, uint32_t threads, enum model_regions regions)
{
	static struct memory_trace memory;
	struct model *m = NULL;
	struct rt_error err = {0};
	struct model_options options = {.regions = regions};
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	if (model_load(memory_trace(&memory, events, n, threads), &options, &m, &err))
		ck_abort_msg("%s", err.message);
	return m;
}

#define LOAD(threads, ...)                                                                                             \
	load((struct rt_event[]){__VA_ARGS__}, sizeof((struct rt_event[]){__VA_ARGS__}) / sizeof(struct rt_event),     \
	     threads, REGIONS_LOCKS)
#define E(t, name, ...) ((struct rt_event){.thread = (t), .op = RT_OP_##name, .pc = 1, __VA_ARGS__})
#define READ(t, a, n) E(t, READ, .addr = (a), .arg = (n))
#define WRITE(t, a, n) E(t, WRITE, .addr = (a), .arg = (n))
#define ACQ(t, l) E(t, ACQUIRE, .addr = (l))
#define REL(t, l) E(t, RELEASE, .addr = (l))
#define FORK(t, u) E(t, FORK, .addr = (u))

/* Index of the kept event with this number; MODEL_NONE: it was dropped. */
static uint32_t kept(const struct model *m, uint32_t number)
{
	for (uint32_t i = 0; i < m->event_count; i++)
		if (m->events[i].number == number)
			return i;
	return MODEL_NONE;
}

static uint32_t cells_of(const struct model *m, uint32_t number)
{
	return m->sites[m->events[kept(m, number)].site].cells;
}

static uint32_t region_of(const struct model *m, uint32_t number)
{
	return m->segments[m->events[kept(m, number)].segment].region;
}

static uint32_t lock_count(const struct model *m, uint32_t number)
{
	return m->locksets[model_lockset_of(m, kept(m, number))].count;
}

/* Whatever the trace, the model's indices agree with one another. */
static void check_model(const struct model *m)
{
	for (uint32_t i = 0; i < m->event_count; i++) {
		const struct model_event *e = &m->events[i];
		const struct model_segment *s = &m->segments[e->segment];
		ck_assert_uint_lt(s->thread, m->thread_count);
		ck_assert_uint_lt(s->lockset, m->lockset_count);
		ck_assert_uint_ge(e->pos, s->first);
		ck_assert_uint_eq(m->threads[s->thread].events[e->pos], i);
		for (uint32_t c = 0; c < m->sites[e->site].cells; c++)
			ck_assert_uint_lt(e->object + c, m->cell_count);
		if (s->region != MODEL_NONE) {
			const struct model_region *r = &m->regions[s->region];
			ck_assert_uint_eq(r->thread, s->thread);
			ck_assert(r->first <= e->pos && e->pos <= r->last);
		}
	}
	for (uint32_t c = 0; c < m->cell_count; c++)
		for (uint32_t i = 0; i < m->cells[c].count; i++) {
			const struct model_event *e = &m->events[m->cell_events[m->cells[c].first + i]];
			ck_assert(e->object <= c && c < e->object + m->sites[e->site].cells);
			ck_assert(!i ||
			          m->cell_events[m->cells[c].first + i - 1] < m->cell_events[m->cells[c].first + i]);
		}
}

START_TEST(memory_of_one_thread_is_dropped)
{
	struct model *m =
	    LOAD(2, FORK(0, 1), WRITE(0, 0x100, 8), WRITE(1, 0x200, 8), READ(0, 0x100, 8), READ(1, 0x200, 8));
	ck_assert_uint_eq(m->event_count, 1);
	ck_assert_uint_eq(m->dropped, 4);
	model_free(m);
}
END_TEST

START_TEST(memory_not_written_after_the_first_fork_is_dropped)
{
	struct model *m = LOAD(2, WRITE(0, 0x100, 8), FORK(0, 1), READ(0, 0x100, 8), READ(1, 0x100, 8));
	ck_assert_uint_eq(m->event_count, 1);
	model_free(m);
}
END_TEST

START_TEST(writes_before_a_fork_matter_to_a_thread_that_has_none)
{
	struct model *m = LOAD(3, WRITE(0, 0x100, 8), FORK(0, 1), READ(2, 0x100, 8));
	ck_assert_uint_eq(m->event_count, 3);
	model_free(m);
}
END_TEST

START_TEST(cells_are_cut_where_accesses_begin_and_end)
{
	struct model *m = LOAD(2, WRITE(0, 0x100, 8), READ(1, 0x104, 2), WRITE(1, 0x106, 4), READ(0, 0x108, 8));
	check_model(m);
	/* 0x104 | 0x106 | 0x108 .. 0x10a; one thread alone touches what is before and after. */
	ck_assert_uint_eq(cells_of(m, 1), 2);
	ck_assert_uint_eq(cells_of(m, 2), 1);
	ck_assert_uint_eq(cells_of(m, 3), 2);
	ck_assert_uint_eq(cells_of(m, 4), 1);
	ck_assert_uint_eq(m->cells[m->events[kept(m, 2)].object].addr, 0x104);
	ck_assert_uint_eq(m->cells[m->events[kept(m, 2)].object].size, 2);
	model_free(m);
}
END_TEST

START_TEST(a_long_range_that_nothing_cuts_is_one_cell)
{
	struct model *m = LOAD(2, WRITE(0, 0x10001, 1 << 20), READ(1, 0x10001, 1 << 20));
	check_model(m);
	const struct model_cell *cell = &m->cells[m->events[0].object];
	ck_assert_uint_eq(cells_of(m, 1), 1);
	ck_assert_uint_eq(cells_of(m, 2), 1);
	ck_assert_uint_eq(cell->size, 1 << 20);
	ck_assert_uint_eq(cell->addr, 0x10001);
	model_free(m);
}
END_TEST

START_TEST(a_range_has_the_cells_of_every_access_in_it)
{
	struct model *m =
	    LOAD(2, WRITE(0, 0x10000, 0x8000), READ(1, 0x12340, 4), READ(1, 0x15000, 8), READ(1, 0xff00, 0x10000));
	check_model(m);
	ck_assert_uint_eq(cells_of(m, 1), 5);
	ck_assert_uint_eq(cells_of(m, 2), 1);
	ck_assert_uint_eq(cells_of(m, 4), 5);
	model_free(m);
}
END_TEST

START_TEST(a_read_of_many_cells_receives_once_of_each_thread)
{
	struct model *m = LOAD(3, WRITE(0, 0x1000, 8), WRITE(1, 0x1008, 8), WRITE(0, 0x1010, 8), READ(2, 0x1000, 24),
	                       READ(1, 0x1000, 8));
	ck_assert_uint_eq(cells_of(m, 4), 3);
	ck_assert_uint_eq(m->size.receives, 3);
	model_free(m);
}
END_TEST

START_TEST(freed_and_allocated_again_is_other_memory)
{
	struct model *m = LOAD(2, E(0, ALLOC, .addr = 0x1000, .arg = 32), WRITE(0, 0x1000, 8), READ(1, 0x1000, 8),
	                       E(0, FREE, .addr = 0x1000, .arg = 32), E(1, ALLOC, .addr = 0x1000, .arg = 32),
	                       WRITE(1, 0x1000, 8), READ(0, 0x1000, 8));
	check_model(m);
	ck_assert_uint_eq(m->event_count, 4);
	ck_assert_uint_eq(m->cell_count, 2);
	ck_assert_uint_eq(m->events[kept(m, 2)].object, m->events[kept(m, 3)].object);
	ck_assert_uint_eq(m->events[kept(m, 6)].object, m->events[kept(m, 7)].object);
	ck_assert_uint_ne(m->events[kept(m, 2)].object, m->events[kept(m, 6)].object);
	model_free(m);
}
END_TEST

START_TEST(use_after_free_is_use_of_the_freed_memory_until_it_is_allocated)
{
	struct model *m =
	    LOAD(3, E(0, ALLOC, .addr = 0x1000, .arg = 12), WRITE(0, 0x1000, 24), E(0, FREE, .addr = 0x1000, .arg = 24),
	         READ(1, 0x1008, 4), E(2, ALLOC, .addr = 0x1000, .arg = 12), WRITE(2, 0x1008, 4));
	check_model(m);
	ck_assert_uint_eq(m->event_count, 2);
	ck_assert_uint_eq(kept(m, 6), MODEL_NONE);
	model_free(m);
}
END_TEST

START_TEST(reuse_alone_does_not_make_memory_shared)
{
	struct model *m =
	    LOAD(2, E(0, ALLOC, .addr = 0x1000, .arg = 32), WRITE(0, 0x1000, 8), E(0, FREE, .addr = 0x1000, .arg = 32),
	         E(1, ALLOC, .addr = 0x1000, .arg = 32), WRITE(1, 0x1000, 8));
	ck_assert_uint_eq(m->event_count, 0);
	model_free(m);
}
END_TEST

START_TEST(the_generation_that_was_not_shared_is_dropped)
{
	struct model *m =
	    LOAD(2, WRITE(0, 0x1000, 8), ACQ(0, 1), READ(1, 0x1000, 8), E(0, NEW_MEMORY, .addr = 0x1000, .arg = 16),
	         WRITE(1, 0x1000, 8), REL(0, 1), WRITE(1, 0x2000, 8), READ(0, 0x2000, 8));
	check_model(m);
	ck_assert_uint_eq(kept(m, 5), MODEL_NONE);
	ck_assert_uint_eq(m->event_count, 6);
	ck_assert_uint_eq(m->cell_count, 2);
	ck_assert_uint_eq(m->threads[0].count, 4);
	ck_assert_uint_eq(m->threads[1].count, 2);
	ck_assert_uint_eq(m->regions[0].first, 1);
	ck_assert_uint_eq(m->regions[0].last, 2);
	model_free(m);
}
END_TEST

START_TEST(a_new_threads_stack_is_new_memory)
{
	struct model *m = LOAD(3, FORK(0, 1), WRITE(1, 0x8000, 8), FORK(0, 2),
	                       E(2, BEGIN, .addr = 0x7000, .arg = 0x2000), WRITE(2, 0x8000, 8));
	ck_assert_uint_eq(m->event_count, 2);
	model_free(m);
}
END_TEST

START_TEST(only_the_outermost_level_of_a_lock_is_an_event)
{
	struct model *m = LOAD(1, ACQ(0, 1), ACQ(0, 1), REL(0, 1), E(0, SIGNAL, .addr = 2), REL(0, 1), REL(0, 1));
	ck_assert_uint_eq(m->event_count, 3);
	ck_assert_uint_eq(lock_count(m, 4), 1);
	ck_assert_uint_eq(lock_count(m, 5), 0);
	model_free(m);
}
END_TEST

START_TEST(a_wait_lets_its_mutex_go_and_takes_it_again)
{
	struct model *m = LOAD(1, ACQ(0, 1), ACQ(0, 2), E(0, WAIT_BEGIN, .addr = 9, .arg = 1),
	                       E(0, WAIT_END, .addr = 9, .arg = 1), REL(0, 1), REL(0, 2));
	check_model(m);
	ck_assert_uint_eq(lock_count(m, 2), 2);
	ck_assert_uint_eq(lock_count(m, 3), 1);
	ck_assert_uint_eq(lock_count(m, 4), 2);
	ck_assert_uint_eq(model_arg(m, kept(m, 3)), m->events[kept(m, 1)].object);
	ck_assert_uint_eq(model_arg(m, kept(m, 2)), MODEL_NONE);
	model_free(m);
}
END_TEST

START_TEST(readers_do_not_exclude_one_another)
{
	struct model *m =
	    LOAD(3, E(0, ACQUIRE_SHARED, .addr = 1), E(1, ACQUIRE_SHARED, .addr = 1), REL(0, 1), REL(1, 1), ACQ(2, 1));
	uint32_t reader = model_lockset_of(m, kept(m, 1)), writer = model_lockset_of(m, kept(m, 5));
	ck_assert(!model_locksets_exclude(m, reader, model_lockset_of(m, kept(m, 2))));
	ck_assert(model_locksets_exclude(m, reader, writer));
	ck_assert(model_locksets_exclude(m, writer, writer));
	ck_assert_uint_eq(m->sites[m->events[kept(m, 3)].site].flags & MODEL_F_SHARED, MODEL_F_SHARED);
	model_free(m);
}
END_TEST

START_TEST(a_region_is_an_outermost_critical_section)
{
	struct model *m = LOAD(2, READ(1, 8, 8), ACQ(0, 1), WRITE(0, 8, 8), ACQ(0, 2), REL(0, 1), WRITE(0, 8, 8),
	                       REL(0, 2), WRITE(0, 8, 8), ACQ(0, 2), WRITE(0, 8, 8));
	check_model(m);
	ck_assert_uint_eq(region_of(m, 3), region_of(m, 6));
	ck_assert_uint_eq(region_of(m, 8), MODEL_NONE);
	ck_assert_uint_ne(region_of(m, 10), region_of(m, 3));
	ck_assert_uint_eq(m->regions[region_of(m, 3)].first, 0);
	ck_assert_uint_eq(m->regions[region_of(m, 3)].last, 5);
	ck_assert_uint_eq(m->regions[region_of(m, 10)].last, MODEL_NONE);
	model_free(m);
}
END_TEST

START_TEST(fork_join_wait_and_notify_cut_a_region)
{
	struct model *m = LOAD(2, WRITE(1, 8, 8), ACQ(0, 1), WRITE(0, 8, 8), E(0, SIGNAL, .addr = 9), WRITE(0, 8, 8),
	                       E(0, WAIT_BEGIN, .addr = 9, .arg = 1), E(0, WAIT_END, .addr = 9, .arg = 1),
	                       WRITE(0, 8, 8), E(0, JOIN, .addr = 1), WRITE(0, 8, 8), REL(0, 1));
	check_model(m);
	uint32_t regions[] = {region_of(m, 3), region_of(m, 5), region_of(m, 8), region_of(m, 10)};
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			ck_assert_uint_ne(regions[i], regions[j]);
	ck_assert_uint_eq(region_of(m, 6), MODEL_NONE);
	model_free(m);
}
END_TEST

START_TEST(an_annotated_region_is_not_cut)
{
	struct model *m = LOAD(2, WRITE(1, 8, 8), E(0, REGION_BEGIN), WRITE(0, 8, 8), E(0, SIGNAL, .addr = 9),
	                       ACQ(0, 1), WRITE(0, 8, 8), REL(0, 1), E(0, REGION_END), WRITE(0, 8, 8));
	check_model(m);
	ck_assert_uint_ne(region_of(m, 3), MODEL_NONE);
	ck_assert_uint_eq(region_of(m, 3), region_of(m, 6));
	ck_assert_uint_eq(region_of(m, 9), MODEL_NONE);
	model_free(m);
}
END_TEST

START_TEST(functions_can_be_the_regions)
{
	struct rt_event events[] = {
	    WRITE(1, 8, 8), E(0, ENTER, .addr = 0), WRITE(0, 8, 8), E(0, ENTER, .addr = 0), WRITE(0, 8, 8),
	    E(0, LEAVE),    WRITE(0, 8, 8),         E(0, LEAVE),    WRITE(0, 8, 8),         E(0, ENTER, .addr = 0),
	    WRITE(0, 8, 8)};
	struct model *m = load(events, sizeof events / sizeof *events, 2, REGIONS_FUNCTIONS);
	check_model(m);
	ck_assert_uint_eq(region_of(m, 3), region_of(m, 7));
	ck_assert_uint_ne(region_of(m, 3), region_of(m, 5));
	ck_assert_uint_eq(region_of(m, 9), MODEL_NONE);
	ck_assert_uint_ne(region_of(m, 11), region_of(m, 3));
	ck_assert_uint_eq(m->regions[region_of(m, 3)].last, 2);
	model_free(m);
}
END_TEST

START_TEST(what_a_thread_ignores_is_not_there)
{
	struct model *m =
	    LOAD(2, WRITE(1, 8, 8), E(0, IGNORE_BEGIN, .arg = 3), WRITE(0, 8, 8), READ(0, 8, 8), ACQ(0, 1),
	         E(0, IGNORE_END, .arg = 3), READ(0, 8, 8), E(0, IGNORE_BEGIN, .arg = 4), ACQ(0, 2), READ(0, 8, 8));
	check_model(m);
	ck_assert_uint_eq(kept(m, 3), MODEL_NONE);
	ck_assert_uint_eq(kept(m, 4), MODEL_NONE);
	ck_assert_uint_eq(kept(m, 9), MODEL_NONE);
	ck_assert_uint_eq(m->event_count, 4);
	model_free(m);
}
END_TEST

START_TEST(benign_memory_has_no_cells)
{
	struct model *m = LOAD(2, WRITE(0, 0x100, 8), READ(1, 0x104, 4), READ(1, 0x100, 4),
	                       E(0, BENIGN, .addr = 0x104, .arg = 4), WRITE(0, 0x104, 4));
	check_model(m);
	ck_assert_uint_eq(m->event_count, 2);
	ck_assert_uint_eq(cells_of(m, 1), 1);
	ck_assert_uint_eq(kept(m, 2), MODEL_NONE);
	model_free(m);
}
END_TEST

/* True if positions of the trace's acquires have callers. */
static bool has_callers(const char *text)
{
	struct model *m = NULL;
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct rt_trace *trace = scratch_trace(text);
	bool has = false;
	ck_assert_msg(!model_load(trace, &options, &m, &err), "%s", err.message);
	for (uint32_t i = 0; i < m->site_count; i++)
		has |= m->sites[i].outer != 0;
	model_free(m);
	rt_trace_free(trace);
	return has;
}

START_TEST(a_wait_for_a_signal_is_no_lock_under_another)
{
#define CALLED "{\"schema\":\"racetrace.events/1\",\"threads\":[\"main\"],\"model\":\"c11\"}\n" AT("enter", "main", "")
#define AT(op, object, more) "{\"op\":\"" op "\",\"location\":\"a.c:1\",\"object\":\"" object "\"" more "}\n"
#define ON_M ",\"arg\":\"m\""
	ck_assert(has_callers(CALLED AT("acquire", "m", "") AT("acquire", "n", "")));
	ck_assert(!has_callers(CALLED AT("acquire", "m", "") AT("release", "m", "") AT("acquire", "n", "")));
	ck_assert(!has_callers(CALLED AT("acquire", "m", "") AT("wait-begin", "c", ON_M) AT("wait-end", "c", ON_M)
	                           AT("release", "m", "")));
}
END_TEST

START_TEST(odd_events_do_no_harm)
{
	struct model *m = LOAD(2, REL(0, 1), E(0, WAIT_END, .addr = 9, .arg = 1), E(0, JOIN, .addr = 0),
	                       E(0, JOIN, .addr = UINT64_MAX), FORK(0, 77), FORK(1, 0), READ(0, 0, 0),
	                       WRITE(0, UINT64_MAX - 3, 16), WRITE(1, UINT64_MAX - 3, 16), E(0, LEAVE),
	                       E(0, REGION_END), E(0, BARRIER_LEAVE, .addr = 3), E(0, IGNORE_END, .arg = 7),
	                       E(0, FREE, .addr = UINT64_MAX - 8, .arg = UINT64_MAX), E(1, SEM_WAIT, .addr = 5));
	check_model(m);
	ck_assert_uint_eq(m->thread_count, 78);
	ck_assert_uint_eq(m->threads[0].fork, MODEL_NONE);
	model_free(m);
}
END_TEST

START_TEST(no_events_whatever_do_harm)
{
	enum { EVENTS = 300 };
	static struct rt_event events[EVENTS];
	static const uint64_t sizes[] = {0, 1, 4, 8, 16, 100, 1 << 16, UINT64_MAX};
	uint64_t random = (uint64_t)_i + 1;
	for (int round = 0; round < 12; round++) {
		for (int i = 0; i < EVENTS; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			uint64_t r = random >> 16;
			events[i] =
			    (struct rt_event){.number = (uint64_t)i + 1,
			                      .addr = r % 97 == 0 ? UINT64_MAX - r % 16 : (r >> 4) % 48,
			                      .arg = r % 5 ? 1 + (r >> 10) % 8 : sizes[(r >> 10) % 8],
			                      .pc = (r >> 13) % 4,
			                      .thread = (uint32_t)(r >> 16) % 5,
			                      .op = (uint8_t)(RT_OP_READ + (r >> 20) % (RT_OP_COUNT - RT_OP_READ)),
			                      .order = (uint8_t)((r >> 26) % 8),
			                      .flags = (uint8_t)(r >> 30)};
			if (r % 3 == 0)
				events[i].op = r % 2 ? RT_OP_READ : RT_OP_WRITE;
		}
		struct memory_trace memory;
		struct analysis *a = NULL;
		struct rt_error err = {0};
		struct analysis_options options = {.unproved = true, .model.regions = (enum model_regions)(round % 3)};
		ck_assert_msg(!analysis_run(memory_trace(&memory, events, EVENTS, 5), &options, &a, &err), "%s",
		              err.message);
		check_model(a->model);
		analysis_free(a);
	}
}
END_TEST

/* Calls on a lock, which read its memory, and a write of that. */
#define USE(t, name, l) E(t, name, .addr = (l), .flags = RT_F_OBJECT)
#define MAKE(t, l) E(t, WRITE, .addr = (l), .arg = 1, .flags = RT_F_OBJECT)

static uint32_t loads_of(const struct model *m, uint32_t thread)
{
	uint32_t n = 0;
	for (uint32_t e = 0; e < m->event_count; e++)
		n += model_op(m, e) == RT_OP_ATOMIC_LOAD && model_thread_of(m, e) == thread;
	return n;
}

START_TEST(calls_on_a_lock_read_its_memory_if_a_thread_writes_it)
{
	struct model *m =
	    LOAD(2, FORK(0, 1), USE(1, ACQUIRE, 64), USE(1, RELEASE, 64), USE(0, ACQUIRE, 64), USE(0, RELEASE, 64));
	ck_assert_uint_eq(loads_of(m, 0) + loads_of(m, 1), 0);
	model_free(m);
	m = LOAD(2, FORK(0, 1), USE(1, ACQUIRE, 64), USE(1, RELEASE, 64), MAKE(0, 64));
	check_model(m);
	ck_assert_uint_eq(loads_of(m, 1), 2);
	ck_assert_uint_eq(model_op(m, kept(m, 2)), RT_OP_ATOMIC_LOAD);
	ck_assert_uint_eq(model_op(m, kept(m, 2) + 1), RT_OP_ACQUIRE);
	model_free(m);
}
END_TEST

START_TEST(of_a_threads_calls_on_a_lock_the_first_and_the_last_before_a_write_are_reads)
{
	struct model *m = LOAD(2, FORK(0, 1), USE(1, ACQUIRE, 64), USE(1, RELEASE, 64), USE(1, ACQUIRE, 64),
	                       USE(1, RELEASE, 64), MAKE(0, 64), USE(1, ACQUIRE, 64), USE(1, RELEASE, 64));
	check_model(m);
	ck_assert_uint_eq(loads_of(m, 1), 4);
	ck_assert_uint_eq(model_op(m, kept(m, 2)), RT_OP_ATOMIC_LOAD);
	ck_assert_uint_eq(model_op(m, kept(m, 3)), RT_OP_RELEASE);
	ck_assert_uint_eq(model_op(m, kept(m, 4)), RT_OP_ACQUIRE);
	ck_assert_uint_eq(model_op(m, kept(m, 5)), RT_OP_ATOMIC_LOAD);
	model_free(m);
}
END_TEST

/* The object of an event that, before it, is a load of that object. */
static uint32_t object_of(const struct model *m, uint32_t number)
{
	uint32_t e = kept(m, number);
	return m->events[model_op(m, e) == RT_OP_ATOMIC_LOAD ? e + 1 : e].object;
}

START_TEST(a_lock_made_anew_and_used_by_another_thread_is_another_lock)
{
	struct model *m = LOAD(2, FORK(0, 1), USE(0, ACQUIRE, 64), USE(0, RELEASE, 64), MAKE(0, 64),
	                       USE(1, ACQUIRE, 64), USE(1, RELEASE, 64));
	ck_assert_uint_ne(object_of(m, 3), object_of(m, 6));
	model_free(m);
	m = LOAD(2, FORK(0, 1), USE(0, ACQUIRE, 64), USE(0, RELEASE, 64), MAKE(0, 64), USE(0, ACQUIRE, 64),
	         USE(0, RELEASE, 64));
	ck_assert_uint_eq(object_of(m, 2), object_of(m, 6));
	model_free(m);
	m = LOAD(2, FORK(0, 1), USE(0, ACQUIRE, 64), USE(0, RELEASE, 64), E(0, ALLOC, .addr = 56, .arg = 100),
	         USE(1, ACQUIRE, 64), USE(1, RELEASE, 64));
	ck_assert_uint_ne(object_of(m, 2), object_of(m, 5));
	model_free(m);
}
END_TEST

/* The number of events kept with this number and operation. */
static uint32_t kept_as(const struct model *m, uint32_t number, unsigned op)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->event_count; i++)
		n += m->events[i].number == number && model_op(m, i) == op;
	return n;
}

START_TEST(a_hold_that_another_thread_ends_protects_nothing_and_comes_before_the_next)
{
	struct model *m = LOAD(2, FORK(0, 1), ACQ(0, 64), REL(1, 64), ACQ(0, 64), WRITE(0, 80, 4), REL(0, 64));
	check_model(m);
	ck_assert_uint_eq(kept_as(m, 2, RT_OP_ACQUIRE), 1);
	ck_assert_uint_eq(kept_as(m, 2, RT_OP_RELEASE), 1);
	ck_assert_uint_eq(lock_count(m, 2), 0);
	ck_assert_uint_eq(kept_as(m, 3, RT_OP_HB_BEFORE), 1);
	ck_assert_uint_eq(kept_as(m, 3, RT_OP_RELEASE), 0);
	ck_assert_uint_eq(kept_as(m, 4, RT_OP_HB_AFTER), 1);
	ck_assert_uint_eq(kept_as(m, 4, RT_OP_ACQUIRE), 1);
	ck_assert_uint_eq(kept_as(m, 6, RT_OP_RELEASE), 1);
	model_free(m);
}
END_TEST

START_TEST(a_release_without_a_hold_is_none)
{
	struct model *m =
	    LOAD(2, FORK(0, 1), USE(1, RELEASE, 64), USE(0, ACQUIRE, 64)); /* taken before the trace began */
	ck_assert_uint_eq(model_op(m, kept(m, 3)), RT_OP_ACQUIRE);
	model_free(m);
	m = LOAD(2, FORK(0, 1), ACQ(0, 64), REL(1, 64), WRITE(0, 80, 4), REL(0, 64), ACQ(1, 64), WRITE(1, 80, 4),
	         REL(1, 64));
	check_model(m);
	ck_assert_uint_eq(kept(m, 3), MODEL_NONE);
	ck_assert_uint_eq(lock_count(m, 4), 1);
	ck_assert_uint_eq(kept_as(m, 5, RT_OP_RELEASE), 1);
	model_free(m);
}
END_TEST

/* A model whose array is broken in one way, and what model_broken says of it. */
START_TEST(what_is_wrong_with_a_model_is_found)
{
	static const struct rt_event events[] = {
	    {.number = 1, .op = RT_OP_SEM_INIT, .addr = 1, .arg = 1},
	    {.number = 2, .op = RT_OP_SEM_INIT, .addr = 2, .arg = 1},
	    {.number = 3, .op = RT_OP_WRITE, .addr = 4096, .arg = 8},
	    {.number = 4, .op = RT_OP_WRITE, .addr = 4096, .arg = 8, .thread = 1},
	};
	struct memory_trace memory;
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct model *m;
	struct rt_error err = {0};
	ck_assert_int_eq(model_load(memory_trace(&memory, events, 4, 2), &options, &m, &err), RT_OK);
	ck_assert_ptr_null(model_broken(m));
	uint32_t *broken[] = {&m->events[2].site,     &m->events[2].pos,  &m->events[1].number,
	                      &m->events[3].object,   &m->cell_events[1], &m->sync[1],
	                      &m->turns[1].first,     &m->args[1].event,  &m->segments[0].thread,
	                      &m->segments[0].lockset};
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		uint32_t whole = *broken[i];
		*broken[i] = i == 2 || i == 4 || i == 5 || i == 6 || i == 7 ? 0 : MODEL_NONE - 1;
		ck_assert_msg(model_broken(m) != NULL, "number %zu is not found", i);
		*broken[i] = whole;
	}
	ck_assert_ptr_null(model_broken(m));
	model_free(m);
}
END_TEST

SUITE(model)
{
	Suite *s = suite_create("model");
	TCase *c = tcase_create("loading");
	tcase_add_test(c, memory_of_one_thread_is_dropped);
	tcase_add_test(c, memory_not_written_after_the_first_fork_is_dropped);
	tcase_add_test(c, writes_before_a_fork_matter_to_a_thread_that_has_none);
	tcase_add_test(c, cells_are_cut_where_accesses_begin_and_end);
	tcase_add_test(c, a_long_range_that_nothing_cuts_is_one_cell);
	tcase_add_test(c, a_range_has_the_cells_of_every_access_in_it);
	tcase_add_test(c, a_read_of_many_cells_receives_once_of_each_thread);
	tcase_add_test(c, freed_and_allocated_again_is_other_memory);
	tcase_add_test(c, use_after_free_is_use_of_the_freed_memory_until_it_is_allocated);
	tcase_add_test(c, reuse_alone_does_not_make_memory_shared);
	tcase_add_test(c, the_generation_that_was_not_shared_is_dropped);
	tcase_add_test(c, a_new_threads_stack_is_new_memory);
	tcase_add_test(c, only_the_outermost_level_of_a_lock_is_an_event);
	tcase_add_test(c, a_wait_lets_its_mutex_go_and_takes_it_again);
	tcase_add_test(c, readers_do_not_exclude_one_another);
	tcase_add_test(c, a_region_is_an_outermost_critical_section);
	tcase_add_test(c, fork_join_wait_and_notify_cut_a_region);
	tcase_add_test(c, an_annotated_region_is_not_cut);
	tcase_add_test(c, functions_can_be_the_regions);
	tcase_add_test(c, what_a_thread_ignores_is_not_there);
	tcase_add_test(c, benign_memory_has_no_cells);
	tcase_add_test(c, a_wait_for_a_signal_is_no_lock_under_another);
	tcase_add_test(c, odd_events_do_no_harm);
	tcase_add_test(c, calls_on_a_lock_read_its_memory_if_a_thread_writes_it);
	tcase_add_test(c, of_a_threads_calls_on_a_lock_the_first_and_the_last_before_a_write_are_reads);
	tcase_add_test(c, a_lock_made_anew_and_used_by_another_thread_is_another_lock);
	tcase_add_test(c, a_hold_that_another_thread_ends_protects_nothing_and_comes_before_the_next);
	tcase_add_test(c, a_release_without_a_hold_is_none);
	tcase_add_loop_test(c, no_events_whatever_do_harm, 0, 6);
	tcase_add_test(c, what_is_wrong_with_a_model_is_found);
	suite_add_tcase(s, c);
	return s;
}
