/*
 * Makes traces that are large in one way: gen_shape SHAPE EVENTS FILE. The growth benchmark takes each at several
 * sizes. See `shapes` for what they are.
 */
#include "tests/bench/gen.h"

#include <inttypes.h>
#include <string.h>

enum { WORKERS = 8, BODIES = 50 };

static struct rt_writer *writer;
static uint64_t written, *ordinals, state = 88172645463325252u;

static uint32_t draw(uint64_t below)
{
	return (uint32_t)(gen_next(&state) % below);
}

static void fail(const char *why)
{
	fprintf(stderr, "gen_shape: %s\n", why);
	exit(1);
}

static void emit(uint32_t thread, enum rt_op op, uint64_t addr, uint32_t position)
{
	gen_event(writer, ++written, ++ordinals[thread], thread, op, addr, position);
}

static void on_lock(uint32_t thread, enum rt_op op, uint64_t lock, uint32_t position)
{
	emit(thread, op, LOCKS + lock * 64, position);
}

static void on_variable(uint32_t thread, enum rt_op op, uint64_t variable, uint32_t position)
{
	emit(thread, op, VARIABLES + variable * 8, position);
}

/* Short critical sections of six locks over a hundred variables, which no one lock guards. */
static void sections(uint64_t events, uint32_t threads)
{
	while (written + 6 < events) {
		uint32_t thread = draw(threads), lock = draw(6), variable = draw(100);
		on_lock(thread, RT_OP_ACQUIRE, lock, 1);
		on_variable(thread, RT_OP_READ, variable, 2);
		on_variable(thread, RT_OP_WRITE, (variable + 1) % 100, 3);
		on_variable(thread, RT_OP_READ, (variable + 2) % 100, 4);
		on_variable(thread, RT_OP_WRITE, variable, 5);
		on_lock(thread, RT_OP_RELEASE, lock, 6);
	}
}

/* Every thread takes two neighbours of very many locks, in either order. */
static void locks(uint64_t events, uint32_t threads)
{
	const uint64_t count = events / 50 + 2;
	while (written + 6 < events) {
		uint32_t thread = draw(threads), first = draw(count - 1), second = first + 1;
		if (draw(1000) == 0) {
			second = first;
			first = second + 1;
		}
		on_lock(thread, RT_OP_ACQUIRE, first, 1);
		on_lock(thread, RT_OP_ACQUIRE, second, 2);
		on_variable(thread, RT_OP_READ, first % 16, 3);
		on_variable(thread, RT_OP_WRITE, first % 16, 4);
		on_lock(thread, RT_OP_RELEASE, second, 5);
		on_lock(thread, RT_OP_RELEASE, first, 6);
	}
}

/* A thread's critical section is half of the trace; the others access the same variables without the lock. */
static void section(uint64_t events, uint32_t threads)
{
	on_lock(1, RT_OP_ACQUIRE, 0, 1);
	for (uint64_t i = 0; written < events / 2; i++)
		on_variable(1, i % 3 ? RT_OP_READ : RT_OP_WRITE, draw(1000), 10 + draw(BODIES));
	on_lock(1, RT_OP_RELEASE, 0, 2);
	for (uint64_t i = 0; written < events; i++)
		on_variable(2 + draw(threads - 2), i % 3 ? RT_OP_READ : RT_OP_WRITE, draw(1000), 100 + draw(BODIES));
}

/* A function calls itself as deep as a quarter of a thread's events are many, and accesses two variables in each call.
 */
static void recursion(uint64_t events, uint32_t threads)
{
	const uint64_t depth = events / (threads - 1) / 4;
	for (uint32_t thread = 1; thread < threads; thread++) {
		for (uint64_t i = 0; i < depth; i++) {
			emit(thread, RT_OP_ENTER, 0, 1);
			on_variable(thread, RT_OP_READ, i % 30, 2);
		}
		for (uint64_t i = 0; i < depth; i++) {
			on_variable(thread, RT_OP_WRITE, i % 30, 3);
			emit(thread, RT_OP_LEAVE, 0, 4);
		}
	}
}

/* One thread does nearly everything. */
static void alone(uint64_t events, uint32_t threads)
{
	for (uint64_t i = 0; written < events; i++)
		on_variable(i % 100 ? 1 : 2 + draw(threads - 2), i % 3 ? RT_OP_READ : RT_OP_WRITE, draw(1000),
		            draw(BODIES));
}

/* Short threads, all of them there at once, that share variables, some of them under a lock. */
static void short_threads(uint64_t events, uint32_t threads)
{
	while (written + 8 < events) {
		uint32_t thread = 1 + draw(threads - 1);
		on_lock(thread, RT_OP_ACQUIRE, 0, 1);
		on_variable(thread, RT_OP_READ, 0, 2);
		on_variable(thread, RT_OP_WRITE, 0, 3);
		on_lock(thread, RT_OP_RELEASE, 0, 4);
		on_variable(thread, RT_OP_READ, 1, 5);
		on_variable(thread, RT_OP_WRITE, 2 + thread % 7, 6);
	}
}

/* Sections of five locks within one another, always in the same order. */
static void nested(uint64_t events, uint32_t threads)
{
	enum { DEPTH = 5, STACKS = 40 };
	while (written + 2 * DEPTH + 2 < events) {
		uint32_t thread = draw(threads), stack = draw(STACKS);
		for (uint32_t i = 0; i < DEPTH; i++)
			on_lock(thread, RT_OP_ACQUIRE, stack * DEPTH + i, 1 + i);
		on_variable(thread, RT_OP_READ, draw(4 * STACKS), 10 + stack);
		on_variable(thread, RT_OP_WRITE, draw(4 * STACKS), 100 + stack);
		for (uint32_t i = DEPTH; i-- > 0;)
			on_lock(thread, RT_OP_RELEASE, stack * DEPTH + i, 200 + i);
	}
}

/* Blocks of the heap, all of one place: a thread makes one, another one uses it behind a lock and frees it. */
static void blocks(uint64_t events, uint32_t threads)
{
	enum { BYTES = 64 };
	const uint64_t heap = 0x7f0000000000;
	for (uint64_t i = 0; written + 12 < events; i++) {
		uint32_t maker = draw(threads), user = draw(threads);
		uint64_t block = heap + i % 100000 * BYTES;
		gen_sized(writer, ++written, ++ordinals[maker], maker, RT_OP_ALLOC, block, BYTES, 1);
		emit(maker, RT_OP_WRITE, block, 2);
		on_lock(maker, RT_OP_ACQUIRE, 0, 3);
		on_variable(maker, RT_OP_WRITE, 0, 4);
		on_lock(maker, RT_OP_RELEASE, 0, 5);
		on_lock(user, RT_OP_ACQUIRE, 0, 6);
		on_variable(user, RT_OP_READ, 0, 7);
		on_lock(user, RT_OP_RELEASE, 0, 8);
		emit(user, RT_OP_READ, block, 9);
		emit(user, RT_OP_WRITE, block + 8, 10);
		gen_sized(writer, ++written, ++ordinals[user], user, RT_OP_FREE, block, BYTES, 11);
	}
}

/* Every thread writes one variable, behind nothing. */
static void writes(uint64_t events, uint32_t threads)
{
	while (written < events) {
		uint32_t thread = draw(threads);
		on_variable(thread, RT_OP_WRITE, 0, thread);
	}
}

/* All threads meet at a barrier again and again, and write their own part and read their neighbours' in between. */
static void phases(uint64_t events, uint32_t threads)
{
	const uint64_t barrier = LOCKS;
	for (uint32_t phase = 0; written + 4 * threads < events; phase++) {
		for (uint32_t i = 0; i < threads; i++) {
			on_variable(i, RT_OP_READ, 2 * ((i + 1) % threads) + phase % 2, 1);
			on_variable(i, RT_OP_WRITE, 2 * i + (phase + 1) % 2, 2);
			gen_sized(writer, ++written, ++ordinals[i], i, RT_OP_BARRIER_ARRIVE, barrier, threads, 3);
		}
		for (uint32_t i = 0; i < threads; i++)
			emit(i, RT_OP_BARRIER_LEAVE, barrier, 3);
	}
}

/* Threads that wait for a condition all at once, again and again, and are told by another. */
static void conditions(uint64_t events, uint32_t threads)
{
	enum { CONDITION = LOCKS + 64 };
	for (uint32_t turn = 0; written + 8 * threads < events; turn++) {
		uint32_t teller = turn % threads;
		for (uint32_t i = 0; i < threads; i++)
			if (i != teller) {
				on_lock(i, RT_OP_ACQUIRE, 0, 1);
				on_variable(i, RT_OP_READ, 0, 2);
				gen_sized(writer, ++written, ++ordinals[i], i, RT_OP_WAIT_BEGIN, CONDITION, LOCKS, 3);
			}
		on_lock(teller, RT_OP_ACQUIRE, 0, 4);
		on_variable(teller, RT_OP_WRITE, 0, 5);
		emit(teller, RT_OP_BROADCAST, CONDITION, 6);
		on_lock(teller, RT_OP_RELEASE, 0, 7);
		for (uint32_t i = 0; i < threads; i++)
			if (i != teller) {
				gen_sized(writer, ++written, ++ordinals[i], i, RT_OP_WAIT_END, CONDITION, LOCKS, 3);
				on_variable(i, RT_OP_READ, 0, 8);
				on_lock(i, RT_OP_RELEASE, 0, 9);
			}
	}
}

/* Each thread takes its lock, then its neighbour's: a ring of all. */
static void ring(uint64_t events, uint32_t threads)
{
	while (written + 6 < events) {
		uint32_t thread = draw(threads), next = (thread + 1) % threads;
		on_lock(thread, RT_OP_ACQUIRE, thread, 1);
		on_lock(thread, RT_OP_ACQUIRE, next, 2);
		on_variable(thread, RT_OP_READ, thread, 3);
		on_variable(thread, RT_OP_WRITE, next, 4);
		on_lock(thread, RT_OP_RELEASE, next, 5);
		on_lock(thread, RT_OP_RELEASE, thread, 6);
	}
}

/* Thousands of atomics, which all threads change, and plain variables beside them. */
static void atomics(uint64_t events, uint32_t threads)
{
	enum { COUNT = 5000 };
	static const enum rt_op ops[] = {RT_OP_ATOMIC_LOAD, RT_OP_ATOMIC_RMW, RT_OP_ATOMIC_STORE};
	while (written + 4 < events) {
		uint32_t thread = draw(threads), of = draw(COUNT);
		gen_sized(writer, ++written, ++ordinals[thread], thread, ops[draw(3)], VARIABLES + of * 8, 8, 1);
		on_variable(thread, RT_OP_READ, COUNT + of / 8, 2);
		on_variable(thread, draw(8) ? RT_OP_READ : RT_OP_WRITE, COUNT + of / 8, 3);
	}
}

/* Long sections of one lock over many variables, as of an interpreter, some of which are accessed without it. */
static void interpreter(uint64_t events, uint32_t threads)
{
	enum { LONG = 400, COUNT = 20000 };
	while (written + 2 * LONG < events) {
		uint32_t thread = draw(threads);
		on_lock(thread, RT_OP_ACQUIRE, 0, 1);
		for (uint32_t n = draw(LONG); n; n--)
			on_variable(thread, draw(3) ? RT_OP_READ : RT_OP_WRITE, draw(COUNT), 10 + draw(2000));
		on_lock(thread, RT_OP_RELEASE, 0, 2);
		for (uint32_t n = draw(8); n; n--)
			on_variable(thread, draw(3) ? RT_OP_READ : RT_OP_WRITE, draw(COUNT), 3000 + draw(50));
	}
}

static uint32_t eight(uint64_t events)
{
	(void)events;
	return WORKERS;
}

static uint32_t thirty(uint64_t events)
{
	(void)events;
	return 30;
}

static uint32_t sixty_four(uint64_t events)
{
	(void)events;
	return 64;
}

/* One thread for a hundred events. */
static uint32_t many(uint64_t events)
{
	return (uint32_t)(events / 100 + 3);
}

static const struct shape {
	const char *name;
	void (*make)(uint64_t events, uint32_t threads);
	uint32_t (*threads)(uint64_t events);
} shapes[] = {{"sections", sections, eight},     {"locks", locks, eight},
              {"section", section, eight},       {"recursion", recursion, eight},
              {"alone", alone, eight},           {"threads", short_threads, many},
              {"nested", nested, eight},         {"blocks", blocks, eight},
              {"writes", writes, sixty_four},    {"phases", phases, eight},
              {"conditions", conditions, eight}, {"ring", ring, thirty},
              {"atomics", atomics, eight},       {"interpreter", interpreter, eight}};

static void generate(const struct shape *shape, uint64_t events, const char *path)
{
	struct rt_writer_options options = {.exact = true};
	struct rt_writer_result result = {.exit_kind = RT_EXIT_STATUS};
	struct rt_error err;
	uint32_t threads = shape->threads(events);
	ordinals = calloc(threads, sizeof *ordinals);
	if (!ordinals || rt_writer_create(path, &options, &writer, &err))
		fail("no trace is made");
	for (uint32_t i = 0; i < threads; i++) {
		char name[32];
		snprintf(name, sizeof name, i ? "main.%" PRIu32 : "main", i);
		if (rt_writer_thread(writer, i, name, 0, NULL, &err))
			fail(err.message);
	}
	for (uint32_t i = 1; i < threads; i++)
		emit(0, RT_OP_FORK, i, 1);
	shape->make(events - threads, threads);
	for (uint32_t i = 1; i < threads; i++)
		emit(0, RT_OP_JOIN, i, 3);
	if (rt_writer_finish(writer, &result, &err))
		fail(err.message);
	free(ordinals);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 4 && i < sizeof shapes / sizeof *shapes; i++)
		if (!strcmp(argv[1], shapes[i].name)) {
			generate(&shapes[i], strtoull(argv[2], NULL, 10), argv[3]);
			return 0;
		}
	fprintf(stderr, "usage: gen_shape SHAPE EVENTS FILE; shapes:");
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		fprintf(stderr, " %s", shapes[i].name);
	fprintf(stderr, "\n");
	return 2;
}
