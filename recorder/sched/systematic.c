/*
 * Systematic: takes the choices that the tool gives, then lets the thread go on that has the turn, and notes what was
 * pending at each choice. The tool decides from that which choices the next runs take (lib/explore/search.h).
 */
#include "recorder/sched/sched.h"

#include "tracefmt/search.h"

static RT_OF_RUN struct rt_search *search;
static RT_OF_RUN uint8_t *choices;
static RT_OF_RUN struct rt_search_record *records;
static RT_OF_RUN uint32_t next_choice;

static bool init(const struct rt_control *control)
{
	struct rt_search *s = (struct rt_search *)(uintptr_t)rt_control_input(control);

	if (control->input_bytes < sizeof *s || s->magic != RT_SEARCH_MAGIC || s->size > control->input_bytes ||
	    sizeof *s + ((s->choice_count + 7u) & ~7u) + s->record_room * sizeof *records > s->size) {
		rt_sched_report("the input is not a search");
		return false;
	}
	search = s;
	choices = rt_search_choices(s);
	records = rt_search_records(s);
	rt_sched_interest_all();
	return true;
}

static void note(struct rt_search_record record)
{
	if (search->record_count < search->record_room)
		records[search->record_count++] = record;
	else
		search->overflow = 1;
}

/* True if it is an access to the thread's own stack, which others may still know of. */
static bool is_own(const struct rt_task *t)
{
	uintptr_t stack = t->data ? (uintptr_t)t->data->stack : 0;

	return rt_op_is_access(t->next.op) && stack && t->next.object >= stack &&
	       t->next.object < stack + t->data->stack_size;
}

/* What threads have come to since the last choice. */
static void note_steps(struct rt_task *const *tasks, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct rt_task *t = tasks[i];

		if (t->rank == t->next.count)
			continue;
		t->rank = t->next.count;
		note((struct rt_search_record){.kind = RT_SEARCH_STEP,
		                               .op = t->next.op,
		                               .flags = (uint8_t)(t->next.flags | (is_own(t) ? RT_SEARCH_OWN : 0)),
		                               .thread = t->thread,
		                               .object = t->next.object,
		                               .arg = t->next.arg,
		                               .pc = t->next.pc});
	}
}

/* The thread of the next choice, if there is one; else `otherwise`. */
static struct rt_task *take(unsigned kind, const struct rt_task *current, struct rt_task *const *tasks, unsigned n,
                            struct rt_task *otherwise)
{
	struct rt_task *chosen = otherwise;
	uint64_t set = 0;

	for (unsigned i = 0; i < n; i++)
		if (tasks[i]->thread < RT_SEARCH_THREADS)
			set |= UINT64_C(1) << tasks[i]->thread;
		else
			search->overflow = 1;
	if (next_choice < search->choice_count) {
		uint8_t thread = choices[next_choice++];
		unsigned i = 0;

		while (i < n && tasks[i]->thread != thread)
			i++;
		if (i < n)
			chosen = tasks[i];
		else
			search->diverged = 1;
	}
	note((struct rt_search_record){.kind = (uint8_t)kind,
	                               .thread = chosen->thread,
	                               .object = set,
	                               .arg = current ? current->thread : UINT64_MAX});
	return chosen;
}

/* True if what it does next is of no importance to others: it begins, or comes back from a wait. */
static bool is_private(const struct rt_task *t)
{
	return t->next.op == RT_OP_BEGIN || t->next.op == RT_OP_NONE ||
	       (t->since == t->next.count && !rt_step_acquires(&t->next) && t->next.op != RT_OP_SEM_WAIT &&
	        t->next.op != RT_OP_ONCE_SEEN);
}

/* Such threads first, so that at a choice that matters each thread is about to do something that does. */
static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *otherwise = enabled[0];

	for (unsigned i = 0; i < n; i++)
		if (enabled[i] == current)
			otherwise = current;
	for (unsigned i = n; i-- > 0;)
		if (is_private(enabled[i]))
			otherwise = enabled[i];
	note_steps(enabled, n);
	otherwise = take(RT_SEARCH_CHOICE, current, enabled, n, otherwise);
	otherwise->since = otherwise->next.count;
	return otherwise;
}

static struct rt_task *wakes(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	return take(RT_SEARCH_WAKE, signaller, waiters, n, waiters[0]);
}

const struct rt_strategy rt_strategy_systematic = {
    .name = "systematic", .has_plan = true, .timeless = true, .init = init, .choose = choose, .wakes = wakes};
