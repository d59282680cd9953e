/* What the steps of the program are to the marks of a plan; see follow.h. */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

struct rt_plan *rt_follow_plan;
state_t rt_follow_nobody;
unsigned rt_follow_resolved;

/* ---- Threads ---- */

/* The plan's thread that a task is; rt_follow_nobody if it has none. */
static state_t *find_state(const struct rt_task *task)
{
	const struct rt_plan_thread *threads = PART(const struct rt_plan_thread, threads);
	uint32_t parent = 0;

	if (task->thread == 0)
		return rt_follow_plan->thread_count ? &states()[0] : &rt_follow_nobody;
	while (parent < rt_follow_plan->thread_count && (states()[parent].task != task->parent))
		parent++;
	for (uint32_t i = 1; parent < rt_follow_plan->thread_count && i < rt_follow_plan->thread_count; i++)
		if (threads[i].parent == parent && threads[i].child_number == task->child_number)
			return &states()[i];
	return &rt_follow_nobody;
}

state_t *rt_follow_state(struct rt_task *task)
{
	if (!task->own) {
		state_t *s = find_state(task);

		task->own = s;
		if (s != &rt_follow_nobody)
			s->task = task->thread;
	}
	return task->own;
}

struct rt_task *rt_follow_task(uint32_t thread)
{
	uint32_t task = thread < rt_follow_plan->thread_count ? states()[thread].task : RT_PLAN_NONE;

	return task == RT_PLAN_NONE ? NULL : rt_sched_task(task);
}

struct rt_task *rt_follow_among(struct rt_task *const *enabled, unsigned n, const struct rt_task *task)
{
	for (unsigned i = 0; i < n; i++)
		if (enabled[i] == task)
			return enabled[i];
	return NULL;
}

/* ---- Events ---- */

struct rt_plan_event rt_follow_event(const struct rt_step *e)
{
	const uint64_t *learned = PART(const uint64_t, learned);
	struct rt_plan_event event = {.op = e->op, .module = RT_PLAN_NONE, .offset = e->pc, .object = e->object};

	for (uint32_t i = 0; i < rt_follow_plan->module_count; i++)
		if (learned[i] && e->pc >= learned[i] &&
		    (event.module == RT_PLAN_NONE || learned[i] > learned[event.module]))
			event.module = i;
	if (event.module != RT_PLAN_NONE)
		event.offset = e->pc - learned[event.module];
	return event;
}

/* True if a plan has the operation as a mark. */
static bool marks_have(unsigned op)
{
	return rt_op_has(op, RT_STEPS) || rt_follow_is_plain(op);
}

bool rt_follow_is_plain(unsigned op)
{
	return op == RT_OP_READ || op == RT_OP_WRITE;
}

/* What comes of some operations is known only when they are done. */
unsigned rt_follow_class(unsigned op)
{
	return op == RT_OP_ATOMIC_CAS_FAIL ? RT_OP_ATOMIC_CAS : op == RT_OP_ONCE_SEEN ? RT_OP_ONCE_BEGIN : op;
}

/* The address of a place; 0: its module is not there. */
static uint64_t place_pc(const struct rt_plan_place *place)
{
	const uint64_t *learned = PART(const uint64_t, learned);

	if (place->module == RT_PLAN_NONE)
		return place->offset;
	return learned[place->module] ? learned[place->module] + place->offset : 0;
}

bool rt_follow_is_at(const struct rt_plan_site *site, const struct rt_step *e)
{
	const struct rt_plan_place *places = PART(const struct rt_plan_place, places) + site->first_place;

	if (rt_follow_class(site->op) != rt_follow_class(e->op))
		return false;
	for (uint32_t i = 0; i < site->place_count; i++)
		if (place_pc(&places[i]) == e->pc)
			return true;
	/* Of what synchronises, where another build has it may be unknown. Its object tells it. */
	return !site->place_count && !rt_follow_is_plain(site->op);
}

/*
 * True if the step's object is at the address. Another build may access several variables at once, or one in several
 * parts.
 */
static bool is_object(const struct rt_step *e, uint64_t address)
{
	return rt_follow_plan->rebuilt && rt_follow_is_plain(e->op) ? address - e->object < e->arg
	                                                            : address == e->object;
}

/* True if the object agrees. What has no address yet gets it. */
static bool same_object(const struct rt_step *e, const struct rt_plan_mark *mark, bool learn)
{
	uint64_t *learned = PART(uint64_t, learned);

	if (e->op == RT_OP_JOIN)
		return mark->offset >= rt_follow_plan->thread_count || states()[mark->offset].task == RT_PLAN_NONE ||
		       states()[mark->offset].task == e->object;
	if (mark->base == RT_PLAN_NONE)
		return true;
	if (!learned[mark->base]) {
		if (learn)
			learned[mark->base] = e->object - mark->offset;
		return true;
	}
	return is_object(e, learned[mark->base] + mark->offset);
}

/* The thread's entry for a lock, 0 for a free one; NULL: it has none. */
static uint64_t *held(state_t *s, uint64_t lock)
{
	for (unsigned i = 0; i < RT_PLAN_HELD; i++)
		if (s->held[i] == lock)
			return &s->held[i];
	return NULL;
}

/* The step takes its lock, if there is room, or gives it back. */
static void hold(state_t *s, const struct rt_step *e)
{
	uint64_t *h = held(s, e->object);

	if (!h && e->op != RT_OP_RELEASE)
		h = held(s, 0);
	if (h)
		*h = e->op == RT_OP_RELEASE ? 0 : e->object;
}

static struct rt_plan_recent *recent(state_t *s, const struct rt_step *e)
{
	return &s->recent[(e->pc ^ e->object >> 2 ^ e->object >> 9) % RT_PLAN_RECENT];
}

/* A repeat, which the trace may have left out. */
static bool is_repeat(state_t *s, const struct rt_step *e)
{
	const struct rt_plan_recent *r = recent(s, e);

	return rt_follow_is_plain(e->op) && r->pc == e->pc && r->object == e->object;
}

static const struct rt_plan_site *site_of(const struct rt_plan_mark *mark)
{
	return PART(const struct rt_plan_site, sites) + mark->site;
}

static bool is_mark(const state_t *s, const struct rt_step *e)
{
	return rt_follow_is_at(site_of(mark_of(s)), e) && same_object(e, mark_of(s), false);
}

bool rt_follow_is_goal(const state_t *s, uint64_t mark)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++)
		if (rt_follow_plan->goals[i].thread == (uint32_t)(s - states()) &&
		    rt_follow_plan->goals[i].mark == mark)
			return true;
	return false;
}

/* Inner levels of a recursive lock are no events; of their releases there is not even a step. The goal of a deadlock of
 * one thread is none: its lock is not recursive. */
static bool is_inner(state_t *s, const struct rt_step *e)
{
	if (!rt_step_acquires(e) || !held(s, e->object))
		return false;
	bool goal = rt_follow_plan->kind == RT_PLAN_DEADLOCK && !past_marks(s) && rt_follow_is_goal(s, s->mark);

	return !goal || !is_mark(s, e);
}

static bool is_atomic(unsigned op)
{
	return op >= RT_OP_ATOMIC_LOAD && op <= RT_OP_ATOMIC_CAS_FAIL;
}

/*
 * True if one of the thread's last marks before `here` was at the same place: one more turn of a spin has nothing that
 * the turn before did not have. What a signal's handler does, which is still to come, is none of it.
 */
static bool was_before(const state_t *s, uint64_t here)
{
	enum { TURN = 64 };
	const struct rt_plan_mark *marks = PART(const struct rt_plan_mark, marks) + thread_of(s)->first_mark;

	for (uint64_t i = here; i > 0 && here - i < TURN; i--)
		if (marks[i - 1].site == mark_of(s)->site)
			return true;
	return false;
}

/* True if it is the store in the guard of a static local, which the C++ library makes with the end of its once. */
static bool is_of_guard(const state_t *s)
{
	const struct rt_plan_mark *mark = mark_of(s), *end = mark - 1;

	return s->mark && site_of(mark)->op == RT_OP_ATOMIC_STORE && site_of(end)->op == RT_OP_ONCE_END &&
	       end->base == mark->base && end->offset == mark->offset;
}

/* True if it is of a thread that the program makes by a call of its own. That has a step, and what comes later may be
 * such a thread's: a signal's handler that ran early was taken for what comes behind it. */
static bool is_call_of_fork(const struct rt_plan_mark *mark)
{
	const struct rt_plan_thread *threads = PART(const struct rt_plan_thread, threads);

	return site_of(mark)->op == RT_OP_FORK && mark->offset < rt_follow_plan->thread_count &&
	       threads[mark->offset].child_number <= RT_CHILD_ADOPTED;
}

/*
 * Events without a step, and turns of a spin, whose number need not be the same: those before the mark that this step
 * is. Such events are of locks that an annotation says are taken, of threads that a library makes for itself, and of
 * what the C++ library does inside. Their number; 0: it is none.
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
		bool plain = rt_follow_is_plain(op) && !rt_follow_is_goal(s, s->mark); /* of such a turn */

		if (is_call_of_fork(mark_of(s)))
			break;
		if (op != RT_OP_ACQUIRE && op != RT_OP_ACQUIRE_SHARED && op != RT_OP_HB_BEFORE && op != RT_OP_FORK &&
		    !(is_atomic(op) && (is_of_guard(s) || was_before(s, here))) && !plain)
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

/* ---- Events that the recording has elsewhere, or not at all ---- */

/*
 * When a timer ticks and which connection comes first is decided outside. So a thread may leave out whole critical
 * sections of the recording, and may have others beside its marks, as long as it comes back to them. Whether the goal
 * is reached is looked at in the program itself, whatever came before.
 */
enum { LEFT_OUT_MOST = 64, STRAYED_MOST = 64, OPEN_MOST = 8 };

/* True if a thread can do it without another one, and no other one depends on it alone. */
static bool may_be_beside(unsigned op)
{
	return op == RT_OP_ACQUIRE || op == RT_OP_ACQUIRE_SHARED || op == RT_OP_RELEASE || op == RT_OP_HB_BEFORE ||
	       op == RT_OP_SIGNAL || op == RT_OP_BROADCAST || op == RT_OP_READ || op == RT_OP_WRITE || is_atomic(op);
}

/* True if an event of the goal is at the mark's position, so that the goal could be taken for another turn of a loop.
 */
static bool is_goal_site(const struct rt_plan_mark *mark)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		const struct rt_plan_goal *goal = &rt_follow_plan->goals[i];

		if (PART(const struct rt_plan_mark,
		         marks)[PART(const struct rt_plan_thread, threads)[goal->thread].first_mark + goal->mark]
		        .site == mark->site)
			return true;
	}
	return false;
}

/*
 * Number of marks that come before the one that the step is, all of them in whole critical sections, or accesses at
 * which the schedule only changes threads. 0: there is none.
 */
static uint64_t left_out(state_t *s, const struct rt_step *e)
{
	const struct rt_plan_mark *open[OPEN_MOST];
	unsigned depth = 0;
	uint64_t here = s->mark, n = 0;
	bool found = false;

	for (; n < LEFT_OUT_MOST && !past_marks(s) && !found; s->mark++, n++) {
		const struct rt_plan_mark *mark = mark_of(s);
		unsigned op = site_of(mark)->op;

		if (n && depth == 0 && is_mark(s, e)) {
			found = true;
			break;
		}
		if (rt_follow_is_goal(s, s->mark) || !may_be_beside(op))
			break;
		if (op == RT_OP_ACQUIRE || op == RT_OP_ACQUIRE_SHARED) {
			if (depth == OPEN_MOST)
				break;
			open[depth++] = mark;
		} else if (op == RT_OP_RELEASE) {
			if (depth == 0 || open[depth - 1]->base != mark->base ||
			    open[depth - 1]->offset != mark->offset)
				break;
			depth--;
		} else if (depth == 0 && (!rt_follow_is_plain(op) || is_goal_site(mark))) {
			break;
		}
	}
	s->mark = here;
	return found ? n : 0;
}

/* True if the step is a mark behind such ones; it is the next one then. */
static bool leaves_out(state_t *s, const struct rt_step *e)
{
	uint64_t n = left_out(s, e);

	s->mark += n;
	return n != 0;
}

/*
 * The step is none of the recording's here. True if the thread may do it all the same. So it may begin to wait for a
 * semaphore: if a signal interrupts that, it is no event.
 */
static bool may_stray(state_t *s, const struct rt_step *e)
{
	if ((!may_be_beside(e->op) && e->op != RT_OP_SEM_WAIT) || s->strayed >= STRAYED_MOST)
		return false;
	if (s->stray_step != e->count) {
		s->stray_step = e->count;
		if (s->strayed++ == 0)
			s->stray = rt_follow_event(e);
	}
	return true;
}

static enum meets other(state_t *s, const struct rt_step *e)
{
	return leaves_out(s, e) ? IS_MARK : may_stray(s, e) ? NO_MATTER : OTHER_EVENT;
}

enum meets rt_follow_compare(state_t *s, const struct rt_step *e)
{
	const struct rt_plan_site *site;

	if (s == &rt_follow_nobody || past_marks(s) || !marks_have(e->op) || is_inner(s, e))
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
	if (rt_follow_is_at(site, e))
		return is_repeat(s, e) ? NO_MATTER : other(s, e);
	/* The trace may have left it out as a repeat; where it may not have, what follows tells. */
	if (rt_follow_is_plain(e->op))
		return !is_repeat(s, e) && leaves_out(s, e) ? IS_MARK : NO_MATTER;
	if (e->op == RT_OP_HB_BEFORE) /* some calls make one or not, by what state an object is in */
		return NO_MATTER;
	if (e->flags & RT_F_TIMED && e->op != RT_OP_WAIT_END) /* a try, which may fail */
		return NO_MATTER;
	return other(s, e);
}

void rt_follow_executes(state_t *s, const struct rt_step *e, enum meets meets)
{
	if (s == &rt_follow_nobody)
		return;
	s->done = e->count;
	s->was_mark = meets == IS_MARK;
	if (meets == IS_MARK) {
		same_object(e, mark_of(s), true);
		s->strayed = 0;
		for (uint32_t i = 0; i < rt_follow_plan->goal_count && rt_follow_plan->kind == RT_PLAN_SEQUENCE; i++)
			if (rt_follow_plan->goals[i].thread == (uint32_t)(s - states()) &&
			    rt_follow_plan->goals[i].mark == s->mark)
				rt_follow_plan->goals[i].reached = ++rt_follow_resolved;
		s->last_pc = e->pc;
		s->last_object = e->object;
		s->mark++;
	}
	if (rt_follow_is_plain(e->op)) {
		*recent(s, e) = (struct rt_plan_recent){e->pc, e->object};
		return;
	}
	if (!marks_have(e->op))
		return;
	for (unsigned i = 0; i < RT_PLAN_RECENT; i++)
		s->recent[i].pc = 0;
	if (e->op == RT_OP_RELEASE || (rt_step_acquires(e) && (meets == IS_MARK || is_inner(s, e))))
		hold(s, e);
}

void rt_follow_retract(state_t *s, const struct rt_task *task)
{
	uint64_t *h = held(s, task->next.object);

	if (s == &rt_follow_nobody || task->state != RT_BLOCKED || !is_between(s, task) || !s->was_mark ||
	    task->next.op == RT_OP_WAIT_BEGIN || task->next.op == RT_OP_BARRIER_ARRIVE)
		return;
	/* What it did last may be of a signal's handler, which has interrupted the step that it is in again. */
	if (rt_follow_class(site_of(mark_of(s) - 1)->op) != rt_follow_class(task->next.op))
		return;
	s->done = UINT64_MAX;
	s->mark--;
	if (h && rt_step_acquires(&task->next))
		*h = 0;
}
