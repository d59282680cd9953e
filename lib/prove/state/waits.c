/* Which signal ended which wait; see waits.h. */
#include "lib/prove/state/waits.h"

#include "lib/base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

static int compare_waits(const void *a, const void *b)
{
	uint32_t x = ((const struct wait *)a)->signal, y = ((const struct wait *)b)->signal;
	return x < y ? -1 : x > y;
}

/* The signal of a wait: the first one on its condition after the begin that the wait's end needs. */
static uint32_t signal_between(const struct model *m, const struct trf *trf, uint32_t begin, uint32_t end)
{
	uint32_t clock = trf_clock(trf, end), at = lower_bound(i, 0, m->sync_count, m->sync[i] <= begin);
	for (; at < m->sync_count && m->sync[at] < end; at++) {
		uint32_t e = m->sync[at];
		if (rt_op_has(model_op(m, e), RT_WAKES) && m->events[e].object == m->events[end].object &&
		    clock_get(&trf->clocks, clock, model_thread_of(m, e)) > m->events[e].pos)
			return e;
	}
	return MODEL_NONE;
}

static void scan(struct waits *w, const struct model *m, const struct trf *trf, uint32_t *begin)
{
	for (uint32_t i = 0; i < m->sync_count; i++) {
		uint32_t e = m->sync[i], thread = model_thread_of(m, e);
		if (model_op(m, e) == RT_OP_WAIT_BEGIN)
			begin[thread] = e;
		if (model_op(m, e) != RT_OP_WAIT_END || begin[thread] == MODEL_NONE ||
		    (m->sites[m->events[e].site].flags & (RT_F_TIMED | RT_F_TIMEOUT)))
			continue;
		uint32_t signal = signal_between(m, trf, begin[thread], e);
		if (signal == MODEL_NONE)
			continue;
		w->signal_of[begin[thread]] = w->signal_of[e] = signal;
		w->items[w->count++] = (struct wait){signal, begin[thread], e};
	}
}

bool waits_init(struct waits *w, const struct model *m, const struct trf *trf)
{
	size_t threads = (size_t)m->thread_count + 1, events = (size_t)m->event_count + 1;
	uint32_t *begin = malloc(threads * sizeof *begin);
	*w = (struct waits){.items = malloc(((size_t)m->sync_count + 1) * sizeof *w->items),
	                    .signal_of = malloc(events * sizeof *w->signal_of)};
	bool ok = begin && w->items && w->signal_of;
	if (ok) {
		memset(begin, 0xff, threads * sizeof *begin);
		memset(w->signal_of, 0xff, events * sizeof *w->signal_of);
		scan(w, m, trf, begin);
		qsort(w->items, w->count, sizeof *w->items, compare_waits);
	}
	free(begin);
	return ok;
}

void waits_release(struct waits *w)
{
	free(w->items);
	free(w->signal_of);
}

uint32_t waits_of(const struct waits *w, uint32_t signal)
{
	return lower_bound(middle, 0, w->count, w->items[middle].signal < signal);
}
