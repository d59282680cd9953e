/*
 * predict: what the analysis of one run finds is what the next ones do. A run that takes the schedule of a race, or in
 * which reads see other writes, may come to code that no run before came to; it is analyzed in turn. So may a run in
 * which two threads take turns at a lock or an atomic variable the other way round than in all runs before, or one in
 * which a thread's turn comes between two of another.
 *
 * Some runs are for many at once. Threads are held at the places of all races, as RaceFuzzer does at those of one: each
 * meeting goes either way, where a schedule has one meeting of one pair. The same for atomicity violations, ASVs and
 * deadlocks: first, if they are many. And a run for all orders of turns that no run had and in which a thread may see
 * something else (orders.c).
 *
 * And a run that is one before up to an event, from where another thread comes first; or that is one before reordered,
 * so that a read sees another value (delays.c). The most promising of these have another thread come between two things
 * that one does: no run has that in which the threads come one after the other, and a run by chance seldom has it at
 * the right place. So the second run is such a one, and the third if there are no anomalies to be had at once.
 *
 * The most promising run is first: of what a run with new code showed, then by verdict and rank. If there is none left,
 * runs are made by several strategies, until that brings nothing new several times.
 */
#include "cmd/explore/predict.h"

#include "cmd/try/ways.h"
#include "lib/base/vec.h"
#include "lib/report/digest.h"
#include "lib/trace/modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	QUIET = 4,        /* random runs without anything new, after which it is enough */
	PLACES_MAX = 256, /* at which one run holds threads */
	MANY = 5          /* anomalies, and places of them, that one run is for rather than a run for each */
};

/* promise: less than a schedule that is proved, more than one that is not; but of many anomalies, more than any. */
#define MANY_PROMISE 0.3
static const struct {
	const char *strategy, *pattern;
	double promise;
} sweeps[SWEEPS] = {[SWEEP_RACES] = {"racefuzzer", "--pattern=race", 0.75},
                    [SWEEP_SEQUENCES] = {"racefuzzer", "--pattern=race", 0.745},
                    [SWEEP_DEADLOCKS] = {"racefuzzer", "--pattern=deadlock", 0.748},
                    [SWEEP_TURNS] = {"coverage", NULL, 0.74},
                    [SWEEP_AGAIN] = {"coverage", NULL, 0.56}};

static struct predict *predict_of(struct exploring *x)
{
	if (!x->predict)
		x->predict = calloc(1, sizeof *x->predict);
	return x->predict;
}

static void places_release(struct places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->items[i]);
	set_release(&places->keys);
	free(places->items);
}

void predict_release(struct exploring *x)
{
	struct predict *p = x->predict;
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i].plan);
	if (p->has_outcome)
		replay_run_release(&p->outcome);
	set_release(&p->positions);
	set_release(&p->had);
	set_release(&p->tried);
	set_release(&p->saw);
	set_release(&p->values);
	set_release(&p->open);
	free(p->orders);
	for (int i = 0; i < SWEEPS; i++)
		places_release(&p->at[i]);
	free(p->items);
	free(p->known);
	free(p);
}

/* A run that holds threads at the places of a sweep. False without memory. */
static bool order_sweep(struct predict *p, enum sweep sweep, struct run_order *order)
{
	const struct places *places = &p->at[sweep];
	char option[320];
	order->strategy = sweeps[sweep].strategy;
	if (!sweeps[sweep].pattern)
		return predict_order_turns(p, order);
	if (!run_order_add(order, sweeps[sweep].pattern))
		return false;
	for (size_t i = 0; i < places->count; i++) {
		snprintf(option, sizeof option, "--at=%s", places->items[i]);
		if (!run_order_add(order, option))
			return false;
	}
	return true;
}

/* A run of a candidate. False without memory. */
static bool order_run(struct exploring *x, struct candidate *c, struct run_order *order)
{
	char option[320];
	order->plan = c->plan;
	order->resolve = c->resolve;
	order->seed = x->o.seed + (x->started - x->first);
	c->plan = NULL;
	c->open = false;
	if (c->sweep != SWEEP_NONE)
		return order_sweep(x->predict, c->sweep, order);
	if (!c->at[0][0])
		return true;
	order->strategy = "racefuzzer";
	if (!run_order_add(order, "--pattern=sequence"))
		return false;
	for (int i = 0; i < 3 && c->at[i][0]; i++) {
		snprintf(option, sizeof option, "--at=%d/0:%s", i % 2, c->at[i]);
		if (!run_order_add(order, option))
			return false;
	}
	return true;
}

/* There is no candidate left: runs that differ as much as may be. False without memory. */
static bool order_any(struct predict *p, struct run_order *order)
{
	static const char *const by_turn[QUIET] = {"coverage", "racefuzzer", "random", "pos"};
	const char *name = by_turn[p->quiet];
	bool turns = !strcmp(name, "coverage"), races = !strcmp(name, "racefuzzer");
	if ((turns && p->positions.count) || (races && p->at[SWEEP_RACES].count))
		return order_sweep(p, turns ? SWEEP_TURNS : SWEEP_RACES, order);
	order->strategy = turns || races || !p->positions.count ? "random" : name;
	return true;
}

/* The most promising one, of those with a delay or of the others; SIZE_MAX: there is none. */
static size_t most_promising(const struct predict *p, bool delayed)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].open && (p->items[i].delay != 0) == delayed &&
		    (best == SIZE_MAX || p->items[i].score > p->items[best].score))
			best = i;
	return best;
}

/*
 * True if a run for anomalies at once, or for one that is proved, is still to be made. many: of the former only those
 * for many sequences or deadlocks.
 */
static bool any_sure(const struct predict *p, bool many)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct candidate *c = &p->items[i];
		bool sweep = sweeps[c->sweep].pattern != NULL;
		if (many)
			sweep &= c->sweep != SWEEP_RACES && p->at[c->sweep].count >= MANY;
		if (c->open && (c->proved || sweep))
			return true;
	}
	return false;
}

/* The most promising one with a delay, if another thread comes between two things that one does counts more. */
static size_t most_torn(const struct predict *p)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < p->count; i++) {
		const struct candidate *c = &p->items[i], *b = best == SIZE_MAX ? NULL : &p->items[best];
		if (c->open && c->delay && (!b || c->score + c->torn > b->score + b->torn))
			best = i;
	}
	return best;
}

/* The most promising one in which a read sees another value; SIZE_MAX: there is none. */
static size_t most_reordered(const struct predict *p)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].open && p->items[i].reordered > 0 &&
		    (best == SIZE_MAX || p->items[i].reordered > p->items[best].reordered))
			best = i;
	return best;
}

/*
 * The candidate for the next run, behind that number of runs. The second run and the third are ones in which a
 * read sees another value, if there is nothing proved, and there are no anomalies to be had at once. If not, the second
 * is one with a delay, if there is nothing proved, nor are there many sequences or deadlocks. So is the third, if that
 * has another thread come between two things, and there are none of which one run has many. The fourth is if none was,
 * and from the fifth on each other one.
 */
static size_t next_candidate(struct predict *p, uint32_t before)
{
	bool delayed = before > 3 ? before % 2 == 0 : before == 3 && !p->delayed;
	bool early = (before == 1 || before == 2) && !any_sure(p, before == 1);
	size_t best = early && !any_sure(p, false) ? most_reordered(p) : SIZE_MAX;
	bool reordered = best != SIZE_MAX;
	if (early && !reordered)
		best = most_torn(p);
	if (before == 2 && !reordered && best != SIZE_MAX && p->items[best].torn == 0)
		best = SIZE_MAX;
	best = best == SIZE_MAX ? most_promising(p, delayed) : best;
	best = best == SIZE_MAX ? most_promising(p, !delayed) : best;
	p->delayed |= best != SIZE_MAX && p->items[best].delay != 0;
	return best;
}

bool predict_next(struct exploring *x, struct run_order *order)
{
	struct predict *p = predict_of(x);
	size_t best = SIZE_MAX;
	if (p && !x->native)
		best = next_candidate(p, x->started - x->first);
	order->candidate = best;
	if (best != SIZE_MAX)
		return order_run(x, &p->items[best], order);
	if (!p || p->quiet >= QUIET)
		return false;
	x->next_seed++;
	return x->native || order_any(p, order);
}

/* ---- What is new ---- */

static struct known *known_of(struct predict *p, const char *fingerprint)
{
	for (size_t i = 0; i < p->known_count; i++)
		if (!strcmp(p->known[i].fingerprint, fingerprint))
			return &p->known[i];
	if (!vec_reserve(&p->known, &p->known_room, (uint64_t)p->known_count + 1, sizeof *p->known))
		return NULL;
	struct known *k = &p->known[p->known_count++];
	*k = (struct known){0};
	memcpy(k->fingerprint, fingerprint, sizeof k->fingerprint);
	return k;
}

uint64_t predict_position_key(const struct rt_trace *trace, uint64_t pc)
{
	const struct rt_module *module = module_at(trace, pc);
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	if (module)
		digest_text(&state, module->path);
	digest_number(&state, module ? pc - module->start : pc);
	uint64_t key = XXH3_64bits_digest(&state);
	return key ? key : 1;
}

/* Number of positions that no run had before. */
static bool add_positions(struct predict *p, const struct analysis *a, size_t *fresh)
{
	*fresh = 0;
	for (uint32_t i = 0; i < a->model->site_count; i++) {
		bool added;
		if (!set_add(&p->positions, predict_position_key(a->trace, a->model->sites[i].pc), &added))
			return false;
		*fresh += added;
	}
	return true;
}

/* ---- Candidates ---- */

/* What a schedule promises: what is proved can be done, and reverses what the run saw; what was observed just happened.
 */
static double score_of(const struct report_entry *e, bool new_code, uint32_t attempt)
{
	static const double by_verdict[VERDICTS] = {
	    [VERDICT_CONDITIONAL] = 0.6, [VERDICT_PREDICTED] = 0.7, [VERDICT_PROVED] = 0.8, [VERDICT_OBSERVED] = 0.3};
	return (new_code ? 1 : 0) + by_verdict[e->anomaly->verdict] + 0.2 * e->rank.value - 0.5 * (attempt - 1);
}

bool predict_add(struct predict *p, const struct candidate *c)
{
	if (!vec_reserve(&p->items, &p->room, (uint64_t)p->count + 1, sizeof *p->items))
		return false;
	p->items[p->count++] = *c;
	return true;
}

/* Takes on the schedule of an anomaly, or a search for it. *added: there is one. */
static enum rt_status take_on(struct predict *p, const struct report *r, const struct report_entry *e, bool new_code,
                              bool *added, struct rt_error *err)
{
	const struct anomaly *a = e->anomaly;
	struct candidate c = {.way = a->schedule ? OUTCOME_BY_SCHEDULE : OUTCOME_BY_SEARCH};
	struct rt_error why = {0};
	struct known *k = known_of(p, e->fingerprint);
	*added = false;
	if (!k)
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	if (k->confirmed || k->planned || k->attempts >= PREDICT_ATTEMPTS || anomaly_may_be_atomic(a) ||
	    (anomaly_is_of_waits(a) && anomaly_is_stuck(r->analysis->model, a)))
		return RT_OK;
	if (!a->schedule && (a->verdict >= VERDICT_PROVED || !way_can_search(r, a)))
		return RT_OK;
	enum rt_status status =
	    a->schedule ? way_by_schedule(r, a, NULL, &c.plan, &why) : way_by_search(r, a, NULL, &c.plan, &why);
	if (status == RT_EMEMORY)
		return rt_error_set(err, status, "%s", why.message);
	if (status) { /* it cannot be followed */
		k->attempts = PREDICT_ATTEMPTS;
		return RT_OK;
	}
	c.open = true;
	memcpy(c.fingerprint, e->fingerprint, sizeof c.fingerprint);
	c.resolve = a->kind == ANOMALY_RACE ? OUTCOME_FIRST : OUTCOME_NO_ORDER;
	c.proved = a->schedule && a->verdict == VERDICT_PROVED;
	c.score = score_of(e, new_code, ++k->attempts);
	k->planned = true;
	*added = true;
	return predict_add(p, &c) ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to explore");
}

/* The most urgent entries are first in the report: of each kind in turn, so that no kind drowns another. */
static enum rt_status take_on_all(struct predict *p, const struct report *r, bool new_code, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	size_t taken[ANOMALY_KINDS] = {0};
	for (size_t i = 0; !status && i < r->count; i++) {
		enum anomaly_kind kind = r->entries[i].anomaly->kind;
		bool added;
		if (taken[kind] >= PREDICT_TAKEN)
			continue;
		status = take_on(p, r, &r->entries[i], new_code, &added, err);
		taken[kind] += added;
		p->news |= added;
	}
	return status;
}

bool predict_put_position(const struct rt_trace *trace, uint64_t pc, char *to, size_t size)
{
	const struct rt_module *module = module_at(trace, pc);
	if (module)
		snprintf(to, size, "%.200s+0x%" PRIx64, module_name(module->path), pc - module->start);
	return module != NULL;
}

/* Adds the position, if it is in a module and there is room. False without memory. */
static bool add_place(struct places *places, const struct rt_trace *trace, uint64_t pc)
{
	char place[300];
	bool added;
	if (places->count == PLACES_MAX || !predict_put_position(trace, pc, place, sizeof place))
		return true;
	if (!set_add(&places->keys, predict_position_key(trace, pc), &added) ||
	    !vec_reserve(&places->items, &places->room, (uint64_t)places->count + 1, sizeof *places->items))
		return false;
	if (added && !(places->items[places->count] = strdup(place)))
		return false;
	places->count += added;
	return true;
}

/* True if the event is the last of its thread, and not its only one. */
static bool is_last_of_role(const struct model *m, const struct anomaly *a, uint32_t i)
{
	bool before = false, after = false;
	for (uint32_t k = 0; k < a->event_count; k++) {
		bool same = model_thread_of(m, a->events[k]) == model_thread_of(m, a->events[i]);
		before |= same && k < i;
		after |= same && k > i;
	}
	return before && !after;
}

/* The sweep that is for an event of an anomaly, and where threads wait in it. */
static enum sweep sweep_of(const struct report *r, const struct anomaly *a, uint32_t i, uint64_t *pc)
{
	const struct model *m = r->analysis->model;
	*pc = m->sites[m->events[a->events[i]].site].pc;
	if (a->kind == ANOMALY_RACE)
		return SWEEP_RACES;
	if (a->kind == ANOMALY_DEADLOCK)
		return anomaly_is_stuck(m, a) ? SWEEP_NONE : SWEEP_DEADLOCKS;
	if ((a->kind != ANOMALY_ATOMICITY && a->kind != ANOMALY_ASV) || a->verdict >= VERDICT_OBSERVED ||
	    !is_last_of_role(m, a, i))
		return SWEEP_NONE;
	uint64_t gate = explore_gate(r, a, i);
	*pc = gate ? gate : *pc;
	return SWEEP_SEQUENCES;
}

bool predict_add_sweep(struct predict *p, enum sweep sweep, bool new_code, bool many)
{
	struct candidate c = {.sweep = sweep, .open = true, .resolve = OUTCOME_NO_ORDER};
	c.score = (new_code ? 1 : 0) + sweeps[sweep].promise + (many ? MANY_PROMISE : 0);
	return predict_add(p, &c);
}

/* The places of anomalies, if some of them are new, are what a run is to hold threads at. */
static enum rt_status take_on_places(struct predict *p, const struct report *r, bool new_code, struct rt_error *err)
{
	size_t before[SWEEPS], open[SWEEPS] = {0};
	bool ok = true;
	for (int s = 0; s < SWEEPS; s++)
		before[s] = p->at[s].count;
	for (size_t i = 0; ok && i < r->count; i++) {
		const struct anomaly *a = r->entries[i].anomaly;
		for (uint32_t k = 0; ok && k < a->event_count; k++) {
			uint64_t pc;
			enum sweep sweep = sweep_of(r, a, k, &pc);
			open[sweep] += a->verdict < VERDICT_OBSERVED && k + 1 == a->event_count;
			ok = sweep == SWEEP_NONE || add_place(&p->at[sweep], r->analysis->trace, pc);
		}
	}
	for (int s = 0; ok && s < SWEEPS; s++)
		if (p->at[s].count != before[s]) {
			bool many = open[s] >= MANY && p->at[s].count >= before[s] + MANY;
			p->news = true;
			ok = predict_add_sweep(p, (enum sweep)s, new_code, many);
		}
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to explore");
}

/* The run of a candidate: what it came to; if its race happened, the other order is a candidate as well. */
static enum rt_status note_outcome(struct exploring *x, const struct run_result *run, struct rt_error *err)
{
	struct predict *p = x->predict;
	const struct run_order *order = run->order;
	struct candidate *c = &p->items[order->candidate];
	if (!c->fingerprint[0]) /* of no anomaly */
		return RT_OK;
	enum rt_status status = try_tell(run->t, &p->outcome, err);
	if (status)
		return status;
	p->has_outcome = true;
	p->outcome.way = c->way;
	struct known *k = known_of(p, c->fingerprint);
	if (!k)
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	k->planned = false;
	if (p->outcome.kind != OUTCOME_CONFIRMED)
		return RT_OK;
	k->confirmed = true;
	if (c->resolve != OUTCOME_FIRST)
		return RT_OK;
	struct candidate other = *c;
	other.resolve = OUTCOME_SECOND;
	other.score -= 0.15;
	other.open = true;
	if (!(other.plan = malloc(order->plan->size)))
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	memcpy(other.plan, order->plan, order->plan->size);
	if (predict_add(p, &other))
		return RT_OK;
	free(other.plan);
	return rt_error_set(err, RT_EMEMORY, "no memory to explore");
}

enum rt_status predict_ended(struct exploring *x, const struct run_result *run, struct rt_error *err)
{
	struct predict *p = predict_of(x);
	struct report_options options = {.least = VERDICT_CONDITIONAL};
	struct report *all;
	size_t fresh = 0;
	if (!p)
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	p->news = false;
	enum rt_status status = run->order->plan ? note_outcome(x, run, err) : RT_OK;
	if (status || !run->analysis)
		return status;
	bool first = !p->positions.count;
	if (!add_positions(p, run->analysis, &fresh))
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	p->news |= fresh != 0;
	bool new_code = fresh != 0 && !first; /* to the first run all code is new */
	status = report_create(run->analysis, &options, &all, err);
	if (status)
		return status;
	status = take_on_all(p, all, new_code, err);
	if (!status)
		status = take_on_places(p, all, new_code, err);
	report_free(all);
	if (status)
		return status;
	const char *strategy = run->order->strategy;
	bool covered = strategy && !strcmp(strategy, sweeps[SWEEP_TURNS].strategy);
	return predict_take_on_turns(p, run->analysis, new_code, covered, err);
}

enum rt_status predict_merged(struct exploring *x, const struct run_result *run, struct rt_error *err)
{
	struct predict *p = x->predict;
	enum rt_status status = RT_OK;
	p->news |= run->fresh != 0;
	if (p->news)
		p->quiet = 0;
	else if (run->order->candidate == SIZE_MAX)
		p->quiet++;
	if (p->has_outcome) {
		p->has_outcome = false;
		status = explore_attach(x, p->items[run->order->candidate].fingerprint, &p->outcome, err);
	}
	return status;
}
