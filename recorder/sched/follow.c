/*
 * The strategy that follows a plan (tracefmt/plan.h), as PECAN's scheduler does. In each of its steps one thread runs,
 * up to the event that the step ends before. Each of its marks must be the event that the thread is about to execute.
 * Where it is not, or where the thread cannot go on, that is the outcome. When the steps are made, what is looked at is
 * the program itself: whether both accesses of a race are pending on the same memory, or each acquire of a deadlock is
 * blocked. From then on, as from where the program has left the plan, threads go on by chance.
 *
 * The plan is in the control area; its outcome is written into it at once.
 */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"

enum phase { FOLLOWING, RESOLVING, OVER };

static RT_OF_RUN enum phase phase;

/* ---- What became of it ---- */

/* The task has the one thread of its team: those made beside it, which it was found before, wait for its end. */
static void keeps_team(const state_t *lone)
{
	const struct rt_plan_thread *threads = PART(const struct rt_plan_thread, threads);

	for (uint32_t i = 0; i < rt_follow_plan->thread_count; i++)
		if (states()[i].stand == RT_PLAN_UNBORN && threads[i].parent == thread_of(lone)->parent &&
		    threads[i].child_number > RT_CHILD_TASK)
			states()[i].stand = RT_PLAN_LONE;
}

/* Where each thread stands. */
static void write_states(void)
{
	for (uint32_t i = 0; i < rt_follow_plan->thread_count; i++)
		states()[i].stand = states()[i].task == RT_PLAN_NONE ? RT_PLAN_UNBORN : RT_PLAN_GONE;
	for (struct rt_task *t = rt_sched.first; t; t = t->after) {
		state_t *s = rt_follow_state(t);

		if (s == &rt_follow_nobody)
			continue;
		s->stand = t->state == RT_READY     ? RT_PLAN_READY
		           : t->state == RT_BLOCKED ? RT_PLAN_BLOCKED
		           : t->state == RT_OUTSIDE ? RT_PLAN_OUTSIDE
		                                    : RT_PLAN_RUNS;
		s->next = rt_follow_event(&t->next);
		if (t->lone)
			keeps_team(s);
	}
}

static void ends(enum rt_plan_outcome outcome, const state_t *s)
{
	rt_follow_plan->thread = (uint32_t)(s - states());
	rt_follow_plan->mark = s->mark;
	write_states();
	rt_follow_plan->outcome = outcome;
	phase = OVER;
}

/* Of a thread that had left its marks before: where it left them. */
static void diverged(state_t *s, const struct rt_step *e)
{
	if (s->strayed)
		rt_follow_plan->actual = s->stray;
	else if (e)
		rt_follow_plan->actual = rt_follow_event(e);
	else
		rt_follow_plan->actual = (struct rt_plan_event){.op = RT_OP_END, .module = RT_PLAN_NONE};
	ends(RT_PLAN_DIVERGED, s);
}

/* What it waits for need not be the recording's, where it had left its marks. */
static void got_stuck(state_t *s)
{
	if (s->strayed)
		diverged(s, NULL);
	else
		ends(RT_PLAN_STUCK, s);
}

static bool sequence_ran(void)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++)
		if (rt_follow_plan->goals[i].reached != i + 1)
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
	__atomic_store_n(&rt_follow_plan->held, (uint32_t)pid, __ATOMIC_RELEASE);
	/* Sent to this thread, so that it does nothing more before the process stops. */
	RT_SYSCALL(SYS_tgkill, pid, RT_SYSCALL(SYS_gettid), SIGSTOP);
}

void rt_follow_confirmed(void)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		const struct rt_task *task = !rt_follow_plan->search ? rt_follow_task(rt_follow_plan->goals[i].thread)
		                             : rt_follow_plan->kind == RT_PLAN_RACE ? rt_seek_found(i)
		                                                                    : NULL;
		rt_follow_plan->goals[i].tid = task ? (uint64_t)task->tid : 0;
	}
	rt_follow_plan->outcome = RT_PLAN_CONFIRMED;
	rt_follow_resolved = 0;
	if (rt_follow_plan->then == RT_PLAN_HOLD)
		hold();
	phase = rt_follow_plan->kind == RT_PLAN_RACE ? RESOLVING : OVER;
}

/* All steps are made. */
static void look_at_goal(void)
{
	bool reached = rt_follow_plan->kind == RT_PLAN_RACE
	                   ? rt_follow_pending(rt_follow_task(rt_follow_plan->goals[0].thread),
	                                       rt_follow_task(rt_follow_plan->goals[1].thread))
	               : rt_follow_plan->kind == RT_PLAN_SEQUENCE ? sequence_ran()
	                                                          : rt_follow_cycle_stands();
	uint32_t last = rt_follow_plan->goal_count ? rt_follow_plan->goals[rt_follow_plan->goal_count - 1].thread : 0;
	struct rt_task *task = rt_follow_task(last);

	if (!reached) {
		diverged(&states()[last], task ? &task->next : NULL);
		return;
	}
	write_states();
	if (rt_follow_plan->kind == RT_PLAN_DEADLOCK)
		rt_follow_plan->open = rt_follow_cycle_is_open();
	rt_follow_confirmed();
}

/* ---- Modules ---- */

static void loaded(const char *path, uintptr_t base)
{
	const struct rt_plan_module *modules = PART(const struct rt_plan_module, modules);
	const struct rt_plan_site *sites = PART(const struct rt_plan_site, sites);
	const struct rt_plan_place *places = PART(const struct rt_plan_place, places);
	uint64_t *learned = PART(uint64_t, learned);
	char target[RT_TARGET_MAX];

	rt_sched_target(path, target);
	for (uint32_t i = 0; i < rt_follow_plan->module_count; i++) {
		if (learned[i] == base ||
		    !rt_sched_is_file(path, target, (const char *)rt_follow_plan + modules[i].path))
			continue;
		learned[i] = base;
		for (uint32_t k = 0; k < rt_follow_plan->site_count; k++)
			for (uint32_t n = 0; n < sites[k].place_count && sites[k].watched; n++)
				if (places[sites[k].first_place + n].module == i)
					rt_sched_interest(base + places[sites[k].first_place + n].offset);
	}
}

static void modules_changed(void)
{
	rt_sched_modules(loaded);
}

static bool init(const struct rt_control *control)
{
	rt_follow_plan = (struct rt_plan *)(uintptr_t)rt_control_input(control);
	if (control->input_bytes < sizeof *rt_follow_plan || rt_follow_plan->magic != RT_PLAN_MAGIC ||
	    rt_follow_plan->size != control->input_bytes) {
		rt_sched_report("the plan is damaged");
		return false;
	}
	for (uint32_t i = 0; i < rt_follow_plan->thread_count; i++)
		states()[i].task = RT_PLAN_NONE;
	for (uint64_t i = 0; i < rt_follow_plan->step_count; i++)
		states()[PART(const struct rt_plan_step, steps)[i].thread].last_step = i + 1;
	modules_changed();
	rt_follow_plan->started = 1;
	return true;
}

/* ---- The strategy ---- */

/* The task whose turn it is when the goal is reached and one event after the other is let through; NULL: both were. */
static struct rt_task *next_to_resolve(void)
{
	unsigned i = rt_follow_plan->then == RT_PLAN_SECOND ? 1 - rt_follow_resolved : rt_follow_resolved;

	return rt_follow_resolved >= 2  ? NULL
	       : rt_follow_plan->search ? rt_seek_found(i)
	                                : rt_follow_task(rt_follow_plan->goals[i].thread);
}

/*
 * True if the last mark that the thread has executed is an event of a sequence. It may have seen another value than in
 * the recording, and then what the thread does next need not be the next mark.
 */
static bool is_behind_goal(const state_t *s)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count && rt_follow_plan->kind == RT_PLAN_SEQUENCE; i++)
		if (rt_follow_plan->goals[i].thread == (uint32_t)(s - states()) &&
		    rt_follow_plan->goals[i].mark + 1 == s->mark)
			return true;
	return false;
}

/* True if the thread has to stand right before an event of the goal when the step ends, for it is its last one. */
static bool ends_at_goal(const struct rt_plan_step *step, const state_t *s)
{
	if (s->last_step != rt_follow_plan->step + 1)
		return false;
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++)
		if (rt_follow_plan->goals[i].thread == step->thread && rt_follow_plan->goals[i].mark == step->mark)
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
	/* No event is between, so what the thread does next is none of this step, even if it is not what the next has.
	 */
	if (s->mark >= step->mark && step->marked && !ends_at_goal(step, s))
		return task->next.op != RT_OP_NONE;
	return (past_marks(s) ? task->next.op != RT_OP_NONE : rt_follow_compare(s, &task->next) == IS_MARK) &&
	       s->mark >= step->mark;
}

/* It has done what the step has, and is in a call or waits for another thread: it will come to the mark by itself. */
static bool is_on_its_way(const struct rt_plan_step *step, const state_t *s, const struct rt_task *task)
{
	return step->marked && s->mark >= step->mark && !ends_at_goal(step, s) &&
	       (task->state == RT_OUTSIDE || is_between(s, task));
}

/* True if what is left of the step is only what the thread tells others, or, with accesses, those at which the schedule
 * only changes threads. */
static bool only_tells(const struct rt_plan_step *step, const state_t *s, bool accesses)
{
	const struct rt_plan_mark *marks = PART(const struct rt_plan_mark, marks) + thread_of(s)->first_mark;

	for (uint64_t i = s->mark; i < step->mark; i++) {
		unsigned op = PART(const struct rt_plan_site, sites)[marks[i].site].op;

		if (op != RT_OP_HB_BEFORE && !(accesses && rt_follow_is_plain(op) && !rt_follow_is_goal(s, i)))
			return false;
	}
	return !ends_at_goal(step, s);
}

/*
 * True if the thread waits for a descriptor, and what is left of the step is only what its call tells others. By turns
 * that comes behind the wait; in the recording it may have come before.
 */
static bool tells_later(const struct rt_plan_step *step, const state_t *s, const struct rt_task *task)
{
	return rt_follow_is_polled(task) && rt_sched_waited() >= RT_AWAIT_ALONE_NS && only_tells(step, s, false);
}

/*
 * True if the thread is about to join one that has not ended. That one runs first then, for a try would fail, and the
 * plan has a join where it succeeded.
 */
static bool joins_early(const state_t *s, const struct rt_task *task)
{
	return task->next.op == RT_OP_JOIN && !is_between(s, task) && rt_sched_task((uint32_t)task->next.object);
}

static bool goes_on(struct rt_task *current)
{
	const struct rt_plan_step *step = PART(const struct rt_plan_step, steps) + rt_follow_plan->step;
	state_t *s = rt_follow_state(current);
	enum meets meets;

	if (phase == FOLLOWING && rt_follow_plan->search && rt_follow_plan->kind == RT_PLAN_SEQUENCE)
		rt_sequence_look();
	if (phase == FOLLOWING && rt_follow_plan->search && rt_seek_is_at_goal(current))
		return false;
	if (phase == OVER && rt_follow_plan->last)
		return true;
	if (phase == OVER || (phase == FOLLOWING && rt_follow_plan->search))
		return rt_strategy_random.goes_on(current);
	if (phase != FOLLOWING || rt_follow_plan->step == rt_follow_plan->step_count || &states()[step->thread] != s ||
	    has_reached(step, s, current) || joins_early(s, current))
		return false;
	meets = rt_follow_compare(s, &current->next);
	if (meets == OTHER_EVENT)
		diverged(s, &current->next);
	else
		rt_follow_executes(s, &current->next, meets);
	return meets != OTHER_EVENT;
}

/* The thread that the plan has next. NULL: it cannot go on now, or the plan is over (phase). */
static struct rt_task *planned(struct rt_task *const *enabled, unsigned n)
{
	while (phase == FOLLOWING) {
		const struct rt_plan_step *step = PART(const struct rt_plan_step, steps) + rt_follow_plan->step;
		state_t *s;
		struct rt_task *task;
		enum meets meets;

		if (rt_follow_plan->step == rt_follow_plan->step_count) {
			look_at_goal();
			return NULL;
		}
		s = &states()[step->thread];
		task = rt_follow_task(step->thread);
		bool stuck = false, comes = rt_follow_comes(s, task);

		if (!task && s->task != RT_PLAN_NONE) { /* it has ended */
			/* Whether it had memory of its own, of which it tells with its end, may differ. So may which of
			 * a library's threads frees what they share. */
			if (past_marks(s) || only_tells(step, s, true))
				rt_follow_plan->step++;
			else
				diverged(s, NULL);
			continue;
		}
		if (task && task->state != RT_RUNNING &&
		    (is_on_its_way(step, s, task) || tells_later(step, s, task) || has_reached(step, s, task))) {
			rt_follow_plan->step++;
			continue;
		}
		if (task && rt_follow_spins(s, task)) {
			got_stuck(s);
			return NULL;
		}
		if (!task || !rt_follow_can_go(enabled, n, task)) {
			struct rt_task *other = rt_follow_instead(s, task, comes, enabled, n, &stuck);

			if (stuck)
				got_stuck(s);
			return other;
		}
		struct rt_task *first = joins_early(s, task) ? rt_follow_joined(task, enabled, n) : NULL;
		if (first)
			return first;
		if (is_between(s, task))
			return task;
		meets = rt_follow_compare(s, &task->next);
		if (meets == OTHER_EVENT) {
			diverged(s, &task->next);
			return NULL;
		}
		rt_follow_executes(s, &task->next, meets);
		return task;
	}
	return NULL;
}

static bool is_last(const struct rt_task *task)
{
	return task == rt_follow_task(rt_follow_plan->last - 1);
}

/* The first thread may end the process, and what others are still to do. */
static bool is_late(const struct rt_task *task)
{
	return is_last(task) || task == rt_sched.first;
}

/* Behind a plan that says which thread comes last. */
static struct rt_task *calmly(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *task = rt_follow_among(enabled, n, current);

	task = task ? task : rt_sched_any_that(enabled, n, is_late, false);
	task = task ? task : rt_sched_any_that(enabled, n, is_last, false);
	return task ? task : enabled[0];
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *task = NULL;

	for (struct rt_task *t = rt_sched.first; t && phase == FOLLOWING && !rt_follow_plan->search; t = t->after)
		rt_follow_retract(rt_follow_state(t), t); /* and its state has its name */
	if (phase == FOLLOWING)
		task = rt_follow_plan->search ? rt_seek(current, enabled, n) : planned(enabled, n);
	if (task || phase == FOLLOWING)
		return task;
	while (phase == RESOLVING) {
		task = next_to_resolve();
		rt_follow_resolved++;
		if (!task || rt_follow_resolved > 2)
			phase = OVER;
		else if (rt_follow_among(enabled, n, task))
			return task;
	}
	return rt_follow_plan->last ? calmly(current, enabled, n) : rt_strategy_random.choose(current, enabled, n);
}

/* Of the waiting threads, the one that the plan runs first. */
static struct rt_task *wakes(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	const struct rt_plan_step *steps = PART(const struct rt_plan_step, steps);

	(void)signaller;
	for (uint64_t i = rt_follow_plan->step; phase == FOLLOWING && i < rt_follow_plan->step_count; i++)
		for (unsigned k = 0; k < n; k++) {
			state_t *s = rt_follow_state(waiters[k]);

			if (s == &states()[steps[i].thread] && steps[i].mark > s->mark)
				return waiters[k];
		}
	return NULL;
}

static void stuck(void)
{
	if (phase == FOLLOWING && !rt_follow_plan->search && rt_follow_plan->step < rt_follow_plan->step_count)
		got_stuck(&states()[PART(const struct rt_plan_step, steps)[rt_follow_plan->step].thread]);
}

const struct rt_strategy rt_strategy_follow = {.name = "follow",
                                               .has_plan = true,
                                               .init = init,
                                               .goes_on = goes_on,
                                               .choose = choose,
                                               .wakes = wakes,
                                               .stuck = stuck,
                                               .modules_changed = modules_changed};
