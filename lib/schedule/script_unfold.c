/* The recorded beginning of a schedule, as steps; see script.h. */
#include "lib/base/free.h"
#include "lib/base/vec.h"
#include "lib/schedule/script.h"

#include <stdlib.h>
#include <string.h>

struct unfolding {
	struct script *s;
	const struct rt_trace_info *info;
	uint32_t *names; /* by thread of the trace: index of its name in the script, UINT32_MAX: not there yet */
	uint64_t *done;  /* by thread: ordinal of its last event so far */
	struct script_step *steps;
	size_t count, capacity;
	uint32_t name_capacity;
};

/* Index of a thread's name in the script, which may gain it. UINT32_MAX without memory. */
static uint32_t name_of(struct unfolding *u, uint32_t thread)
{
	struct script *s = u->s;
	if (u->names[thread] != UINT32_MAX)
		return u->names[thread];
	char *copy = strdup(u->info->threads[thread].name);
	if (!copy || !vec_reserve(&s->names, &u->name_capacity, (uint64_t)s->name_count + 1, sizeof *s->names)) {
		free(copy);
		return UINT32_MAX;
	}
	s->names[s->name_count] = copy;
	return u->names[thread] = s->name_count++;
}

/* Lets the event run next. False without memory. */
static bool add_event(struct unfolding *u, const struct rt_event *e)
{
	uint32_t name = name_of(u, e->thread);
	struct script_step *last = u->count ? &u->steps[u->count - 1] : NULL;
	if (name == UINT32_MAX)
		return false;
	if (last && last->name == name) {
		last->to = e->ordinal;
	} else {
		if (!vec_reserve(&u->steps, &u->capacity, u->count + 1, sizeof *u->steps))
			return false;
		u->steps[u->count++] =
		    (struct script_step){.name = name, .from = u->done[e->thread] + 1, .to = e->ordinal};
	}
	u->done[e->thread] = e->ordinal;
	return true;
}

/* The steps of the recorded events. Sets *last to the number of the last one. */
static enum rt_status unfold(struct unfolding *u, struct rt_trace *trace, uint64_t *last, struct rt_error *err)
{
	struct rt_pass pass;
	bool ok = true;
	const struct rt_event *e = rt_pass_first(&pass, trace, err);
	for (; e && ok && e->number <= u->s->recorded; e = rt_pass_next(&pass)) {
		ok = e->thread >= u->info->thread_count || add_event(u, e);
		*last = e->number;
	}
	return !ok ? rt_error_set(err, RT_EMEMORY, "no memory for the schedule") : pass.status;
}

/* Puts the steps before those of the script. */
static enum rt_status put_before(struct unfolding *u, struct rt_error *err)
{
	struct script *s = u->s;
	if (!vec_reserve(&u->steps, &u->capacity, u->count + s->step_count + 1, sizeof *u->steps) || !u->steps)
		return rt_error_set(err, RT_EMEMORY, "no memory for the schedule");
	memcpy(u->steps + u->count, s->steps, s->step_count * sizeof *s->steps);
	free(s->steps);
	s->steps = u->steps;
	s->step_count += u->count;
	s->recorded = 0;
	u->steps = NULL;
	return RT_OK;
}

enum rt_status script_unfold(struct script *s, struct rt_trace *trace, struct rt_error *err)
{
	struct unfolding u = {.s = s, .info = rt_trace_info(trace), .name_capacity = s->name_count};
	uint64_t last = 0;
	if (!s->recorded)
		return RT_OK;
	uint32_t *threads = script_threads(s, trace);
	u.names = malloc(((size_t)u.info->thread_count + 1) * sizeof *u.names);
	u.done = calloc((size_t)u.info->thread_count + 1, sizeof *u.done);
	enum rt_status status =
	    threads && u.names && u.done ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the schedule");
	for (uint32_t i = 0; !status && i < u.info->thread_count; i++)
		u.names[i] = UINT32_MAX;
	for (uint32_t i = 0; !status && i < s->name_count; i++)
		if (threads[i] != UINT32_MAX)
			u.names[threads[i]] = i;
	if (!status)
		status = unfold(&u, trace, &last, err);
	if (!status && last < s->recorded)
		status = rt_error_set(err, RT_EINPUT,
		                      "the trace has no event %llu, up to which the schedule runs as recorded",
		                      (unsigned long long)s->recorded);
	if (!status)
		status = put_before(&u, err);
	free_all(threads, u.names, u.done, u.steps);
	return status;
}
