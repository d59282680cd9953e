/* The verdict `proved`: no other file gives it (tests/cli/t_layers.sh). */
#include "lib/judge/judge.h"

#include "lib/base/vec.h"

#include <string.h>

void judge_remember(struct judge *j, const struct schedule *s, const struct goal *goal)
{
	j->accepted_any = vec_reserve(&j->accepted, &j->accepted_capacity, (uint64_t)s->count + 1, sizeof *j->accepted);
	if (!j->accepted_any)
		return; /* it is judged again when it is asked for */
	if (s->count)
		memcpy(j->accepted, s->steps, s->count * sizeof *s->steps);
	j->accepted_count = s->count;
	j->accepted_goal = *goal;
}

/* True if the schedule is the one that was accepted last, for the same goal. */
static bool is_remembered(const struct judge *j, const struct schedule *s, const struct goal *goal)
{
	const struct goal *g = &j->accepted_goal;
	return j->accepted_any && j->accepted_count == s->count && g->kind == goal->kind && g->count == goal->count &&
	       g->runs_on == goal->runs_on && !memcmp(g->events, goal->events, goal->count * sizeof *goal->events) &&
	       (!s->count || !memcmp(j->accepted, s->steps, s->count * sizeof *s->steps));
}

bool judge_prove(struct judge *j, struct anomaly *a)
{
	struct goal goal = goal_of(a);
	struct verdict_of_judge v = {.fault = VERIFY_NONE};
	if (!a->schedule || a->uncertain || a->reasons.capped || a->verdict == VERDICT_OBSERVED)
		return false;
	if (!is_remembered(j, a->schedule, &goal))
		judge_verify(j, a->schedule, &goal, &v);
	if (v.fault)
		return false;
	if (!judge_tries_fail(j, a->schedule, &goal)) {
		reasons_add(&a->reasons, REASON_FAILED_TRY);
		return false;
	}
	if (!judge_repeats_hold(j, a->schedule, &goal)) {
		reasons_add(&a->reasons, REASON_REPEATS);
		return false;
	}
	a->verdict = VERDICT_PROVED;
	return true;
}
