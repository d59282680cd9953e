/*
 * The strategy that follows a plan (tracefmt/plan.h), as PECAN's scheduler does: in each of its steps one thread runs,
 * up to the event that the step ends before, and each of its marks must be the event that the thread is about to
 * execute. Where it is not, or where the thread cannot go on, that is the outcome. When the steps are made, what is
 * looked at is the program itself: whether both accesses of a race are pending on the same memory, or each acquire of a
 * deadlock is blocked. From then on, as from where the program has left the plan, threads go on by chance.
 *
 * The plan is in the control area; its outcome is written into it at once.
 */
#include "recorder/sched/strategy.h"

#include "recorder/runtime/core.h"

#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"
#include "tracefmt/plan.h"

typedef struct rt_plan_thread_state state_t;

enum phase { FOLLOWING, RESOLVING, OVER };
/* What a step is to the thread's next mark. */
enum meets { IS_MARK, NO_MATTER, OTHER_EVENT, OTHER_OBJECT };

static struct rt_plan *plan;
static enum phase phase;
static unsigned resolved; /* events of the goal that were let through */
static state_t nobody;    /* of threads that the plan does not have */

#define PART(type, member) ((type *)(void *)((char *)plan + plan->member))

static state_t *states(void)
{
	return PART(state_t, states);
}
static const struct rt_plan_thread *thread_of(const state_t *s)
{
	return PART(const struct rt_plan_thread, threads) + (s - states());
}
static const struct rt_plan_mark *mark_of(const state_t *s)
{
	return PART(const struct rt_plan_mark, marks) + thread_of(s)->first_mark + s->mark;
}
static bool past_marks(const state_t *s)
{
	return s->mark >= thread_of(s)->mark_count;
}

/* ---- Threads ---- */

/* The plan's thread that a task is; nobody if it has none. */
static state_t *find_state(const struct rt_task *task)
{
	const struct rt_plan_thread *threads = PART(const struct rt_plan_thread, threads);
	uint32_t parent = 0;

	if (task->thread == 0)
		return plan->thread_count ? &states()[0] : &nobody;
	while (parent < plan->thread_count && (states()[parent].task != task->parent))
		parent++;
	for (uint32_t i = 1; parent < plan->thread_count && i < plan->thread_count; i++)
		if (threads[i].parent == parent && threads[i].child_number == task->child_number)
			return &states()[i];
	return &nobody;
}

static state_t *state_of(struct rt_task *task)
{
	if (!task->own) {
		state_t *s = find_state(task);

		task->own = s;
		if (s != &nobody)
			s->task = task->thread;
	}
	return task->own;
}

static struct rt_task *task_of(uint32_t thread)
{
	uint32_t task = thread < plan->thread_count ? states()[thread].task : RT_PLAN_NONE;

	return task == RT_PLAN_NONE ? NULL : rt_sched_task(task);
}

static struct rt_task *among(struct rt_task *const *enabled, unsigned n, const struct rt_task *task)
{
	for (unsigned i = 0; i < n; i++)
		if (enabled[i] == task)
			return enabled[i];
	return NULL;
}

/* One that let others go first is not among the enabled ones while there are such. */
static bool can_go(struct rt_task *const *enabled, unsigned n, const struct rt_task *task)
{
	return among(enabled, n, task) || (task->state == RT_READY && task->yielded);
}

/* ---- Events ---- */

/* Operations that a plan has as marks. */
static bool marks_have(unsigned op)
{
	switch (op) {
	case RT_OP_READ:
	case RT_OP_WRITE:
	case RT_OP_ATOMIC_LOAD:
	case RT_OP_ATOMIC_STORE:
	case RT_OP_ATOMIC_RMW:
	case RT_OP_ATOMIC_CAS:
	case RT_OP_ATOMIC_CAS_FAIL:
	case RT_OP_FENCE:
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
	case RT_OP_RELEASE:
	case RT_OP_WAIT_BEGIN:
	case RT_OP_WAIT_END:
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_SEM_POST:
	case RT_OP_SEM_WAIT:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_SEEN:
	case RT_OP_FORK:
	case RT_OP_JOIN:
	case RT_OP_HB_BEFORE:
		return true;
	default:
		return false;
	}
}

static bool is_plain(unsigned op)
{
	return op == RT_OP_READ || op == RT_OP_WRITE;
}

/* What comes of some operations is known only when they are done. */
static unsigned op_class(unsigned op)
{
	return op == RT_OP_ATOMIC_CAS_FAIL ? RT_OP_ATOMIC_CAS : op == RT_OP_ONCE_SEEN ? RT_OP_ONCE_BEGIN : op;
}

static uint64_t pc_of(const struct rt_plan_site *site)
{
	const uint64_t *learned = PART(const uint64_t, learned);

	if (site->module == RT_PLAN_NONE)
		return site->offset;
	return learned[site->module] ? learned[site->module] + site->offset : 0;
}

/* Does the object agree? What has no address yet gets it. */
static bool same_object(const struct rt_step *e, const struct rt_plan_mark *mark, bool learn)
{
	uint64_t *learned = PART(uint64_t, learned);

	if (e->op == RT_OP_JOIN)
		return mark->offset >= plan->thread_count || states()[mark->offset].task == RT_PLAN_NONE ||
		       states()[mark->offset].task == e->object;
	if (mark->base == RT_PLAN_NONE)
		return true;
	if (!learned[mark->base]) {
		if (learn)
			learned[mark->base] = e->object - mark->offset;
		return true;
	}
	return learned[mark->base] + mark->offset == e->object;
}

static struct rt_plan_held *held(state_t *s, uint64_t lock)
{
	for (unsigned i = 0; i < RT_PLAN_HELD; i++)
		if (s->held[i].lock == lock)
			return &s->held[i];
	return NULL;
}

static struct rt_plan_recent *recent(state_t *s, const struct rt_step *e)
{
	return &s->recent[(e->pc ^ e->object >> 2 ^ e->object >> 9) % RT_PLAN_RECENT];
}

/* A repeat, which the trace may have left out. */
static bool is_repeat(state_t *s, const struct rt_step *e)
{
	const struct rt_plan_recent *r = recent(s, e);

	return is_plain(e->op) && r->pc == e->pc && r->object == e->object;
}

/* Inner levels of a recursive lock are no events; of their releases there is not even a step. */
static bool is_inner(state_t *s, const struct rt_step *e)
{
	return (e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED) && held(s, e->object);
}

static const struct rt_plan_site *site_of(const struct rt_plan_mark *mark)
{
	return PART(const struct rt_plan_site, sites) + mark->site;
}

static bool is_mark(const state_t *s, const struct rt_step *e)
{
	const struct rt_plan_site *site = site_of(mark_of(s));

	return op_class(site->op) == op_class(e->op) && pc_of(site) == e->pc && same_object(e, mark_of(s), false);
}

static bool is_atomic(unsigned op)
{
	return op >= RT_OP_ATOMIC_LOAD && op <= RT_OP_ATOMIC_CAS_FAIL;
}

/*
 * Events without a step, as of locks that an annotation says are taken, of threads that a library makes for itself and
 * of what the C++ library does inside, and turns of a spin, whose number need not be the same: those before the mark
 * that this step is. Their number; 0: it is none.
 */
static uint64_t skipped(state_t *s, const struct rt_step *e)
{
	enum { MOST = 256 };
	uint64_t here = s->mark, n = 0;

	while (n < MOST && !past_marks(s)) {
		unsigned op = site_of(mark_of(s))->op;

		if (n && is_mark(s, e)) {
			s->mark = here;
			return n;
		}
		if (op != RT_OP_ACQUIRE && op != RT_OP_ACQUIRE_SHARED && op != RT_OP_HB_BEFORE && op != RT_OP_FORK &&
		    !is_atomic(op))
			break;
		s->mark++;
		n++;
	}
	s->mark = here;
	return 0;
}

/* Another turn of a spin: the same look as the thread's last mark was. */
static bool is_turn(const state_t *s, const struct rt_step *e)
{
	return (e->op == RT_OP_ATOMIC_LOAD || e->op == RT_OP_ATOMIC_CAS || e->op == RT_OP_ATOMIC_CAS_FAIL) &&
	       s->last_pc == e->pc && s->last_object == e->object;
}

static enum meets compare(state_t *s, const struct rt_step *e)
{
	const struct rt_plan_site *site;

	if (s == &nobody || past_marks(s) || !marks_have(e->op) || is_inner(s, e))
		return NO_MATTER;
	if (is_mark(s, e))
		return IS_MARK;
	if (is_turn(s, e))
		return NO_MATTER;
	uint64_t gap = skipped(s, e);
	if (gap) {
		s->mark += gap;
		return IS_MARK;
	}
	site = site_of(mark_of(s));
	if (op_class(site->op) == op_class(e->op) && pc_of(site) == e->pc)
		return is_repeat(s, e) ? NO_MATTER : OTHER_OBJECT;
	if (is_plain(e->op)) /* the trace may have left it out as a repeat; where it may not have, what follows tells */
		return NO_MATTER;
	if (e->op == RT_OP_HB_BEFORE) /* some calls make one or not, by what state an object is in */
		return NO_MATTER;
	if (e->flags & RT_F_TIMED && e->op != RT_OP_WAIT_END) /* a try, which may fail */
		return NO_MATTER;
	return OTHER_EVENT;
}

/* The thread goes on with this step. */
static void executes(state_t *s, const struct rt_step *e, enum meets meets)
{
	struct rt_plan_held *h;

	if (s == &nobody)
		return;
	s->done = e->count;
	s->was_mark = meets == IS_MARK;
	if (meets == IS_MARK) {
		same_object(e, mark_of(s), true);
		for (uint32_t i = 0; i < plan->goal_count && plan->kind == RT_PLAN_SEQUENCE; i++)
			if (plan->goals[i].thread == (uint32_t)(s - states()) && plan->goals[i].mark == s->mark)
				plan->goals[i].reserved = ++resolved; /* its place among them */
		s->last_pc = e->pc;
		s->last_object = e->object;
		s->mark++;
		plan->matched++;
	}
	if (is_plain(e->op)) {
		*recent(s, e) = (struct rt_plan_recent){e->pc, e->object};
		return;
	}
	if (!marks_have(e->op))
		return;
	for (unsigned i = 0; i < RT_PLAN_RECENT; i++)
		s->recent[i].pc = 0;
	if ((e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED) && (meets == IS_MARK || is_inner(s, e))) {
		h = held(s, e->object);
		if (!h)
			h = held(s, 0);
		if (h) {
			h->lock = e->object;
			h->shared = e->op == RT_OP_ACQUIRE_SHARED;
		}
	} else if (e->op == RT_OP_RELEASE) {
		h = held(s, e->object);
		if (h) {
			h->lock = 0;
		}
	}
}

/* Does the thread only have to go on, in or behind a step that it has done? */
static bool is_between(const state_t *s, const struct rt_task *task)
{
	return s->done == task->next.count;
}

/* The thread has found out that its step cannot be done yet: it stands before its mark again. */
static void retract(state_t *s, const struct rt_task *task)
{
	struct rt_plan_held *h = held(s, task->next.object);

	if (s == &nobody || task->state != RT_BLOCKED || !is_between(s, task) || !s->was_mark ||
	    task->next.op == RT_OP_WAIT_BEGIN || task->next.op == RT_OP_BARRIER_ARRIVE)
		return;
	s->done = UINT64_MAX;
	s->mark--;
	plan->matched--;
	if (h && (task->next.op == RT_OP_ACQUIRE || task->next.op == RT_OP_ACQUIRE_SHARED))
		h->lock = 0;
}

/* ---- What became of it ---- */

static struct rt_plan_event event_of(const struct rt_step *e)
{
	const uint64_t *learned = PART(const uint64_t, learned);
	struct rt_plan_event event = {
	    .op = e->op, .module = RT_PLAN_NONE, .offset = e->pc, .object = e->object, .size = e->arg};

	for (uint32_t i = 0; i < plan->module_count; i++)
		if (learned[i] && e->pc >= learned[i] &&
		    (event.module == RT_PLAN_NONE || learned[i] > learned[event.module]))
			event.module = i;
	if (event.module != RT_PLAN_NONE)
		event.offset = e->pc - learned[event.module];
	return event;
}

/* Where each thread stands. */
static void write_states(void)
{
	struct rt_task *live[256];
	unsigned n = rt_sched_live(live, 256);

	n = n < 256 ? n : 256;

	for (uint32_t i = 0; i < plan->thread_count; i++)
		states()[i].stand = states()[i].task == RT_PLAN_NONE ? RT_PLAN_UNBORN : RT_PLAN_GONE;
	for (unsigned i = 0; i < n; i++) {
		state_t *s = state_of(live[i]);

		if (s == &nobody)
			continue;
		s->stand = live[i]->state == RT_READY     ? RT_PLAN_READY
		           : live[i]->state == RT_BLOCKED ? RT_PLAN_BLOCKED
		           : live[i]->state == RT_OUTSIDE ? RT_PLAN_OUTSIDE
		                                          : RT_PLAN_RUNS;
		s->next = event_of(&live[i]->next);
	}
}

static void ends(enum rt_plan_outcome outcome, const state_t *s)
{
	plan->thread = (uint32_t)(s - states());
	plan->mark = s->mark;
	write_states();
	plan->outcome = outcome;
	phase = OVER;
}

static void diverged(state_t *s, const struct rt_step *e, enum meets meets)
{
	plan->other = meets == OTHER_OBJECT;
	if (e)
		plan->actual = event_of(e);
	else
		plan->actual = (struct rt_plan_event){.op = RT_OP_END, .module = RT_PLAN_NONE};
	ends(RT_PLAN_DIVERGED, s);
}

static bool overlap(const struct rt_step *a, const struct rt_step *b)
{
	uint64_t a_size = a->arg ? a->arg : 1, b_size = b->arg ? b->arg : 1;

	return a->object < b->object + b_size && b->object < a->object + a_size;
}

static bool writes(unsigned op)
{
	return op == RT_OP_WRITE || op == RT_OP_ATOMIC_STORE || op == RT_OP_ATOMIC_RMW || op == RT_OP_ATOMIC_CAS;
}

/* Both are about to access the same memory, one of them to write it, and not both by atomic operations. */
static bool pending(const struct rt_task *a, const struct rt_task *b)
{
	return a && b && a != b && overlap(&a->next, &b->next) && (writes(a->next.op) || writes(b->next.op)) &&
	       (is_plain(a->next.op) || is_plain(b->next.op));
}

/* Does one of the other threads of the goal hold what this one is about to acquire? */
static bool is_held(const struct rt_step *e, uint32_t thread)
{
	for (uint32_t i = 0; i < plan->goal_count; i++) {
		const struct rt_plan_held *h = held(&states()[plan->goals[i].thread], e->object);

		if (plan->goals[i].thread != thread && h && !(h->shared && e->op == RT_OP_ACQUIRE_SHARED))
			return true;
	}
	return false;
}

/* Each thread is at an acquire that another one of them blocks, so none can ever go on. */
static bool cycle_stands(void)
{
	for (uint32_t i = 0; i < plan->goal_count; i++) {
		const struct rt_task *task = task_of(plan->goals[i].thread);

		if (!task || (task->next.op != RT_OP_ACQUIRE && task->next.op != RT_OP_ACQUIRE_SHARED) ||
		    task->next.flags & RT_F_TIMED || !is_held(&task->next, plan->goals[i].thread))
			return false;
	}
	return plan->goal_count != 0;
}

static bool sequence_ran(void)
{
	for (uint32_t i = 0; i < plan->goal_count; i++)
		if (plan->goals[i].reserved != i + 1)
			return false;
	return true;
}

/* Stops the process, all threads of which are where they are. */
static void hold(void)
{
	char text[128] = "held: the process is stopped; 'gdb -p PID' looks at it, 'kill -CONT PID' continues it: PID ";
	long pid = RT_SYSCALL(SYS_getpid);

	rt_append_number(text + rt_length(text), (uint64_t)pid);
	rt_say(text);
	plan->held = 1;
	RT_SYSCALL(SYS_kill, pid, SIGSTOP);
	plan->held = 0;
}

/* All steps are made. */
static void look_at_goal(void)
{
	bool reached = plan->kind == RT_PLAN_RACE
	                   ? pending(task_of(plan->goals[0].thread), task_of(plan->goals[1].thread))
	               : plan->kind == RT_PLAN_SEQUENCE ? sequence_ran()
	                                                : cycle_stands();
	uint32_t last = plan->goal_count ? plan->goals[plan->goal_count - 1].thread : 0;
	struct rt_task *task = task_of(last);

	if (!reached) {
		diverged(&states()[last], task ? &task->next : NULL, OTHER_OBJECT);
		return;
	}
	write_states();
	plan->outcome = RT_PLAN_CONFIRMED;
	resolved = 0;
	if (plan->then == RT_PLAN_HOLD)
		hold();
	phase = plan->kind == RT_PLAN_RACE ? RESOLVING : OVER;
}

/* ---- Modules ---- */

/* A library may be known by different paths, through links. */
static const char *file_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static void loaded(const char *path, const uint8_t *build_id, size_t n, uintptr_t base, void *arg)
{
	const struct rt_plan_module *modules = PART(const struct rt_plan_module, modules);
	const struct rt_plan_site *sites = PART(const struct rt_plan_site, sites);
	uint64_t *learned = PART(uint64_t, learned);

	(void)build_id;
	(void)n;
	(void)arg;
	char target[256];
	long length = RT_SYSCALL(SYS_readlink, path, target, sizeof target - 1);

	target[length > 0 ? length : 0] = '\0';
	for (uint32_t i = 0; i < plan->module_count; i++) {
		const char *known = file_name((const char *)plan + modules[i].path);

		if (learned[i] == base || (!is_same(file_name(path), known) && !is_same(file_name(target), known)))
			continue;
		learned[i] = base;
		for (uint32_t k = 0; k < plan->site_count; k++)
			if (sites[k].module == i && sites[k].watched)
				rt_sched_interest(base + sites[k].offset);
	}
}

static void modules_changed(void)
{
	rt_sched_modules(loaded, NULL);
}

static bool init(const struct rt_control *control)
{
	plan = (struct rt_plan *)(uintptr_t)rt_control_input(control);
	if (control->input_bytes < sizeof *plan || plan->magic != RT_PLAN_MAGIC || plan->size != control->input_bytes) {
		rt_sched_report("the plan is damaged");
		return false;
	}
	for (uint32_t i = 0; i < plan->thread_count; i++)
		states()[i].task = RT_PLAN_NONE;
	for (uint64_t i = 0; i < plan->step_count; i++)
		states()[PART(const struct rt_plan_step, steps)[i].thread].last_step = i + 1;
	modules_changed();
	plan->started = 1;
	return true;
}

/* ---- Searching ---- */

/*
 * RaceFuzzer (Sen, PLDI 2008), and the same for deadlocks: threads go on by chance, but one that comes to a site of the
 * goal is held there until another one is at a site as well, and both accesses are pending on the same memory, or until
 * each acquire waits for another. If all that could go on are held, or too long, one is released.
 */
enum { PATIENCE = 20000 }; /* decisions for which a thread is held */
static struct rt_task *found[RT_PLAN_GOALS];
static uint64_t held_for;

/* Index of the goal's site that the thread is at, RT_PLAN_NONE: at none. */
static uint32_t site_at(const struct rt_task *task)
{
	const struct rt_plan_site *sites = PART(const struct rt_plan_site, sites);
	const struct rt_step *e = &task->next;

	for (uint32_t i = 0; i < plan->goal_count; i++)
		if (op_class(sites[plan->goals[i].mark].op) == op_class(e->op) &&
		    pc_of(&sites[plan->goals[i].mark]) == e->pc)
			return i;
	return RT_PLAN_NONE;
}

/* It is at a site and was not released from it. */
static bool is_kept(const struct rt_task *task)
{
	return (uint64_t)(uintptr_t)task->own != task->next.count && site_at(task) != RT_PLAN_NONE;
}

static bool holds(const struct rt_task *task, uint64_t lock)
{
	const struct rt_thread *data = task->data;

	for (unsigned i = 0; data && i < data->held_count; i++)
		if (data->held[i].lock == lock)
			return true;
	return false;
}

static bool find_race(struct rt_task *const *tasks, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++) {
			if (i == k || site_at(tasks[i]) != 0 ||
			    (site_at(tasks[k]) != 1 &&
			     (plan->goals[0].mark != plan->goals[1].mark || site_at(tasks[k]) != 0)))
				continue;
			found[0] = tasks[i];
			found[1] = tasks[k];
			if (pending(tasks[i], tasks[k]))
				return true;
		}
	return false;
}

/* Follows who has what each one is about to acquire. */
static bool find_cycle(struct rt_task *const *tasks, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct rt_task *at = tasks[i];

		for (unsigned length = 0; length < n; length++) {
			unsigned k = 0;

			while (k < n && (tasks[k] == at || !holds(tasks[k], at->next.object)))
				k++;
			if (k == n || at->next.op != RT_OP_ACQUIRE || at->next.flags & RT_F_TIMED)
				break;
			at = tasks[k];
			if (at == tasks[i])
				return length > 0;
		}
	}
	return false;
}

static struct rt_task *search(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *all[256], *kept[256], *others[256];
	unsigned live = rt_sched_live(all, 256), kept_count = 0, other_count = 0;

	live = live < 256 ? live : 256;
	for (unsigned i = 0; i < live; i++)
		if (all[i]->state == RT_READY && is_kept(all[i]))
			kept[kept_count++] = all[i];
	if (plan->kind == RT_PLAN_RACE ? find_race(kept, kept_count) : find_cycle(kept, kept_count)) {
		plan->outcome = RT_PLAN_CONFIRMED;
		if (plan->then == RT_PLAN_HOLD)
			hold();
		phase = plan->kind == RT_PLAN_RACE ? RESOLVING : OVER;
		return NULL;
	}
	for (unsigned i = 0; i < n && i < 256; i++)
		if (!is_kept(enabled[i]))
			others[other_count++] = enabled[i];
	for (unsigned i = 0; i < live && !other_count; i++)
		if (all[i]->state == RT_BLOCKED && all[i]->wakes)
			return NULL; /* time passes */
	held_for = kept_count ? held_for + 1 : 0;
	if (kept_count && (!other_count || held_for > PATIENCE)) {
		struct rt_task *task = kept[rt_sched_random() % kept_count];

		held_for = 0;
		task->own = (void *)(uintptr_t)task->next.count;
		if (among(enabled, n, task))
			return task;
	}
	return other_count ? rt_strategy_random.choose(current, others, other_count) : NULL;
}

/* ---- The strategy ---- */

/* The task whose turn it is when the goal is reached and one event after the other is let through; NULL: both were. */
static struct rt_task *next_to_resolve(void)
{
	unsigned i = plan->then == RT_PLAN_SECOND ? 1 - resolved : resolved;

	return resolved >= 2 ? NULL : plan->search ? found[i] : task_of(plan->goals[i].thread);
}

/*
 * True if the last mark that the thread has executed is an event of a sequence. It may have seen another value than in
 * the recording, and then what the thread does next need not be the next mark.
 */
static bool is_behind_goal(const state_t *s)
{
	for (uint32_t i = 0; i < plan->goal_count && plan->kind == RT_PLAN_SEQUENCE; i++)
		if (plan->goals[i].thread == (uint32_t)(s - states()) && plan->goals[i].mark + 1 == s->mark)
			return true;
	return false;
}

/* True if the thread of a step is at the step's end. */
static bool has_reached(const struct rt_plan_step *step, state_t *s, const struct rt_task *task)
{
	if (task->state == RT_OUTSIDE || is_between(s, task))
		return false;
	if (s->mark >= step->mark && is_behind_goal(s))
		return true;
	return (past_marks(s) ? task->next.op != RT_OP_NONE : compare(s, &task->next) == IS_MARK) &&
	       s->mark >= step->mark;
}

static bool is_goal(const struct rt_plan_step *step)
{
	for (uint32_t i = 0; i < plan->goal_count; i++)
		if (plan->goals[i].thread == step->thread && plan->goals[i].mark == step->mark)
			return true;
	return false;
}

/* It has done what the step has, and is in a call or waits for another thread: it will come to the mark by itself. */
static bool is_on_its_way(const struct rt_plan_step *step, const state_t *s, const struct rt_task *task)
{
	return step->marked && s->mark >= step->mark && !is_goal(step) &&
	       (task->state == RT_OUTSIDE || is_between(s, task));
}

static bool goes_on(struct rt_task *current)
{
	const struct rt_plan_step *step = PART(const struct rt_plan_step, steps) + plan->step;
	state_t *s = state_of(current);
	enum meets meets;

	if (phase == FOLLOWING && plan->search && site_at(current) != RT_PLAN_NONE)
		return false;
	if (phase == OVER || (phase == FOLLOWING && plan->search))
		return rt_strategy_random.goes_on ? rt_strategy_random.goes_on(current) : false;
	if (phase != FOLLOWING || plan->step == plan->step_count || &states()[step->thread] != s ||
	    has_reached(step, s, current))
		return false;
	meets = compare(s, &current->next);
	if (meets >= OTHER_EVENT)
		diverged(s, &current->next, meets);
	else
		executes(s, &current->next, meets);
	return meets < OTHER_EVENT;
}

/* Can a thread that is not there now still come to be able to go on, without one that stands here? */
static bool somebody_comes_back(void)
{
	struct rt_task *live[256];
	unsigned n = rt_sched_live(live, 256);

	n = n < 256 ? n : 256;

	for (unsigned i = 0; i < n; i++)
		if (live[i]->state == RT_OUTSIDE || (live[i]->state == RT_BLOCKED && live[i]->wakes))
			return true;
	return false;
}

/*
 * What a thread does in the end need not be in the plan, but a join waits for it: the thread that is joined, or that it
 * joins in turn, and that has no more steps. NULL: none.
 */
static struct rt_task *joined_by(struct rt_task *task, struct rt_task *const *enabled, unsigned n)
{
	for (uint32_t i = 0; task && i < plan->thread_count; i++) {
		state_t *s;

		if (task->next.op != RT_OP_JOIN)
			return NULL;
		task = rt_sched_task((uint32_t)task->next.object);
		s = task ? state_of(task) : NULL;
		if (!s || (s != &nobody && s->last_step > plan->step))
			return NULL;
		if (can_go(enabled, n, task)) {
			if (!is_between(s, task))
				executes(s, &task->next, NO_MATTER);
			return task;
		}
	}
	return NULL;
}

/* The thread that the plan has next. NULL: it cannot go on now, or the plan is over (phase). */
static struct rt_task *planned(struct rt_task *const *enabled, unsigned n)
{
	while (phase == FOLLOWING) {
		const struct rt_plan_step *step = PART(const struct rt_plan_step, steps) + plan->step;
		state_t *s;
		struct rt_task *task;
		enum meets meets;

		if (plan->step == plan->step_count) {
			look_at_goal();
			return NULL;
		}
		s = &states()[step->thread];
		task = task_of(step->thread);
		if (!task && s->task != RT_PLAN_NONE) { /* it has ended */
			if (past_marks(s) || (s->mark >= step->mark && is_behind_goal(s)))
				plan->step++;
			else
				diverged(s, NULL, OTHER_EVENT);
			continue;
		}
		if (task && task->state != RT_RUNNING && (is_on_its_way(step, s, task) || has_reached(step, s, task))) {
			plan->step++;
			continue;
		}
		if (!task || !can_go(enabled, n, task)) {
			struct rt_task *joined = task ? joined_by(task, enabled, n) : NULL;

			if (joined)
				return joined;
			if (!somebody_comes_back())
				ends(RT_PLAN_STUCK, s);
			return NULL;
		}
		if (is_between(s, task))
			return task;
		meets = compare(s, &task->next);
		if (meets >= OTHER_EVENT) {
			diverged(s, &task->next, meets);
			return NULL;
		}
		executes(s, &task->next, meets);
		return task;
	}
	return NULL;
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *live[256], *task = NULL;
	unsigned count = phase == FOLLOWING && !plan->search ? rt_sched_live(live, 256) : 0;

	for (unsigned i = 0; i < count && i < 256; i++)
		retract(state_of(live[i]), live[i]); /* and it is known by name */
	if (phase == FOLLOWING)
		task = plan->search ? search(current, enabled, n) : planned(enabled, n);
	if (task || phase == FOLLOWING)
		return task;
	while (phase == RESOLVING) {
		task = next_to_resolve();
		resolved++;
		if (!task || resolved > 2)
			phase = OVER;
		else if (among(enabled, n, task))
			return task;
	}
	return rt_strategy_random.choose(current, enabled, n);
}

/* Of the waiting threads, the one that the plan runs first. */
static struct rt_task *wakes(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	const struct rt_plan_step *steps = PART(const struct rt_plan_step, steps);

	(void)signaller;
	for (uint64_t i = plan->step; phase == FOLLOWING && i < plan->step_count; i++)
		for (unsigned k = 0; k < n; k++) {
			state_t *s = state_of(waiters[k]);

			if (s == &states()[steps[i].thread] && steps[i].mark > s->mark)
				return waiters[k];
		}
	return NULL;
}

static void stuck(void)
{
	if (phase == FOLLOWING && !plan->search && plan->step < plan->step_count)
		ends(RT_PLAN_STUCK, &states()[PART(const struct rt_plan_step, steps)[plan->step].thread]);
}

const struct rt_strategy rt_strategy_follow = {.name = "follow",
                                               .has_plan = true,
                                               .init = init,
                                               .goes_on = goes_on,
                                               .choose = choose,
                                               .wakes = wakes,
                                               .stuck = stuck,
                                               .modules_changed = modules_changed};
