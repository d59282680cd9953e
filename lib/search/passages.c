/* How passages are read from the trace; see passages.h. */
#include "lib/search/passages.h"

#include "lib/base/free.h"
#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/trace/jumps.h"
#include "lib/trace/modules.h"

#include <stdlib.h>
#include <string.h>

/* An activation of a function. */
struct frame {
	uint64_t last;   /* its last event, or the ENTER */
	uint64_t open;   /* of the passage */
	uint32_t atomic; /* MODEL_NONE: the activation is in none */
	bool early;      /* if it is in a passage: its last event came before the instruction */
	bool done;       /* its last event came after the instruction */
};

/* A word of a module's variables that an event has written. */
struct written {
	uint64_t word;
	UT_hash_handle hh;
};

/* A thread while the trace is read. */
struct reading_thread {
	struct passages_thread *out;
	struct frame *frames; /* the first is the code outside of all functions */
	uint32_t frame_count, frame_capacity;
	uint32_t next;    /* pos of the next kept event */
	uint32_t settled; /* the same, when the last passage ended */
	struct jumps jumps;
};

struct reading {
	struct passages *p;
	struct reading_thread *threads;
	enum passages_kind kind;
	struct written *written;
	bool failed;
};

/*
 * Inner activations end first, so the new passage may contain the last ones. It is also joined to the last one if no
 * kept event is between: nothing can distinguish the two then.
 */
static void add_passage(struct reading *r, struct reading_thread *t, const struct frame *f, uint64_t close)
{
	struct passage new = {f->open, close, f->atomic};
	if (r->p->atomics[f->atomic].may_lock && f->open < t->out->lock_open) {
		t->out->lock_open = f->open;
		t->out->lock_atomic = f->atomic;
	}
	if (t->out->count && t->settled == t->next && t->out->items[t->out->count - 1].open < new.open)
		new.open = t->out->items[t->out->count - 1].open;
	while (t->out->count && t->out->items[t->out->count - 1].close >= new.open) {
		t->out->count--;
		new.open = t->out->items[t->out->count].open < new.open ? t->out->items[t->out->count].open : new.open;
	}
	if (!vec_reserve(&t->out->items, &t->out->capacity, (uint64_t)t->out->count + 1, sizeof *t->out->items)) {
		r->failed = true;
		return;
	}
	t->out->items[t->out->count++] = new;
	t->settled = t->next;
}

static void close_frame(struct reading *r, struct reading_thread *t, struct frame *f, uint64_t number)
{
	if (f->atomic != MODEL_NONE)
		add_passage(r, t, f, number);
	f->atomic = MODEL_NONE;
}

static bool is_call(const struct rt_hidden_atomic *a)
{
	return a->end == a->start;
}

/* The last one that begins at the pc or before; MODEL_NONE if there is none. */
static uint32_t last_from(const struct reading *r, uint64_t pc)
{
	size_t low = lower_bound(middle, 0, r->p->atomic_count, r->p->atomics[middle].start <= pc);
	return low ? (uint32_t)low - 1 : MODEL_NONE;
}

/* The function whose code has the pc. Calls in its code are its own, or those of inlined functions. */
static uint32_t code_of(const struct reading *r, uint64_t pc)
{
	uint32_t i = last_from(r, pc);
	while (i != MODEL_NONE && is_call(&r->p->atomics[i]))
		i = i ? i - 1 : MODEL_NONE;
	return i != MODEL_NONE && pc < r->p->atomics[i].end ? i : MODEL_NONE;
}

static uint32_t call_from(const struct reading *r, uint64_t pc)
{
	uint32_t i = last_from(r, pc);
	return i != MODEL_NONE && r->p->atomics[i].start == pc && is_call(&r->p->atomics[i]) ? i : MODEL_NONE;
}

static void push_frame(struct reading *r, struct reading_thread *t, uint64_t number, uint32_t atomic)
{
	if (!vec_reserve(&t->frames, &t->frame_capacity, (uint64_t)t->frame_count + 1, sizeof *t->frames)) {
		r->failed = true;
		return;
	}
	if (t->frame_count) {
		const struct frame *caller = &t->frames[t->frame_count - 1];
		if (caller->atomic != MODEL_NONE && !caller->early)
			add_passage(r, t, caller, number);
	}
	t->frames[t->frame_count++] = (struct frame){.last = number, .open = number, .atomic = atomic};
}

static void pop_frame(struct reading *r, struct reading_thread *t, uint64_t number)
{
	if (t->frame_count < 2)
		return;
	close_frame(r, t, &t->frames[--t->frame_count], number);
	struct frame *caller = &t->frames[t->frame_count - 1];
	caller->last = caller->open = number;
}

/* An event of a module that is not instrumented, which the innermost activation has called. */
static void note_plain(struct reading *r, struct reading_thread *t, struct frame *f, uint32_t i, uint64_t number)
{
	if (f->atomic != MODEL_NONE && f->atomic != i)
		close_frame(r, t, f, number);
	if (f->atomic == MODEL_NONE)
		f->open = f->last;
	f->atomic = i;
	close_frame(r, t, f, number);
	*f = (struct frame){.last = number, .open = number, .atomic = i, .early = true};
}

/* An event of the innermost activation. */
static void note(struct reading *r, struct reading_thread *t, const struct rt_event *e)
{
	struct frame *f = &t->frames[t->frame_count - 1];
	uint32_t i = code_of(r, e->pc);
	if (i != MODEL_NONE && r->p->plain[i]) {
		note_plain(r, t, f, i, e->number);
		return;
	}
	if (i == MODEL_NONE && f->atomic != MODEL_NONE && r->p->plain[f->atomic])
		close_frame(r, t, f, e->number);
	if (i != MODEL_NONE) {
		const struct rt_hidden_atomic *a = &r->p->atomics[i];
		if (f->atomic != MODEL_NONE && f->atomic != i && !is_call(&r->p->atomics[f->atomic]))
			close_frame(r, t, f, e->number);
		if (f->atomic == MODEL_NONE && !(f->done && e->pc >= a->until))
			f->open = f->last;
		if (f->atomic != MODEL_NONE || !(f->done && e->pc >= a->until))
			f->atomic = i;
		f->early = e->pc < a->from;
		if (f->early)
			f->open = e->number;
		f->done = e->pc >= a->until;
		if (f->done)
			close_frame(r, t, f, e->number);
	}
	f->last = e->number;
}

/* True if the access is of a variable and no event has written it. Notes that this one does, if it does. */
static bool is_unwritten(struct reading *r, const struct rt_event *e)
{
	enum { WORD = 8, WORDS_MAX = 512 };
	struct rt_variable variable;
	const struct model *m = r->p->m;
	bool unwritten = false;
	if (!module_at(m->trace, e->addr) && !rt_trace_variable(m->trace, e->addr, &variable))
		return false;
	uint64_t first = e->addr / WORD, last = (e->addr + (e->arg ? e->arg - 1 : 0)) / WORD;
	for (uint64_t word = first; word <= last && word - first < WORDS_MAX; word++) {
		struct written *known;
		HASH_FIND(hh, r->written, &word, sizeof word, known);
		unwritten |= !known;
		if (known || !rt_op_writes(e->op))
			continue;
		HASH_MAKE(r->written, word, word, known);
		r->failed |= !known;
	}
	return unwritten;
}

/* An access of which the model has no event: its number is that of none. */
static void note_left_out(struct reading *r, struct reading_thread *t, const struct model_thread *kept,
                          const struct rt_event *e)
{
	if (r->kind != PASSAGES_WRITE || !rt_op_is_access(e->op))
		return;
	bool unwritten = is_unwritten(r, e);
	if (t->next < kept->count && r->p->m->events[kept->events[t->next]].number == e->number)
		return;
	if (rt_op_reads(e->op) && unwritten)
		t->out->reads[t->next / 8] |= (uint8_t)(1 << t->next % 8);
	if (rt_op_writes(e->op))
		t->out->writes[t->next / 8] |= (uint8_t)(1 << t->next % 8);
}

static void take(struct reading *r, const struct rt_event *e)
{
	struct reading_thread *t = &r->threads[e->thread];
	const struct model_thread *kept = &r->p->m->threads[e->thread];
	while (t->next < kept->count && r->p->m->events[kept->events[t->next]].number < e->number)
		t->next++;
	if (!t->frame_count) {
		t->out->lock_open = UINT64_MAX;
		push_frame(r, t, e->number, MODEL_NONE);
	}
	if (r->failed)
		return;
	note_left_out(r, t, kept, e);
	switch (e->op) {
	case RT_OP_ENTER:
		note(r, t, e);
		push_frame(r, t, e->number, call_from(r, e->pc));
		return;
	case RT_OP_LEAVE:
		pop_frame(r, t, e->number);
		return;
	case RT_OP_SETJMP:
		r->failed |= !jumps_set(&t->jumps, e->addr, t->frame_count);
		return;
	case RT_OP_LONGJMP:
		for (uint64_t target = jumps_target(&t->jumps, e->addr, t->frame_count);
		     t->frame_count > 1 && t->frame_count > target;)
			pop_frame(r, t, e->number);
		return;
	case RT_OP_BEGIN:
	case RT_OP_TLS:
	case RT_OP_END: /* their pc is where the thread begins */
		return;
	default:
		note(r, t, e);
	}
}

/* ---- All threads ---- */

static void finish(struct reading *r)
{
	for (uint32_t i = 0; r->threads && i < r->p->m->thread_count; i++) {
		struct reading_thread *t = &r->threads[i];
		for (; t->frame_count && !r->failed; t->frame_count--)
			close_frame(r, t, &t->frames[t->frame_count - 1], UINT64_MAX);
		free(t->frames);
		jumps_release(&t->jumps);
	}
	free(r->threads);
	HASH_FREE(r->written);
}

/* True if what it reads or writes is no event: it is of a module that is not instrumented, or without hooks. */
static bool is_unseen(const struct model *m, const struct rt_hidden_atomic *a)
{
	return a->orders_nothing || (!a->function && a->module && module_is_plain(m->trace, a->module));
}

static bool is_of(const struct model *m, const struct rt_hidden_atomic *a, enum passages_kind kind)
{
	if (kind == PASSAGES_ORDER)
		return !a->orders_nothing;
	return is_unseen(m, a) && !(kind == PASSAGES_READ ? a->reads_nothing : a->writes_nothing);
}

static bool begin_threads(struct reading *r, const struct model *m)
{
	struct passages *p = r->p;
	p->threads = calloc((size_t)m->thread_count + 1, sizeof *p->threads);
	r->threads = calloc((size_t)m->thread_count + 1, sizeof *r->threads);
	bool ok = p->threads && r->threads;
	for (uint32_t i = 0; ok && i < m->thread_count; i++) {
		r->threads[i].out = &p->threads[i];
		if (r->kind != PASSAGES_WRITE)
			continue;
		p->threads[i].reads = calloc((size_t)m->threads[i].count / 8 + 1, 1);
		p->threads[i].writes = calloc((size_t)m->threads[i].count / 8 + 1, 1);
		ok = p->threads[i].reads && p->threads[i].writes;
	}
	return ok;
}

/* False without memory. */
static bool begin(struct reading *r, const struct model *m)
{
	struct passages *p = r->p;
	size_t n;
	bool any = false;
	const struct rt_hidden_atomic *all = rt_trace_hidden_atomics(m->trace, &n);
	p->m = m;
	p->atomics = calloc(n + 1, sizeof *p->atomics);
	p->plain = calloc(n + 1, sizeof *p->plain);
	for (size_t i = 0; p->atomics && p->plain && i < n && n < MODEL_NONE; i++) {
		const struct rt_module *module = module_at(m->trace, all[i].start);
		any |= r->kind != PASSAGES_ORDER && is_unseen(m, &all[i]);
		if (!is_of(m, &all[i], r->kind))
			continue;
		p->plain[p->atomic_count] = module && module->plain && !is_call(&all[i]);
		p->atomics[p->atomic_count++] = all[i];
	}
	if (!p->atomics || !p->plain)
		return false;
	return !(any || p->atomic_count) || begin_threads(r, m);
}

enum rt_status passages_load(const struct model *m, struct passages of[PASSAGES_KINDS], struct rt_error *err)
{
	struct reading readings[PASSAGES_KINDS];
	enum rt_status status = RT_OK;
	bool any = false, failed = false;
	for (unsigned k = 0; k < PASSAGES_KINDS; k++) {
		readings[k] = (struct reading){.p = &of[k], .kind = (enum passages_kind)k};
		failed |= !begin(&readings[k], m);
		any |= readings[k].threads != NULL;
	}
	if (!failed && any) {
		struct rt_pass pass;
		for (struct rt_event *e = rt_pass_first(&pass, m->trace, err); e && !failed; e = rt_pass_next(&pass))
			for (unsigned k = 0; k < PASSAGES_KINDS && e->thread < m->thread_count; k++) {
				if (readings[k].threads)
					take(&readings[k], e);
				failed |= readings[k].failed;
			}
		status = pass.status;
	}
	for (unsigned k = 0; k < PASSAGES_KINDS; k++) {
		finish(&readings[k]);
		failed |= readings[k].failed;
	}
	if (!status && failed)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the passages of code that is not recorded");
	return status;
}

void passages_release(struct passages *p)
{
	for (uint32_t i = 0; p->threads && i < p->m->thread_count; i++)
		free_all(p->threads[i].items, p->threads[i].reads, p->threads[i].writes);
	free_all(p->atomics, p->plain, p->threads);
	*p = (struct passages){0};
}

uint32_t passages_kept_from(const struct model *m, uint32_t thread, uint64_t number)
{
	return lower_bound(middle, 0, m->threads[thread].count,
	                   m->events[m->threads[thread].events[middle]].number < number);
}

uint32_t passages_ended(const struct passages_thread *t, uint64_t number)
{
	return lower_bound(middle, 0, t->count, t->items[middle].close <= number);
}
