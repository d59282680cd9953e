/*
 * Runs that are the one at hand, reordered so that a read sees another value and all before it the same
 * (lib/explore/reorder.h). And runs that are the one at hand up to an event, before which its thread is held for as
 * long as may be, while another goes on. See lib/explore/delay.h. Most promising are those in which a read sees another
 * write than in all runs before (lib/explore/sights.h), and of these the ones in which it sees another value.
 */
#include "cmd/explore/predict.h"

#include "cmd/try/ways.h"
#include "lib/explore/reorder.h"
#include "lib/explore/sights.h"

#include <stdlib.h>

enum {
	EVENTS_MAX = 65536, /* of a trace from which such runs are made */
	DELAYS_MAX = 24,    /* that are made of one trace */
	SIGHTS_MAX = 256,   /* that are tried */
	REORDERINGS_MAX = 64
};
#define STATE_PROMISE 0.8 /* of a run in which a thread comes to a state that it was not in */
/* What is added to that where another thread comes between two things that one does, the more the closer these are. */
#define TORN_PROMISE 0.3
/* Of a run in which a read sees another value. That of such runs beside others of them: that another thread comes
 * between two things that one does counts more than changes of threads, what follows new code less than a value that
 * differs for sure. An update that sees another value is what one in a critical section sees that is not alone. */
#define VALUE_PROMISE 0.7
#define VALUE_KNOWN 10
#define VALUE_TORN 5
#define VALUE_NEW_CODE 2
#define VALUE_CHANGE 0.1
#define VALUE_LATE 0.001
#define VALUE_UPDATE 0.5
#define DECAY 0.1 /* by which each promises less than the one before: other runs are not to wait for all of them */

static enum rt_status no_memory(struct rt_error *err)
{
	return rt_error_set(err, RT_EMEMORY, "no memory to explore");
}

/* d->delays is NULL behind it if the trace has too many events. */
static enum rt_status load(struct delaying *d, struct rt_error *err)
{
	if (d->loaded)
		return RT_OK;
	d->loaded = true;
	return delays_load(d->trace, EVENTS_MAX, &d->delays, err);
}

/* The candidate of this trace that holds the same thread at the same event, for the same one. NULL: none. */
static struct candidate *find(struct delaying *d, uint64_t key)
{
	for (size_t i = d->first; i < d->p->count; i++)
		if (d->p->items[i].delay == key)
			return &d->p->items[i];
	return NULL;
}

/* *plan: NULL: no run can be made to follow it. */
static enum rt_status plan(struct delaying *d, const struct delay_run *runs, size_t count, uint32_t last,
                           struct rt_plan **plan, struct rt_error *err)
{
	struct rt_error why = {0};
	struct plan_run *planned = calloc(count, sizeof *planned);
	if (!planned)
		return no_memory(err);
	for (size_t i = 0; i < count; i++)
		planned[i] = (struct plan_run){runs[i].thread, runs[i].from, runs[i].to};
	enum rt_status status = way_by_runs(d->trace, planned, count, last, plan, &why);
	free(planned);
	return status == RT_EMEMORY ? no_memory(err) : RT_OK;
}

enum rt_status predict_delay(struct delaying *d, const struct delay *delay, double score, size_t *taken, bool *added,
                             struct rt_error *err)
{
	struct candidate c = {.open = true, .score = score - DECAY * (double)*taken, .resolve = OUTCOME_NO_ORDER};
	struct delay exact = *delay;
	struct delay_run *runs = NULL;
	size_t count;
	*added = false;
	if (!delay->held || d->made == DELAYS_MAX)
		return RT_OK;
	enum rt_status status = load(d, err);
	if (!status && d->delays)
		status = delay_runs(d->delays, &exact, &runs, &count, err);
	if (status || !runs)
		return status;
	if (exact.torn != UINT32_MAX) /* as good as if it were the first */
		c.torn = TORN_PROMISE / (1 + exact.torn / 8.0) + DECAY * (double)*taken;
	c.delay = (exact.held << 32 | runs[count - 1].thread) * 2 + exact.returns;
	struct candidate *known = find(d, c.delay);
	if (known) {
		known->score = known->score > c.score ? known->score : c.score;
		known->torn = known->torn > c.torn ? known->torn : c.torn;
	} else {
		status = plan(d, runs, count, exact.waiting, &c.plan, err);
	}
	free(runs);
	*added = c.plan || known;
	if (status || !c.plan)
		return status;
	d->made++;
	*taken += 1;
	if (predict_add(d->p, &c))
		return RT_OK;
	free(c.plan);
	return no_memory(err);
}

/* Of what a read sees, or of the state that its thread comes to by it. */
static uint64_t key_of(const struct rt_trace *trace, const struct sight *s, bool state)
{
	uint64_t key = predict_position_key(trace, s->read) * UINT64_C(0x9e3779b97f4a7c15) ^
	               (s->write ? predict_position_key(trace, s->write) : 0);
	key = state ? s->state : key;
	return key ? key : 1;
}

/* A run for each that no run has had. */
static enum rt_status take_on_sights(struct delaying *d, const struct sights *sights, bool states, double promise,
                                     struct rt_error *err)
{
	size_t taken = 0, tried = 0;
	enum rt_status status = RT_OK;
	for (size_t i = 0; !status && i < sights->count; i++) {
		const struct sight *s = &sights->items[i];
		uint64_t key = key_of(d->trace, s, states);
		bool added = s->seen;
		if (set_has(&d->p->saw, key) || (!s->seen && tried++ == SIGHTS_MAX))
			continue;
		if (!s->seen)
			status = predict_delay(d, &s->delay, promise - (s->same ? 0.4 : 0), &taken, &added, err);
		if (!status && added && !set_add(&d->p->saw, key, &added))
			status = no_memory(err);
	}
	return status;
}

/* That another thread comes between takes a change more; what takes changes without that is the rarer for it. */
static double promise_of(const struct reordering *r, bool new_code, double torn)
{
	double changes = VALUE_CHANGE * r->changes;
	return VALUE_KNOWN * r->known + VALUE_TORN * torn + VALUE_NEW_CODE * new_code +
	       (torn > 0 ? -changes : changes) - VALUE_LATE * r->rank + VALUE_UPDATE * r->updates;
}

/* A run in which a read sees another value. taken: number of such runs so far. */
static enum rt_status take_on_reordering(struct delaying *d, const struct reordering *r, bool new_code, size_t *taken,
                                         struct rt_error *err)
{
	struct candidate c = {.open = true, .resolve = OUTCOME_NO_ORDER, .delay = r->key | 1};
	bool added;
	double torn = r->torn == UINT32_MAX ? 0 : 1 / (1 + r->torn / 8.0);
	c.reordered = promise_of(r, new_code, torn);
	c.torn = TORN_PROMISE * torn;
	c.score = VALUE_PROMISE - DECAY * (double)*taken;
	enum rt_status status = plan(d, r->runs, r->count, r->held, &c.plan, err);
	if (status || !c.plan)
		return status;
	*taken += 1;
	if (set_add(&d->p->values, r->key, &added) && predict_add(d->p, &c))
		return RT_OK;
	free(c.plan);
	return no_memory(err);
}

/* Runs in which a read sees a value that it has seen in no run behind the same reads. */
static enum rt_status take_on_values(struct delaying *d, bool new_code, struct rt_error *err)
{
	struct reorderings r;
	bool added;
	size_t taken = 0;
	enum rt_status status = reorderings_of(d->delays, &r, err);
	for (size_t i = 0; !status && i < r.seen_count; i++)
		if (!set_add(&d->p->values, r.seen[i], &added))
			status = no_memory(err);
	for (size_t i = 0; !status && i < r.count && taken < REORDERINGS_MAX; i++)
		if (!set_has(&d->p->values, r.items[i].key))
			status = take_on_reordering(d, &r.items[i], new_code, &taken, err);
	reorderings_release(&r);
	return status;
}

enum rt_status predict_take_on_sights(struct delaying *d, bool new_code, struct rt_error *err)
{
	struct sights sights = {0};
	enum rt_status status = load(d, err);
	if (!status && d->delays)
		status = sights_of(d->delays, &sights, err);
	if (!status)
		status = take_on_sights(d, &sights, false, (new_code ? 1 : 0) + 0.9, err);
	if (!status)
		status = take_on_sights(d, &sights, true, STATE_PROMISE, err);
	if (!status && d->delays)
		status = take_on_values(d, new_code, err);
	sights_release(&sights);
	return status;
}
