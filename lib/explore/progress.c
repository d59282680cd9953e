/* Progress at the end of a trace; see progress.h. */
#include "lib/explore/progress.h"

#include "lib/base/set.h"

enum { LAST = 1 << 16 }; /* events that are looked at; in the second half of them there is progress or not */

/* The value that the event gives to a variable, together with that; 0: it gives none that is known. */
static uint64_t given(const struct rt_event *e)
{
	if (!rt_op_writes(e->op) || !(e->flags & RT_F_VALUE))
		return 0;
	uint64_t key = (e->addr ^ e->value * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32 ? key ^ key >> 32 : 1;
}

enum rt_status progress_of(struct rt_trace *trace, bool *progress, struct rt_error *err)
{
	uint64_t all = rt_trace_info(trace)->events, seen = 0;
	struct set values = {0};
	struct rt_pass pass;
	bool ok = true, added;
	*progress = false;
	if (all < LAST) /* what it did last may be long ago */
		return RT_OK;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && ok && !*progress; e = rt_pass_next(&pass)) {
		seen++;
		uint64_t key = seen + LAST > all ? given(e) : 0;
		bool late = seen + LAST / 2 > all;
		*progress = late && e->op == RT_OP_FORK;
		if (!key)
			continue;
		ok = set_add(&values, key, &added);
		*progress |= late && added;
	}
	set_release(&values);
	return ok ? pass.status : rt_error_set(err, RT_EMEMORY, "no memory for the end of a trace");
}
