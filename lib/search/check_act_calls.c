/*
 * Whether both events of a check and its act are in one call of a function that the program's own source makes; see
 * check_act.c. One pass over the calls of the trace.
 */
#include "lib/base/vec.h"
#include "lib/search/check_act_parts.h"
#include "lib/trace/jumps.h"
#include "lib/trace/own_code.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	const struct model *m;
	struct check_act_candidate *candidates;
	uint32_t count;
	bool failed;
};

bool check_act_is_own(const struct rt_frame *f)
{
	return f->file && !frame_is_library(f);
}

struct calls {
	uint64_t *sites; /* return sites of the open calls, outermost first */
	uint32_t depth, capacity;
	struct jumps jumps;
};

/* True if the program's own source makes the call at this position. */
static bool is_own_call(const struct finder *s, uint64_t site)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(s->m->trace, site, &n);
	return n && check_act_is_own(f);
}

static bool same_place(const struct rt_frame *f1, const struct rt_frame *f2)
{
	return f1->line && f1->line == f2->line && f1->column == f2->column && f1->file && f2->file &&
	       !strcmp(f1->file, f2->file);
}

/* True if two positions of one activation are in one inlined call that the program's own source makes. */
static bool in_one_inlined_call(const struct finder *s, uint64_t pc1, uint64_t pc2)
{
	size_t n1, n2;
	const struct rt_frame *f1 = rt_trace_frames(s->m->trace, pc1, &n1),
	                      *f2 = rt_trace_frames(s->m->trace, pc2, &n2);
	while (n1 > 1 && n2 > 1 && same_place(&f1[n1 - 1], &f2[n2 - 1])) {
		if (check_act_is_own(&f1[n1 - 1]))
			return true;
		n1--;
		n2--;
	}
	return false;
}

/*
 * True if the second position is further down in the same function of the program. What main, a thread's own routine or
 * what a library calls does is one call, but may be many rounds of a loop; from one round to the next the way goes up.
 */
static bool comes_below(const struct finder *s, uint64_t pc1, uint64_t pc2)
{
	size_t n1, n2;
	const struct rt_frame *f1 = rt_trace_frames(s->m->trace, pc1, &n1),
	                      *f2 = rt_trace_frames(s->m->trace, pc2, &n2);
	if (!n1 || !n2)
		return false;
	f1 += n1 - 1;
	f2 += n2 - 1;
	bool below = f1->line < f2->line || (f1->line == f2->line && pc1 < pc2);
	return below && check_act_is_own(f1) && check_act_is_own(f2) && !strcmp(f1->file, f2->file) && f1->function &&
	       f2->function && !strcmp(f1->function, f2->function);
}

static bool begin_candidate(const struct finder *s, const struct calls *calls, struct check_act_candidate *c)
{
	c->depth = c->open = calls->depth;
	c->sites = malloc(((size_t)calls->depth + 1) * sizeof *c->sites);
	if (!c->sites)
		return false;
	if (calls->depth)
		memcpy(c->sites, calls->sites, calls->depth * sizeof *c->sites);
	c->sites[c->open] = s->m->sites[s->m->events[c->e1].site].pc;
	return true;
}

/* True if the library's function of this name writes an element whether it was there or not: those that insert leave
 * what is there. */
static bool replaces(const struct rt_frame *f)
{
	return f->function && !check_act_is_own(f) &&
	       (strstr(f->function, "::operator[]") || strstr(f->function, "::insert_or_assign"));
}

/* True if the program's own source makes one call, in which both events are, of a function that replaces an element.
 * pc: of the second event. */
static bool is_replacing(const struct finder *s, const struct calls *calls, const struct check_act_candidate *c,
                         uint64_t pc)
{
	size_t n1, n2;
	for (uint32_t i = c->open + 1; i-- > 0;) {
		const struct rt_frame *f1 = rt_trace_frames(s->m->trace, c->sites[i], &n1), *f2;
		size_t k = 0;
		while (k < n1 && !check_act_is_own(&f1[k]))
			k++;
		if (k == n1)
			continue;
		if (!k) {
			f2 = i < c->open ? rt_trace_frames(s->m->trace, c->sites[i + 1], &n2) : NULL;
			return f2 && n2 && c->depth > i && replaces(&f2[n2 - 1]);
		}
		f2 = rt_trace_frames(s->m->trace, i < calls->depth ? calls->sites[i] : pc, &n2);
		return c->depth >= i && replaces(&f1[k - 1]) && n2 >= n1 - k && same_place(&f1[k], &f2[n2 - (n1 - k)]);
	}
	return false;
}

/* Ends the candidate at an event past it: whether a call was open all the time. */
static void end_candidate(const struct finder *s, const struct calls *calls, struct check_act_candidate *c)
{
	const struct model *m = s->m;
	uint64_t own = m->sites[m->events[c->e3].site].pc;
	if (c->inner) {
		c->one_call = is_replacing(s, calls, c, own);
		free(c->sites);
		c->sites = NULL;
		return;
	}
	uint64_t at = c->depth < calls->depth ? calls->sites[c->depth] : own;
	c->one_call = (c->depth && is_own_call(s, c->sites[c->depth - 1])) ||
	              in_one_inlined_call(s, c->sites[c->depth], at) ||
	              (c->depth && comes_below(s, c->sites[c->depth], at));
	free(c->sites);
	c->sites = NULL;
}

static bool step_calls(struct calls *calls, const struct rt_event *e)
{
	switch (e->op) {
	case RT_OP_ENTER:
		if (!vec_reserve(&calls->sites, &calls->capacity, (uint64_t)calls->depth + 1, sizeof *calls->sites))
			return false;
		calls->sites[calls->depth++] = e->pc;
		return true;
	case RT_OP_LEAVE:
		calls->depth -= calls->depth > 0;
		return true;
	case RT_OP_SETJMP:
		return jumps_set(&calls->jumps, e->addr, calls->depth);
	case RT_OP_LONGJMP:
		calls->depth = (uint32_t)jumps_target(&calls->jumps, e->addr, calls->depth);
		return true;
	default:
		return true;
	}
}

/* Open candidates. */
struct calls_walk {
	struct calls *calls; /* by thread */
	uint32_t *active;    /* candidates, any order */
	uint32_t count, next;
};

/* Called before an event of this number: begins and ends candidates. */
static void move_to(struct finder *s, struct calls_walk *w, uint64_t number)
{
	const struct model *m = s->m;
	for (; w->next < s->count && m->events[s->candidates[w->next].e1].number < number; w->next++) {
		struct check_act_candidate *c = &s->candidates[w->next];
		s->failed |= !begin_candidate(s, &w->calls[c->thread], c);
		w->active[w->count++] = w->next;
	}
	for (uint32_t i = 0; i < w->count;) {
		struct check_act_candidate *c = &s->candidates[w->active[i]];
		if (m->events[c->e3].number < number && !s->failed) {
			end_candidate(s, &w->calls[c->thread], c);
			w->active[i] = w->active[--w->count];
		} else {
			i++;
		}
	}
}

static enum rt_status walk_calls(struct finder *s, struct calls_walk *w, struct rt_error *err)
{
	struct rt_trace *trace = s->m->trace;
	struct rt_pass pass;
	rt_trace_select(trace, UINT64_C(1) << RT_OP_ENTER | UINT64_C(1) << RT_OP_LEAVE | UINT64_C(1) << RT_OP_SETJMP |
	                           UINT64_C(1) << RT_OP_LONGJMP);
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && !s->failed && (w->next < s->count || w->count);
	     e = rt_pass_next(&pass)) {
		if (e->thread >= s->m->thread_count)
			continue;
		move_to(s, w, e->number);
		struct calls *calls = &w->calls[e->thread];
		if (!step_calls(calls, e))
			return rt_error_set(err, RT_EMEMORY, "no memory for the calls of the trace");
		for (uint32_t k = 0; k < w->count; k++) {
			struct check_act_candidate *c = &s->candidates[w->active[k]];
			if (c->thread == e->thread && calls->depth < c->depth)
				c->depth = calls->depth;
		}
	}
	if (!pass.status)
		move_to(s, w, UINT64_MAX);
	return pass.status;
}

static int by_first(const void *x, const void *y)
{
	const struct check_act_candidate *a = x, *b = y;
	return a->e1 < b->e1 ? -1 : a->e1 > b->e1;
}

enum rt_status check_act_find_calls(const struct model *m, struct check_act_candidate *candidates, uint32_t count,
                                    struct rt_error *err)
{
	struct finder s = {.m = m, .candidates = candidates, .count = count};
	struct calls_walk w = {.calls = calloc((size_t)m->thread_count + 1, sizeof *w.calls),
	                       .active = malloc(((size_t)count + 1) * sizeof *w.active)};
	enum rt_status status = RT_EMEMORY;
	if (w.calls && w.active) {
		qsort(candidates, count, sizeof *candidates, by_first);
		status = walk_calls(&s, &w, err);
	}
	if (!w.calls || !w.active || s.failed)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the calls of the trace");
	rt_trace_select(m->trace, RT_SELECT_ALL);
	for (uint32_t i = 0; w.calls && i < m->thread_count; i++) {
		free(w.calls[i].sites);
		jumps_release(&w.calls[i].jumps);
	}
	free(w.calls);
	free(w.active);
	return status;
}
