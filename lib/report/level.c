/* Levels; see level.h. */
#include "lib/report/level.h"

#include "lib/report/deed.h"
#include "lib/report/place.h"
#include "lib/trace/own_code.h"

const char *finding_level_name(enum finding_level level)
{
	static const char *const names[LEVELS] = {"note", "warning", "error"};
	return names[level];
}

uint32_t level_region_thread(const struct model *m, const struct anomaly *a)
{
	uint32_t best = 0, most = 0;
	for (uint32_t i = 0; i < a->event_count; i++) {
		uint32_t count = 0;
		for (uint32_t k = 0; k < a->event_count; k++)
			count += model_thread_of(m, a->events[k]) == model_thread_of(m, a->events[i]);
		if (count > most) {
			most = count;
			best = model_thread_of(m, a->events[i]);
		}
	}
	return best;
}

/* True if the thread holds the lock at all of its events from one to the other. */
static bool holds_throughout(const struct model *m, uint32_t from, uint32_t to, uint32_t lock)
{
	const uint32_t *events = m->threads[model_thread_of(m, from)].events;
	uint32_t segment = MODEL_NONE;
	for (uint32_t pos = m->events[from].pos; pos <= m->events[to].pos; pos++) {
		if (m->events[events[pos]].segment != segment && !guard_is_held(m, events[pos], lock))
			return false;
		segment = m->events[events[pos]].segment;
	}
	return true;
}

/* True if the thread holds some lock at all of its events from one to the other, perhaps one after another. */
static bool is_locked_throughout(const struct model *m, uint32_t from, uint32_t to)
{
	const uint32_t *events = m->threads[model_thread_of(m, from)].events;
	for (uint32_t pos = m->events[from].pos; pos <= m->events[to].pos; pos++)
		if (!m->locksets[model_lockset_of(m, events[pos])].count)
			return false;
	return true;
}

static bool guards_any(struct guards *g, const uint32_t *events, uint32_t n, uint32_t lock)
{
	const struct model *m = g->m;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = m->events[events[i]].object, end = first + m->sites[m->events[events[i]].site].cells;
		for (uint32_t cell = first; cell < end; cell++)
			if (guard_guards(g, lock, cell))
				return true;
	}
	return false;
}

/*
 * True if the two events are in one call of a function: in it itself or in functions that it calls, but not both in
 * calls of the same function.
 */
static bool asks_then_acts(const struct report *r, uint32_t e1, uint32_t e2)
{
	struct place first = place_of(r, e1), second = place_of(r, e2);
	const struct description *d[2] = {report_event(r, e1), report_event(r, e2)};
	if (!d[0] || !d[1])
		return false;
	size_t common = 0, rest[2] = {d[0]->stack_count - 1, d[1]->stack_count - 1};
	while (common < rest[0] && common < rest[1] &&
	       d[0]->stack[d[0]->stack_count - 1 - common] == d[1]->stack[d[1]->stack_count - 1 - common])
		common++;
	return common && rest[0] - common <= 1 && rest[1] - common <= 1 &&
	       place_function_key(&first) != place_function_key(&second);
}

/*
 * Whether the region that an atomicity violation or ASV cuts is a unit of work on one of its variables: a critical
 * section is one if of the locks that are held throughout one guards it. Where none is held at some point, the region
 * is annotated, a function's, or two critical sections of one lock, and is a unit. Under a lock that is held for
 * another reason, or several that overlap, two critical sections of the guard are one unit if one call of a function
 * has both, and the first of them reads.
 */
enum region_kind { REGION_NOTHING, REGION_UNIT, REGION_SECTION /* under one hold of a lock */ };

static enum region_kind region_of(const struct report *r, struct guards *g, const struct anomaly *a)
{
	const struct model *m = r->analysis->model;
	uint32_t local[ANOMALY_EVENTS_MAX], n = 0, thread = level_region_thread(m, a);
	if (reasons_has(&a->reasons, REASON_UNGUARDED))
		return REGION_NOTHING;
	for (uint32_t i = 0; i < a->event_count; i++)
		if (model_thread_of(m, a->events[i]) == thread)
			local[n++] = a->events[i];
	const struct model_lockset *set = &m->locksets[model_lockset_of(m, local[0])];
	bool outer = is_locked_throughout(m, local[0], local[n - 1]), guarded = false;
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t lock = set->locks[i].object;
		bool throughout = holds_throughout(m, local[0], local[n - 1], lock);
		if (!guards_any(g, local, n, lock))
			continue;
		if (throughout)
			return REGION_SECTION;
		guarded |= guard_is_held(m, local[n - 1], lock);
	}
	bool unit = guarded && rt_op_reads(model_op(m, local[0])) && asks_then_acts(r, local[0], local[n - 1]);
	return !outer ? REGION_UNIT : unit ? REGION_SECTION : REGION_NOTHING;
}

static bool has_atomic(const struct report *r, const struct anomaly *a)
{
	bool any = false;
	for (uint32_t i = 0; i < a->event_count; i++)
		any |= rt_op_is_atomic(model_op(r->analysis->model, a->events[i]));
	return any;
}

/* True if no function of the program's own is active at one of the accesses: a library does it by itself. */
static bool is_of_library(const struct report *r, const struct anomaly *a)
{
	bool any = false;
	for (uint32_t i = 0; i < a->event_count; i++) {
		const struct description *d = report_event(r, a->events[i]);
		struct place place = place_of(r, a->events[i]);
		any |= d && !d->stack_cut && place.frame && frame_is_library(place.frame);
	}
	return any;
}

/* True of a predicted one that hardly is a bug of its own. */
static bool is_unlikely(const struct report *r, const struct anomaly *a, enum region_kind region)
{
	/* Others, which were not looked at, are hardly another case. */
	if (reasons_has(&a->reasons, REASON_OTHERS))
		return true;
	/* Where the other access is a locked instruction, code whose source is not known mostly reads an atomic, too.
	 */
	if (reasons_has(&a->reasons, REASON_MACHINE_CODE) && has_atomic(r, a))
		return true;
	/* What the trace does not have may order it: and the library orders its own, or the program did not take its
	 * schedules either. */
	bool unseen = reasons_has(&a->reasons, REASON_PLAIN_MODULE) || reasons_has(&a->reasons, REASON_HIDDEN_ATOMIC) ||
	              reasons_has(&a->reasons, REASON_BARE_ACCESS);
	if (unseen && is_of_library(r, a))
		return true;
	if (unseen && a->replay && (a->replay->kind == OUTCOME_DIVERGED || a->replay->kind == OUTCOME_STUCK))
		return true;
	/*
	 * What may come in between does not hold the section's lock: it mostly races with the section, and where the
	 * race is likely it is a finding of its own.
	 */
	return region == REGION_SECTION;
}

enum finding_level finding_level_of(const struct report *r, struct guards *g, const struct anomaly *a)
{
	bool sequence = a->kind == ANOMALY_ATOMICITY || a->kind == ANOMALY_ASV;
	enum region_kind region = sequence ? region_of(r, g, a) : REGION_UNIT;
	if (a->verdict < VERDICT_PREDICTED || region == REGION_NOTHING || deed_is_profile(r, a))
		return LEVEL_NOTE;
	if (a->verdict == VERDICT_PREDICTED && is_unlikely(r, a, region))
		return LEVEL_NOTE;
	/* A change of what is no longer in use is harmless; the trace does not tell. */
	return a->verdict == VERDICT_PREDICTED || anomaly_is_lookup(a) ? LEVEL_WARNING : LEVEL_ERROR;
}
