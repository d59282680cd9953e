/*
 * Making plans; see plan.h. The first pass over the trace finds the events where the schedule changes threads, and so
 * the positions whose accesses are looked at. The second one gathers the marks, and the third one says what memory they
 * are of.
 */
#include "lib/schedule/planner.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/module_path.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum rt_status planner_no_memory(struct planner *p)
{
	return rt_error_set(p->err, RT_EMEMORY, "no memory for the plan of a run");
}

/* True if it synchronises and is a step of the controlled scheduler: compared wherever it is. */
bool plan_is_sync(unsigned op)
{
	return rt_op_has(op, RT_STEPS);
}

bool plan_can_stop(unsigned op)
{
	return op == RT_OP_READ || op == RT_OP_WRITE || plan_is_sync(op);
}

/* ---- The request ---- */

static struct stop *add_stop(struct planner *p, uint32_t thread, uint64_t ordinal, bool goal)
{
	struct thread_plan *t = &p->threads[thread];
	t->stops[t->stop_count] = (struct stop){.ordinal = ordinal, .goal = goal};
	if (t->last < ordinal)
		t->last = ordinal;
	return &t->stops[t->stop_count++];
}

/* Lays out the stops of each thread. */
static enum rt_status read_request(struct planner *p)
{
	const struct plan_request *q = p->request;
	size_t *counts = calloc((size_t)p->thread_count + 1, sizeof *counts);
	enum rt_status status = counts ? RT_OK : planner_no_memory(p);
	for (size_t i = 0; !status && i < q->run_count + q->goal_count; i++) {
		const struct plan_run *r = i < q->run_count ? &q->runs[i] : &q->goal[i - q->run_count];
		if (r->thread >= p->thread_count)
			status = rt_error_set(p->err, RT_EINPUT, "the schedule has a thread that the trace has not");
		else
			counts[r->thread]++;
	}
	for (uint32_t t = 0; !status && t < p->thread_count; t++)
		if (counts[t] && !(p->threads[t].stops = calloc(counts[t], sizeof(struct stop))))
			status = planner_no_memory(p);
	free(counts);
	for (size_t i = 0; !status && i < q->run_count; i++) {
		struct thread_plan *t = &p->threads[q->runs[i].thread];
		if (q->runs[i].from != t->last + 1 || q->runs[i].to < q->runs[i].from)
			status = rt_error_set(p->err, RT_EINPUT,
			                      "step %zu: the thread stands before its event %llu, not %llu", i + 1,
			                      (unsigned long long)t->last + 1, (unsigned long long)q->runs[i].from);
		else
			p->run_stops[i] = add_stop(p, q->runs[i].thread, q->runs[i].to, false);
	}
	for (uint32_t i = 0; !status && i < q->goal_count; i++) {
		uint32_t thread = q->goal[i].thread;
		if (q->kind == GOAL_SEQUENCE) { /* the steps run it: a stop there already, or on the way to one */
			p->goal_stops[i] = NULL;
			continue;
		}
		if (q->goal[i].from <= p->threads[thread].last)
			return rt_error_set(p->err, RT_EINPUT, "the goal: the thread has run its event %llu",
			                    (unsigned long long)q->goal[i].from);
		p->goal_stops[i] = add_stop(p, thread, q->goal[i].from - 1, true);
	}
	return status;
}

/* ---- Passes ---- */

/* True if a thread makes another one inside OpenMP's library: it has no turn there. */
static bool is_made_inside(const struct planner *p, const struct rt_event *e)
{
	static const char name[] = "libgomp.";
	uint32_t module = e->op == RT_OP_FORK ? planner_module(p, e->pc) : RT_PLAN_NONE;
	return module != RT_PLAN_NONE && !strncmp(module_name(p->modules[module].path), name, sizeof name - 1);
}

/*
 * True if it says that a task of OpenMP begins or ends in the thread: which thread that is, and when, is up to the
 * library, and orders only what is of the thread's own memory.
 */
static bool is_of_runner(struct thread_plan *t, const struct rt_event *e)
{
	if (e->op == RT_OP_TLS)
		t->own_memory = e->addr;
	if (e->op == RT_OP_BEGIN) {
		t->stack = e->addr;
		t->stack_size = e->arg;
	}
	return e->op == RT_OP_HB_BEFORE && e->addr == t->own_memory;
}

typedef void see_event(struct planner *p, struct thread_plan *t, const struct rt_event *e);
static see_event find_stop;

static void start_pass(struct planner *p)
{
	p->unfinished = 0;
	for (uint32_t i = 0; i < p->thread_count; i++) {
		struct thread_plan *t = &p->threads[i];
		t->next_stop = 0;
		t->seen = 0;
		t->at = 0;
		t->own_memory = 0;
		t->stack_size = 0;
		t->done = !t->last;
		p->unfinished += !t->done;
	}
}

/* The goal of a deadlock that the recorded run was in: a run is stopped at what the thread waits to do. */
static bool is_awaited_goal(const struct planner *p, const struct rt_event *e)
{
	const struct plan_request *q = p->request;
	for (uint32_t i = 0; e->op == RT_OP_BLOCK && q->kind == GOAL_DEADLOCK && i < q->goal_count; i++)
		if (q->goal[i].thread == e->thread && q->goal[i].from == e->ordinal)
			return true;
	return false;
}

/* Hands out the events of all threads, as long as some thread has not come to its last one. */
static enum rt_status pass(struct planner *p, see_event *see)
{
	struct rt_pass pass;
	start_pass(p);
	for (struct rt_event *e = rt_pass_first(&pass, p->trace, p->err); e && p->unfinished && !p->no_memory;
	     e = rt_pass_next(&pass)) {
		struct thread_plan *t = e->thread < p->thread_count ? &p->threads[e->thread] : NULL;
		if (!t)
			continue;
		if (is_awaited_goal(p, e))
			e->op = (enum rt_op)e->arg;
		see(p, t, e);
		if (!t->done && (see == find_stop ? t->next_stop == t->stop_count : e->ordinal >= t->last)) {
			t->done = true;
			p->unfinished--;
		}
	}
	return pass.status ? pass.status : p->no_memory ? planner_no_memory(p) : RT_OK;
}

static struct site *site_of(struct planner *p, struct site_key key, bool make)
{
	struct site *s;
	HASH_FIND(hh, p->sites, &key, sizeof key, s);
	if (s || !make)
		return s;
	HASH_MAKE(p->sites, key, key, s);
	if (s)
		s->index = p->site_count++;
	else
		p->no_memory = true;
	return s;
}

static struct site_key key_of(const struct rt_event *e)
{
	return (struct site_key){.pc = e->pc, .op = e->op};
}

static void watch(struct planner *p, struct site_key key)
{
	struct site *s = site_of(p, key, true);
	if (s)
		s->watched = true;
}

/* Which event of a sequence's goal it is; if none, the number of them. */
static uint32_t goal_of_event(const struct planner *p, const struct rt_event *e)
{
	const struct plan_request *q = p->request;
	uint32_t i = 0;
	while (i < q->goal_count &&
	       (q->kind != GOAL_SEQUENCE || q->goal[i].thread != e->thread || q->goal[i].from != e->ordinal))
		i++;
	return i;
}

/* True if the build that is run has the position. What synchronises it has, wherever that is. */
static bool is_there(const struct planner *p, struct site_key key)
{
	return !p->rebuilt || rebuilt_pc(p->rebuilt, key.pc, (unsigned)key.op, 0);
}

static void check_goal(struct planner *p, struct site_key key)
{
	if (!p->missing && !is_there(p, key))
		p->missing = key.pc;
}

static enum rt_status goal_missing(struct planner *p)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(p->trace, p->missing, &n);
	if (!n || !f->file)
		return rt_error_set(p->err, RT_EINPUT, "the other build has no such position, or did not come to it");
	return rt_error_set(p->err, RT_EINPUT, "the other build has no '%s:%u' (%s), or did not come to it", f->file,
	                    f->line, f->function ? f->function : "?");
}

/*
 * True if the build that is run need not execute the access: it has the value in a register, or the access is one with
 * another. Those of the goal are looked for all the same.
 */
static bool is_absent(const struct planner *p, const struct thread_plan *t, const struct rt_event *e)
{
	const struct stop *last = t->stop_count ? &t->stops[t->stop_count - 1] : NULL;
	if (!p->rebuilt || plan_is_sync(e->op))
		return false;
	if (goal_of_event(p, e) < p->request->goal_count)
		return false;
	/* Of the goal of a race: its ordinal is the one before until it is found. */
	if (last && last->goal && e->ordinal == last->ordinal + !last->found)
		return false;
	return e->addr - t->stack < t->stack_size || !is_there(p, key_of(e));
}

/* A stop is the first event behind an ordinal that a run can be stopped at. */
static void find_stop(struct planner *p, struct thread_plan *t, const struct rt_event *e)
{
	if (is_of_runner(t, e) || t->next_stop == t->stop_count || !plan_can_stop(e->op) || is_made_inside(p, e) ||
	    is_absent(p, t, e))
		return;
	if (goal_of_event(p, e) < p->request->goal_count && !plan_is_sync(e->op)) {
		watch(p, key_of(e));
		check_goal(p, key_of(e));
	}
	for (; t->next_stop < t->stop_count && e->ordinal > t->stops[t->next_stop].ordinal; t->next_stop++) {
		struct stop *stop = &t->stops[t->next_stop];
		stop->found = !stop->goal || e->ordinal == stop->ordinal + 1;
		stop->behind = t->seen;
		if (t->seen && !plan_is_sync((unsigned)t->seen_at.op))
			watch(p, t->seen_at); /* so that it is known when it has run */
		stop->ordinal = e->ordinal;
		if (stop->found && stop->goal)
			check_goal(p, key_of(e));
		if (stop->found && !plan_is_sync(e->op))
			watch(p, key_of(e));
	}
	t->seen = e->ordinal;
	t->seen_at = key_of(e);
}

static enum rt_status cannot_stop(struct planner *p, uint32_t goal)
{
	const struct plan_run *r = &p->request->goal[goal];
	return rt_error_set(p->err, RT_EINPUT, "event %llu of thread '%s' is nothing that a run can be stopped at",
	                    (unsigned long long)r->from, rt_trace_info(p->trace)->threads[r->thread].name);
}

static enum rt_status find_stops(struct planner *p)
{
	enum rt_status status = pass(p, find_stop);
	for (uint32_t i = 0; !status && i < p->thread_count; i++) {
		struct thread_plan *t = &p->threads[i];
		for (size_t k = t->next_stop; k < t->stop_count; k++)
			t->stops[k].behind = t->seen;
		if (t->next_stop < t->stop_count && t->seen && !plan_is_sync((unsigned)t->seen_at.op))
			watch(p, t->seen_at);
		for (size_t k = 0; k < t->stop_count; k++)
			if (t->stops[k].found && t->last < t->stops[k].ordinal)
				t->last = t->stops[k].ordinal;
	}
	for (uint32_t i = 0; !status && i < p->request->goal_count; i++)
		if (p->goal_stops[i] && !p->goal_stops[i]->found)
			status = cannot_stop(p, i);
	if (!status && p->missing)
		status = goal_missing(p);
	return p->no_memory ? planner_no_memory(p) : status;
}

/* The site of an event that is a mark; NULL: it is none. */
static struct site *marked_site(struct planner *p, struct thread_plan *t, const struct rt_event *e)
{
	if (is_of_runner(t, e) || t->done || !plan_can_stop(e->op) || is_made_inside(p, e) || is_absent(p, t, e))
		return NULL;
	struct site *site = site_of(p, key_of(e), plan_is_sync(e->op));
	return site && (plan_is_sync(e->op) || site->watched) ? site : NULL;
}

static void add_mark(struct planner *p, struct thread_plan *t, const struct rt_event *e)
{
	struct site *site = marked_site(p, t, e);
	if (!site)
		return;
	if (!vec_reserve(&t->marks, &t->mark_capacity, (uint64_t)t->mark_count + 1, sizeof *t->marks)) {
		p->no_memory = true;
		return;
	}
	for (; t->next_stop < t->stop_count && t->stops[t->next_stop].ordinal <= e->ordinal; t->next_stop++) {
		t->stops[t->next_stop].mark = t->mark_count;
		t->stops[t->next_stop].marked = t->seen == t->stops[t->next_stop].behind;
	}
	t->seen = e->ordinal;
	uint32_t goal = goal_of_event(p, e);
	if (goal < p->request->goal_count)
		p->goal_marks[goal] = t->mark_count;
	t->marks[t->mark_count++] =
	    (struct raw_mark){.addr = e->addr, .site = site->index, .base = RT_PLAN_NONE, .offset = e->addr};
}

static enum rt_status add_marks(struct planner *p)
{
	for (uint32_t i = 0; i < p->request->goal_count; i++)
		p->goal_marks[i] = UINT64_MAX;
	enum rt_status status = pass(p, add_mark);
	for (uint32_t i = 0; !status && i < p->thread_count; i++) /* stops that no mark comes after */
		for (size_t k = 0; k < p->threads[i].stop_count; k++)
			if (!p->threads[i].stops[k].found)
				p->threads[i].stops[k].marked = p->threads[i].stops[k].behind == p->threads[i].seen;
	/* Without a mark of its own, another event would count as the goal's. */
	for (uint32_t i = 0; !status && i < p->request->goal_count; i++)
		if (p->request->kind == GOAL_SEQUENCE && p->goal_marks[i] == UINT64_MAX)
			status = cannot_stop(p, i);
	return status;
}

/* ---- Memory ---- */

uint32_t planner_module(const struct planner *p, uint64_t addr)
{
	size_t low = lower_bound(middle, 0, p->module_count, p->modules[middle].end <= addr);
	return low < p->module_count && p->modules[low].start <= addr ? (uint32_t)low : RT_PLAN_NONE;
}

static int compare_places(const void *a, const void *b)
{
	const struct plan_address *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The first place at or above an address. */
static size_t place_from(const struct planner *p, uint64_t addr)
{
	return lower_bound(middle, 0, p->place_count, p->places[middle].addr < addr);
}

static uint32_t new_base(struct planner *p, uint32_t module)
{
	if (!vec_reserve(&p->bases, &p->base_capacity, (uint64_t)p->base_count + 1, sizeof *p->bases)) {
		p->no_memory = true;
		return 0;
	}
	p->bases[p->base_count] = (struct rt_plan_base){.module = module};
	return p->base_count++;
}

static bool has_memory(unsigned op)
{
	return op != RT_OP_FENCE && op != RT_OP_FORK && op != RT_OP_JOIN && op != RT_OP_HB_BEFORE;
}

/*
 * Where a mark's memory is in each run: its module's base and the offset from there. In another build a variable is
 * elsewhere in its module. False: it is in none, or that build's place is unknown.
 */
static bool find_fixed(const struct planner *p, uint64_t addr, uint32_t *module, uint64_t *offset)
{
	uint64_t there = p->rebuilt ? rebuilt_address(p->rebuilt, addr) : addr;
	*module = there ? planner_module(p, there) : RT_PLAN_NONE;
	if (*module == RT_PLAN_NONE)
		return false;
	*offset = there - p->modules[*module].start;
	return true;
}

/* Addresses of marks that are in no module, each once. */
static bool gather_places(struct planner *p)
{
	size_t n = 0, kept = 0;
	uint32_t module;
	uint64_t offset;
	for (uint32_t i = 0; i < p->thread_count; i++)
		n += p->threads[i].mark_count;
	p->places = calloc(n + 1, sizeof *p->places);
	if (!p->places)
		return false;
	n = 0;
	for (uint32_t i = 0; i < p->thread_count; i++)
		for (size_t k = 0; k < p->threads[i].mark_count; k++)
			if (!find_fixed(p, p->threads[i].marks[k].addr, &module, &offset))
				p->places[n++] =
				    (struct plan_address){.addr = p->threads[i].marks[k].addr, .base = RT_PLAN_NONE};
	qsort(p->places, n, sizeof *p->places, compare_places);
	for (size_t i = 0; i < n; i++)
		if (!kept || p->places[kept - 1].addr != p->places[i].addr)
			p->places[kept++] = p->places[i];
	p->place_count = kept;
	return true;
}

static void begin_object(struct planner *p, uint64_t addr, uint64_t size);

/* In another build: variables of the recorded one. */
static void begin_variables(struct planner *p)
{
	struct rt_variable v;
	for (size_t i = 0; p->rebuilt && i < p->place_count; i++)
		if (p->places[i].base == RT_PLAN_NONE && rt_trace_variable(p->trace, p->places[i].addr, &v))
			begin_object(p, v.address, v.size ? v.size : 1);
}

/* The places in a stretch of memory are one object from here on. */
static void begin_object(struct planner *p, uint64_t addr, uint64_t size)
{
	size_t i = place_from(p, addr);
	if (i == p->place_count || p->places[i].addr - addr >= size)
		return;
	uint32_t base = new_base(p, RT_PLAN_NONE);
	for (; i < p->place_count && p->places[i].addr - addr < size; i++) {
		p->places[i].base = base;
		p->places[i].offset = p->places[i].addr - addr;
	}
}

/* Of the marks, in the order in which they were gathered. */
static void place_mark(struct planner *p, struct thread_plan *t, const struct rt_event *e)
{
	if (e->op == RT_OP_ALLOC || e->op == RT_OP_MAP)
		begin_object(p, e->addr, e->arg);
	if (e->op == RT_OP_BEGIN && e->arg)
		begin_object(p, e->addr, e->arg);
	if (!marked_site(p, t, e) || t->at == t->mark_count)
		return;
	struct raw_mark *mark = &t->marks[t->at++];
	if (!has_memory(e->op))
		return;
	if (find_fixed(p, mark->addr, &mark->base, &mark->offset)) /* the first bases are the modules' */
		return;
	struct plan_address *place = &p->places[place_from(p, mark->addr)];
	if (place->base == RT_PLAN_NONE) {
		place->base = new_base(p, RT_PLAN_NONE);
		place->offset = 0;
	}
	mark->base = place->base;
	mark->offset = place->offset;
}

static void release(struct planner *p)
{
	HASH_FREE(p->sites);
	for (uint32_t i = 0; p->threads && i < p->thread_count; i++) {
		free(p->threads[i].stops);
		free(p->threads[i].marks);
	}
	free_all(p->threads, p->run_stops, p->places, p->bases, p->site_places);
}

enum rt_status plan_make(struct rt_trace *trace, const struct plan_request *request, const struct rebuilt *rebuilt,
                         struct rt_plan **out, struct rt_error *err)
{
	struct plan_request moved = *request;
	struct plan_run *runs;
	struct planner p = {.trace = trace,
	                    .request = &moved,
	                    .rebuilt = rebuilt,
	                    .err = err,
	                    .thread_count = rt_trace_info(trace)->thread_count};
	p.modules = rt_trace_modules(rebuilt ? rebuilt_trace(rebuilt) : trace, &p.module_count);
	p.threads = calloc((size_t)p.thread_count + 1, sizeof *p.threads);
	p.run_stops = calloc(request->run_count + 1, sizeof *p.run_stops);
	enum rt_status status = planner_arrivals(trace, &moved, &runs, err);
	if (!status && (!p.threads || !p.run_stops))
		status = planner_no_memory(&p);
	for (uint32_t i = 0; !status && i < p.module_count; i++)
		new_base(&p, i);
	if (!status)
		status = read_request(&p);
	if (!status)
		status = find_stops(&p);
	if (!status)
		status = add_marks(&p);
	if (!status && !gather_places(&p))
		status = planner_no_memory(&p);
	begin_variables(&p);
	if (!status)
		status = pass(&p, place_mark);
	if (!status)
		status = planner_write(&p, out);
	release(&p);
	free(runs);
	return status;
}

/* Which event of the goal is the first one of the same thread, and of the same memory. */
static void set_roles(struct rt_plan_goal *to, const struct plan_position *goal, uint32_t i)
{
	to->thread = to->cell = 0;
	while (goal[to->thread].thread != goal[i].thread)
		to->thread++;
	while (to->cell < i && (goal[to->cell].cell + goal[to->cell].cells <= goal[i].cell ||
	                        goal[i].cell + goal[i].cells <= goal[to->cell].cell))
		to->cell++;
}

enum rt_status plan_search(struct rt_trace *trace, enum goal_kind kind, const struct plan_position *goal,
                           uint32_t goal_count, const struct plan_position *further, size_t further_count,
                           const struct rebuilt *rebuilt, struct rt_plan **out, struct rt_error *err)
{
	const struct plan_request request = {.kind = kind, .goal_count = goal_count};
	struct planner p = {.trace = trace, .request = &request, .rebuilt = rebuilt, .err = err};
	p.modules = rt_trace_modules(rebuilt ? rebuilt_trace(rebuilt) : trace, &p.module_count);
	for (uint32_t i = 0; i < p.module_count; i++)
		new_base(&p, i);
	for (uint32_t i = 0; i < goal_count && !p.no_memory; i++) {
		const struct site_key key = {.pc = goal[i].pc, .op = goal[i].op};
		watch(&p, key);
		check_goal(&p, key);
		struct site *s = site_of(&p, key, true);
		p.goal_marks[i] = s ? s->index : 0;
	}
	for (size_t i = 0; i < further_count && !p.no_memory; i++)
		watch(&p, (struct site_key){.pc = further[i].pc, .op = further[i].op});
	enum rt_status status = p.no_memory ? planner_no_memory(&p)
	                        : p.missing ? goal_missing(&p)
	                                    : planner_write(&p, out);
	if (!status) {
		(*out)->search = 1;
		for (uint32_t i = 0; i < goal_count; i++)
			set_roles(&(*out)->goals[i], goal, i);
	}
	release(&p);
	return status;
}
