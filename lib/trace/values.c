/* Which writes of a cell write the same value; see values.h. */
#include "lib/trace/values.h"
#include "lib/base/free.h"

#include <stdlib.h>
#include <string.h>

/* A write of a cell, or the content before the first write. */
struct written {
	uint64_t bits;
	uint32_t entry; /* MODEL_NONE: before the first */
	enum { VALUE_UNKNOWN, VALUE_KNOWN, VALUE_DOUBTFUL } state;
};

/* A read of this write saw these bits. */
static void seen(struct written *w, uint64_t bits)
{
	if (w->state == VALUE_UNKNOWN) {
		w->bits = bits;
		w->state = VALUE_KNOWN;
	} else if (w->state == VALUE_KNOWN && w->bits != bits) {
		w->state = VALUE_DOUBTFUL;
	}
}

/* Lists the initial content of a cell and its writes; returns their number. */
static uint32_t list_writes(const struct model *m, uint32_t cell, struct written *list)
{
	const struct rt_trace_info *info = rt_trace_info(m->trace);
	uint32_t n = 1;
	list[0] = (struct written){0, MODEL_NONE, m->cells[cell].renewed ? VALUE_DOUBTFUL : VALUE_UNKNOWN};
	for (uint32_t i = m->cells[cell].first; i < m->cells[cell].first + m->cells[cell].count; i++) {
		uint32_t e = m->cell_events[i];
		uint64_t bits = 0;
		bool known = model_value(m, e, cell, &bits) && !model_raced(m, i), reads = rt_op_reads(model_op(m, e));
		if (reads && known)
			seen(&list[n - 1], bits);
		if (rt_op_writes(model_op(m, e)))
			list[n++] = (struct written){bits, i, known && !reads ? VALUE_KNOWN : VALUE_UNKNOWN};
	}
	if (list[0].state == VALUE_UNKNOWN && info->zeroed)
		list[0].state = VALUE_KNOWN;
	return n;
}

/* Writes with a known value first, by value, then in the order of the trace. */
static int compare(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	if ((x->state == VALUE_KNOWN) != (y->state == VALUE_KNOWN))
		return x->state == VALUE_KNOWN ? -1 : 1;
	if (x->bits != y->bits)
		return x->bits < y->bits ? -1 : 1;
	return x->entry + 1 < y->entry + 1 ? -1 : x->entry != y->entry; /* MODEL_NONE sorts first */
}

/* Links the writes of one value. The list is in the order of compare. */
static void link_writes(struct values *v, const struct model *m, uint32_t cell, const struct written *list, uint32_t n)
{
	uint32_t like = MODEL_NONE;
	v->initial[cell] = MODEL_NONE;
	for (uint32_t i = 0; i < n; i++) {
		bool same = i && list[i].state == VALUE_KNOWN && list[i - 1].state == VALUE_KNOWN &&
		            list[i].bits == list[i - 1].bits;
		like = same ? like : list[i].entry;
		if (list[i].entry == MODEL_NONE) {
			v->initially[cell] = list[i].state == VALUE_KNOWN;
			continue;
		}
		if (list[i].state == VALUE_KNOWN && !model_raced(m, list[i].entry))
			v->sure[list[i].entry / 8] |= (uint8_t)(1 << list[i].entry % 8);
		uint32_t rank = last_writes_rank(v->writes, list[i].entry);
		v->like[rank] = like;
		v->next[rank] = MODEL_NONE;
		if (same && list[i - 1].entry == MODEL_NONE)
			v->initial[cell] = list[i].entry;
		else if (same)
			v->next[last_writes_rank(v->writes, list[i - 1].entry)] = list[i].entry;
	}
}

/* Number of writes of one value that are examined for a read. */
enum { SOURCES_MAX = 8 };

/*
 * True if e, which read what the write `last` (MODEL_NONE: nothing before it) left, may see that value from another
 * one. A write that its own thread makes later, or that `last` overwrote in its own thread, is none.
 */
static bool has_other_source(const struct values *v, const struct model *m, uint32_t cell, uint32_t e, uint32_t last)
{
	uint32_t own = model_thread_of(m, e), like = values_like(v, last), i = values_first(v, cell, like);
	bool own_last = last != MODEL_NONE && model_thread_of(m, m->cell_events[last]) == own;
	/* The initial content is no write of its value, which is like it. */
	if (last != MODEL_NONE && like == MODEL_NONE && !own_last)
		return true;
	for (uint32_t looked = 0; i != MODEL_NONE; i = values_next(v, i), looked++) {
		uint32_t write = m->cell_events[i];
		bool unseen = model_thread_of(m, write) == own && (write > e || own_last);
		if (looked == SOURCES_MAX || (i != last && !unseen))
			return true;
	}
	return false;
}

/* Marks the plain reads of a cell that may see another write than they saw (reads: by event, bits; NULL: none is
 * marked). True if there is any, or an atomic one. */
static bool find_free(const struct values *v, const struct model *m, uint32_t cell, uint8_t *reads)
{
	uint32_t last = MODEL_NONE;
	bool any = false;
	for (uint32_t i = m->cells[cell].first; i < m->cells[cell].first + m->cells[cell].count; i++) {
		uint32_t e = m->cell_events[i];
		enum rt_op op = model_op(m, e);
		bool is_free = rt_op_reads(op) && has_other_source(v, m, cell, e, last);
		any |= is_free;
		if (is_free && op == RT_OP_READ && reads)
			reads[e / 8] |= (uint8_t)(1 << e % 8);
		if (rt_op_writes(op))
			last = i;
	}
	return any;
}

bool values_init(struct values *v, const struct model *m, const struct last_writes *writes)
{
	size_t entries = model_entries(m), count = (size_t)writes->count + 1, most = 0;
	for (uint32_t c = 0; c < m->cell_count; c++)
		most = m->cells[c].count > most ? m->cells[c].count : most;
	struct written *list = malloc((most + 1) * sizeof *list);
	*v = (struct values){writes,
	                     malloc(count * sizeof *v->like),
	                     malloc(count * sizeof *v->next),
	                     malloc(((size_t)m->cell_count + 1) * sizeof *v->initial),
	                     calloc(entries / 8 + 1, 1),
	                     calloc((size_t)m->cell_count + 1, sizeof *v->initially),
	                     false};
	if (!list || !v->like || !v->next || !v->initial || !v->sure || !v->initially) {
		free(list);
		values_release(v);
		return false;
	}
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t n = list_writes(m, c, list);
		qsort(list, n, sizeof *list, compare);
		link_writes(v, m, c, list, n);
		v->any |= find_free(v, m, c, NULL);
	}
	free(list);
	return true;
}

void values_release(struct values *v)
{
	free_all(v->like, v->next, v->initial, v->sure, v->initially);
	*v = (struct values){0};
}

uint8_t *values_free_reads(const struct values *v, const struct model *m)
{
	uint8_t *reads = calloc((size_t)m->event_count / 8 + 1, 1);
	for (uint32_t c = 0; reads && c < m->cell_count; c++)
		find_free(v, m, c, reads);
	return reads;
}
