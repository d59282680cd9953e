/* Thread order and reads-from; see trf.h. One pass over all events. */
#include "lib/order/trf.h"

#include <stdlib.h>
#include <string.h>

struct trf_pass {
	const struct model *m;
	struct trf *out;
	struct por *por;
	uint32_t *now;         /* by thread: its clock; MODEL_NONE: has no event yet */
	uint32_t *writer;      /* by cell: last write, event index, MODEL_NONE */
	uint32_t *write_clock; /* by cell: clock of its thread at the last write */
	struct thread_changes {
		struct trf_change *items;
		uint32_t count, capacity;
	} * threads;
	bool failed;
};

static void change(struct trf_pass *p, uint32_t thread, uint32_t pos, uint32_t clock)
{
	struct thread_changes *c = &p->threads[thread];
	if (c->count == c->capacity) {
		uint32_t capacity = c->capacity ? c->capacity * 2 : 8;
		struct trf_change *items = realloc(c->items, capacity * sizeof *items);
		if (!items) {
			p->failed = true;
			return;
		}
		c->items = items;
		c->capacity = capacity;
	}
	c->items[c->count++] = (struct trf_change){pos, clock};
}

static uint32_t read_from(struct trf_pass *p, uint32_t e, uint32_t clock)
{
	const struct model *m = p->m;
	uint32_t thread = model_thread_of(m, e), end = m->events[e].object + m->sites[m->events[e].site].cells;
	for (uint32_t cell = m->events[e].object; cell < end; cell++) {
		uint32_t w = p->writer[cell];
		if (w == MODEL_NONE || model_thread_of(m, w) == thread)
			continue;
		struct stamp stamp = {p->write_clock[cell], model_thread_of(m, w), m->events[w].pos + 1};
		clock = clock_receive(&p->out->clocks, clock, stamp, thread);
	}
	return clock;
}

static void step(struct trf_pass *p, uint32_t e, uint32_t *sync)
{
	const struct model *m = p->m;
	uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos;
	if (p->now[thread] == MODEL_NONE) {
		p->now[thread] = por_begin(p->por, thread);
		change(p, thread, 0, p->now[thread]);
	}
	uint32_t clock = p->now[thread];
	unsigned op = model_op(m, e);
	if (rt_op_is_access(op) && rt_op_reads(op))
		clock = read_from(p, e, clock);
	if (*sync < m->sync_count && m->sync[*sync] == e) {
		clock = por_step(p->por, e, clock);
		(*sync)++;
	}
	if (clock != p->now[thread])
		change(p, thread, pos, clock);
	p->now[thread] = clock;
	if (rt_op_is_access(op) && rt_op_writes(op))
		for (uint32_t c = 0; c < m->sites[m->events[e].site].cells; c++) {
			p->writer[m->events[e].object + c] = e;
			p->write_clock[m->events[e].object + c] = clock;
		}
}

/* Lays the threads' changes behind one another. */
static bool collect(struct trf_pass *p)
{
	struct trf *t = p->out;
	uint64_t total = 0;
	for (uint32_t i = 0; i < p->m->thread_count; i++)
		total += p->threads[i].count;
	if (total >= MODEL_NONE || !(t->changes = malloc((total + 1) * sizeof *t->changes)))
		return false;
	uint32_t at = 0;
	for (uint32_t i = 0; i < p->m->thread_count; i++) {
		t->first[i] = at;
		if (p->threads[i].count)
			memcpy(t->changes + at, p->threads[i].items, p->threads[i].count * sizeof *t->changes);
		at += p->threads[i].count;
	}
	t->first[p->m->thread_count] = at;
	return true;
}

enum rt_status trf_compute(const struct model *m, struct trf *out, struct rt_error *err)
{
	memset(out, 0, sizeof *out);
	out->m = m;
	struct trf_pass p = {.m = m, .out = out};
	bool ok = clocks_init(&out->clocks, m->thread_count);
	out->first = malloc((m->thread_count + 1) * sizeof *out->first);
	p.por = ok ? por_create(m, &out->clocks, false) : NULL;
	p.now = malloc((m->thread_count + 1) * sizeof *p.now);
	p.threads = calloc(m->thread_count + 1, sizeof *p.threads);
	p.writer = malloc((m->cell_count + 1) * sizeof *p.writer);
	p.write_clock = malloc((m->cell_count + 1) * sizeof *p.write_clock);
	ok = ok && out->first && p.por && p.now && p.threads && p.writer && p.write_clock;
	if (ok) {
		memset(p.now, 0xff, (m->thread_count + 1) * sizeof *p.now);
		memset(p.writer, 0xff, (m->cell_count + 1) * sizeof *p.writer);
		uint32_t sync = 0;
		for (uint32_t e = 0; e < m->event_count; e++)
			step(&p, e, &sync);
		ok = collect(&p) && !p.failed && por_ok(p.por) && !out->clocks.failed;
	}
	for (uint32_t i = 0; p.threads && i < m->thread_count; i++)
		free(p.threads[i].items);
	free(p.threads);
	free(p.now);
	free(p.writer);
	free(p.write_clock);
	por_free(p.por);
	if (ok)
		return RT_OK;
	trf_release(out);
	return rt_error_set(err, RT_EMEMORY, "no memory to work out what each event needs");
}

void trf_release(struct trf *t)
{
	clocks_release(&t->clocks);
	free(t->changes);
	free(t->first);
	memset(t, 0, sizeof *t);
}

uint32_t trf_clock(const struct trf *t, uint32_t e, bool without_read)
{
	const struct model *m = t->m;
	uint32_t thread = model_thread_of(m, e);
	/* A change at an access is what it reads; at the thread's first event there is also what the thread began with.
	 */
	uint32_t below = m->events[e].pos + !(without_read && rt_op_is_access(model_op(m, e)));
	uint32_t low = t->first[thread], high = t->first[thread + 1];
	if (low == high)
		return 0;
	uint32_t found = low; /* the thread's first change holds for all */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (t->changes[middle].pos < below) {
			found = middle;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return t->changes[found].clock;
}
