/* Names of variables and locks; see subject.h. */
#include "lib/report/subject.h"

#include "lib/report/place.h"
#include "lib/trace/modules.h"
#include "lib/trace/own_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *subject_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const struct rt_frame *subject_frame(const struct report *r, uint64_t pc)
{
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, pc, &n);
	return n ? &frames[0] : NULL;
}

struct rt_frame subject_frame_or_pc(const struct report *r, uint64_t pc)
{
	const struct rt_frame *known = subject_frame(r, pc);
	return known ? *known : (struct rt_frame){.pc = pc};
}

void subject_address(const struct report *r, uint64_t pc, char text[SUBJECT_NAME_MAX])
{
	const struct rt_module *module = module_at(r->analysis->trace, pc);
	if (module)
		snprintf(text, SUBJECT_NAME_MAX, "%s+0x%" PRIx64, subject_basename(module->path), pc - module->start);
	else
		snprintf(text, SUBJECT_NAME_MAX, "0x%" PRIx64, pc);
}

void subject_put_line(const struct rt_frame *f, FILE *out)
{
	if (f->line)
		fprintf(out, ":%" PRIu32, f->line);
	if (f->line && f->column)
		fprintf(out, ":%" PRIu32, f->column);
}

struct subject_need subject_need(const struct report *r, const struct anomaly *anomaly, uint32_t i)
{
	const struct model *m = r->analysis->model;
	uint32_t e = anomaly->needs[i];
	return (struct subject_need){subject_frame_or_pc(r, m->sites[m->events[e].site].pc), model_thread_of(m, e),
	                             m->events[e].number};
}

void subject_needs(const struct anomaly *anomaly, char text[SUBJECT_NEEDS_MAX])
{
	snprintf(text, SUBJECT_NEEDS_MAX, "%" PRIu32 " %s saw", anomaly->need_total,
	         anomaly->need_total == 1 ? "read to see another write than it"
	                                  : "reads to see another write than they");
}

/* The innermost call that has a source position; outside of a function that allocates for its callers. */
static const struct rt_frame *allocating_frame(const struct report *r, const struct description *alloc)
{
	const struct rt_frame *frame = NULL;
	for (size_t i = 0; alloc && i < alloc->stack_count; i++) {
		size_t n = 0;
		const struct rt_frame *f = rt_trace_frames(r->analysis->trace, alloc->stack[i], &n);
		for (size_t k = 0; k < n && (k == 0 || frame); k++) {
			bool better = f[k].file && (!frame || !frame->file || !frame_is_library(&f[k]));
			if (better || (!frame && f[k].function))
				frame = &f[k];
			if (frame && frame->file && !frame_allocates(frame) && !frame_is_library(frame))
				return frame;
		}
	}
	return frame;
}

/* "heap block from make_queue (queue.c:12) + 16". */
static void block_name(const struct report *r, const struct memory_block *block, uint64_t addr,
                       char name[SUBJECT_NAME_MAX])
{
	const char *what = block->mapped ? "mapping" : "heap block";
	const struct description *alloc = description_of(r->descriptions, block->alloc);
	const struct rt_frame *frame = allocating_frame(r, alloc);
	char function[PLACE_FUNCTION_MAX];
	place_function(&(struct place){.frame = frame}, function);
	int used;
	if (frame && frame->file && frame->function)
		used = snprintf(name, SUBJECT_NAME_MAX, "%s from %s (%s:%" PRIu32 ")", what, function,
		                subject_basename(frame->file), frame->line);
	else if (frame && frame->file)
		used = snprintf(name, SUBJECT_NAME_MAX, "%s from %s:%" PRIu32, what, subject_basename(frame->file),
		                frame->line);
	else if (frame)
		used = snprintf(name, SUBJECT_NAME_MAX, "%s from %s", what, function);
	else
		used = snprintf(name, SUBJECT_NAME_MAX, "%s of %" PRIu64 " bytes", what, block->size);
	if (used > 0 && used < SUBJECT_NAME_MAX && addr > block->address)
		snprintf(name + used, SUBJECT_NAME_MAX - (size_t)used, " + %" PRIu64, addr - block->address);
}

static void name_declared(const struct rt_variable *variable, struct subject *out)
{
	out->size = variable->size;
	out->file = variable->file;
	out->line = variable->line;
}

/* "errors of thread main.1": each thread has another variable of that name. */
static void describe_local(const struct report *r, const struct memory_place *place, struct subject *out)
{
	const char *thread = rt_trace_info(r->analysis->trace)->threads[place->owner].name;
	struct rt_variable variable;
	out->kind = "tls";
	if (rt_trace_variable(r->analysis->trace, RT_TLS_END - (place->tls_end - place->addr), &variable)) {
		snprintf(out->name, sizeof out->name, "%s of thread %s", variable.name, thread);
		out->address = place->tls_end - (RT_TLS_END - variable.address);
		name_declared(&variable, out);
	} else {
		snprintf(out->name, sizeof out->name, "thread-local memory of thread %s", thread);
	}
}

void subject_at(const struct report *r, const struct memory_place *place, struct subject *out)
{
	struct rt_variable variable;
	*out = (struct subject){.kind = "unknown", .address = place->addr};
	if (place->kind == RT_MEMORY_TLS) {
		describe_local(r, place, out);
	} else if (rt_trace_variable(r->analysis->trace, place->addr, &variable)) {
		snprintf(out->name, sizeof out->name, "%s", variable.name);
		out->kind = "global";
		name_declared(&variable, out);
		out->address = variable.address;
	} else if (place->block.alloc) {
		out->kind = place->block.mapped ? "mapped" : "heap";
		out->block = place->block;
		out->address = place->block.address;
		out->size = place->block.size;
		block_name(r, &place->block, place->addr, out->name);
	} else if (place->kind == RT_MEMORY_STACK && place->shared &&
	           rt_trace_variable(r->analysis->trace, place->shared, &variable)) {
		snprintf(out->name, sizeof out->name, "%s", variable.name);
		out->kind = "stack";
		out->shared = true;
		name_declared(&variable, out);
		out->address = place->addr - (place->shared - variable.address);
	} else if (place->kind == RT_MEMORY_STACK) {
		out->kind = "stack";
		snprintf(out->name, sizeof out->name, "stack of thread %s",
		         rt_trace_info(r->analysis->trace)->threads[place->owner].name);
	} else if (module_at(r->analysis->trace, place->addr)) {
		subject_address(r, place->addr, out->name);
		out->module = true;
	}
}

bool subject_meeting(const struct model *m, const struct anomaly *anomaly, uint32_t *e, uint64_t *addr)
{
	/* Accesses that share consecutive cells share one at the highest of their first cells; of two cells, the first
	 * counts. */
	bool one_cell =
	    anomaly->kind == ANOMALY_RACE || (anomaly->kind == ANOMALY_ATOMICITY && !anomaly_is_lookup(anomaly));
	bool found = false;
	uint32_t cell = 0;
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		uint32_t event = anomaly->events[i];
		if (!rt_op_is_access(model_op(m, event)) || model_op(m, event) == RT_OP_FENCE)
			continue;
		uint32_t first = m->events[event].object;
		if (!found) {
			cell = first;
			*e = event;
		} else if (one_cell || (first == cell && event > *e)) {
			cell = first > cell ? first : cell;
			*e = event > *e ? event : *e;
		}
		found = true;
	}
	if (!found || cell >= m->cell_count)
		return false;
	*addr = m->cells[cell].addr;
	return true;
}

uint32_t subject_cell(const struct model *m, const struct anomaly *anomaly)
{
	uint32_t e;
	uint64_t addr;
	if (!subject_meeting(m, anomaly, &e, &addr))
		return MODEL_NONE;
	uint32_t cell = m->events[e].object, end = cell + m->sites[m->events[e].site].cells;
	while (cell < end && m->cells[cell].addr != addr)
		cell++;
	return cell < end ? cell : MODEL_NONE;
}

void subject_cut_reserved(char *name)
{
	for (char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
		if ((dot[1] == '_' && (dot[2] == '_' || (dot[2] >= 'A' && dot[2] <= 'Z'))) || !strcmp(dot, "._x[0]")) {
			*dot = '\0';
			return;
		}
}

bool subject_of(const struct report *r, const struct anomaly *anomaly, struct subject *out)
{
	uint32_t e;
	uint64_t addr;
	if (!subject_meeting(r->analysis->model, anomaly, &e, &addr))
		return false;
	const struct description *d = report_event(r, e);
	const struct memory_place *place = d ? description_place(d, addr) : NULL;
	if (!place)
		return false;
	subject_at(r, place, out);
	if (r->analysis->model->sites[r->analysis->model->events[e].site].flags & RT_F_OBJECT)
		subject_cut_reserved(out->name);
	return true;
}

bool subject_is_common(const struct subject *s)
{
	size_t n = strlen(s->name);
	return !strcmp(s->kind, "global") && !s->file && n && s->name[n - 1] == '_';
}

const struct memory_block *subject_lock_block(const struct description *d)
{
	const struct memory_place *place = description_place(d, d->event.addr);
	return place ? &place->block : NULL;
}

void subject_object_name(const struct report *r, uint64_t addr, const struct memory_block *block,
                         char name[SUBJECT_NAME_MAX])
{
	const char *given = rt_trace_object_name(r->analysis->trace, addr);
	struct rt_variable variable;
	name[0] = '\0';
	if (given) {
		snprintf(name, SUBJECT_NAME_MAX, "%s", given);
	} else if (rt_trace_variable(r->analysis->trace, addr, &variable)) {
		subject_cut_reserved(variable.name);
		snprintf(name, SUBJECT_NAME_MAX, "%s", variable.name);
	} else if (block && block->alloc) {
		block_name(r, block, addr, name);
	}
}

void subject_stable_name(const char *name, char stable[SUBJECT_NAME_MAX])
{
	size_t n = 0;
	bool index = false;
	for (; *name && n + 1 < SUBJECT_NAME_MAX; name++) {
		if (*name == ']')
			index = false;
		if (!index)
			stable[n++] = *name;
		if (*name == '[')
			index = true;
	}
	stable[n] = '\0';
}

void subject_lasting_name(const struct report *r, const struct anomaly *anomaly, char name[SUBJECT_NAME_MAX])
{
	struct subject s;
	name[0] = '\0';
	if (subject_of(r, anomaly, &s) && (!strcmp(s.kind, "global") || s.shared))
		subject_stable_name(s.name, name);
}
