/* Descriptions, on traces made of an array of events. */
#include "lib/report/describe.h"
#include "tests/unit/suite.h"
#include "tracefmt/source.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBAL = 0x1000, THREADS = 3 };

struct array_trace {
	struct rt_trace trace;
	struct rt_thread threads[THREADS];
	const struct rt_event *events;
	size_t count, next, read;
};

struct rt_mark {
	size_t next;
};

static enum rt_status array_rewind(struct rt_trace *trace, struct rt_error *err)
{
	(void)err;
	((struct array_trace *)trace)->next = 0;
	return RT_OK;
}

static enum rt_status array_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                                 struct rt_error *err)
{
	struct array_trace *t = (struct array_trace *)trace;
	(void)err;
	for (*got = 0; *got < n && t->next < t->count; t->next++) {
		events[*got] = t->events[t->next];
		events[*got].number = t->next + 1;
		(*got)++;
	}
	t->read += *got;
	return RT_OK;
}

static enum rt_status array_return(struct rt_trace *trace, const struct rt_mark *mark, struct rt_error *err)
{
	(void)err;
	((struct array_trace *)trace)->next = mark->next;
	return RT_OK;
}

static const struct rt_frame *array_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	(void)trace;
	(void)pc;
	*count = 0;
	return NULL;
}

static bool array_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	(void)trace;
	*out = (struct rt_variable){.name = "global", .address = GLOBAL, .size = 8};
	return addr >= GLOBAL && addr < GLOBAL + 8;
}

static const char *array_name(const struct rt_trace *trace, uint64_t addr)
{
	(void)trace;
	(void)addr;
	return NULL;
}

static const struct rt_source array_source = {.name = "array",
                                              .rewind = array_rewind,
                                              .read = array_read,
                                              .go = array_return,
                                              .frames = array_frames,
                                              .variable = array_variable,
                                              .object_name = array_name};

static void array_init(struct array_trace *t, const struct rt_event *events, size_t count)
{
	*t = (struct array_trace){.events = events, .count = count};
	t->trace.source = &array_source;
	t->trace.info.threads = t->threads;
	t->trace.info.thread_count = THREADS;
}

static void same_description(const struct description *a, const struct description *b)
{
	ck_assert(a && b);
	ck_assert_uint_eq(a->stack_count, b->stack_count);
	ck_assert_mem_eq(a->stack, b->stack, a->stack_count * sizeof *a->stack);
	ck_assert_uint_eq(a->place_count, b->place_count);
	for (size_t i = 0; i < a->place_count; i++) {
		ck_assert_int_eq(a->places[i].kind, b->places[i].kind);
		ck_assert_uint_eq(a->places[i].shared, b->places[i].shared);
		ck_assert_uint_eq(a->places[i].block.alloc, b->places[i].block.alloc);
		ck_assert_uint_eq(a->places[i].block.freed, b->places[i].block.freed);
	}
	ck_assert_uint_eq(a->lock_count, b->lock_count);
	for (size_t i = 0; i < a->lock_count; i++) {
		ck_assert_uint_eq(a->locks[i].acquired, b->locks[i].acquired);
		ck_assert_uint_eq(a->locks[i].block.alloc, b->locks[i].block.alloc);
	}
	ck_assert_uint_eq(a->fork, b->fork);
	ck_assert_uint_eq(a->signal, b->signal);
}

/* The same is known of each event if the trace is described up to event `cut` and then from there on. */
static void ask_by_stretches(struct array_trace *t, const struct describe_query *queries, size_t n, size_t cut,
                             uint64_t most, const struct descriptions *whole)
{
	struct rt_error err = {0};
	struct describe_query *of = calloc(n ? n : 1, sizeof *of);
	struct describe_pass *pass = describe_pass_create(&t->trace, most);
	ck_assert(pass && of);
	for (int part = 0; part < 2; part++) {
		struct describe_stretch stretch = {.pass = pass, .last = part ? t->count : cut};
		struct descriptions *d;
		size_t count = 0;
		for (size_t i = 0; i < n; i++)
			if (!queries[i].number || (queries[i].number > cut) == part)
				of[count++] = queries[i];
		ck_assert_msg(!describe_stretch(&stretch, of, count, &d, &err), "%s", err.message);
		for (size_t i = 0; i < count; i++)
			if (of[i].number && !of[i].ordinal)
				same_description(description_of(d, of[i].number), description_of(whole, of[i].number));
		descriptions_free(d);
	}
	describe_pass_free(pass);
	free(of);
}

static struct descriptions *ask(struct array_trace *t, const struct describe_query *queries, size_t n)
{
	struct descriptions *d = NULL;
	struct rt_error err = {0};
	ck_assert_msg(describe(&t->trace, queries, n, &d, &err) == RT_OK, "%s", err.message);
	for (size_t cut = 1; cut < t->count; cut++) {
		ask_by_stretches(t, queries, n, cut, 1 << 20, d);
		ask_by_stretches(t, queries, n, cut, 300, d);
	}
	return d;
}

/* The one place asked about of an event. */
static const struct memory_place *place(const struct descriptions *d, uint64_t number)
{
	const struct description *description = description_of(d, number);
	ck_assert_ptr_nonnull(description);
	ck_assert_uint_eq(description->place_count, 1);
	return &description->places[0];
}

#define EVENT(t, what, object, argument, position)                                                                     \
	{                                                                                                              \
		.thread = (t), .op = RT_OP_##what, .addr = (object), .arg = (argument), .pc = (position)               \
	}
#define ASK(t, d, events, ...)                                                                                         \
	const struct describe_query queries[] = {__VA_ARGS__};                                                         \
	array_init(&(t), events, sizeof events / sizeof *events);                                                      \
	struct descriptions *d = ask(&(t), queries, sizeof queries / sizeof *queries)

static void stack_is(const struct description *d, const uint64_t *pcs, size_t n)
{
	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(d->stack_count, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(d->stack[i], pcs[i]);
}
#define STACK_IS(d, ...)                                                                                               \
	stack_is(d, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

START_TEST(a_stack_is_the_position_and_the_calls_still_open_of_the_same_thread)
{
	static const struct rt_event events[] = {
	    EVENT(0, ENTER, 0, 0, 10), EVENT(1, ENTER, 0, 0, 20), EVENT(0, ENTER, 0, 0, 11), EVENT(0, LEAVE, 0, 0, 0),
	    EVENT(0, ENTER, 0, 0, 12), EVENT(0, READ, 8, 4, 13),  EVENT(1, READ, 8, 4, 21),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 6, .addr = 8}, {.number = 7, .addr = 8});
	STACK_IS(description_of(d, 6), 13, 12, 10);
	STACK_IS(description_of(d, 7), 21, 20);
	ck_assert_ptr_null(description_of(d, 5));
	descriptions_free(d);
}
END_TEST

START_TEST(leaving_more_calls_than_were_entered_leaves_the_stack_empty)
{
	static const struct rt_event events[] = {
	    EVENT(0, LEAVE, 0, 0, 0),  EVENT(0, ENTER, 0, 0, 10), EVENT(0, LEAVE, 0, 0, 0),  EVENT(0, LEAVE, 0, 0, 0),
	    EVENT(0, WRITE, 8, 4, 13), EVENT(0, ENTER, 0, 0, 11), EVENT(0, WRITE, 8, 4, 14),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 5, .addr = 8}, {.number = 7, .addr = 8});
	STACK_IS(description_of(d, 5), 13);
	STACK_IS(description_of(d, 7), 14, 11);
	descriptions_free(d);
}
END_TEST

START_TEST(a_block_is_described_with_the_stack_that_it_was_allocated_in)
{
	static const struct rt_event events[] = {
	    EVENT(0, ENTER, 0, 0, 10),         EVENT(0, ALLOC, 0x4000, 64, 11), EVENT(0, LEAVE, 0, 0, 0),
	    EVENT(0, ALLOC, 0x4040, 64, 12),   EVENT(1, READ, 0x4010, 4, 20),   EVENT(0, FREE, 0x4000, 0, 13),
	    EVENT(1, READ, 0x4010, 4, 21),     EVENT(1, ALLOC, 0x4000, 32, 22), EVENT(0, READ, 0x4010, 4, 23),
	    EVENT(0, READ, GLOBAL + 4, 4, 24),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 5, .addr = 0x4010}, {.number = 7, .addr = 0x4010}, {.number = 9, .addr = 0x4010},
	    {.number = 10, .addr = GLOBAL + 4});
	const struct memory_place *live = place(d, 5), *freed = place(d, 7);
	ck_assert_int_eq(live->kind, RT_MEMORY_HEAP);
	ck_assert_uint_eq(live->block.address, 0x4000);
	ck_assert_uint_eq(live->block.size, 64);
	ck_assert_uint_eq(live->block.alloc, 2);
	ck_assert_uint_eq(live->block.freed, 0);
	STACK_IS(description_of(d, 2), 11, 10);
	ck_assert_uint_eq(freed->block.alloc, 2);
	ck_assert_uint_eq(freed->block.freed, 6);
	STACK_IS(description_of(d, 6), 13);
	ck_assert_uint_eq(place(d, 9)->block.alloc, 8);
	ck_assert_uint_eq(place(d, 9)->block.size, 32);
	ck_assert_int_eq(place(d, 10)->kind, RT_MEMORY_GLOBAL);
	descriptions_free(d);
}
END_TEST

START_TEST(a_mapping_says_something_until_a_heap_block_says_more)
{
	static const struct rt_event events[] = {
	    EVENT(0, MAP, 0x4000, 0x1000, 10), EVENT(0, READ, 0x4010, 4, 11),       EVENT(0, ALLOC, 0x4000, 64, 12),
	    EVENT(0, READ, 0x4010, 4, 13),     EVENT(0, UNMAP, 0x4000, 0x1000, 14), EVENT(0, MAP, 0x4000, 0x2000, 15),
	    EVENT(0, FREE, 0x4000, 0, 16),     EVENT(0, MAP, 0x4000, 0x3000, 17),   EVENT(0, READ, 0x4010, 4, 18),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 2, .addr = 0x4010}, {.number = 4, .addr = 0x4010}, {.number = 9, .addr = 0x4010});
	ck_assert(place(d, 2)->block.mapped);
	ck_assert_uint_eq(place(d, 2)->block.alloc, 1);
	ck_assert(!place(d, 4)->block.mapped);
	ck_assert_uint_eq(place(d, 4)->block.alloc, 3);
	ck_assert(place(d, 9)->block.mapped);
	ck_assert_uint_eq(place(d, 9)->block.size, 0x3000);
	descriptions_free(d);
}
END_TEST

START_TEST(memory_on_a_living_threads_stack_is_known_as_such)
{
	static const struct rt_event events[] = {
	    EVENT(1, BEGIN, 0x8000, 0x1000, 0),
	    EVENT(0, READ, 0x8ff8, 8, 10),
	    EVENT(1, END, 0, 0, 0),
	    EVENT(0, READ, 0x8ff8, 8, 11),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 2, .addr = 0x8ff8}, {.number = 4, .addr = 0x8ff8});
	ck_assert_int_eq(place(d, 2)->kind, RT_MEMORY_STACK);
	ck_assert_uint_eq(place(d, 2)->owner, 1);
	ck_assert_int_eq(place(d, 4)->kind, RT_MEMORY_UNKNOWN);
	descriptions_free(d);
}
END_TEST

START_TEST(thread_local_memory_is_no_stack_and_no_block_though_it_lies_in_one)
{
	static const struct rt_event events[] = {
	    EVENT(0, ALLOC, 0x8000, 0x1000, 9),
	    EVENT(1, BEGIN, 0x8000, 0x1000, 0),
	    EVENT(1, TLS, 0x8f00, 0x40, 0),
	    EVENT(0, READ, 0x8f00, 8, 10),
	    EVENT(0, READ, 0x8f38, 8, 10),
	    EVENT(0, READ, 0x8f40, 8, 10),
	    EVENT(1, END, 0, 0, 0),
	    EVENT(0, READ, 0x8f38, 8, 11),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 4, .addr = 0x8f00}, {.number = 5, .addr = 0x8f38}, {.number = 6, .addr = 0x8f40},
	    {.number = 8, .addr = 0x8f38});
	ck_assert_int_eq(place(d, 4)->kind, RT_MEMORY_TLS);
	ck_assert_int_eq(place(d, 5)->kind, RT_MEMORY_TLS);
	ck_assert_uint_eq(place(d, 5)->owner, 1);
	ck_assert_uint_eq(place(d, 5)->tls_end, 0x8f40);
	ck_assert_uint_eq(place(d, 5)->block.alloc, 0);
	ck_assert_int_eq(place(d, 6)->kind, RT_MEMORY_HEAP);
	ck_assert_int_eq(place(d, 8)->kind, RT_MEMORY_HEAP);
	descriptions_free(d);
}
END_TEST

START_TEST(locks_held_are_told_with_the_events_that_took_them)
{
	static const struct rt_event events[] = {
	    EVENT(0, ENTER, 0, 0, 10),
	    EVENT(0, ACQUIRE, 0x100, 0, 11),
	    EVENT(0, LEAVE, 0, 0, 0),
	    EVENT(0, ACQUIRE, 0x200, 0, 12),
	    EVENT(0, ACQUIRE_SHARED, 0x300, 0, 13),
	    EVENT(0, RELEASE, 0x200, 0, 14),
	    EVENT(0, READ, 8, 4, 15),
	    EVENT(0, WAIT_BEGIN, 0x400, 0x100, 16),
	    EVENT(0, READ, 8, 4, 17),
	    EVENT(0, WAIT_END, 0x400, 0x100, 18),
	    EVENT(0, READ, 8, 4, 19),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 7, .addr = 8}, {.number = 9, .addr = 8}, {.number = 11, .addr = 8},
	    {.number = 5, .addr = 0x300});
	const struct description *held = description_of(d, 7);
	ck_assert_uint_eq(held->lock_count, 2);
	ck_assert_uint_eq(held->locks[0].addr, 0x100);
	ck_assert_uint_eq(held->locks[0].acquired, 2);
	ck_assert(!held->locks[0].shared);
	STACK_IS(description_of(d, 2), 11, 10);
	ck_assert_uint_eq(held->locks[1].addr, 0x300);
	ck_assert(held->locks[1].shared);
	ck_assert_uint_eq(description_of(d, 9)->lock_count, 1);
	ck_assert_uint_eq(description_of(d, 11)->lock_count, 2);
	ck_assert_uint_eq(description_of(d, 11)->locks[1].acquired, 10);
	/* What an acquire holds is what was held before it. */
	ck_assert_uint_eq(description_of(d, 5)->lock_count, 2);
	ck_assert_uint_eq(description_of(d, 5)->locks[1].addr, 0x200);
	descriptions_free(d);
}
END_TEST

START_TEST(a_lock_taken_again_is_held_until_the_outer_release)
{
	static const struct rt_event events[] = {
	    EVENT(0, ACQUIRE, 0x100, 0, 11), EVENT(0, ACQUIRE, 0x100, 0, 12), EVENT(0, RELEASE, 0x100, 0, 13),
	    EVENT(0, READ, 8, 4, 14),        EVENT(0, RELEASE, 0x100, 0, 15), EVENT(0, READ, 8, 4, 16),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 4, .addr = 8}, {.number = 6, .addr = 8});
	ck_assert_uint_eq(description_of(d, 4)->lock_count, 1);
	ck_assert_uint_eq(description_of(d, 4)->locks[0].acquired, 1);
	ck_assert_uint_eq(description_of(d, 6)->lock_count, 0);
	descriptions_free(d);
}
END_TEST

START_TEST(one_event_can_be_asked_about_several_addresses)
{
	static const struct rt_event events[] = {
	    EVENT(0, ALLOC, 0x4000, 64, 10),
	    EVENT(0, ALLOC, 0x4040, 64, 11),
	    EVENT(0, WRITE, 0x4000, 128, 12),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 3, .addr = 0x4048}, {.number = 3, .addr = 0x4008}, {.number = 3, .addr = 0x4048},
	    {.number = 0, .addr = 0x4010});
	const struct description *write = description_of(d, 3);
	ck_assert_uint_eq(write->place_count, 2);
	ck_assert_uint_eq(description_place(write, 0x4008)->block.alloc, 1);
	ck_assert_uint_eq(description_place(write, 0x4048)->block.alloc, 2);
	ck_assert_ptr_null(description_place(write, 0x4010));
	descriptions_free(d);
}
END_TEST

START_TEST(an_ordinal_alone_is_cheaper_than_a_description)
{
	static const struct rt_event events[] = {
	    {.op = RT_OP_READ, .addr = 8, .arg = 4, .ordinal = 3},
	    {.op = RT_OP_READ, .addr = 8, .arg = 4, .ordinal = 7},
	    {.op = RT_OP_READ, .addr = 8, .arg = 4, .ordinal = 9},
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 3, .addr = 8}, {.number = 1, .ordinal = true});
	ck_assert_uint_eq(description_ordinal(d, 1), 3);
	ck_assert_uint_eq(description_ordinal(d, 2), 0);
	ck_assert_uint_eq(description_ordinal(d, 3), 9);
	ck_assert_ptr_null(description_of(d, 1));
	ck_assert_ptr_nonnull(description_of(d, 3));
	descriptions_free(d);
}
END_TEST

START_TEST(stretches_read_each_event_once)
{
	enum { STRETCHES = 50, EVENTS = 2 * RT_PASS_EVENTS };
	static struct rt_event events[STRETCHES * EVENTS];
	struct array_trace t;
	struct rt_error err = {0};
	for (size_t i = 0; i < STRETCHES * EVENTS; i++)
		events[i] = (struct rt_event){.op = RT_OP_READ, .addr = 8, .arg = 4, .pc = i};
	events[0] = (struct rt_event){.op = RT_OP_ALLOC, .addr = 8, .arg = 8, .pc = 99};
	array_init(&t, events, STRETCHES * EVENTS);
	struct describe_pass *pass = describe_pass_create(&t.trace, 4096);
	for (uint64_t last = EVENTS; last <= t.count; last += EVENTS) {
		struct rt_mark mark = {last - EVENTS};
		struct describe_stretch stretch = {.pass = pass, .from = &mark, .last = last};
		struct describe_query query = {.number = last - 1, .addr = 8};
		struct descriptions *d;
		ck_assert(!describe_stretch(&stretch, &query, 1, &d, &err));
		ck_assert_uint_eq(place(d, last - 1)->block.alloc, 1);
		STACK_IS(description_of(d, 1), 99);
		descriptions_free(d);
	}
	ck_assert_uint_lt(t.read, 2 * t.count);
	describe_pass_free(pass);
}
END_TEST

START_TEST(an_event_leads_to_the_creation_of_its_thread)
{
	static const struct rt_event events[] = {
	    EVENT(0, ENTER, 0, 0, 10), EVENT(0, FORK, 1, 0, 11),  EVENT(0, LEAVE, 0, 0, 0),
	    EVENT(1, WRITE, 8, 4, 20), EVENT(0, WRITE, 8, 4, 12), EVENT(0, FORK, 999, 0, 13),
	};
	struct array_trace t;
	ASK(t, d, events, {.number = 4, .addr = 8}, {.number = 5, .addr = 8}, {.number = 6, .addr = 0});
	ck_assert_uint_eq(description_of(d, 4)->fork, 2);
	STACK_IS(description_of(d, 2), 11, 10);
	ck_assert_uint_eq(description_of(d, 5)->fork, 0);
	descriptions_free(d);
}
END_TEST

START_TEST(a_deep_stack_keeps_its_innermost_calls_and_says_that_it_was_cut)
{
	enum { DEPTH = 1000 };
	static struct rt_event events[DEPTH + 2];
	for (size_t i = 0; i < DEPTH; i++)
		events[i] = (struct rt_event)EVENT(0, ENTER, 0, 0, i + 1);
	events[DEPTH] = (struct rt_event)EVENT(0, READ, 8, 4, 5000);
	events[DEPTH + 1] = (struct rt_event)EVENT(1, READ, 8, 4, 6000);
	struct array_trace t;
	ASK(t, d, events, {.number = DEPTH + 1, .addr = 8}, {.number = DEPTH + 2, .addr = 8});
	const struct description *deep = description_of(d, DEPTH + 1);
	ck_assert_uint_eq(deep->stack_count, LIMIT_STACK_FRAMES_MAX);
	ck_assert(deep->stack_cut);
	ck_assert_uint_eq(deep->stack[0], 5000);
	ck_assert_uint_eq(deep->stack[1], DEPTH);
	ck_assert(descriptions_cut(d));
	ck_assert(!description_of(d, DEPTH + 2)->stack_cut);
	descriptions_free(d);
}
END_TEST

SUITE(describe)
{
	Suite *s = suite_create("describe");
	TCase *c = tcase_create("descriptions");
	tcase_add_test(c, a_stack_is_the_position_and_the_calls_still_open_of_the_same_thread);
	tcase_add_test(c, leaving_more_calls_than_were_entered_leaves_the_stack_empty);
	tcase_add_test(c, a_block_is_described_with_the_stack_that_it_was_allocated_in);
	tcase_add_test(c, a_mapping_says_something_until_a_heap_block_says_more);
	tcase_add_test(c, memory_on_a_living_threads_stack_is_known_as_such);
	tcase_add_test(c, thread_local_memory_is_no_stack_and_no_block_though_it_lies_in_one);
	tcase_add_test(c, locks_held_are_told_with_the_events_that_took_them);
	tcase_add_test(c, a_lock_taken_again_is_held_until_the_outer_release);
	tcase_add_test(c, one_event_can_be_asked_about_several_addresses);
	tcase_add_test(c, an_ordinal_alone_is_cheaper_than_a_description);
	tcase_add_test(c, stretches_read_each_event_once);
	tcase_add_test(c, an_event_leads_to_the_creation_of_its_thread);
	tcase_add_test(c, a_deep_stack_keeps_its_innermost_calls_and_says_that_it_was_cut);
	suite_add_tcase(s, c);
	return s;
}
