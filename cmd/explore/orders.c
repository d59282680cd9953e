/*
 * The orders in which threads have their turns at an object: those that some run had, and those that none had, which
 * runs are to have. See lib/explore/turns.h.
 */
#include "cmd/explore/predict.h"

#include "lib/base/vec.h"
#include "lib/explore/turns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COVERED_MAX = 1024 }; /* places of orders that one run is for */
#define ORDER_PROMISE 0.3    /* of a run that has an order for sure, more than of one by chance */

bool predict_order_turns(struct predict *p, struct run_order *order)
{
	bool all = true;
	for (size_t i = 0; all && i < p->order_count; i++)
		all = set_has(&p->had, p->orders[i].key);
	uint32_t places = 0;
	char option[320];
	bool ok = true;
	for (size_t i = p->order_count; ok && i-- > 0 && places < COVERED_MAX;) {
		const struct turn_order *o = &p->orders[i];
		if (!all && set_has(&p->had, o->key))
			continue;
		for (uint32_t k = 0; ok && k < o->count; k++) {
			snprintf(option, sizeof option, "--at=0/%" PRIu32 ":%s", k, o->at[k]);
			ok = run_order_add(order, option);
		}
		places += o->count;
	}
	return ok;
}

/* False: a position is in no module. */
static bool order_of(const struct rt_trace *trace, const struct turns_order *from, struct turn_order *to)
{
	*to = (struct turn_order){.count = from->count, .key = from->count};
	for (uint32_t i = 0; i < from->count; i++) {
		to->key = (to->key ^ predict_position_key(trace, from->pcs[i])) * UINT64_C(0x9e3779b97f4a7c15);
		if (!predict_put_position(trace, from->pcs[i], to->at[i], sizeof to->at[i]))
			return false;
	}
	to->key += !to->key;
	return true;
}

/* Runs for an order alone: an exact one, if there can be one, and some by chance, if which thread comes first is likely
 * to matter. Those of accesses that race have schedules as well. */
static enum rt_status take_on_order(struct predict *p, struct delaying *d, const struct turn_order *o,
                                    const struct turns_order *turns, double score, size_t *taken, struct rt_error *err)
{
	struct candidate c = {.open = true, .score = score, .resolve = OUTCOME_NO_ORDER};
	int by_chance = turns->plain ? 0 : turns->update ? PREDICT_ATTEMPTS : 1;
	bool added, ok = true;
	if (*taken == PREDICT_TAKEN)
		return RT_OK;
	if (!set_add(&p->tried, o->key, &added))
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	if (!added)
		return RT_OK;
	enum rt_status status = predict_delay(d, &turns->delay, score + ORDER_PROMISE, taken, &added, err);
	if (status)
		return status;
	memcpy(c.at, o->at, sizeof c.at);
	for (int i = added; ok && i < by_chance; i++) {
		ok = predict_add(p, &c);
		c.score -= 0.01;
	}
	*taken += !added && by_chance;
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to explore");
}

/* An order that no run had. */
static bool note_open(struct predict *p, const struct turn_order *o, bool *fresh)
{
	bool added;
	if (!set_add(&p->open, o->key, &added))
		return false;
	*fresh |= added;
	if (!added)
		return true;
	if (!vec_reserve(&p->orders, &p->order_room, (uint64_t)p->order_count + 1, sizeof *p->orders))
		return false;
	p->orders[p->order_count++] = *o;
	return true;
}

/* Less than a sweep for all orders. */
static double score_of_order(const struct turns_order *o)
{
	if (!o->worth)
		return o->reverse ? 0.28 : 0.22;
	if (o->update)
		return 0.57;
	return o->reverse ? 0.55 : o->worth == 2 ? 0.54 : 0.29;
}

/* Orders of turns that no run had: each is a candidate, and so is one run for all of them. */
static enum rt_status take_on_orders(struct predict *p, struct rt_trace *trace, const struct turns *t, bool new_code,
                                     bool covered, struct rt_error *err)
{
	struct delaying d = {.p = p, .trace = trace, .first = p->count};
	size_t taken[2] = {0};
	bool ok = true, fresh = false, had = false;
	enum rt_status status = RT_OK;
	for (size_t i = 0; ok && !status && i < t->count; i++) {
		const struct turns_order *turns = &t->items[i];
		struct turn_order o;
		bool added;
		if (!order_of(trace, turns, &o))
			continue;
		if (turns->seen) {
			ok = set_add(&p->had, o.key, &added);
			had |= added;
			continue;
		}
		if (set_has(&p->had, o.key))
			continue;
		ok = !turns->worth || note_open(p, &o, &fresh);
		if (ok && (turns->reverse || o.count == 3))
			status = take_on_order(p, &d, &o, turns, new_code + score_of_order(turns),
			                       &taken[turns->reverse], err);
	}
	if (!status)
		status = predict_take_on_sights(&d, new_code, err);
	delays_free(d.delays);
	if (status)
		return status;
	p->news |= had;
	bool again = new_code || (covered && had);
	for (size_t i = 0; again && i < p->count; i++)
		again = !(p->items[i].open && p->items[i].sweep == SWEEP_AGAIN);
	ok = ok && (!fresh || predict_add_sweep(p, SWEEP_TURNS, new_code, false)) &&
	     (!again || !p->order_count || predict_add_sweep(p, SWEEP_AGAIN, new_code, false));
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to explore");
}

/* Positions of the run that have been in a race. False without memory. */
static bool racing_of(const struct predict *p, const struct analysis *a, struct set *racing)
{
	bool ok = true, added;
	for (uint32_t i = 0; ok && i < a->model->site_count; i++)
		if (set_has(&p->at[SWEEP_RACES].keys, predict_position_key(a->trace, a->model->sites[i].pc)))
			ok = set_add(racing, a->model->sites[i].pc, &added);
	return ok;
}

enum rt_status predict_take_on_turns(struct predict *p, const struct analysis *a, bool new_code, bool covered,
                                     struct rt_error *err)
{
	struct turns turns;
	struct set racing = {0};
	enum rt_status status = racing_of(p, a, &racing) ? turns_of(a->trace, &racing, &turns, err)
	                                                 : rt_error_set(err, RT_EMEMORY, "no memory to explore");
	set_release(&racing);
	if (status)
		return status;
	status = take_on_orders(p, a->trace, &turns, new_code, covered, err);
	turns_release(&turns);
	return status;
}
