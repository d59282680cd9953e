/*
 * Ranking; see rank.h. Each rule examines the model and the descriptions, and adds to the verdict's base or subtracts
 * from it. It examines a bounded number of events around each, so a rank costs the same on every trace.
 */
#include "lib/report/rank.h"

#include "lib/report/subject.h"

#include <math.h>
#include <string.h>

enum { NEAR = 16, CELL_LOOK = 256, POINTER = sizeof(void *) };

struct ranking {
	const struct analysis *a;
	const struct model *m;
	const struct descriptions *d;
	struct guards *guards;
	const struct anomaly *anomaly;
	struct rank rank;
};

static void say(struct ranking *j, double weight, const char *why)
{
	j->rank.value += weight;
	if (j->rank.why_count < RANK_REASONS_MAX)
		j->rank.why[j->rank.why_count++] = why;
}

static const struct description *description(const struct ranking *j, uint32_t e)
{
	return description_of(j->d, j->m->events[e].number);
}

static bool is_access(const struct ranking *j, uint32_t e)
{
	return rt_op_is_access(model_op(j->m, e)) && model_op(j->m, e) != RT_OP_FENCE;
}

/* True if both are on one source line, as far as it is known; else at one code position. */
static bool same_line(const struct ranking *j, uint32_t e1, uint32_t e2)
{
	uint64_t pc1 = j->m->sites[j->m->events[e1].site].pc, pc2 = j->m->sites[j->m->events[e2].site].pc;
	size_t n1 = 0, n2 = 0;
	const struct rt_frame *f1 = rt_trace_frames(j->a->trace, pc1, &n1);
	const struct rt_frame *f2 = rt_trace_frames(j->a->trace, pc2, &n2);
	if (!n1 || !n2 || !f1[0].file || !f2[0].file)
		return pc1 == pc2;
	return f1[0].line == f2[0].line && !strcmp(f1[0].file, f2[0].file);
}

/* The nearest access of e's thread to the cell of e, after (step 1) or before it (step -1), that writes or reads as
 * requested; MODEL_NONE if there is none near. */
static uint32_t neighbour(const struct ranking *j, uint32_t e, int step, bool writes)
{
	const struct model *m = j->m;
	const struct model_thread *t = &m->threads[model_thread_of(m, e)];
	uint32_t pos = m->events[e].pos;
	for (int i = 0; i < NEAR; i++) {
		if (step < 0 ? pos == 0 : pos + 1 >= t->count)
			break;
		pos = step < 0 ? pos - 1 : pos + 1;
		uint32_t other = t->events[pos];
		unsigned op = model_op(m, other);
		if (m->sites[m->events[other].site].flags & RT_F_FREE)
			continue;
		if (is_access(j, other) && m->events[other].object == m->events[e].object &&
		    (writes ? rt_op_writes(op) : rt_op_reads(op)))
			return other;
	}
	return MODEL_NONE;
}

/* True if the thread reads and later writes. A read and a write on one line are an update instead. */
static void judge_shape(struct ranking *j)
{
	bool update = false, check = false;
	for (uint32_t i = 0; i < j->anomaly->event_count; i++) {
		uint32_t e = j->anomaly->events[i];
		if (!is_access(j, e) || !rt_op_reads(model_op(j->m, e)) || rt_op_writes(model_op(j->m, e)))
			continue;
		uint32_t write = neighbour(j, e, 1, true);
		if (write == MODEL_NONE)
			continue;
		if (same_line(j, e, write))
			update = true;
		else
			check = true;
	}
	if (check)
		say(j, 0.1, "check-then-act: the value read is acted upon by a later write of the same thread");
	else if (update)
		say(j, 0.06, "read-modify-write: an update can be lost");
}

/* True if every access of the cell is part of an update on one line (x++), so that its value is used nowhere. */
static bool only_counted(const struct ranking *j, const struct model_cell *cell)
{
	uint32_t n = cell->count < CELL_LOOK ? cell->count : CELL_LOOK;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = j->m->cell_events[cell->first + i];
		unsigned op = model_op(j->m, e);
		if (rt_op_reads(op) && rt_op_writes(op))
			continue;
		uint32_t other = rt_op_reads(op) ? neighbour(j, e, 1, true) : neighbour(j, e, -1, false);
		if (other == MODEL_NONE || !same_line(j, e, other))
			return false;
	}
	return n > 1;
}

static uint32_t count_writes(const struct ranking *j, const struct model_cell *cell)
{
	uint32_t n = cell->count < CELL_LOOK ? cell->count : CELL_LOOK, writes = 0;
	for (uint32_t i = 0; i < n; i++)
		writes += (uint32_t)rt_op_writes(model_op(j->m, j->m->cell_events[cell->first + i]));
	return cell->count > CELL_LOOK ? CELL_LOOK : writes;
}

/* True if the first access is further down in the function of the second: what is done is waited for there, not checked
 * beforehand. */
static bool comes_below(const struct ranking *j, uint32_t e1, uint32_t e2)
{
	size_t n1, n2;
	const struct rt_frame *f1 = rt_trace_frames(j->a->trace, j->m->sites[j->m->events[e1].site].pc, &n1),
	                      *f2 = rt_trace_frames(j->a->trace, j->m->sites[j->m->events[e2].site].pc, &n2);
	return n1 && n2 && f1->function && f2->function && !strcmp(f1->function, f2->function) && f1->file &&
	       f2->file && !strcmp(f1->file, f2->file) && f1->line > f2->line;
}

/* True if the read may be the condition of the write on its line: "if (!p) p = make();", and no "n = n + 1". */
static bool checks(const struct ranking *j, uint32_t read, uint32_t write)
{
	size_t n1 = 0, n2 = 0;
	const struct rt_frame *f1 = rt_trace_frames(j->a->trace, j->m->sites[j->m->events[read].site].pc, &n1);
	const struct rt_frame *f2 = rt_trace_frames(j->a->trace, j->m->sites[j->m->events[write].site].pc, &n2);
	return n1 && n2 && f1->column && f1->column < f2->column;
}

/* True if the shape is double-checked initialisation: a check without the lock, then the writer's own check under
 * it. */
static bool double_checked(const struct ranking *j, uint32_t read, uint32_t write)
{
	const struct model *m = j->m;
	if (model_lockset_of(m, read) != 0 || model_lockset_of(m, write) == 0 || comes_below(j, read, write))
		return false;
	uint32_t second = neighbour(j, write, -1, false);
	return second != MODEL_NONE && model_lockset_of(m, second) == model_lockset_of(m, write) &&
	       (!same_line(j, second, write) || checks(j, second, write));
}

/* Counters and flags written once: rather benign. Double-checked initialisation is none of them. Races only. */
static void judge_benign(struct ranking *j)
{
	const struct model *m = j->m;
	uint32_t e1 = j->anomaly->events[0], e2 = j->anomaly->events[1];
	uint32_t cell1 = m->events[e1].object, cell2 = m->events[e2].object;
	const struct model_cell *cell = &m->cells[cell1 > cell2 ? cell1 : cell2];
	unsigned op1 = model_op(m, e1), op2 = model_op(m, e2);
	enum { ONCE = 2 }; /* writes of what is initialised: with its initial value */
	bool one_reads = !rt_op_writes(op1) || !rt_op_writes(op2);
	if (only_counted(j, cell))
		say(j, -0.12, "against: only ever updated in place, as a statistics counter is");
	if (one_reads && cell->size <= 4 && count_writes(j, cell) == 1)
		say(j, -0.08, "against: a flag that is written once");
	if (one_reads && count_writes(j, cell) <= ONCE &&
	    double_checked(j, rt_op_writes(op1) ? e2 : e1, rt_op_writes(op1) ? e1 : e2))
		j->rank.double_checked = true;
	if (j->rank.double_checked)
		say(j, 0.05,
		    "double-checked initialisation: the check without the lock does not see all that was made under "
		    "it");
}

static bool is_edge_of_life(const char *function)
{
	static const char *const names[] = {"_GLOBAL__",
	                                    "__static_initialization_and_destruction",
	                                    "__cxx_global_var_init",
	                                    "__cxa_finalize",
	                                    "__do_global",
	                                    "__run_exit_handlers"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(function, names[i], strlen(names[i])))
			return true;
	return !strcmp(function, "exit") || !strcmp(function, "_init") || !strcmp(function, "_fini");
}

static bool at_edge_of_life(const struct ranking *j, const struct description *d)
{
	for (size_t i = 0; i < d->stack_count; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(j->a->trace, d->stack[i], &n);
		for (size_t k = 0; k < n; k++)
			if (frames[k].function && is_edge_of_life(frames[k].function))
				return true;
	}
	return false;
}

/* Properties of the anomaly's accesses together. */
struct rank_traits {
	bool freed, vptr, pointer, wide, atomic, plain, edge;
	bool changed; /* two accesses whose values are recorded and differ */
};

static bool is_pointer(const struct rt_event *event)
{
	/* Programs are mapped above 4 GiB, unless they are not position-independent: their pointers are then not
	 * recognized. */
	return event->flags & RT_F_VALUE && event->arg == POINTER && event->value > UINT32_MAX &&
	       event->value <= RT_OPERAND_MAX;
}

static bool is_freed(const struct ranking *j)
{
	uint32_t last;
	uint64_t addr;
	if (!subject_meeting(j->m, j->anomaly, &last, &addr))
		return false;
	const struct description *d = description(j, last);
	const struct memory_place *place = d ? description_place(d, addr) : NULL;
	return place && place->block.freed;
}

static struct rank_traits gather(const struct ranking *j)
{
	struct rank_traits f = {.freed = is_freed(j)};
	const struct rt_event *valued = NULL;
	for (uint32_t i = 0; i < j->anomaly->event_count; i++) {
		const struct description *d = description(j, j->anomaly->events[i]);
		if (!d || !is_access(j, j->anomaly->events[i]))
			continue;
		const struct rt_event *event = &d->event;
		f.freed |= (event->flags & RT_F_FREE) != 0;
		f.vptr |= (event->flags & RT_F_VPTR) != 0;
		f.pointer |= is_pointer(event);
		f.wide |= event->arg > POINTER && !(event->flags & RT_F_FREE);
		f.atomic |= rt_op_is_atomic(event->op) != 0;
		f.plain |= rt_op_is_atomic(event->op) == 0;
		f.edge |= at_edge_of_life(j, d);
		if (event->flags & RT_F_VALUE) {
			f.changed |= valued && valued->value != event->value;
			valued = event;
		}
	}
	return f;
}

static void judge_accesses(struct ranking *j)
{
	struct rank_traits f = gather(j);
	if (f.freed)
		say(j, 0.2, "one side frees the memory: use after free");
	if (f.vptr)
		say(j, 0.12, "the access is to an object's vtable pointer: the object is being made or destroyed");
	if (f.pointer)
		say(j, 0.08, "the value is a pointer");
	if (f.wide)
		say(j, 0.05, "more bytes than one store writes: a reader can see half of an update");
	if (f.changed)
		say(j, 0.06, "the write changes the value");
	if (f.atomic && f.plain)
		say(j, 0.03, "one side is atomic, the other is not");
	if (f.edge)
		say(j, -0.1, "against: before main or after exit");
}

/* Nearly all other accesses hold a lock: that it is not held here is rather a mistake than meant. */
static void judge_guard(struct ranking *j)
{
	enum { ENOUGH = 10, PERCENT = 90 };
	uint32_t cell = subject_cell(j->m, j->anomaly);
	struct guard guard = cell == MODEL_NONE ? (struct guard){.lock = MODEL_NONE} : guard_of(j->guards, cell);
	if (guard.lock != MODEL_NONE && guard.of >= ENOUGH && guard.held < guard.of &&
	    guard.held * 100 >= guard.of * PERCENT)
		say(j, 0.08, "nearly all other accesses hold one lock");
}

static bool has_common_lock(const struct model *m, uint32_t e1, uint32_t e2)
{
	const struct model_lockset *set = &m->locksets[model_lockset_of(m, e1)];
	for (uint32_t i = 0; i < set->count; i++)
		if (model_lockset_lock(m, model_lockset_of(m, e2), set->locks[i].object))
			return true;
	return false;
}

static void judge_race(struct ranking *j)
{
	const struct model *m = j->m;
	if (anomaly_is_alloc_race(m, j->anomaly)) {
		say(j, 0.1,
		    "nothing makes the allocation happen before the use: the pointer came without synchronisation");
		return;
	}
	if (anomaly_is_stale_use(m, j->anomaly))
		say(j, 0.1, "the pointer is an old one: the memory was handed out again before the use");
	uint32_t e1 = j->anomaly->events[0], e2 = j->anomaly->events[1];
	if (rt_op_writes(model_op(m, e1)) && rt_op_writes(model_op(m, e2)))
		say(j, 0.05, "both sides write");
	bool locked1 = model_lockset_of(m, e1) != 0, locked2 = model_lockset_of(m, e2) != 0;
	if (locked1 != locked2)
		say(j, 0.06, "one side holds a lock, the other forgot it");
	else if (locked1 && locked2 && has_common_lock(m, e1, e2))
		say(j, 0.04, "the two sides hold one lock as readers only");
	else if (locked1 && locked2)
		say(j, 0.04, "the two sides hold different locks");
	judge_guard(j);
	judge_benign(j);
}

struct rank rank_of(const struct analysis *a, const struct descriptions *d, struct guards *guards,
                    const struct anomaly *anomaly)
{
	static const struct {
		double base;
		const char *why;
	} verdicts[VERDICTS] = {
	    [VERDICT_REFUTED] = {0.05, "no run of these events has it"},
	    [VERDICT_CONDITIONAL] = {0.15, "it needs reads to see other writes than they saw"},
	    [VERDICT_PREDICTED] = {0.3, "predicted from locks and order alone, without a witness"},
	    [VERDICT_PROVED] = {0.55, "another run of the same events has it"},
	    [VERDICT_OBSERVED] = {0.6, "it is in the recorded run itself"},
	    [VERDICT_CONFIRMED] = {0.65, "the program was made to do it"},
	};
	struct ranking j = {.a = a, .m = a->model, .d = d, .guards = guards, .anomaly = anomaly};
	say(&j, verdicts[anomaly->verdict].base, verdicts[anomaly->verdict].why);
	judge_accesses(&j);
	if (anomaly->kind == ANOMALY_RACE && anomaly->event_count == 2)
		judge_race(&j);
	if (!anomaly_is_of_waits(anomaly))
		judge_shape(&j);
	double value = round(j.rank.value * 100) / 100;
	j.rank.value = value < 0.01 ? 0.01 : value > 0.99 ? 0.99 : value;
	return j.rank;
}
