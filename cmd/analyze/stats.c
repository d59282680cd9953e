/* Figures of an analysis; see stats.h. */
#include "cmd/analyze/stats.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Includes the processes of --jobs, after they have ended. */
static double processor_seconds(void)
{
	struct rusage ended;
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	getrusage(RUSAGE_CHILDREN, &ended);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9 + seconds_of(ended.ru_utime) + seconds_of(ended.ru_stime);
}

void stats_step(enum analysis_step step, void *arg)
{
	struct stats *s = arg;
	double now = processor_seconds();
	if (step != ANALYSIS_LOAD)
		s->seconds[s->step] += now - s->begun;
	s->step = step;
	s->begun = now;
}

static uint64_t memory_taken(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)used.ru_maxrss * 1024;
}

/* Prints the provers' counts. */
static void print_proofs(const struct stats *s, const struct analysis *a)
{
	const struct prove_counts *proofs = &a->proofs;
	uint64_t schedules = 0;
	for (size_t i = 0; i < a->anomalies.count; i++)
		schedules += a->anomalies.items[i].schedule || a->anomalies.items[i].left_out;
	fprintf(stderr, "candidates %zu\nschedules %" PRIu64 "\n", a->anomalies.count, schedules);
	for (int i = WITNESS_RECORDED; i < WITNESS_KINDS; i++)
		if (proofs->built[i])
			fprintf(stderr, "built-%s %" PRIu64 "\nrefused-%s %" PRIu64 "\n",
			        witness_name((enum witness_kind)i), proofs->built[i],
			        witness_name((enum witness_kind)i), proofs->refused[i]);
	if (proofs->pecan_asked)
		fprintf(stderr, "pecan-asked %" PRIu64 "\npecan-seconds %.6f\n", proofs->pecan_asked,
		        (double)proofs->pecan_ns * 1e-9);
	if (proofs->known)
		fprintf(stderr, "known-results %" PRIu64 "\n", proofs->known);
	if (proofs->rejected)
		fprintf(stderr, "rejected %" PRIu64 "\n", proofs->rejected);
	if (proofs->visited)
		fprintf(stderr, "states %" PRIu64 "\n", proofs->states);
	if (a->anomalies.count)
		fprintf(stderr, "candidate-seconds %.6f\n", s->seconds[ANALYSIS_PROVE] / (double)a->anomalies.count);
	if (schedules)
		fprintf(stderr, "schedule-seconds %.6f\n", s->seconds[ANALYSIS_PROVE] / (double)schedules);
}

void stats_print(const struct stats *s, const struct report *r)
{
	static const char *const names[] = {
	    [ANALYSIS_LOAD] = "load",       [ANALYSIS_SEARCH] = "search", [ANALYSIS_ORDERS] = "orders",
	    [ANALYSIS_PREPARE] = "prepare", [ANALYSIS_PROVE] = "prove",   [ANALYSIS_DONE] = "report"};
	const struct analysis *a = r->analysis;
	struct stats ended = *s;
	stats_step(ANALYSIS_DONE, &ended);
	fprintf(stderr, "events %" PRIu64 "\nkept %" PRIu32 "\ncells %" PRIu32 "\n", rt_trace_info(a->trace)->events,
	        a->model->event_count, a->model->cell_count);
	const struct model_granularity *g = &a->model->granularity;
	if (g->objects)
		fprintf(stderr, "objects %" PRIu64 "\nshared-objects %" PRIu64 "\nrefined-objects %" PRIu64 "\n",
		        g->objects, g->shared, g->refined);
	for (int i = ANALYSIS_LOAD; i <= ANALYSIS_DONE; i++)
		fprintf(stderr, "%s-seconds %.6f\n", names[i], ended.seconds[i]);
	print_proofs(&ended, a);
	if (a->jobs > 1)
		fprintf(stderr, "jobs %" PRIu32 "\n", a->jobs);
	fprintf(stderr, "entries %" PRIu32 "\nvalues %" PRIu32 "\n", model_entries(a->model), a->model->value_count);
	if (a->model->event_count)
		fprintf(stderr, "model-bytes-an-event %.1f\n",
		        (double)model_bytes(a->model) / (double)a->model->event_count);
	fprintf(stderr, "memory-bytes %" PRIu64 "\nmemory-estimate %" PRIu64 "\n", memory_taken(),
	        analysis_memory(rt_trace_info(a->trace), &a->model->size));
}

void stats_print_windows(const struct merge *m)
{
	uint64_t events = 0;
	for (size_t i = 0; i < m->run_count; i++)
		events += m->runs[i].events;
	fprintf(stderr, "events %" PRIu64 "\nwindows %zu\nprocessor-seconds %.6f\nmemory-bytes %" PRIu64 "\n", events,
	        m->run_count, processor_seconds(), memory_taken());
}
