/* The analysis of a large trace by windows; see windows.h. */
#include "lib/analysis/windows.h"

#include "lib/anomaly/goal.h"
#include "lib/base/spill.h"

#include <malloc.h>
#include <stdlib.h>

static void drop_schedule(struct anomaly *x)
{
	if (!x->schedule)
		return;
	schedule_release(x->schedule);
	free(x->schedule);
	x->schedule = NULL;
}

/*
 * True if the threads wait for one another alone, by locks whose holders the state tells. Which handlers may act, which
 * calls were under way, and whether a reader had a lock before another one came shows only in the events before.
 */
static bool is_closed_ring(const struct model *m, const struct anomaly *x)
{
	for (uint32_t i = 0; i < x->event_count; i++) {
		unsigned op = model_op(m, x->events[i]) == RT_OP_BLOCK ? model_arg(m, x->events[i]) : RT_OP_NONE;
		if (op == RT_OP_ACQUIRE_SHARED || op == RT_OP_HB_AFTER)
			return false;
	}
	return x->kind == ANOMALY_DEADLOCK;
}

void windows_cap(const struct model *m, const struct window *window, struct anomaly_list *list)
{
	bool exact = rt_trace_info(m->trace)->exact;
	for (size_t i = 0; i < list->count; i++) {
		struct anomaly *x = &list->items[i];
		bool waits = anomaly_is_of_waits(x);
		bool certain = x->kind == ANOMALY_RACE || waits;
		/* The order of a free-running recording is certain only where synchronisation tells it: writes in other
		 * windows may be those that a read saw. */
		bool shown = x->verdict == VERDICT_OBSERVED && certain;
		bool open = waits && !window->whole_begins && !is_closed_ring(m, x);
		if (window->doubtful || open || (!exact && !shown))
			anomaly_cap(x, REASON_WINDOWED, NULL);
		if (x->verdict < VERDICT_PREDICTED) {
			x->verdict = VERDICT_PREDICTED;
			x->need_count = x->need_total = 0;
			drop_schedule(x); /* in it reads see other writes than they saw */
		}
		if (x->verdict == VERDICT_PREDICTED)
			reasons_add(&x->reasons, REASON_WINDOWED);
		/* It may begin in another state than the window did, or depend on values that race in another window.
		 */
		if ((window->doubtful && !window->whole_begins) || (!exact && x->substitutes))
			drop_schedule(x);
	}
}

/* A window's share of what all proofs of the trace may take. */
static struct limits share_limits(const struct limits *asked, uint64_t events, uint64_t all)
{
	struct limits l = limits_complete(asked);
	if (events >= all)
		return l;
	double share = (double)events / (double)all;
	for (enum limit i = 0; i < LIMITS; i++)
		if (limit_infos[i].scales || i == LIMIT_SEARCH_EVENTS_TOTAL)
			l.of[i] = (uint64_t)((double)l.of[i] * share) + 1;
	return l;
}

/* What is known of a window's need of memory: a model_options.admit of the analysis, behind the caller's own. */
struct weighing {
	const struct model_options *model; /* the caller's */
	const struct rt_trace *part;
	uint64_t need, base; /* bytes: the most that was asked for; for no events */
	uint64_t reached;    /* number of the event at which it was refused; 0: it was not, or behind the first pass */
};

static enum rt_status weigh(void *arg, const struct rt_trace_info *info, const struct model_size *size,
                            struct rt_error *err)
{
	struct weighing *w = arg;
	uint64_t need = analysis_memory(info, size);
	w->need = need > w->need ? need : w->need;
	w->base = analysis_memory(info, &(struct model_size){0});
	enum rt_status status = w->model->admit ? w->model->admit(w->model->admit_arg, info, size, err) : RT_OK;
	/* The first pass counts accesses at its end. */
	bool counting = size->events == size->syncs && !size->entries;
	w->reached = status == RT_ELARGE && counting ? window_reached(w->part) : 0;
	return status;
}

/* A window of the trace, like windows_one. */
static enum rt_status analyze_window(const struct window_survey *survey, uint64_t first, uint64_t last,
                                     const struct analysis_options *options, struct weighing *weighing,
                                     struct window *window, struct analysis **out, struct rt_error *err)
{
	struct rt_trace *part;
	struct analysis_options own = *options;
	enum rt_status status = window_open(survey, first, last, &part, window, err);
	if (status)
		return status;
	*weighing = (struct weighing){.model = &options->model, .part = part};
	own.model.admit = weigh;
	own.model.admit_arg = weighing;
	own.window = window;
	own.limits = share_limits(&options->limits, last - first + 1, survey->events);
	own.memory_model = options->set_memory_model ? options->memory_model : rt_trace_info(survey->whole)->model;
	own.set_memory_model = true;
	status = analysis_run(part, &own, out, err);
	if (!status) {
		struct model *m = (*out)->model;
		for (uint32_t i = 0; i < m->event_count; i++)
			m->events[i].number = (uint32_t)window_number(window, m->events[i].number);
		(*out)->trace = m->trace = survey->whole;
		m->recorded = first - 1;
		m->ordinals_before = window_ordinals_before(survey, m->thread_count);
		if (!m->ordinals_before) {
			analysis_free(*out);
			*out = NULL;
			status = rt_error_set(err, RT_EMEMORY, "no memory for a window of the trace");
		}
	}
	rt_trace_free(part);
	return status;
}

enum rt_status windows_one(const struct window_survey *survey, uint64_t first, uint64_t last,
                           const struct analysis_options *options, struct window *window, struct analysis **out,
                           struct rt_error *err)
{
	struct weighing weighing;
	return analyze_window(survey, first, last, options, &weighing, window, out, err);
}

/* The number of events that are likely to need as much as is allowed; a little less, as events differ. */
static uint64_t in_proportion(uint64_t size, const struct weighing *w, uint64_t allowed)
{
	double more = allowed > w->base ? (double)(allowed - w->base) : 0;
	return w->need > w->base ? (uint64_t)((double)size * more / (double)(w->need - w->base) * 0.97) : size;
}

/* Rounded down, so that what else the process has in memory, which differs, hardly changes the windows. */
static uint64_t coarse(uint64_t size)
{
	enum { STEPS = 16 };
	uint64_t unit = 1;
	while (size / unit >= STEPS)
		unit *= 2;
	return size / unit * unit;
}

/* The size of a window in place of one that was refused. It is not much smaller at once, as events differ. */
static uint64_t smaller(uint64_t size, uint64_t first, const struct weighing *w, uint64_t allowed)
{
	uint64_t least = (size + 3) / 4, most = size - size / 16 - 1;
	if (!allowed)
		return (size + 1) / 2;
	uint64_t next = w->reached > first ? (w->reached - first) / 16 * 15 : in_proportion(size, w, allowed);
	next = next > least || w->reached > first ? next : least;
	return coarse(next < most ? next : most);
}

/* The size of the window after one of that size, which was analyzed. */
static uint64_t next_size(uint64_t size, const struct weighing *w, uint64_t allowed)
{
	enum { GROW = 4 };
	uint64_t next = allowed ? in_proportion(size, w, allowed) : size;
	return coarse(next < GROW * size ? next : GROW * size);
}

enum rt_status windows_analyze(struct rt_trace *trace, const struct analysis_options *options, windows_take *take,
                               void *arg, struct rt_error *err)
{
	enum { SMALLEST = 4096, LARGE = 1 << 18 };
	struct window_survey survey;
	/* What a window's large arrays took is free for the next one, whatever is kept beside them. */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	enum rt_status status = window_survey(trace, &survey, err);
	uint64_t size = survey.events, next, of;
	bool going = !status;
	for (uint64_t first = 1; going && !status && first <= survey.events; first = next) {
		struct analysis *a;
		struct window window;
		struct weighing weighing;
		uint64_t left = survey.events - first + 1;
		of = size && size < left ? size : left;
		next = first + of;
		status = analyze_window(&survey, first, next - 1, options, &weighing, &window, &a, err);
		if (status == RT_ELARGE && of > SMALLEST) {
			size = smaller(of, first, &weighing, options->memory);
			size = size > SMALLEST ? size : SMALLEST;
			next = first;
			status = RT_OK;
			continue;
		}
		if (!status) {
			going = !a->undecided;
			status = take(a, &window, arg, err);
			size = next_size(of, &weighing, options->memory);
			size = size > SMALLEST ? size : SMALLEST;
		}
		malloc_trim(0);
	}
	window_survey_release(&survey);
	return status;
}

void windows_set_aside(struct analysis *a)
{
	struct model *m = a->model;
	for (int i = 0; orders[i].name; i++) {
		orders[i].free(a->order_results[i]);
		a->order_results[i] = NULL;
	}
	facts_release(&a->facts);
	a->facts = (struct facts){.m = m};
	for (size_t i = 0; i < a->anomalies.count; i++) {
		struct anomaly *x = &a->anomalies.items[i];
		free(x->others);
		x->others = NULL;
		x->other_count = 0;
	}
	spill(m->events, (size_t)m->event_count * sizeof *m->events);
	spill(m->segments, (size_t)m->segment_count * sizeof *m->segments);
	spill(m->cells, (size_t)m->cell_count * sizeof *m->cells);
	spill(m->cell_events, (size_t)model_entries(m) * sizeof *m->cell_events);
	spill(m->regions, (size_t)m->region_count * sizeof *m->regions);
	spill(m->thread_events, (size_t)m->event_count * sizeof *m->thread_events);
	spill(m->sync, (size_t)m->sync_count * sizeof *m->sync);
	spill(m->turns, (size_t)m->turn_count * sizeof *m->turns);
	spill(m->args, (size_t)m->arg_count * sizeof *m->args);
	spill(m->values.bits, (size_t)m->value_count * sizeof *m->values.bits);
}
