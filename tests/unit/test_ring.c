/* The last part of a run as a trace: what it says must be true of the whole run as well. */
#include "lib/analysis/analysis.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"
#include "tracefmt/native/writer.h"

#include <check.h>
#include <malloc.h>
#include <unistd.h>

enum { TRACES = 2000, STAMPS = 10 };

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static struct rt_writer *writer_create(const char *path, uint32_t threads, uint64_t ring)
{
	struct rt_writer_options options = {.model = RT_MODEL_SC, .exact = true, .ring = ring};
	struct rt_writer *w;
	struct rt_error err = {0};
	ck_assert_msg(rt_writer_create(path, &options, &w, &err) == RT_OK, "%s", err.message);
	for (uint32_t i = 0; i < threads; i++) {
		char name[16];
		snprintf(name, sizeof name, "T%u", i);
		ck_assert(rt_writer_thread(w, i, name, i, NULL, &err) == RT_OK);
	}
	return w;
}

/* An event as the recorder would write it. Its pc says which one it is: place, from 1. */
static void write_event(struct rt_writer *w, const struct rt_event *e, uint64_t place)
{
	struct rt_record r[3];
	struct rt_error err = {0};
	size_t n = 0;
	bool sized = rt_op_is_access(e->op) && e->arg <= 16;
	r[n++] = rt_record_ext(place * STAMPS, sized ? 0 : e->arg);
	if (e->flags & RT_F_VALUE)
		r[n++] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, e->value};
	r[n++] =
	    rt_record_make(e->op, e->addr, place, rt_record_aux(sized ? (unsigned)e->arg : 0, e->order, e->flags), 0);
	ck_assert(rt_writer_records(w, e->thread, r, n, &err) == RT_OK);
}

static struct rt_trace *finish(struct rt_writer *w, const char *path, struct rt_writer_result *result)
{
	struct rt_trace *trace;
	struct rt_error err = {0};
	*result = (struct rt_writer_result){0};
	ck_assert_msg(rt_writer_finish(w, result, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(rt_trace_open(path, &trace, &err) == RT_OK, "%s", err.message);
	unlink(path);
	return trace;
}

/* Writes the trace, of which the events come by thread with delays, and begins it anew before `cut` events have come.
 */
static struct rt_trace *cut_trace(const struct oracle_trace *t, uint64_t *seed, int cut)
{
	char path[64];
	struct rt_error err = {0};
	struct rt_writer_result result;
	int at[ORACLE_THREADS] = {0};
	snprintf(path, sizeof path, "/tmp/racetrace-ring-%ld.zst", (long)getpid());
	struct rt_writer *w = writer_create(path, (uint32_t)t->threads, 1 << 20);
	for (int come = 0; come < t->count;) {
		uint32_t thread = next(seed) % (uint32_t)t->threads;
		for (uint32_t n = next(seed) % 4; n > 0 && come < t->count; n--) {
			while (at[thread] < t->count && t->events[at[thread]].thread != thread)
				at[thread]++;
			if (at[thread] == t->count)
				break;
			if (come++ == cut)
				ck_assert(rt_writer_begin(w, &err) == RT_OK);
			write_event(w, &t->events[at[thread]], (uint64_t)at[thread] + 1);
			at[thread]++;
		}
	}
	return finish(w, path, &result);
}

static struct analysis *analyze(struct rt_trace *trace)
{
	struct analysis *a;
	struct rt_error err = {0};
	struct analysis_options options = {.every = true};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

static uint64_t place_of(const struct analysis *a, const struct anomaly *x, uint32_t i)
{
	return a->model->sites[a->model->events[x->events[i]].site].pc;
}

/* The whole run's verdict on the same tuple. */
static enum verdict verdict_of(const struct analysis *whole, const struct analysis *a, const struct anomaly *x)
{
	for (size_t i = 0; i < whole->anomalies.count; i++) {
		const struct anomaly *y = &whole->anomalies.items[i];
		uint32_t same = 0;
		for (uint32_t k = 0; k < x->event_count && y->kind == x->kind && y->event_count == x->event_count; k++)
			same += place_of(whole, y, k) == place_of(a, x, k);
		if (same == x->event_count && y->event_count == x->event_count && y->kind == x->kind)
			return y->verdict;
	}
	return VERDICT_REFUTED;
}

struct tally {
	uint64_t races, others, cut, capped;
};

static void check_cut(const struct oracle_trace *t, const struct oracle *o, uint64_t seed, int cut, struct tally *tally)
{
	struct rt_trace *whole_trace = cut_trace(t, &seed, -1), *trace = cut_trace(t, &seed, cut);
	struct analysis *whole = analyze(whole_trace), *a = analyze(trace);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		tally->capped += reasons_has(&x->reasons, REASON_START);
		if (x->verdict <= VERDICT_PREDICTED)
			continue;
		if (!a->model->losses.start)
			continue; /* nothing was dropped */
		ck_assert_msg(x->verdict == VERDICT_OBSERVED, "proved where the trace begins late\n%s", random_text(t));
		int e1 = (int)place_of(a, x, 0) - 1, e2 = (int)place_of(a, x, 1) - 1;
		if (x->kind == ANOMALY_RACE) {
			ck_assert_msg(o->hb[e1 < e2 ? e1 : e2][e1 < e2 ? e2 : e1], "%d and %d are ordered; cut %d\n%s",
			              e1 + 1, e2 + 1, cut, random_text(t));
			tally->races++;
		} else {
			ck_assert_msg(verdict_of(whole, a, x) == VERDICT_OBSERVED, "kind %d of %d; cut %d\n%s", x->kind,
			              e1 + 1, cut, random_text(t));
			tally->others++;
		}
	}
	tally->cut += a->model->losses.start;
	analysis_free(whole);
	analysis_free(a);
	rt_trace_free(whole_trace);
	rt_trace_free(trace);
}

static const unsigned mixes[] = {ORACLE_LOCKS,
                                 ORACLE_LOCKS | ORACLE_READERS | ORACLE_FORKS,
                                 ORACLE_LOCKS | ORACLE_STRAYS,
                                 ORACLE_LOCKS | ORACLE_CONDITIONS,
                                 ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES,
                                 ORACLE_ALL | ORACLE_STRAYS};
enum { MIXES = sizeof mixes / sizeof *mixes };

START_TEST(what_is_observed_after_a_cut_is_observed_in_the_whole_run)
{
	static struct oracle_trace t;
	static struct oracle o;
	struct tally tally = {0};
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		oracle_random(&t, seed * 131 + (uint64_t)_i * 1000003, mixes[_i], 12 + (int)(seed % 20));
		oracle_run(&t, &o);
		check_cut(&t, &o, seed, 1 + (int)(seed * 7 % (uint64_t)(t.count > 1 ? t.count : 2)), &tally);
	}
	assert_enough(tally.cut, TRACES / MIXES / 2, TRACES);
	assert_enough(tally.races, 20, TRACES);
	if (mixes[_i] == ORACLE_LOCKS)
		assert_enough(tally.capped, 20, TRACES);
	printf("ring, mix %d: %lu cut, %lu races, %lu others\n", _i, (unsigned long)tally.cut,
	       (unsigned long)tally.races, (unsigned long)tally.others);
}
END_TEST

/* A queue of blocks, each freed long after it was allocated. Returns the size of the file, or of the ring's. */
static struct rt_writer_result record_queue(uint64_t ring)
{
	enum { STEPS = 400000, LENGTH = 20000, BLOCK = 64 };
	char path[64];
	struct rt_writer_result result;
	struct rt_error err = {0};
	uint64_t seed = 1;
	snprintf(path, sizeof path, "/tmp/racetrace-ring-%ld.zst", (long)getpid());
	struct rt_writer *w = writer_create(path, 1, ring);
	for (uint64_t i = 1; i <= STEPS; i++) {
		uint64_t block = 0x10000 + i % LENGTH * BLOCK, written = i % 16 ? block : block + next(&seed) % BLOCK;
		struct rt_record r[] = {rt_record_ext(3 * i, 0), rt_record_make(RT_OP_FREE, block, 1, 0, 0),
		                        rt_record_ext(3 * i + 1, BLOCK), rt_record_make(RT_OP_ALLOC, block, 2, 0, 0),
		                        rt_record_make(RT_OP_WRITE, written, 3, rt_record_aux(8, 0, 0), 0)};
		ck_assert(rt_writer_records(w, 0, r, sizeof r / sizeof *r, &err) == RT_OK);
	}
	rt_trace_free(finish(w, path, &result));
	return result;
}

/* The ring's parts are so few that each compresses nearly as well as the whole. */
START_TEST(a_run_that_fits_is_whole)
{
	uint64_t whole = record_queue(0).bytes;
	struct rt_writer_result result = record_queue(whole + whole / 2);
	printf("ring: %lu bytes, whole: %lu, dropped %lu\n", (unsigned long)result.bytes, (unsigned long)whole,
	       (unsigned long)result.dropped);
	ck_assert_uint_gt(whole, 16 << 10);
	ck_assert_uint_eq(result.dropped, 0);
}
END_TEST

START_TEST(memory_that_is_mapped_twice_before_the_cut_is_one_memory_after_it)
{
	char path[64];
	struct rt_error err = {0};
	struct rt_writer_result result;
	const struct rt_event before[] = {
	    {.op = RT_OP_FORK, .addr = 1},
	    {.op = RT_OP_ALIAS, .addr = 0x1000, .arg = 64, .value = 0x2000, .flags = RT_F_VALUE}};
	const struct rt_event after[] = {{.op = RT_OP_WRITE, .addr = 0x1008, .arg = 8},
	                                 {.op = RT_OP_WRITE, .addr = 0x2008, .arg = 8, .thread = 1}};
	snprintf(path, sizeof path, "/tmp/racetrace-ring-%ld.zst", (long)getpid());
	struct rt_writer *w = writer_create(path, 2, 1 << 20);
	for (uint64_t i = 0; i < 2; i++)
		write_event(w, &before[i], 1 + i);
	ck_assert(rt_writer_begin(w, &err) == RT_OK);
	for (uint64_t i = 0; i < 2; i++)
		write_event(w, &after[i], 3 + i);
	struct rt_trace *trace = finish(w, path, &result);
	struct analysis *a = analyze(trace);
	ck_assert_uint_eq(result.dropped, 2);
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_uint_eq(place_of(a, &a->anomalies.items[0], 0), 3);
	analysis_free(a);
	rt_trace_free(trace);
}
END_TEST

/* Bytes that are allocated. Sanitizers' allocators do not tell. */
static size_t allocated(void)
{
	return mallinfo2().uordblks;
}

/* Also where the first of them has left a lock held, which the trace is to say. */
START_TEST(threads_that_ended_before_the_ring_take_no_memory)
{
	enum { THREADS = 40000, EACH = 100, LOCK = 0x2000 };
	const struct rt_event held = {.op = RT_OP_ACQUIRE, .addr = LOCK, .thread = 1};
	char path[64], name[16];
	struct rt_error err = {0};
	struct rt_writer_result result;
	struct rt_pass pass;
	size_t half = 0;
	snprintf(path, sizeof path, "/tmp/racetrace-ring-%ld.zst", (long)getpid());
	struct rt_writer *w = writer_create(path, 1, 64 << 10);
	for (uint32_t i = 1; i < THREADS; i++) {
		const uint64_t at = UINT64_C(5) * i;
		struct rt_event fork = {.op = RT_OP_FORK, .addr = i, .pc = 1},
		                events[] = {{.op = RT_OP_BEGIN, .thread = i},
		                            {.op = RT_OP_WRITE, .addr = 0x1000, .arg = 8, .thread = i},
		                            {.op = RT_OP_END, .thread = i}};
		snprintf(name, sizeof name, "T%u", i);
		write_event(w, &fork, at);
		ck_assert(rt_writer_thread(w, i, name, 0, NULL, &err) == RT_OK);
		write_event(w, &events[0], at + 1);
		write_event(w, &events[1], at + 2);
		if (_i && i == 1)
			write_event(w, &held, at + 3);
		write_event(w, &events[2], at + 4);
		ck_assert(rt_writer_thread_end(w, i, &err) == RT_OK);
		half = i == THREADS / 2 ? allocated() : half;
	}
	size_t all = allocated();
	int locks = 0;
	struct rt_trace *trace = finish(w, path, &result);
	ck_assert_uint_gt(result.dropped, 0);
	ck_assert_str_eq(rt_trace_info(trace)->threads[THREADS - 1].name, "T39999");
	ck_assert_str_eq(rt_trace_info(trace)->threads[7].name, "T7");
	for (struct rt_event *e = rt_pass_first(&pass, trace, &err); e; e = rt_pass_next(&pass))
		locks += e->op == RT_OP_ACQUIRE && e->addr == LOCK;
	ck_assert_int_eq(locks, _i);
	ck_assert_msg(all < half + THREADS / 2 * EACH, "%zu bytes, %zu with half of the threads", all, half);
	rt_trace_free(trace);
}
END_TEST

SUITE(ring)
{
	Suite *s = suite_create("ring");
	TCase *c = tcase_create("ring");
	tcase_add_loop_test(c, what_is_observed_after_a_cut_is_observed_in_the_whole_run, 0, MIXES);
	tcase_add_test(c, a_run_that_fits_is_whole);
	tcase_add_loop_test(c, threads_that_ended_before_the_ring_take_no_memory, 0, 2);
	tcase_add_test(c, memory_that_is_mapped_twice_before_the_cut_is_one_memory_after_it);
	suite_add_tcase(s, c);
	return s;
}
