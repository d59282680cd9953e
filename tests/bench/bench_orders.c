/*
 * Figures of the orders: processor seconds to load each trace and to compute each order over it, and events per second
 * of both together ("from the file") and of the order alone. Orders answer lazily: all candidates for races are asked
 * about as well, and the time of it counts.
 *
 * Usage: bench_orders TRACE...
 */
#include "lib/order/order.h"
#include "lib/relation/por.h"
#include "lib/search/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const struct rt_error *err)
{
	fprintf(stderr, "bench_orders: %s\n", err->message);
	exit(1);
}

/* Candidates for races, with what they are found by. */
struct candidates {
	struct order_result *results[32]; /* by orders[] index */
	struct anomaly_list list;
};

static void compute(struct facts *f, int order, struct order_result **out)
{
	struct rt_error err = {0};
	if (orders[order].compute(f, out, &err))
		die(&err);
}

static double search(struct facts *f, struct candidates *c)
{
	struct rt_error err = {0};
	int hybrid = order_find("hybrid"), hb = order_find("hb"), shb = order_find("shb");
	compute(f, hybrid, &c->results[hybrid]);
	compute(f, hb, &c->results[hb]);
	compute(f, shb, &c->results[shb]);
	struct limits limits = limits_complete(&(struct limits){.hit = 0});
	struct search_lazy lazy = {.order_results = c->results, .limits = &limits};
	struct search_context context = {
	    .m = f->m, .facts = f, .por = facts_por(f), .lazy = &lazy, .hb = hb, .shb = shb};
	double start = now();
	if (race_search(&context, &c->list, &err))
		die(&err);
	return now() - start;
}

/* How many candidates the order leaves unordered. */
static size_t ask(int order, const struct order_result *result, const struct anomaly_list *list)
{
	size_t unordered = 0;
	for (size_t i = 0; i < list->count; i++) {
		uint32_t e1 = list->items[i].events[0], e2 = list->items[i].events[1];
		unordered += orders[order].unordered(result, e1 < e2 ? e1 : e2, e1 < e2 ? e2 : e1);
	}
	return unordered;
}

static void bench(const char *path)
{
	struct rt_error err = {0};
	struct rt_trace *trace;
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct model *m;
	double start = now();
	if (rt_trace_open(path, &trace, &err) || model_load(trace, &options, &m, &err))
		die(&err);
	double load = now() - start, events = (double)rt_trace_info(trace)->events / 1e6;
	printf("%s: %.2f M events, %" PRIu32 " kept, %" PRIu32 " threads; loaded in %.3f s: %.1f M events/s\n", path,
	       events, m->event_count, m->thread_count, load, events / load);
	struct candidates c = {0};
	struct facts facts = {.m = m};
	printf("  %-8s %9.3f s\n", "search", search(&facts, &c));
	for (int i = 0; orders[i].name; i++) {
		struct order_result *result;
		struct facts own = {.m = m}; /* alone, an order computes what it needs */
		start = now();
		compute(&own, i, &result);
		size_t unordered = ask(i, result, &c.list);
		double seconds = now() - start;
		printf("  %-8s %9.3f s  %8.1f M events/s alone  %8.1f from the file  %zu of %zu unordered\n",
		       orders[i].name, seconds, events / seconds, events / (load + seconds), unordered, c.list.count);
		orders[i].free(result);
		facts_release(&own);
	}
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("  peak memory so far %ld MiB\n", usage.ru_maxrss / 1024);
	for (int i = 0; orders[i].name; i++)
		orders[i].free(c.results[i]);
	anomaly_list_release(&c.list);
	facts_release(&facts);
	model_free(m);
	rt_trace_free(trace);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: bench_orders TRACE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		bench(argv[i]);
	return 0;
}
