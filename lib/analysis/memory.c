/* The memory that an analysis takes; see memory.h. */
#include "lib/analysis/memory.h"

/* Part of what analysis_memory says that is left for what is found. */
enum { FOUND_MEMORY = 12 << 20 };

/* The limits that depend on memory. */
static const enum limit fitted[] = {LIMIT_SCHEDULE_STEPS, LIMIT_ANOMALIES, LIMIT_EVERY};
enum { FITTED = sizeof fitted / sizeof *fitted };

/* What an analysis takes for each event once the trace is loaded. */
static uint64_t bytes_later(const struct rt_trace_info *info)
{
	enum { AN_EVENT = 72, AN_EVENT_OF_MANY = 24, ONE_NODE = 16 };
	return AN_EVENT + (info->thread_count > ONE_NODE ? AN_EVENT_OF_MANY : 0);
}

uint64_t analysis_memory(const struct rt_trace_info *info, const struct model_size *size)
{
	/* Measured, an event: what the model takes beside the shadow memory; all that is there later (orders, the
	 * provers' own copies); clocks of more threads than one node holds. */
	enum { PROGRAM = (12 << 20) + FOUND_MEMORY, LOADED = 40, A_THREAD = 3072 };
	uint64_t an_event = bytes_later(info);
	if (size->events > UINT64_MAX / 4 / an_event)
		return UINT64_MAX;
	uint64_t loading = size->bytes + size->events * LOADED, later = size->events * an_event;
	return PROGRAM + (loading > later ? loading : later) + (uint64_t)info->thread_count * A_THREAD;
}

/* Memory beside what the analysis needs, for what is found. */
static uint64_t spare(const struct rt_trace_info *info, const struct model_size *size, uint64_t memory)
{
	uint64_t need = analysis_memory(info, size);
	return FOUND_MEMORY + (memory > need ? memory - need : 0);
}

uint32_t memory_jobs(const struct rt_trace_info *info, const struct model_size *size, uint64_t memory, uint32_t jobs)
{
	/* Measured: a process writes to all that is there later but the model, and has schedules of its own. */
	enum { MODEL = 31 };
	uint64_t a_job = FOUND_MEMORY + size->events * (bytes_later(info) - MODEL),
	         most = spare(info, size, memory) / 2 / a_job;
	return !memory || most >= jobs ? jobs : most > 1 ? (uint32_t)most : 1;
}

uint64_t memory_fit(struct limits *l, const struct rt_trace_info *info, const struct model_size *size, uint64_t memory,
                    uint64_t report_memory)
{
	enum { PARTS = 4, A_STEP = 24, AN_ANOMALY = 2048, KINDS = 3, FEWEST = 8 };
	uint64_t part = spare(info, size, memory) / PARTS, anomalies = 2 * part;
	if (report_memory && report_memory < anomalies)
		anomalies = report_memory;
	anomalies = anomalies / AN_ANOMALY / KINDS;
	anomalies = anomalies > FEWEST ? anomalies : FEWEST;
	if (!memory)
		return 0;
	for (int i = 0; i < FITTED; i++) {
		uint64_t most = fitted[i] == LIMIT_SCHEDULE_STEPS ? part / A_STEP : anomalies;
		if (l->of[fitted[i]] > most)
			l->of[fitted[i]] = most;
	}
	return part;
}

bool memory_sufficed(struct limits *l, const struct limits *of_all)
{
	bool sufficed = true;
	for (int i = 0; i < FITTED; i++) {
		sufficed &= l->of[fitted[i]] == of_all->of[fitted[i]] || !(l->hit >> fitted[i] & 1);
		l->of[fitted[i]] = of_all->of[fitted[i]];
	}
	return sufficed;
}
