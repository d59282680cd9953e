#include "lib/analysis/binary.h"

#include "lib/analysis/statement.h"
#include "lib/order/order.h"

#include <stdlib.h>

/* True if no compiler makes this of an atomic access: by its instruction, its width, or as it is across its size. */
static bool is_plain(const struct model *m, uint32_t e)
{
	enum { WIDEST = 16 }; /* of what the recorder has not flagged */
	const struct model_site *site = &m->sites[m->events[e].site];
	const struct model_cell *first = &m->cells[m->events[e].object];
	uint64_t size = 0;
	if (rt_op_is_atomic(model_op(m, e)))
		return false;
	for (uint32_t i = 0; i < site->cells; i++)
		size += first[i].size;
	return !size || site->flags & (RT_F_PLAIN | RT_F_FREE | RT_F_OBJECT) || size > WIDEST || (size & (size - 1)) ||
	       first->addr % size;
}

/* True if a line above makes the statement on that line an atomic operation. */
static bool is_made_atomic(struct snippets *sources, const char *file, uint32_t line)
{
	enum { ABOVE = 8 };
	enum statement_above what = ABOVE_GOES_ON;
	for (unsigned i = 1; i <= ABOVE && i < line && what == ABOVE_GOES_ON; i++) {
		char *above = snippet(sources, file, line - i);
		what = above ? statement_above(above) : ABOVE_ENDS;
		free(above);
	}
	return what == ABOVE_ATOMIC;
}

/* True if the source line of the access calls no atomic operation, as far as the file is still what it was. */
static bool is_plain_source(const struct model *m, struct snippets *sources, uint32_t e)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(m->trace, m->sites[m->events[e].site].pc, &n);
	char *line = n && f->file ? snippet(sources, f->file, f->line) : NULL;
	bool plain = line && statement_is_plain(line) && !is_made_atomic(sources, f->file, f->line);
	free(line);
	return plain;
}

/* True of a store with a fence behind it: the store to an _Atomic variable, which calls nothing, is compiled to both.
 */
static bool is_fenced(const struct model *m, uint32_t e)
{
	uint32_t next = model_next(m, model_thread_of(m, e), m->events[e].pos + 1);
	return model_op(m, e) == RT_OP_WRITE && next != MODEL_NONE && model_op(m, next) == RT_OP_FENCE;
}

static bool is_certain(const struct model *m, struct snippets *sources, const uint32_t *events)
{
	return is_plain(m, events[0]) || is_plain(m, events[1]) ||
	       (!is_fenced(m, events[0]) && !is_fenced(m, events[1]) && is_plain_source(m, sources, events[0]) &&
	        is_plain_source(m, sources, events[1]));
}

bool binary_may_be_atomic(const struct model *m, struct snippets *sources, uint32_t e)
{
	return rt_trace_info(m->trace)->binary && !is_plain(m, e) &&
	       (is_fenced(m, e) || !is_plain_source(m, sources, e));
}

void binary_cap(const struct model *m, struct snippets *sources, struct anomaly *a)
{
	if (!rt_trace_info(m->trace)->binary || a->kind != ANOMALY_RACE || a->verdict < VERDICT_CONDITIONAL)
		return;
	bool certain = is_certain(m, sources, a->events);
	if (!certain && a->verdict <= VERDICT_PREDICTED)
		reasons_add(&a->reasons, REASON_MACHINE_CODE); /* a run that shows it would prove nothing */
	else if (!certain)
		anomaly_cap(a, REASON_MACHINE_CODE, NULL);
	else if (a->verdict == VERDICT_OBSERVED && !(a->orders_unordered >> order_find("shb") & 1))
		anomaly_cap(a, REASON_MACHINE_ORDER, NULL);
}
