/*
 * Parses JSON lines (docs/jsonl-format.md). The first line is the header; each later one is an event ("op"), a position
 * ("position"), a variable ("variable") or an object's name ("object" alone). Unknown keys are ignored, so that fields
 * can be added. A known key with a wrong value is an error that names the line.
 */
#include "tracefmt/jsonl/parse.h"
#include "lib/base/json_memory.h"
#include "tracefmt/location.h"

#include "lib/base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 64 << 20, FRAMES_MAX = 1024, DEFAULT_SIZE = 8 };

/* Names without a declared address get one of their own, this far apart; locations likewise. */
#define NAMED (UINT64_C(1) << 44)
#define NAMED_ROOM (UINT64_C(1) << 16)
#define NAMED_MAX (UINT32_C(1) << 27)
#define LOCATIONS (UINT64_C(1) << 47)

/* --- positions, variables, names --- */

static enum rt_status parse_frame(struct jsonl_parser *p, const json_t *value, uint64_t pc, struct rt_frame *frame)
{
	enum rt_status status;
	frame->pc = pc;
	if (!json_is_object(value))
		return jsonl_fail(p, "a frame is not an object");
	if ((status = jsonl_text(p, value, "function", &frame->function)) ||
	    (status = jsonl_text(p, value, "file", &frame->file)) ||
	    (status = jsonl_text(p, value, "module", &frame->module)) ||
	    (status = jsonl_text(p, value, "text", &frame->text)) ||
	    (status = jsonl_line(p, value, "line", &frame->line)) ||
	    (status = jsonl_line(p, value, "column", &frame->column)))
		return status;
	return jsonl_number(p, value, "pc", UINT64_MAX, &frame->pc);
}

static enum rt_status parse_position(struct jsonl_parser *p, const json_t *object)
{
	const json_t *frames = jsonl_get(object, "frames"), *value;
	size_t n = json_array_size(frames), i;
	uint64_t pc = 0;
	enum rt_status status = jsonl_number(p, object, "position", RT_OPERAND_MAX, &pc);
	if (status)
		return status;
	if (!json_is_array(frames) || n > FRAMES_MAX)
		return jsonl_fail(p, "'frames' is not an array of at most %d frames", FRAMES_MAX);
	struct rt_frame *parsed = calloc(n + 1, sizeof *parsed);
	if (!parsed)
		return jsonl_no_memory(p);
	json_array_foreach(frames, i, value)
	{
		status = parse_frame(p, value, pc, &parsed[i]);
		if (status)
			break;
	}
	if (!status && !jsonl_add_position(p->j, pc, parsed, n))
		status = jsonl_no_memory(p);
	free(parsed);
	return status;
}

/* Finds the entry of a name, or adds it. */
static enum rt_status name_entry(struct jsonl_parser *p, const char *name, struct jsonl_named **entry)
{
	struct jsonl *j = p->j;
	uint32_t index;
	if (!names_intern(&j->names, name, strlen(name), &index))
		return jsonl_no_memory(p);
	if (index >= NAMED_MAX)
		return jsonl_fail(p, "more than %u names", NAMED_MAX);
	if (!vec_extend(&j->named, &j->named_room, (uint64_t)index + 1, sizeof *j->named))
		return jsonl_no_memory(p);
	*entry = &j->named[index];
	if (!(*entry)->address && !(*entry)->declared)
		(*entry)->address = NAMED + index * NAMED_ROOM;
	return RT_OK;
}

/* Binds the name to the address, unless it has one already. */
static enum rt_status declare(struct jsonl_parser *p, const char *name, uint64_t address)
{
	struct jsonl_named *entry;
	enum rt_status status = name_entry(p, name, &entry);
	if (status || entry->declared || entry->variable || entry->object)
		return status;
	entry->address = address;
	entry->declared = true;
	return RT_OK;
}

static enum rt_status parse_variable(struct jsonl_parser *p, const json_t *object)
{
	struct jsonl_variable v = {.address = 0};
	uint32_t index;
	enum rt_status status;
	if (!jsonl_get(object, "address"))
		return jsonl_fail(p, "the variable has no address");
	if ((status = jsonl_text(p, object, "variable", &v.name)) ||
	    (status = jsonl_number(p, object, "address", RT_OPERAND_MAX, &v.address)) ||
	    (status = jsonl_number(p, object, "size", RT_OPERAND_MAX, &v.size)) ||
	    (status = jsonl_text(p, object, "file", &v.file)) || (status = jsonl_line(p, object, "line", &v.line)) ||
	    (status = declare(p, v.name, v.address)))
		return status;
	return jsonl_add_variable(p->j, &v, &index) ? RT_OK : jsonl_no_memory(p);
}

static enum rt_status parse_object_name(struct jsonl_parser *p, const json_t *object)
{
	const char *name;
	uint64_t address = 0;
	enum rt_status status;
	if (!jsonl_get(object, "address"))
		return jsonl_fail(p, "the object has no address");
	if ((status = jsonl_text(p, object, "object", &name)) ||
	    (status = jsonl_number(p, object, "address", RT_OPERAND_MAX, &address)) ||
	    (status = declare(p, name, address)))
		return status;
	return jsonl_add_object(p->j, address, name) ? RT_OK : jsonl_no_memory(p);
}

/* --- events --- */

/* The address of a name in an event; memory: number of bytes accessed there, 0: it is no memory. */
static enum rt_status resolve(struct jsonl_parser *p, const char *name, uint64_t memory, uint64_t *address)
{
	struct jsonl *j = p->j;
	struct jsonl_named *entry;
	enum rt_status status = name_entry(p, name, &entry);
	if (status)
		return status;
	*address = entry->address;
	if (entry->declared)
		return RT_OK;
	const char *text = j->names.entries[entry - j->named].text;
	if (memory > NAMED_ROOM)
		return jsonl_fail(p, "'%s' is larger than %u bytes: declare it ({\"variable\": ..., \"address\": ...})",
		                  jsonl_quote(name).text, (unsigned)NAMED_ROOM);
	if (memory && !entry->variable) {
		struct jsonl_variable v = {.address = *address, .name = text};
		if (!jsonl_add_variable(j, &v, &entry->variable))
			return jsonl_no_memory(p);
		entry->variable++;
	}
	if (memory && j->variables[entry->variable - 1].size < memory)
		j->variables[entry->variable - 1].size = memory;
	if (!memory && !entry->object) {
		entry->object = true;
		if (!jsonl_add_object(j, *address, text))
			return jsonl_no_memory(p);
	}
	return RT_OK;
}

/* object or arg: a number, "0x...", or a name. */
static enum rt_status get_operand(struct jsonl_parser *p, const json_t *object, const char *key, uint64_t memory,
                                  uint64_t *out)
{
	const json_t *value = jsonl_get(object, key);
	uint64_t hex;
	if (!json_is_string(value) || jsonl_hex(json_string_value(value), &hex))
		return jsonl_number(p, object, key, RT_OPERAND_MAX, out);
	return resolve(p, json_string_value(value), memory, out);
}

static bool is_memory(unsigned op)
{
	enum rt_group group = rt_op_group(op);
	return rt_op_is_access(op) || group == RT_GROUP_HEAP || op == RT_OP_NEW_MEMORY;
}

/* "for": the operation that is waited for. */
static enum rt_status parse_operation(struct jsonl_parser *p, const json_t *object, struct rt_event *e)
{
	const json_t *value = jsonl_get(object, "for");
	const char *name = json_string_value(value);
	if (!value)
		return RT_OK;
	e->arg = name ? rt_op_parse(name) : RT_OP_NONE;
	return e->arg == RT_OP_NONE ? jsonl_fail(p, "'for' is not an operation's name") : RT_OK;
}

static enum rt_status parse_operands(struct jsonl_parser *p, const json_t *object, struct rt_event *e)
{
	e->arg = rt_op_is_access(e->op) ? DEFAULT_SIZE : 0;
	enum rt_status status = get_operand(p, object, "arg", 0, &e->arg);
	if (status)
		return status;
	if (rt_op_group(e->op) == RT_GROUP_BLOCKING && (status = parse_operation(p, object, e)))
		return status;
	if (!rt_event_is_of_thread(e)) {
		uint64_t memory = !is_memory(e->op) ? 0 : e->arg ? e->arg : 1;
		return get_operand(p, object, "object", memory, &e->addr);
	}
	const json_t *other = jsonl_get(object, "object");
	uint32_t thread;
	if (!other)
		return jsonl_fail(p, "'%s' says not of which thread: it has no \"object\"", rt_op_name(e->op));
	/* Hexadecimal: an index that no thread has. */
	if (json_is_string(other) && jsonl_hex(json_string_value(other), &e->addr))
		return jsonl_number(p, object, "object", RT_OPERAND_MAX, &e->addr);
	uint32_t before = p->j->trace.info.thread_count;
	status = jsonl_thread(p, other, "object", &thread);
	if (status)
		return status;
	e->addr = thread;
	if (e->op == RT_OP_FORK && thread >= p->declared_threads && thread != e->thread &&
	    (thread == before || p->j->threads[thread].parent == thread))
		p->j->threads[thread].parent = e->thread;
	return RT_OK;
}

static enum rt_status parse_flags(struct jsonl_parser *p, const json_t *flags, struct rt_event *e)
{
	size_t i;
	const json_t *value;
	if (!flags)
		return RT_OK;
	if (!json_is_array(flags))
		return jsonl_fail(p, "'flags' is not an array");
	json_array_foreach(flags, i, value)
	{
		const char *name = json_string_value(value);
		unsigned bit = 0;
		while (name && bit < 8 && strcmp(rt_flag_name(e->op, bit), name) != 0)
			bit++;
		json_int_t number = json_integer_value(value);
		if (name ? bit == 8 : number < 1 || number > 255)
			return jsonl_fail(p, "'flags' has an unknown flag");
		e->flags |= (uint8_t)(name ? 1u << bit : (unsigned)number);
	}
	return RT_OK;
}

static enum rt_status parse_order(struct jsonl_parser *p, const json_t *order, struct rt_event *e)
{
	const char *name = json_string_value(order);
	unsigned i = 0;
	if (!order) {
		e->order = rt_op_is_atomic(e->op) || e->op == RT_OP_FENCE ? 5 : 0;
		return RT_OK;
	}
	if (!name) {
		json_int_t number = json_is_integer(order) ? json_integer_value(order) : -1;
		i = number >= 0 && number < 8 ? (unsigned)number : 8;
	}
	while (name && i < 8 && (!rt_memory_order_name(i) || strcmp(rt_memory_order_name(i), name) != 0))
		i++;
	if (i == 8)
		return jsonl_fail(p, "'order' is not a memory order (relaxed consume acquire release acq_rel seq_cst)");
	e->order = (uint8_t)i;
	return RT_OK;
}

/* value: as a number it may be negative. */
static enum rt_status parse_value(struct jsonl_parser *p, const json_t *object, struct rt_event *e)
{
	const json_t *value = jsonl_get(object, "value");
	if (!value)
		return RT_OK;
	e->flags |= RT_F_VALUE;
	if (json_is_integer(value)) {
		e->value = (uint64_t)json_integer_value(value);
		return RT_OK;
	}
	return jsonl_number(p, object, "value", UINT64_MAX, &e->value);
}

/* "pc", a key that a position line explains; or "location", a text as in STD. */
static enum rt_status parse_where(struct jsonl_parser *p, const json_t *object, struct rt_event *e)
{
	struct jsonl *j = p->j;
	const char *text;
	uint32_t before = j->locations.count, index, copy;
	enum rt_status status = jsonl_text(p, object, "location", &text);
	if (status || !text)
		return status ? status : jsonl_number(p, object, "pc", RT_OPERAND_MAX, &e->pc);
	size_t length = strlen(text);
	if (!names_intern(&j->locations, text, length, &index))
		return jsonl_no_memory(p);
	e->pc = LOCATIONS + index;
	if (index < before)
		return RT_OK;
	struct rt_frame frame = {.pc = e->pc};
	char *file = malloc(length + 1);
	if (!file)
		return jsonl_no_memory(p);
	rt_location_parse(text, length, file, &frame);
	bool kept = !frame.file || names_intern(&j->strings, file, strlen(file), &copy);
	if (frame.file && kept)
		frame.file = names_text(&j->strings, copy);
	free(file);
	return kept && jsonl_add_position(j, e->pc, &frame, 1) ? RT_OK : jsonl_no_memory(p);
}

static enum rt_status parse_places(struct jsonl_parser *p, const json_t *object, struct rt_event *e)
{
	struct jsonl *j = p->j;
	const json_t *thread = jsonl_get(object, "thread");
	uint64_t last = j->count ? j->events[j->count - 1].number : 0;
	uint32_t index = 0;
	enum rt_status status = RT_OK;
	if (thread)
		status = jsonl_thread(p, thread, "thread", &index);
	else if (!j->trace.info.thread_count)
		status = jsonl_add_thread(p, "main", &index);
	if (status)
		return status;
	e->thread = index;
	e->number = last + 1;
	e->ordinal = j->at[index].ordinal + 1;
	if ((status = jsonl_number(p, object, "number", UINT64_MAX - 1, &e->number)) ||
	    (status = jsonl_number(p, object, "ordinal", UINT64_MAX - 1, &e->ordinal)))
		return status;
	e->stamp = e->number;
	if ((status = jsonl_number(p, object, "stamp", UINT64_MAX, &e->stamp)))
		return status;
	if (e->number <= last)
		return jsonl_fail(p, "'number' does not rise: it follows %" PRIu64, last);
	if (j->at[index].joined)
		return jsonl_fail(p, "thread '%s' goes on after event %" PRIu64 " joined it",
		                  jsonl_quote(j->threads[index].name).text, j->at[index].joined);
	if (e->ordinal <= j->at[index].ordinal)
		return jsonl_fail(p, "'ordinal' does not rise: thread '%s' was at %" PRIu64,
		                  jsonl_quote(j->threads[index].name).text, j->at[index].ordinal);
	e->gap = e->ordinal > j->at[index].ordinal + 1;
	return RT_OK;
}

static enum rt_status append(struct jsonl_parser *p, const struct rt_event *e)
{
	struct jsonl *j = p->j;
	if (!vec_reserve(&j->events, &j->room, (uint64_t)j->count + 1, sizeof *j->events))
		return jsonl_no_memory(p);
	j->events[j->count++] = *e;
	j->at[e->thread].ordinal = e->ordinal;
	j->threads[e->thread].events++;
	if ((e->op == RT_OP_FORK || e->op == RT_OP_JOIN) && e->addr < j->trace.info.thread_count)
		j->at[e->addr].joined = e->op == RT_OP_JOIN ? e->number : 0;
	if (e->op == RT_OP_LOST && !p->declared_lost)
		j->trace.info.lost += e->arg;
	return RT_OK;
}

static enum rt_status parse_event(struct jsonl_parser *p, const json_t *object)
{
	const char *name = json_string_value(jsonl_get(object, "op"));
	struct rt_event e = {.op = name ? (uint8_t)rt_op_parse(name) : RT_OP_NONE};
	enum rt_status status;
	if (e.op == RT_OP_NONE)
		return jsonl_fail(p, "'%s' is not an operation", name ? jsonl_quote(name).text : "op");
	if ((status = parse_places(p, object, &e)) || (status = parse_operands(p, object, &e)) ||
	    (status = parse_order(p, jsonl_get(object, "order"), &e)) ||
	    (status = parse_flags(p, jsonl_get(object, "flags"), &e)) || (status = parse_value(p, object, &e)) ||
	    (status = parse_where(p, object, &e)))
		return status;
	return append(p, &e);
}

/* --- lines --- */

static enum rt_status parse_object(struct jsonl_parser *p, const json_t *object)
{
	if (!json_is_object(object))
		return jsonl_fail(p, "not an object in braces");
	if (p->lines.number == 1)
		return jsonl_header(p, object);
	if (jsonl_get(object, "op"))
		return parse_event(p, object);
	if (jsonl_get(object, "position"))
		return parse_position(p, object);
	if (jsonl_get(object, "variable"))
		return parse_variable(p, object);
	if (jsonl_get(object, "object"))
		return parse_object_name(p, object);
	return jsonl_fail(p, "neither an event (\"op\") nor a \"position\", \"variable\" or \"object\"");
}

static bool blank(const char *text, size_t length)
{
	while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	return length == 0;
}

static enum rt_status parse_lines(struct jsonl_parser *p)
{
	for (;;) {
		char *text;
		size_t length;
		enum rt_status status = lines_next(&p->lines, &text, &length, p->err);
		if (status || !text)
			return status;
		if (blank(text, length) && p->lines.number > 1)
			continue;
		json_error_t error;
		rt_json_memory_watch();
		json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
		if (rt_json_memory_failed()) {
			json_decref(object);
			return rt_error_set(p->err, RT_EMEMORY, "no memory to read '%s'", p->lines.path);
		}
		/* An incomplete last line: the writer was stopped there. */
		if (!object && p->lines.cut && p->lines.number > 1) {
			p->j->trace.info.complete = false;
			p->j->trace.info.incomplete_why = "the last line is cut short";
			return RT_OK;
		}
		if (!object)
			return jsonl_fail(p, "not JSON: %s", jsonl_quote(error.text).text);
		status = parse_object(p, object);
		json_decref(object);
		if (status)
			return status;
	}
}

enum rt_status jsonl_parse(struct jsonl *j, int fd, const char *path, struct rt_error *err)
{
	struct jsonl_parser p = {.j = j, .err = err, .declared_events = UINT64_MAX};
	struct rt_trace_info *info = &j->trace.info;
	enum rt_status status = lines_init(&p.lines, fd, path, LONGEST_LINE, err);
	if (status)
		return status;
	status = parse_lines(&p);
	if (!status && p.lines.number == 0)
		status = rt_error_set(err, RT_EINPUT, "'%s' has no header", path);
	if (!status && !info->thread_count) {
		uint32_t main_thread;
		status = jsonl_add_thread(&p, "main", &main_thread);
	}
	info->file_bytes = p.lines.bytes;
	info->events = j->count;
	info->threads = j->threads;
	if (info->complete && p.declared_events != UINT64_MAX && p.declared_events > j->count) {
		info->complete = false;
		info->incomplete_why = "it has fewer events than its header says";
	}
	if (info->complete && info->lost) {
		info->complete = false;
		info->incomplete_why = RT_LOST_WHY;
	}
	lines_release(&p.lines);
	return status;
}
