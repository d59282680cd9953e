/*
 * The events around an anomaly in the partial and temporal order graph, for Graphviz, as PECAN's figures draw it. It
 * has one column for each thread, solid edges for the partial order, and dashed ones for the temporal order along a
 * cell.
 */
#include "lib/report/deed.h"
#include "lib/report/formats.h"
#include "lib/report/subject.h"
#include "lib/report/utf8.h"
#include "lib/search/ptg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	NEAR = 3,       /* events of the same thread drawn on either side */
	TOR_NEAR = 2,   /* accesses along the cell drawn on either side */
	NODES_MAX = 120 /* nodes beyond this are left out */
};

struct drawing {
	const struct report *r;
	const struct model *m;
	const struct anomaly *anomaly;
	struct ptg *g;
	bool own;                  /* only the anomaly's own events, and the acquires of a deadlock's locks */
	uint32_t nodes[NODES_MAX]; /* sorted by event */
	uint32_t count;
};

static bool is_drawn(const struct drawing *d, uint32_t e)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (d->nodes[i] == e)
			return true;
	return false;
}

static void draw(struct drawing *d, uint32_t e)
{
	if (e == MODEL_NONE || d->count == NODES_MAX || is_drawn(d, e))
		return;
	uint32_t i = d->count++;
	for (; i && d->nodes[i - 1] > e; i--)
		d->nodes[i] = d->nodes[i - 1];
	d->nodes[i] = e;
}

/* --- selection --- */

static void draw_near(struct drawing *d, uint32_t e)
{
	struct ptg_list thread = ptg_of_thread(d->g, model_thread_of(d->m, e));
	uint32_t pos = d->m->events[e].pos, from = pos > NEAR ? pos - NEAR : 0;
	for (uint32_t i = from; i < thread.count && i <= pos + NEAR; i++)
		draw(d, thread.events[i]);
}

/* The last event before e that acquires a lock, also by the end of a wait; MODEL_NONE: its thread has none. */
static uint32_t acquire_of(const struct drawing *d, uint32_t e, uint32_t lock)
{
	const struct model *m = d->m;
	struct ptg_list thread = ptg_of_thread(d->g, model_thread_of(m, e));
	for (uint32_t pos = m->events[e].pos; pos-- > 0;)
		if (model_lock_taken(m, thread.events[pos]) == lock)
			return thread.events[pos];
	return MODEL_NONE;
}

/* Adds where each lock held at e was acquired, and where it is released. */
static void draw_locks(struct drawing *d, uint32_t e)
{
	const struct model *m = d->m;
	struct ptg_list thread = ptg_of_thread(d->g, model_thread_of(m, e));
	const struct model_lockset *held = &m->locksets[model_lockset_of(m, e)];
	for (uint32_t i = 0; i < held->count; i++) {
		uint32_t lock = held->locks[i].object;
		draw(d, acquire_of(d, e, lock));
		for (uint32_t pos = m->events[e].pos + 1; pos < thread.count; pos++)
			if (model_lock_released(m, thread.events[pos]) == lock) {
				draw(d, thread.events[pos]);
				break;
			}
	}
}

static bool is_access(const struct model *m, uint32_t e)
{
	unsigned op = model_op(m, e);
	return rt_op_is_access(op) && op != RT_OP_FENCE;
}

static void draw_cells(struct drawing *d, uint32_t e)
{
	const struct model *m = d->m;
	if (!is_access(m, e))
		return;
	for (uint32_t c = m->events[e].object; c < m->events[e].object + m->sites[m->events[e].site].cells; c++) {
		uint32_t before = e, after = e;
		for (int i = 0; i < TOR_NEAR; i++) {
			before = before == MODEL_NONE ? before : ptg_tor_before(d->g, before, c);
			after = after == MODEL_NONE ? after : ptg_tor_after(d->g, after, c);
			draw(d, before);
			draw(d, after);
		}
	}
}

/* Adds the last events of other threads that the event comes after, which explain its position. */
static void draw_before(struct drawing *d, uint32_t e)
{
	while (e != MODEL_NONE) {
		struct ptg_list sources = ptg_por_into(d->g, e);
		if (sources.count) {
			draw(d, e);
			for (uint32_t i = 0; i < sources.count; i++)
				draw(d, sources.events[i]);
			return;
		}
		uint32_t first = d->m->segments[d->m->events[e].segment].first;
		e = first == d->m->events[e].pos ? model_pred(d->m, e)
		                                 : d->m->threads[model_thread_of(d->m, e)].events[first];
	}
}

/* Where the thread of another event of the deadlock acquired the lock that this one waits for; MODEL_NONE: unknown. */
static uint32_t holder_of(const struct drawing *d, uint32_t event)
{
	const struct anomaly *a = d->anomaly;
	uint32_t e = a->events[event], lock = model_lock_taken(d->m, e);
	if (model_op(d->m, e) == RT_OP_BLOCK && rt_op_group(model_arg(d->m, e)) == RT_GROUP_LOCK)
		lock = d->m->events[e].object;
	for (uint32_t i = 1; i < a->event_count && lock != MODEL_NONE; i++) {
		uint32_t other = a->events[(event + i) % a->event_count];
		if (model_lockset_lock(d->m, model_lockset_of(d->m, other), lock))
			return acquire_of(d, other, lock);
	}
	return MODEL_NONE;
}

static void choose(struct drawing *d)
{
	const struct anomaly *a = d->anomaly;
	for (uint32_t i = 0; i < a->event_count; i++)
		draw(d, a->events[i]);
	for (uint32_t i = 0; d->own && a->kind == ANOMALY_DEADLOCK && i < a->event_count; i++)
		draw(d, holder_of(d, i));
	if (d->own)
		return;
	for (uint32_t i = 0; i < a->event_count; i++) {
		draw_locks(d, a->events[i]);
		draw_before(d, a->events[i]);
		draw_near(d, a->events[i]);
	}
	for (uint32_t i = 0; i < a->event_count; i++)
		draw_cells(d, a->events[i]);
	for (uint32_t i = d->count; i-- > 0;)
		if (model_op(d->m, d->nodes[i]) == RT_OP_FORK || d->m->events[d->nodes[i]].pos == 0)
			draw_before(d, d->nodes[i]);
}

/* --- drawing --- */

static void put_character(char c, FILE *out)
{
	if (c == '"' || c == '\\')
		putc('\\', out);
	if (c == '&') /* nor for an HTML entity */
		fputs("&amp;", out);
	else
		putc(c, out);
}

/* Inside a quoted string. No character acts as an escape for Graphviz, or on a terminal. */
static void put_text(const char *text, FILE *out)
{
	utf8_print(text, put_character, out);
}

static void put_address(const struct drawing *d, uint64_t addr, FILE *out)
{
	char name[SUBJECT_NAME_MAX];
	subject_object_name(d->r, addr, NULL, name);
	if (!*name)
		snprintf(name, sizeof name, "0x%" PRIx64, addr);
	put_text(name, out);
}

static const char *thread_name(const struct drawing *d, uint32_t thread)
{
	const struct rt_trace_info *info = rt_trace_info(d->r->analysis->trace);
	return thread < info->thread_count ? info->threads[thread].name : "?";
}

static void put_object(const struct drawing *d, uint32_t e, FILE *out)
{
	const struct model *m = d->m;
	uint32_t object = m->events[e].object;
	unsigned op = model_op(m, e);
	if (is_access(m, e) && object < m->cell_count)
		put_address(d, m->cells[object].addr, out);
	else if (op == RT_OP_FORK || op == RT_OP_JOIN)
		put_text(thread_name(d, object), out);
	else if (op == RT_OP_ALLOC)
		put_text("of a block", out);
	else if (!rt_op_is_access(op) && object < m->object_count)
		put_address(d, m->objects[object].addr, out);
}

static void put_position(const struct drawing *d, uint32_t e, FILE *out)
{
	char text[400];
	const struct rt_frame *f = subject_frame(d->r, d->m->sites[d->m->events[e].site].pc);
	if (!f)
		return;
	if (f->text)
		snprintf(text, sizeof text, "%s", f->text);
	else if (f->file && f->function)
		snprintf(text, sizeof text, "%.180s:%" PRIu32 " %.180s", subject_basename(f->file), f->line,
		         f->function);
	else
		snprintf(text, sizeof text, "%.380s", f->function ? f->function : "");
	fputs("\\n", out);
	put_text(text, out);
}

static bool of_anomaly(const struct drawing *d, uint32_t e)
{
	for (uint32_t i = 0; i < d->anomaly->event_count; i++)
		if (d->anomaly->events[i] == e)
			return true;
	return false;
}

static void put_node(const struct drawing *d, uint32_t e, FILE *out)
{
	uint32_t number = d->m->events[e].number;
	fprintf(out, "\t\te%" PRIu32 " [label=\"%" PRIu32 ": %s ", number, number, deed_operation(model_op(d->m, e)));
	put_object(d, e, out);
	put_position(d, e, out);
	fprintf(out, "\"%s];\n", of_anomaly(d, e) ? ", style=filled, fillcolor=\"#ffd0d0\", penwidth=2" : "");
}

/* A column: the thread's nodes, with solid edges down; between two with events left out, the number of these. */
static void put_thread(const struct drawing *d, uint32_t thread, FILE *out)
{
	uint32_t last = MODEL_NONE;
	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t e = d->nodes[i];
		if (model_thread_of(d->m, e) != thread)
			continue;
		if (last == MODEL_NONE) {
			fprintf(out, "\tsubgraph cluster_%" PRIu32 " {\n\t\tlabel=\"", thread);
			put_text(thread_name(d, thread), out);
			fputs("\";\n", out);
		}
		put_node(d, e, out);
		if (last != MODEL_NONE) {
			uint32_t between = d->m->events[e].pos - d->m->events[last].pos - 1;
			fprintf(out, "\t\te%" PRIu32 " -> e%" PRIu32 " [class=program, weight=8",
			        d->m->events[last].number, d->m->events[e].number);
			if (between)
				fprintf(out, ", label=\"%" PRIu32 " more\"", between);
			fputs("];\n", out);
		}
		last = e;
	}
	if (last != MODEL_NONE)
		fputs("\t}\n", out);
}

static void put_edges(const struct drawing *d, FILE *out)
{
	const struct model *m = d->m;
	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t e = d->nodes[i];
		struct ptg_list sources = ptg_por_into(d->g, e);
		for (uint32_t k = 0; k < sources.count; k++)
			if (is_drawn(d, sources.events[k]))
				fprintf(out, "\te%" PRIu32 " -> e%" PRIu32 " [class=por];\n",
				        m->events[sources.events[k]].number, m->events[e].number);
		if (!is_access(m, e))
			continue;
		uint32_t last = MODEL_NONE;
		for (uint32_t c = m->events[e].object; c < m->events[e].object + m->sites[m->events[e].site].cells;
		     c++) {
			uint32_t after = ptg_tor_after(d->g, e, c);
			if (after == MODEL_NONE || after == last || !is_drawn(d, after))
				continue;
			fprintf(out, "\te%" PRIu32 " -> e%" PRIu32 " [class=tor, style=dashed, constraint=false];\n",
			        m->events[e].number, m->events[after].number);
			last = after;
		}
	}
}

static void put_own_edge(const struct drawing *d, uint32_t from, uint32_t to, const char *label, const char *more,
                         FILE *out)
{
	fprintf(out,
	        "\te%" PRIu32 " -> e%" PRIu32 " [class=own, color=\"#c00000\", fontcolor=\"#c00000\", constraint=false",
	        d->m->events[from].number, d->m->events[to].number);
	fprintf(out, ", label=\"%s\"%s];\n", label, more);
}

/* What is wrong with them: no order, the order that cuts the one thread's work, or the cycle of waits. */
static void put_own_edges(const struct drawing *d, FILE *out)
{
	const struct anomaly *a = d->anomaly;
	for (uint32_t i = 0; i < a->event_count; i++) {
		if (a->kind == ANOMALY_DEADLOCK) {
			uint32_t holder = holder_of(d, i);
			uint32_t next = holder == MODEL_NONE ? a->events[(i + 1) % a->event_count] : holder;
			put_own_edge(d, a->events[i], next, "waits for", "", out);
		} else if (i + 1 < a->event_count && a->kind == ANOMALY_RACE) {
			put_own_edge(d, a->events[i], a->events[i + 1], "not ordered", ", dir=none, style=dashed", out);
		} else if (i + 1 < a->event_count && a->kind != ANOMALY_HANG) {
			put_own_edge(d, a->events[i], a->events[i + 1], "then", "", out);
		}
	}
}

static void put_graph(const struct drawing *d, const struct report_entry *entry, FILE *out)
{
	struct subject subject;
	if (d->r->incomplete) {
		fputs("// the trace is incomplete: ", out);
		put_text(d->r->incomplete, out);
		fputs("\n", out);
	}
	fputs("digraph ", out);
	fprintf(out, "%s {\n\tlabel=\"%s %s (", entry->id, entry->id, anomaly_kind_name(d->anomaly->kind));
	put_text(d->anomaly->pattern, out);
	fprintf(out, "), %s", verdict_name(d->anomaly->verdict));
	if (subject_of(d->r, d->anomaly, &subject) && *subject.name) {
		fputs(": ", out);
		put_text(subject.name, out);
	}
	fputs("\";\n\tlabelloc=t;\n\tnode [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=9];\n",
	      out);
	for (uint32_t t = 0; t < d->m->thread_count; t++)
		put_thread(d, t, out);
	if (d->own)
		put_own_edges(d, out);
	else
		put_edges(d, out);
	fputs("}\n", out);
}

enum rt_status report_dot(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	if (!report_is_of_one(r, "dot", err))
		return RT_EUSAGE;
	struct drawing *d = calloc(1, sizeof *d);
	if (d) {
		d->r = r;
		d->m = r->analysis->model;
		d->own = r->finding != NULL;
		d->anomaly = r->entries[0].anomaly;
		d->g = ptg_create(d->m, r->analysis->facts.por);
	}
	bool ok = d && d->g;
	if (ok) {
		choose(d);
		put_graph(d, &r->entries[0], out);
		ptg_free(d->g);
	}
	free(d);
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the graph");
}
