/* Thread order and reads-from; see trf.h. One pass over all events. */
#include "lib/relation/trf.h"

#include <stdlib.h>
#include <string.h>

/* Joins the last writes that the read saw, and the events that those need. From here on, everything that the thread
 * passes on includes them. */
static void read_event(struct trf *t, const struct stamp *writers, struct por *p, uint32_t e)
{
	const struct model_event *event = &t->m->events[e];
	uint32_t thread = model_thread_of(t->m, e);
	por_set_now(p, thread,
	            clock_receive_all(&t->clocks, por_now(p, thread), &writers[event->object],
	                              t->m->sites[event->site].cells, thread));
}

static void write_event(struct trf *t, struct stamp *writers, struct por *p, uint32_t e)
{
	const struct model *m = t->m;
	uint32_t thread = model_thread_of(m, e), end = m->events[e].object + m->sites[m->events[e].site].cells;
	for (uint32_t cell = m->events[e].object; cell < end; cell++)
		writers[cell] = (struct stamp){por_now(p, thread), thread, m->events[e].pos + 1};
}

static bool walk(struct trf *t, struct stamp *writers, struct por *p, const uint8_t *free_reads)
{
	const struct model *m = t->m;
	for (uint32_t e = 0, sync = 0; e < m->event_count; e++) {
		uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos, before = por_now(p, thread);
		if (pos == 0)
			timeline_add(&t->timeline, thread, 0, before);
		bool free_read = free_reads && free_reads[e / 8] >> e % 8 & 1;
		if (rt_op_is_access(model_op(m, e)) && rt_op_reads(model_op(m, e)) && !free_read)
			read_event(t, writers, p, e);
		if (sync < m->sync_count && m->sync[sync] == e) {
			por_step(p, e);
			sync++;
		}
		if (rt_op_is_access(model_op(m, e)) && rt_op_writes(model_op(m, e)))
			write_event(t, writers, p, e);
		if (por_now(p, thread) != before)
			timeline_add(&t->timeline, thread, pos + 1, por_now(p, thread));
	}
	return por_ok(p) && !t->timeline.failed && !t->clocks.failed;
}

enum rt_status trf_compute(const struct model *m, const uint8_t *free_reads, struct trf *out, struct rt_error *err)
{
	memset(out, 0, sizeof *out);
	out->m = m;
	struct stamp *writers = calloc((size_t)m->cell_count + 1, sizeof *writers);
	bool ok =
	    writers && clocks_init(&out->clocks, m->thread_count) && timeline_init(&out->timeline, m->thread_count);
	struct por *p = ok ? por_create(m, &out->clocks, false) : NULL;
	ok = p && walk(out, writers, p, free_reads);
	por_free(p);
	free(writers);
	if (ok)
		return RT_OK;
	trf_release(out);
	return rt_error_set(err, RT_EMEMORY, "no memory to work out what each event needs");
}

void trf_release(struct trf *t)
{
	clocks_release(&t->clocks);
	timeline_release(&t->timeline);
}

uint32_t trf_clock(const struct trf *t, uint32_t e)
{
	return timeline_at(&t->timeline, model_thread_of(t->m, e), t->m->events[e].pos + 1);
}

uint32_t trf_clock_unsignalled(const struct trf *t, uint32_t e)
{
	return timeline_at(&t->timeline, model_thread_of(t->m, e), t->m->events[e].pos);
}

uint32_t trf_clock_before(const struct trf *t, uint32_t e)
{
	enum rt_op op = model_op(t->m, e);
	if (!rt_op_is_access(op) && (!rt_op_has(op, RT_WAITS) || op == RT_OP_WAIT_END))
		return trf_clock(t, e);
	return trf_clock_unsignalled(t, e);
}
