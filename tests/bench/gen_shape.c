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

static uint32_t eight(uint64_t events)
{
	(void)events;
	return WORKERS;
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
} shapes[] = {{"sections", sections, eight},   {"locks", locks, eight}, {"section", section, eight},
              {"recursion", recursion, eight}, {"alone", alone, eight}, {"threads", short_threads, many}};

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
