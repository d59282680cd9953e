/* Windows of a trace; see window.h. */
#include "lib/trace/window.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/trace/window_state.h"
#include "tracefmt/source.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };

/* The annotation that orders the opening before the stretch; no event's object has such an address. */
#define WINDOW_OBJECT (RT_OPERAND_MAX - 4095)

static enum rt_status no_memory(struct rt_error *err)
{
	return rt_error_set(err, RT_EMEMORY, "no memory for a window of the trace");
}

/* The state in which the last window began; reading goes on from a place at or before that. */
struct window_cursor {
	struct state state; /* before event `first` */
	uint64_t first;
	struct rt_mark *mark; /* NULL: the beginning */
	uint64_t *ordinals;   /* by thread: of its last event so far */
	uint32_t ordinal_capacity;
};

static void cursor_free(struct window_cursor *c)
{
	if (c) {
		state_release(&c->state);
		rt_mark_free(c->mark);
		free(c->ordinals);
	}
	free(c);
}

/* --- The survey --- */

struct surveying {
	struct window_survey *out;
	struct state state;
	uint64_t *begins; /* by thread: number of its last WAIT_BEGIN */
	uint32_t begin_capacity;
};

static bool survey_event(struct surveying *v, const struct rt_event *e)
{
	struct window_survey *out = v->out;
	out->events = e->number;
	out->doubtful |= e->op == RT_OP_LOST || (e->op == RT_OP_RELEASE && !state_holds(&v->state, e->thread, e->addr));
	if (e->op == RT_OP_BENIGN || e->op == RT_OP_ALIAS) {
		if (!vec_reserve(&out->kept, &out->kept_capacity, (uint64_t)out->kept_count + 1, sizeof *out->kept))
			return false;
		out->kept[out->kept_count++] = *e;
	}
	if (!vec_extend(&v->begins, &v->begin_capacity, (uint64_t)e->thread + 1, sizeof *v->begins))
		return false;
	if (e->op == RT_OP_WAIT_BEGIN)
		v->begins[e->thread] = e->number;
	if (e->op == RT_OP_WAIT_END && e->flags & (RT_F_TIMED | RT_F_TIMEOUT) && v->begins[e->thread]) {
		if (!vec_reserve(&out->timed, &out->timed_capacity, (uint64_t)out->timed_count + 1, sizeof *out->timed))
			return false;
		out->timed[out->timed_count++] = (struct window_wait){v->begins[e->thread], e->number};
	}
	/* Who holds which locks is all that is wanted of the state. */
	if (rt_op_group(e->op) == RT_GROUP_LOCK || rt_op_group(e->op) == RT_GROUP_CONDITION)
		state_step(&v->state, e);
	return !v->state.failed;
}

static int by_begin(const void *a, const void *b)
{
	const struct window_wait *x = a, *y = b;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

enum rt_status window_survey(struct rt_trace *whole, struct window_survey *out, struct rt_error *err)
{
	*out = (struct window_survey){.whole = whole};
	struct surveying v = {.out = out, .state.survey = out};
	struct rt_pass pass;
	bool ok = true;
	rt_trace_select(whole, RT_SELECT_ALL);
	for (const struct rt_event *e = rt_pass_first(&pass, whole, err); ok && e; e = rt_pass_next(&pass))
		ok = survey_event(&v, e);
	enum rt_status status = ok ? pass.status : no_memory(err);
	/* Which accesses of machine code are atomic shows only in the whole of it. */
	out->doubtful |= rt_trace_info(whole)->binary;
	if (out->timed_count)
		qsort(out->timed, out->timed_count, sizeof *out->timed, by_begin);
	state_release(&v.state);
	free(v.begins);
	out->cursor = calloc(1, sizeof *out->cursor);
	if (!out->cursor && !status)
		status = no_memory(err);
	if (out->cursor) {
		out->cursor->first = 1;
		out->cursor->state.survey = out;
	}
	return status;
}

void window_survey_release(struct window_survey *s)
{
	cursor_free(s->cursor);
	free(s->kept);
	free(s->timed);
	*s = (struct window_survey){0};
}

/* --- The trace of a window --- */

struct window_trace {
	struct rt_trace base; /* first */
	struct rt_trace *whole;
	const struct window_cursor *cursor;
	struct window window;
	struct rt_event *opening; /* the window's first events */
	uint64_t *cut;            /* numbers of timed waits that the window does not see end; rising */
	uint32_t cut_count, cut_capacity;
	uint64_t next; /* number of the next event of the opening, then more than there are */
	struct rt_event *batch;
	size_t at, count;
	bool ended;
};

static struct window_trace *window_of(const struct rt_trace *trace)
{
	return (struct window_trace *)(uintptr_t)trace;
}

static void window_free(struct rt_trace *trace)
{
	struct window_trace *w = window_of(trace);
	rt_trace_select(w->whole, RT_SELECT_ALL);
	free(w->opening);
	free(w->cut);
	free(w->batch);
	free(w);
}

static enum rt_status window_rewind(struct rt_trace *trace, struct rt_error *err)
{
	struct window_trace *w = window_of(trace);
	w->next = 1;
	w->at = w->count = 0;
	w->ended = false;
	return rt_trace_return(w->whole, w->cursor->mark, err);
}

/* The event as one of the window. False: it is none. */
static bool of_window(const struct window_trace *w, struct rt_event *e)
{
	e->number -= w->window.first - 1 - w->window.opening;
	/* A wait shows at the end of the whole trace alone. */
	if (rt_op_group(e->op) == RT_GROUP_BLOCKING && !w->window.whole_ends)
		return false;
	/* Whether the thread accesses what the annotation depends on may show in another window. */
	if (e->op == RT_OP_HB_BEFORE || e->op == RT_OP_HB_AFTER)
		e->arg = 0;
	if (e->op != RT_OP_WAIT_BEGIN || !w->cut_count)
		return true;
	uint64_t number = window_number(&w->window, e->number);
	uint32_t at = lower_bound(i, 0, w->cut_count, w->cut[i] < number);
	if (at == w->cut_count || w->cut[at] != number)
		return true;
	e->op = RT_OP_RELEASE;
	e->addr = e->arg;
	e->arg = 0;
	e->flags = 0;
	return e->addr != 0;
}

static enum rt_status window_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                                  struct rt_error *err)
{
	struct window_trace *w = window_of(trace);
	*got = 0;
	for (; *got < n && w->next <= w->window.opening; w->next++)
		if (trace->mask >> w->opening[w->next - 1].op & 1)
			events[(*got)++] = w->opening[w->next - 1];
	/* A wait that is cut becomes another operation. */
	uint64_t timed = w->cut_count ? UINT64_C(1) << RT_OP_WAIT_BEGIN : 0;
	while (*got < n && !w->ended) {
		if (w->at == w->count) {
			rt_trace_select(w->whole, trace->mask | timed);
			enum rt_status status = rt_trace_read(w->whole, w->batch, BATCH, &w->count, err);
			w->at = 0;
			w->ended = !w->count;
			if (status || w->ended)
				return status;
		}
		struct rt_event e = w->batch[w->at++];
		w->ended = e.number > w->window.last;
		if (e.number >= w->window.first && !w->ended && of_window(w, &e) && trace->mask >> e.op & 1)
			events[(*got)++] = e;
	}
	return RT_OK;
}

static const struct rt_frame *window_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	return rt_trace_frames(window_of(trace)->whole, pc, count);
}

static bool window_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	return rt_trace_variable(window_of(trace)->whole, addr, out);
}

static const char *window_object_name(const struct rt_trace *trace, uint64_t addr)
{
	return rt_trace_object_name(window_of(trace)->whole, addr);
}

static const struct rt_module *window_modules(const struct rt_trace *trace, size_t *count)
{
	return rt_trace_modules(window_of(trace)->whole, count);
}

static const struct rt_text_file *window_text_files(const struct rt_trace *trace, size_t *count)
{
	return rt_trace_text_files(window_of(trace)->whole, count);
}

static const struct rt_hidden_atomic *window_hidden_atomics(const struct rt_trace *trace, size_t *count)
{
	return rt_trace_hidden_atomics(window_of(trace)->whole, count);
}

/*
 * Updates (updates.c), if the recorder has left out nothing. Else a read that it left out may repeat one of an earlier
 * window, so that whether a thread reads a cell in no other way is not known.
 */
static const struct rt_update *window_updates(const struct rt_trace *trace, size_t *count)
{
	*count = 0;
	return trace->info.left_out ? NULL : rt_trace_updates(window_of(trace)->whole, count);
}

static const struct rt_declared *window_declared(const struct rt_trace *trace, size_t *count)
{
	return rt_trace_declared(window_of(trace)->whole, count);
}

static const struct rt_source window_source = {.name = "window",
                                               .free = window_free,
                                               .rewind = window_rewind,
                                               .read = window_read,
                                               .frames = window_frames,
                                               .variable = window_variable,
                                               .object_name = window_object_name,
                                               .modules = window_modules,
                                               .text_files = window_text_files,
                                               .updates = window_updates,
                                               .declared = window_declared,
                                               .hidden_atomics = window_hidden_atomics};

/* --- Making it --- */

/* What threads do in the stretch. */
struct activity {
	enum { ABSENT, PRESENT, CREATED /* in the stretch, before its first event there */ } * of;
	uint32_t capacity;
};

static bool note_activity(struct activity *a, const struct rt_event *e)
{
	uint32_t child = e->op == RT_OP_FORK && e->addr < UINT32_MAX ? (uint32_t)e->addr : e->thread;
	uint32_t most = child > e->thread ? child : e->thread;
	if (!vec_extend(&a->of, &a->capacity, (uint64_t)most + 1, sizeof *a->of))
		return false;
	if (a->of[e->thread] == ABSENT)
		a->of[e->thread] = PRESENT;
	if (a->of[child] == ABSENT)
		a->of[child] = CREATED;
	return true;
}

static bool add_event(struct window_trace *w, uint32_t *capacity, const struct rt_event *e)
{
	uint32_t *count = &w->window.opening;
	if (!vec_reserve(&w->opening, capacity, (uint64_t)*count + 1, sizeof *w->opening))
		return false;
	w->opening[*count] = *e;
	w->opening[*count].number = *count + 1;
	++*count;
	return true;
}

/* The opening: first what the state needs, then what orders it before the stretch. */
static bool add_opening(struct window_trace *w, const struct window_survey *s, const struct state *state,
                        const struct activity *activity)
{
	struct opening o = {0};
	uint32_t capacity = 0;
	state_open(state, w->window.whole_ends, &o);
	w->window.doubtful |= o.doubtful;
	bool ok = !o.failed;
	for (uint32_t i = 0; ok && i < s->kept_count; i++)
		ok = (s->kept[i].op == RT_OP_ALIAS && s->kept[i].number >= w->window.first) ||
		     add_event(w, &capacity, &s->kept[i]);
	uint8_t *opens = calloc((size_t)state->thread_capacity + 1, 1);
	ok = ok && opens;
	for (uint32_t i = 0; ok && i < o.before_count; i++) {
		opens[o.before[i].thread] |= rt_op_group(o.before[i].op) != RT_GROUP_CODE;
		ok = add_event(w, &capacity, &o.before[i]);
	}
	bool any = false;
	for (uint32_t i = 0; ok && i < state->thread_capacity; i++) {
		struct rt_event before = {.thread = i, .op = RT_OP_HB_BEFORE, .addr = WINDOW_OBJECT};
		any |= opens[i];
		ok = !opens[i] || add_event(w, &capacity, &before);
	}
	for (uint32_t i = 0; ok && any && i < activity->capacity; i++) {
		struct rt_event after = {.thread = i, .op = RT_OP_HB_AFTER, .addr = WINDOW_OBJECT};
		ok = activity->of[i] != PRESENT || add_event(w, &capacity, &after);
	}
	for (uint32_t i = 0; ok && i < o.after_count; i++)
		ok = add_event(w, &capacity, &o.after[i]);
	free(opens);
	free(o.before);
	free(o.after);
	return ok;
}

/* Reads up to the window's end: the state in which it begins, and what threads do in it. */
static enum rt_status look(struct window_trace *w, const struct window_survey *s, struct rt_error *err)
{
	enum { MARKS = 64 }; /* batches between two of them */
	struct window_cursor *c = s->cursor;
	struct rt_mark *mark = NULL;
	struct activity activity = {0};
	bool ok = true, going = true;
	rt_trace_select(s->whole, RT_SELECT_ALL);
	enum rt_status status = rt_trace_return(s->whole, c->mark, err);
	for (uint32_t batches = 0; going && !status && ok; batches++) {
		if (batches % MARKS == 0 && c->first < w->window.first) {
			rt_mark_free(mark);
			mark = rt_trace_mark(s->whole);
		}
		status = rt_trace_read(s->whole, w->batch, BATCH, &w->count, err);
		going = w->count > 0;
		if (mark && going && !status && w->batch[0].number <= w->window.first) {
			rt_mark_free(c->mark);
			c->mark = mark;
			mark = NULL;
		}
		for (size_t i = 0; i < w->count && going && ok && !status; i++) {
			const struct rt_event *e = &w->batch[i];
			going = e->number <= w->window.last;
			if (e->number >= c->first && e->number < w->window.first) {
				state_step(&c->state, e);
				c->first = e->number + 1;
				ok = vec_extend(&c->ordinals, &c->ordinal_capacity, (uint64_t)e->thread + 1,
				                sizeof *c->ordinals);
				if (ok)
					c->ordinals[e->thread] = e->ordinal;
			} else if (going && e->number >= w->window.first) {
				ok = note_activity(&activity, e);
			}
			ok = ok && !c->state.failed;
		}
	}
	rt_mark_free(mark);
	ok = ok && (status || add_opening(w, s, &c->state, &activity));
	free(activity.of);
	return status ? status : ok ? RT_OK : no_memory(err);
}

/* The timed waits that begin in the window and end behind it. */
static bool find_cut(struct window_trace *w, const struct window_survey *s)
{
	uint32_t at = lower_bound(i, 0, s->timed_count, s->timed[i].begin < w->window.first);
	for (; at < s->timed_count && s->timed[at].begin <= w->window.last; at++) {
		if (s->timed[at].end <= w->window.last)
			continue;
		if (!vec_reserve(&w->cut, &w->cut_capacity, (uint64_t)w->cut_count + 1, sizeof *w->cut))
			return false;
		w->cut[w->cut_count++] = s->timed[at].begin;
	}
	return true;
}

enum rt_status window_open(const struct window_survey *s, uint64_t first, uint64_t last, struct rt_trace **out,
                           struct window *window, struct rt_error *err)
{
	struct window_trace *w = calloc(1, sizeof *w);
	if (!w)
		return no_memory(err);
	w->base.source = &window_source;
	w->base.mask = RT_SELECT_ALL;
	w->base.info = *rt_trace_info(s->whole);
	w->base.info.path = strdup(w->base.info.path);
	w->base.info.zeroed &= first == 1;
	/* As of a program: what a thread does after a read that sees another write may be in another window. */
	w->base.info.model = RT_MODEL_C11;
	w->whole = s->whole;
	w->cursor = s->cursor;
	w->window = (struct window){.first = first,
	                            .last = last,
	                            .whole_begins = first == 1,
	                            .whole_ends = last >= s->events,
	                            .doubtful = s->doubtful};
	w->batch = malloc(BATCH * sizeof *w->batch);
	enum rt_status status = w->batch && w->base.info.path && find_cut(w, s) ? look(w, s, err) : no_memory(err);
	w->base.info.events = last - first + 1 + w->window.opening;
	w->count = 0;
	if (status) {
		rt_trace_free(&w->base);
		return status;
	}
	w->window.from = s->cursor->mark;
	*window = w->window;
	*out = &w->base;
	return RT_OK;
}

uint64_t window_reached(const struct rt_trace *window)
{
	const struct window_trace *w = window_of(window);
	return w->at ? w->batch[w->at - 1].number : w->window.first;
}

uint64_t *window_ordinals_before(const struct window_survey *s, uint32_t threads)
{
	const struct window_cursor *c = s->cursor;
	uint64_t *out = calloc((size_t)threads + 1, sizeof *out);
	for (uint32_t i = 0; out && i < threads && i < c->ordinal_capacity; i++)
		out[i] = c->ordinals[i];
	return out;
}
