/* The candidates, given to the provers; see decide.h. */
#include "lib/analysis/decide.h"

#include "lib/anomaly/goal.h"
#include "lib/prove/jobs.h"
#include "lib/prove/urgency.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/*
 * Leaves out the longest schedules until the rest has no more steps than it may. First go those of more than half of
 * that, then of a quarter, and so on. steps: of all, then of the rest.
 */
static void bound_schedules(struct analysis *a, uint64_t *steps)
{
	for (uint64_t longest = a->limits.of[LIMIT_SCHEDULE_STEPS], most = longest; *steps > most; longest /= 2)
		for (size_t i = 0; i < a->anomalies.count; i++) {
			struct anomaly *anomaly = &a->anomalies.items[i];
			if (!anomaly->schedule || anomaly->schedule->count <= longest)
				continue;
			*steps -= anomaly->left_out = anomaly->schedule->count;
			limits_reach(&a->limits, LIMIT_SCHEDULE_STEPS, true);
			schedule_release(anomaly->schedule);
			free(anomaly->schedule);
			anomaly->schedule = NULL;
		}
}

/* What is left of a task, no prover looks at: it stays what it is, and says so. */
static void leave(struct analysis *a, const struct jobs_task *task, size_t first)
{
	for (size_t i = first; i < task->count; i++)
		if (a->anomalies.items[task->order[i]].verdict == VERDICT_PREDICTED)
			reasons_add(&a->anomalies.items[task->order[i]].reasons, REASON_BUDGET);
	a->undecided += task->count - first;
}

/* Identifies the candidates, before they are decided, and what is asked of them. */
static uint64_t digest_of(const struct analysis *a, const struct prove_options *options)
{
	XXH3_state_t *state = XXH3_createState();
	uint64_t digest = 0;
	if (!state)
		return 0;
	XXH3_64bits_reset(state);
	for (int i = 0; i < LIMITS; i++)
		XXH3_64bits_update(state, &a->limits.of[i], sizeof a->limits.of[i]);
	XXH3_64bits_update(state, &options->guess, sizeof options->guess);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		const uint64_t numbers[] = {x->kind,      x->verdict,     x->count,
		                            x->ruled_out, x->event_count, x->other_count};
		XXH3_64bits_update(state, numbers, sizeof numbers);
		XXH3_64bits_update(state, x->pattern, strlen(x->pattern));
		XXH3_64bits_update(state, x->events, x->event_count * sizeof *x->events);
		if (x->other_count)
			XXH3_64bits_update(state, x->others,
			                   (size_t)x->other_count * x->event_count * sizeof *x->others);
	}
	digest = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return digest;
}

/* Decides the part's share of a task and writes the results. */
static enum rt_status decide_share(struct analysis *a, const struct jobs_task *task, uint32_t pass, struct part *part,
                                   struct provers *provers, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	/* A pass begins with the candidates that this part has decided in the one before, so it takes them all. */
	for (size_t i = pass ? 0 : part->shard; !status && i < task->count; i += pass ? 1 : part->of) {
		struct anomaly *anomaly = &a->anomalies.items[task->order[i]];
		struct prove_counts before = *provers_counts(provers);
		status = task->decide(provers, anomaly, err);
		if (status)
			break;
		part_put(part, pass, task->order[i], anomaly, &before, provers_counts(provers));
		if (anomaly->schedule)
			schedule_release(anomaly->schedule);
	}
	return status;
}

/* What decides the anomalies, beside the options. */
struct deciding {
	const struct analysis_options *options;
	struct provers *provers;
	struct parts *parts; /* results that are taken over; NULL: none */
	struct part *fresh;  /* where results go; NULL: nowhere */
	uint64_t steps;      /* of all schedules */
};

/* Decides each anomaly of a task, here or in processes beside this one. */
static enum rt_status decide_task(struct analysis *a, const struct jobs_task *task, uint32_t pass, struct deciding *d,
                                  struct rt_error *err)
{
	const struct analysis_options *options = d->options;
	struct provers *provers = d->provers;
	/* What is known already comes without it. */
	if (!d->parts)
		provers_precede_now(provers);
	if (options->part)
		return decide_share(a, task, pass, options->part, provers, err);
	struct jobs *others = a->jobs > 1 && !d->parts && task->count > 1 ? jobs_start(provers, task, a->jobs) : NULL;
	enum rt_status status = RT_OK;
	for (size_t i = 0; !status && i < task->count; i++) {
		struct anomaly *anomaly = &a->anomalies.items[task->order[i]];
		struct prove_counts before = *provers_counts(provers);
		if (options->decided && options->decided(i, task->count, options->step_arg)) {
			leave(a, task, i);
			break;
		}
		bool taken = d->parts ? parts_take(d->parts, provers, pass, task->order[i], anomaly)
		                      : others && jobs_take(others, anomaly);
		if (!taken) {
			provers_precede_now(provers);
			status = task->decide(provers, anomaly, err);
		}
		if (!status && d->fresh)
			part_put(d->fresh, pass, task->order[i], anomaly, &before, provers_counts(provers));
		d->steps += anomaly->schedule ? anomaly->schedule->count : 0;
		/* Not each time: half of what is too much goes at once. */
		if (d->steps / 2 > a->limits.of[LIMIT_SCHEDULE_STEPS])
			bound_schedules(a, &d->steps);
	}
	bound_schedules(a, &d->steps);
	jobs_end(others);
	return status;
}

/* Proves what can be proved, the most urgent first; then settles what that left conditional. */
static enum rt_status prove_all(struct analysis *a, struct deciding *d, struct rt_error *err)
{
	const struct anomaly_list *list = &a->anomalies;
	uint32_t *order = urgency_order(a->model, &a->anomalies);
	struct jobs_task task = {list, order, list->count, provers_decide};
	if (!order)
		return rt_error_set(err, RT_EMEMORY, "no memory to prove what was found");
	enum rt_status status = decide_task(a, &task, 0, d, err);
	task = (struct jobs_task){list, order, 0, provers_settle};
	for (size_t i = 0; i < list->count; i++)
		if (list->items[order[i]].verdict == VERDICT_CONDITIONAL)
			order[task.count++] = order[i];
	if (!status)
		status = decide_task(a, &task, 1, d, err);
	free(order);
	return status;
}

enum rt_status decide_anomalies(struct analysis *a, const struct analysis_options *options, struct provers *provers,
                                bool visits, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	struct cache *cache = options->cache;
	uint64_t digest = options->part || options->parts || cache ? digest_of(a, &options->prove) : 0;
	if (cache && cache->known && !parts_are_of(cache->known, digest))
		cache->known = NULL;
	if (cache && !cache->known && cache->fresh)
		part_digest(cache->fresh, digest);
	struct deciding d = {.options = options,
	                     .provers = provers,
	                     .parts = cache && cache->known ? cache->known : options->parts,
	                     .fresh = cache && !cache->known ? cache->fresh : NULL};
	if (options->part)
		part_digest(options->part, digest);
	if (options->parts && !parts_are_of(options->parts, digest))
		return rt_error_set(err, RT_EINPUT, "the parts are of other candidates: '%s' has changed since",
		                    rt_trace_info(a->trace)->path);
	if (provers && visits)
		status = provers_visit(provers, &a->anomalies, err);
	if (provers && !status)
		status = provers_precede(provers, &a->anomalies, err);
	if (provers && !status)
		status = prove_all(a, &d, err);
	return status;
}
