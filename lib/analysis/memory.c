/* The memory that an analysis takes; see memory.h. */
#include "lib/analysis/memory.h"

#include "lib/relation/clock.h"

/* Part of what analysis_memory says that is left for what is found. */
enum { FOUND_MEMORY = 12 << 20 };

/* The limits that depend on memory. */
static const enum limit fitted[] = {LIMIT_SCHEDULE_STEPS, LIMIT_ANOMALIES, LIMIT_EVERY};
enum { FITTED = sizeof fitted / sizeof *fitted };

/*
 * What there is once the trace is loaded: the model, orders, the provers' own copies. Measured. Of each
 * synchronisation, CLOCKS orders keep a clock. Of a read that sees another thread's write READERS do, which may share
 * nothing; with up to 8 threads AN_EVENT includes it. Of an access, AN_ENTRY is for each cell but the first. Values
 * are numbered for the provers; the judge looks at those of the cells that it is asked about, here all.
 */
static uint64_t bytes_later(const struct rt_trace_info *info, const struct model_size *size)
{
	enum { AN_EVENT = 44, A_SYNC = 66, CLOCKS = 7, AN_ENTRY = 13, A_CELL = 160, A_VALUE = 16, A_VALUED_ENTRY = 18 };
	enum { READERS = 2, FEW_THREADS = 8 };
	uint64_t more = size->entries > size->events ? size->entries - size->events : 0;
	uint64_t alone = clock_bytes_alone(info->thread_count), few = clock_bytes_alone(FEW_THREADS);
	uint64_t receives = alone > few ? size->receives * READERS * (alone - few) : 0;
	uint64_t valued = size->values ? size->entries * A_VALUED_ENTRY : 0;
	return size->events * AN_EVENT + size->syncs * (A_SYNC + CLOCKS * clock_bytes(info->thread_count)) +
	       more * AN_ENTRY + size->cells * A_CELL + size->values * A_VALUE + valued + receives;
}

uint64_t analysis_memory(const struct rt_trace_info *info, const struct model_size *size)
{
	/* LOADED: what the model takes of an event beside size->bytes. */
	enum { PROGRAM = (12 << 20) + FOUND_MEMORY, LOADED = 40, A_THREAD = 3072 };
	if (size->events > UINT32_MAX)
		return UINT64_MAX; /* more than a model has */
	uint64_t loading = size->bytes + size->events * LOADED, later = bytes_later(info, size);
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
	/* Measured: a process writes to the provers' copies, and has schedules of its own. */
	enum { COPIES = 41 };
	uint64_t a_job = FOUND_MEMORY + size->events * COPIES, most = spare(info, size, memory) / 2 / a_job;
	return !memory || most >= jobs ? jobs : most > 1 ? (uint32_t)most : 1;
}

uint64_t memory_fit(struct limits *l, const struct rt_trace_info *info, const struct model_size *size, uint64_t memory,
                    uint64_t report_memory)
{
	/* Measured: a race of accesses at thousands of positions takes more than its report. */
	enum { PARTS = 4, A_STEP = 24, AN_ANOMALY = 8192, KINDS = 3, FEWEST = 8 };
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
