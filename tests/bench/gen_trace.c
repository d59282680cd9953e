/*
 * Makes large valid traces for benchmarks: gen_trace [-f std|trace] [-n EVENTS] [-t THREADS] [-l LOCKS] [-v VARIABLES]
 * [-p PERCENT] [-s SEED] FILE. Each thread runs hot loops: over memory of its own, over shared variables under the lock
 * that guards them, and (PERCENT of the loops) over a shared variable without it.
 */
#include "tests/bench/gen.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct options {
	bool std;
	uint64_t events, seed;
	uint32_t threads, locks, variables, percent;
};

struct thread {
	uint32_t left;     /* accesses left in the loop at hand */
	uint32_t lock;     /* held, or UINT32_MAX */
	uint32_t variable; /* first of the loop's */
	uint32_t body;     /* which loop: its source position */
	bool own;          /* over memory of its own */
};

struct output {
	bool std;
	FILE *text;
	struct rt_writer *writer;
	uint64_t written, *ordinals;
};

enum { OWN = 0x40000000, LOOP = 32, BODIES = 64 };

static void emit(struct output *o, uint32_t thread, unsigned op, uint64_t addr, uint32_t position)
{
	o->written++;
	if (o->std) {
		static const char *const names[RT_OP_COUNT] = {
		    [RT_OP_READ] = "r",      [RT_OP_WRITE] = "w",   [RT_OP_ACQUIRE] = "acq",
		    [RT_OP_RELEASE] = "rel", [RT_OP_FORK] = "fork", [RT_OP_JOIN] = "join"};
		const char *prefix = op == RT_OP_FORK || op == RT_OP_JOIN    ? "T"
		                     : op == RT_OP_READ || op == RT_OP_WRITE ? "V"
		                                                             : "L";
		fprintf(o->text, "T%" PRIu32 "|%s(%s%" PRIu64 ")|%" PRIu32 "\n", thread, names[op], prefix, addr,
		        position);
		return;
	}
	gen_event(o->writer, o->written, ++o->ordinals[thread], thread, op, addr, position);
}

static void start_loop(struct thread *t, const struct options *g, uint64_t *owners, struct output *o, uint32_t index,
                       uint64_t *random)
{
	t->left = 1 + (uint32_t)(gen_next(random) % LOOP);
	t->variable = (uint32_t)(gen_next(random) % g->variables);
	t->body = t->variable % BODIES; /* code and data go together */
	t->own = gen_next(random) % 100 < 60;
	t->lock = UINT32_MAX;
	uint32_t lock = t->variable % g->locks;
	if (t->own || gen_next(random) % 100 < g->percent)
		return;
	if (owners[lock]) {
		t->own = true; /* it would block: do something else */
		return;
	}
	owners[lock] = 1;
	t->lock = lock;
	emit(o, index, RT_OP_ACQUIRE, o->std ? lock : LOCKS + (uint64_t)lock * 64, t->body * 16);
}

static void step(struct thread *t, const struct options *g, uint64_t *owners, struct output *o, uint32_t index,
                 uint64_t *random)
{
	if (!t->left) {
		if (t->lock != UINT32_MAX) {
			emit(o, index, RT_OP_RELEASE, o->std ? t->lock : LOCKS + (uint64_t)t->lock * 64,
			     t->body * 16 + 1);
			owners[t->lock] = 0;
		}
		start_loop(t, g, owners, o, index, random);
	}
	t->left--;
	uint32_t position = t->body * 16 + 2 + t->left % 8;
	unsigned op = position % 3 ? RT_OP_READ : RT_OP_WRITE;
	uint64_t variable = t->own                  ? t->left % 16
	                    : t->lock == UINT32_MAX ? t->variable
	                                            : t->variable / g->locks * g->locks + t->lock;
	if (t->own && o->std)
		variable += (uint64_t)g->variables * 2 + (uint64_t)index * 16;
	emit(o, index, op, o->std ? variable : (t->own ? OWN + ((uint64_t)index << 16) : VARIABLES) + variable * 8,
	     position);
}

static void generate(const struct options *g, struct output *o)
{
	struct thread *threads = calloc(g->threads, sizeof *threads);
	uint64_t *owners = calloc(g->locks, sizeof *owners), random = g->seed * 2 + 1;
	if (!threads || !owners)
		exit(1);
	for (uint32_t i = 0; i < g->threads; i++)
		threads[i].lock = UINT32_MAX;
	for (uint32_t i = 1; i < g->threads; i++)
		emit(o, 0, RT_OP_FORK, i, 1);
	while (o->written + 2 * g->threads < g->events) {
		uint32_t index = (uint32_t)(gen_next(&random) % g->threads);
		for (uint64_t burst = gen_next(&random) % 64; burst; burst--)
			step(&threads[index], g, owners, o, index, &random);
	}
	for (uint32_t i = 0; i < g->threads; i++)
		if (threads[i].lock != UINT32_MAX)
			emit(o, i, RT_OP_RELEASE, o->std ? threads[i].lock : LOCKS + (uint64_t)threads[i].lock * 64, 2);
	for (uint32_t i = 1; i < g->threads; i++)
		emit(o, 0, RT_OP_JOIN, i, 3);
	free(threads);
	free(owners);
}

static struct rt_writer *open_writer(const struct options *g, const char *path)
{
	struct rt_writer_options options = {.exact = true};
	struct rt_writer *w = NULL;
	struct rt_error err;
	enum rt_status status = rt_writer_create(path, &options, &w, &err);
	for (uint32_t i = 0; !status && i < g->threads; i++) {
		char name[32];
		snprintf(name, sizeof name, i ? "main.%" PRIu32 : "main", i);
		status = rt_writer_thread(w, i, name, 0, NULL, &err);
	}
	if (status) {
		fprintf(stderr, "gen_trace: %s\n", err.message);
		exit(1);
	}
	return w;
}

int main(int argc, char **argv)
{
	struct options g = {.events = 1000000, .seed = 1, .threads = 4, .locks = 16, .variables = 256, .percent = 2};
	for (int c; (c = getopt(argc, argv, "f:n:t:l:v:p:s:")) != -1;) {
		uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;
		switch (c) {
		case 'f':
			g.std = !strcmp(optarg, "std");
			break;
		case 'n':
			g.events = n;
			break;
		case 't':
			g.threads = (uint32_t)n;
			break;
		case 'l':
			g.locks = (uint32_t)n;
			break;
		case 'v':
			g.variables = (uint32_t)n;
			break;
		case 'p':
			g.percent = (uint32_t)n;
			break;
		case 's':
			g.seed = n;
			break;
		default:
			g.threads = 0; /* what it takes is told below */
		}
	}
	if (optind + 1 != argc || !g.threads || !g.locks || !g.variables) {
		fprintf(stderr, "usage: gen_trace [-f std|trace] [-n EVENTS] [-t THREADS] [-l LOCKS] [-v VARIABLES] "
		                "[-p PERCENT] [-s SEED] FILE\n");
		return 2;
	}
	struct output o = {.std = g.std, .ordinals = calloc(g.threads, sizeof *o.ordinals)};
	struct rt_error err;
	struct rt_writer_result result = {.exit_kind = RT_EXIT_STATUS};
	if (g.std)
		o.text = fopen(argv[optind], "w");
	else
		o.writer = open_writer(&g, argv[optind]);
	if (!o.ordinals || (g.std && !o.text))
		return 1;
	generate(&g, &o);
	free(o.ordinals);
	if (g.std ? fclose(o.text) != 0 : rt_writer_finish(o.writer, &result, &err) != RT_OK)
		return 1;
	return 0;
}
