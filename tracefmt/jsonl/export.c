/*
 * Writes JSON lines (docs/jsonl-format.md). Positions, variables and object names come right before the first event
 * that needs them, so neither the writer nor a reader of a part has to hold all.
 */
#include "tracefmt/export.h"
#include "lib/base/json_memory.h"
#include "lib/base/text.h"
#include "tracefmt/jsonl/jsonl.h"
#include "tracefmt/refs.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Only ASCII: no character can act on a terminal. */
#define STYLE (JSON_COMPACT | JSON_ENSURE_ASCII)
/* Readers that hold numbers as doubles would round larger ones: they become hexadecimal strings. */
#define LARGEST_NUMBER ((UINT64_C(1) << 53) - 1)

struct rt_jsonl_writer {
	struct rt_trace *trace;
	FILE *out;
	char **threads; /* as JSON: name, or index where names are not unique */
	uint32_t thread_count;
	struct refs refs;
};

/* Text as JSON; bytes that are not UTF-8 become \xNN. */
static json_t *text(const char *s)
{
	if (!s)
		return json_null();
	json_t *plain = json_string(s);
	if (plain)
		return plain;
	size_t length = strlen(s), room = 4 * length + 1;
	char *escaped = malloc(room);
	if (!escaped)
		return NULL;
	plain = json_string(rt_text_escape(escaped, room, s, length));
	free(escaped);
	return plain;
}

static json_t *hex(uint64_t number)
{
	return json_sprintf("0x%" PRIx64, number);
}

static json_t *number(uint64_t n)
{
	return n <= LARGEST_NUMBER ? json_integer((json_int_t)n) : hex(n);
}

/* Writes the value and a line feed; releases it. */
static enum rt_status put(struct rt_jsonl_writer *w, json_t *value, bool failed, struct rt_error *err)
{
	failed =
	    failed || !value || rt_json_memory_failed() || (json_dumpf(value, w->out, STYLE) != 0 && !ferror(w->out));
	json_decref(value);
	if (failed)
		return rt_error_set(err, RT_EMEMORY, "no memory to write JSON");
	putc('\n', w->out);
	return RT_OK;
}

/* --- what an event refers to --- */

static json_t *frame_json(const struct rt_frame *f, uint64_t pc)
{
	json_t *value = json_object();
	int failed = 0;
	if (f->function)
		failed |= json_object_set_new(value, "function", text(f->function));
	if (f->file)
		failed |= json_object_set_new(value, "file", text(f->file));
	if (f->line)
		failed |= json_object_set_new(value, "line", json_integer(f->line));
	if (f->column)
		failed |= json_object_set_new(value, "column", json_integer(f->column));
	if (f->module)
		failed |= json_object_set_new(value, "module", text(f->module));
	if (f->text)
		failed |= json_object_set_new(value, "text", text(f->text));
	if (f->pc != pc)
		failed |= json_object_set_new(value, "pc", hex(f->pc));
	if (!failed)
		return value;
	json_decref(value);
	return NULL;
}

static enum rt_status put_position(void *arg, uint64_t pc, const struct rt_frame *frames, size_t n,
                                   struct rt_error *err)
{
	json_t *array = json_array();
	int failed = 0;
	for (size_t i = 0; i < n; i++)
		failed |= json_array_append_new(array, frame_json(&frames[i], pc));
	return put(arg, json_pack("{so,so}", "position", hex(pc), "frames", array), failed != 0, err);
}

static enum rt_status put_variable(void *arg, const struct rt_variable *v, struct rt_error *err)
{
	json_t *value =
	    json_pack("{so,so,so}", "variable", text(v->name), "address", hex(v->address), "size", number(v->size));
	int failed = 0;
	if (v->file)
		failed |= json_object_set_new(value, "file", text(v->file));
	if (v->line)
		failed |= json_object_set_new(value, "line", json_integer(v->line));
	return put(arg, value, failed != 0, err);
}

static enum rt_status put_object(void *arg, uint64_t address, const char *name, struct rt_error *err)
{
	return put(arg, json_pack("{so,so}", "object", text(name), "address", hex(address)), false, err);
}

static const struct refs_sink sink = {put_position, put_variable, put_object};

/* --- header --- */

static json_t *exit_value(const struct rt_trace_info *info)
{
	switch (info->exit_kind) {
	case RT_EXIT_STATUS:
		return json_pack("{si}", "status", info->exit_value);
	case RT_EXIT_SIGNAL:
		return json_pack("{si}", "signal", info->exit_value);
	default:
		return json_null();
	}
}

/* The array with one more value, both of which it takes; NULL without memory. */
static json_t *append(json_t *array, json_t *value)
{
	if (!json_array_append_new(array, value))
		return array;
	json_decref(array);
	return NULL;
}

static json_t *command(const struct rt_trace_info *info)
{
	json_t *array = info->command ? json_array() : json_null();
	for (size_t i = 0; info->command && array && info->command[i]; i++)
		array = append(array, text(info->command[i]));
	return array;
}

/* The name of thread i, or its index if the name is not unique. */
static json_t *thread_reference(const struct rt_trace_info *info, bool unique, uint32_t i)
{
	return unique ? text(info->threads[i].name) : json_integer(i);
}

static json_t *threads(const struct rt_trace_info *info, bool unique)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < info->thread_count; i++) {
		const struct rt_thread *t = &info->threads[i];
		json_t *parent = t->parent == i || t->parent >= info->thread_count
		                     ? json_null()
		                     : thread_reference(info, unique, t->parent);
		array = append(array, json_pack("{so,so,so,so}", "name", text(t->name), "label", text(t->label),
		                                "parent", parent, "left_out", number(t->left_out)));
	}
	return array;
}

static json_t *modules(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_module *m = rt_trace_modules(trace, &n);
	json_t *array = json_array();
	for (size_t i = 0; array && i < n; i++) {
		json_t *value = json_pack("{so,so,so,sb}", "path", text(m[i].path), "start", hex(m[i].start), "end",
		                          hex(m[i].end), "plain", m[i].plain);
		if (value && m[i].build_id && json_object_set_new(value, "build_id", text(m[i].build_id))) {
			json_decref(value);
			value = NULL;
		}
		array = append(array, value);
	}
	return array;
}

static json_t *hidden_atomics(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_hidden_atomic *a = rt_trace_hidden_atomics(trace, &n);
	json_t *array = json_array();
	for (size_t i = 0; array && i < n; i++)
		array =
		    append(array, json_pack("{so,so,so,so,so,so,sb,sb,sb,sb}", "function", text(a[i].function),
		                            "module", text(a[i].module), "start", hex(a[i].start), "end", hex(a[i].end),
		                            "from", hex(a[i].from), "until", hex(a[i].until), "may_lock", a[i].may_lock,
		                            "orders_nothing", a[i].orders_nothing, "reads_nothing", a[i].reads_nothing,
		                            "writes_nothing", a[i].writes_nothing));
	return array;
}

static json_t *updates(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_update *u = rt_trace_updates(trace, &n);
	json_t *array = json_array();
	for (size_t i = 0; array && i < n; i++)
		array = append(array, json_pack("{so,so}", "read", hex(u[i].read), "write", hex(u[i].write)));
	return array;
}

static json_t *declared(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_declared *d = rt_trace_declared(trace, &n);
	json_t *array = json_array();
	for (size_t i = 0; array && i < n; i++)
		array = append(array, json_pack("{so,so,so,so}", "kind", text(rt_declared_kind_name(d[i].kind)), "of",
		                                text(d[i].of), "name", text(d[i].name), "type", text(d[i].type)));
	return array;
}

static json_t *text_files(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_text_file *f = rt_trace_text_files(trace, &n);
	json_t *array = json_array();
	for (size_t i = 0; array && i < n; i++)
		array = append(array, json_pack("{so,so}", "path", text(f[i].path), "digest", hex(f[i].digest)));
	return array;
}

/* Adds an optional member: an empty array is left out. */
static int put_array(json_t *header, const char *name, json_t *array)
{
	if (!array || json_array_size(array))
		return json_object_set_new(header, name, array);
	json_decref(array);
	return 0;
}

static enum rt_status put_header(struct rt_jsonl_writer *w, bool whole, bool unique, struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(w->trace);
	char schema[32];
	snprintf(schema, sizeof schema, JSONL_SCHEMA "%d", JSONL_VERSION);
	json_t *h = json_object();
	int failed = json_object_set_new(h, "schema", json_string(schema));
	failed |= json_object_set_new(h, "tool", json_string("racetrace " RT_VERSION));
	failed |= json_object_set_new(h, "command", command(info));
	failed |= json_object_set_new(h, "exit", exit_value(info));
	failed |= json_object_set_new(h, "duration_ns", number(info->duration_ns));
	if (info->dropped)
		failed |= json_object_set_new(h, "dropped", number(info->dropped));
	failed |= json_object_set_new(h, "pid", number(info->pid));
	failed |= json_object_set_new(h, "order", json_string(info->exact ? "exact" : "stamped"));
	if (info->model != RT_MODEL_SC)
		failed |= json_object_set_new(h, "model", json_string(rt_model_name(info->model)));
	if (info->sync_only)
		failed |= json_object_set_new(h, "sync_only", json_true());
	if (info->vary)
		failed |= json_object_set_new(h, "vary", number(info->vary));
	if (info->values)
		failed |= json_object_set_new(h, "values", json_true());
	if (info->input)
		failed |= json_object_set_new(h, "input", text(info->input));
	if (info->binary)
		failed |= json_object_set_new(h, "binary", json_true());
	if (info->zeroed)
		failed |= json_object_set_new(h, "zeroed", json_true());
	failed |= json_object_set_new(h, "complete", json_boolean(info->complete));
	if (!info->complete)
		failed |= json_object_set_new(h, "incomplete_why", text(info->incomplete_why));
	if (whole)
		failed |= json_object_set_new(h, "events", number(info->events));
	failed |= json_object_set_new(h, "left_out", number(info->left_out));
	failed |= json_object_set_new(h, "lost", number(info->lost));
	failed |= json_object_set_new(h, "threads", threads(info, unique));
	failed |= put_array(h, "modules", modules(w->trace));
	failed |= put_array(h, "source_files", text_files(w->trace));
	failed |= put_array(h, "hidden_atomics", hidden_atomics(w->trace));
	failed |= put_array(h, "updates", updates(w->trace));
	failed |= put_array(h, "declared", declared(w->trace));
	return put(w, h, failed != 0, err);
}

/* Written names must differ; threads whose names have equal JSON are written by index. */
static bool names_unique(const struct rt_trace_info *info, bool *unique)
{
	struct names seen = {0};
	bool good = true;
	*unique = true;
	for (uint32_t i = 0; good && *unique && i < info->thread_count; i++) {
		json_t *name = text(info->threads[i].name);
		uint32_t index;
		good = name && names_intern(&seen, json_string_value(name), json_string_length(name), &index);
		*unique = good && index == i;
		json_decref(name);
	}
	names_release(&seen);
	return good;
}

enum rt_status rt_jsonl_create(struct rt_trace *trace, FILE *out, bool whole, struct rt_jsonl_writer **writer,
                               struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	struct rt_jsonl_writer *w = calloc(1, sizeof *w);
	rt_json_memory_watch();
	bool unique = false, good = w && names_unique(info, &unique);
	if (good) {
		w->trace = trace;
		refs_init(&w->refs, trace, &sink, w);
		w->out = out;
		w->thread_count = info->thread_count;
		w->threads = calloc(info->thread_count + 1u, sizeof *w->threads);
		good = w->threads != NULL;
	}
	for (uint32_t i = 0; good && i < info->thread_count; i++) {
		json_t *name = thread_reference(info, unique, i);
		w->threads[i] = name ? json_dumps(name, STYLE | JSON_ENCODE_ANY) : NULL;
		json_decref(name);
		good = w->threads[i] != NULL;
	}
	if (!good) {
		rt_jsonl_free(w);
		return rt_error_set(err, RT_EMEMORY, "no memory to write JSON");
	}
	enum rt_status status = put_header(w, whole, unique, err);
	if (status)
		rt_jsonl_free(w);
	else
		*writer = w;
	return status;
}

void rt_jsonl_free(struct rt_jsonl_writer *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->threads && i < w->thread_count; i++)
		free(w->threads[i]);
	free(w->threads);
	refs_release(&w->refs);
	free(w);
}

/* --- events --- */

static void put_number(FILE *out, const char *key, uint64_t n)
{
	fprintf(out, n <= LARGEST_NUMBER ? "\"%s\":%" PRIu64 : "\"%s\":\"0x%" PRIx64 "\"", key, n);
}

static void put_operands(const struct rt_jsonl_writer *w, const struct rt_event *e)
{
	if (rt_event_is_of_thread(e) && e->addr < w->thread_count && !strncmp(w->threads[e->addr], "\"0x", 3))
		fprintf(w->out, ",\"object\":%" PRIu64, e->addr); /* its name would be read as a number */
	else if (rt_event_is_of_thread(e) && e->addr < w->thread_count)
		fprintf(w->out, ",\"object\":%s", w->threads[e->addr]);
	else
		fprintf(w->out, ",\"object\":\"0x%" PRIx64 "\"", e->addr);
	if (rt_op_group(e->op) == RT_GROUP_BLOCKING && e->arg >= RT_OP_READ && e->arg < RT_OP_COUNT) {
		fprintf(w->out, ",\"for\":\"%s\"", rt_op_name((unsigned)e->arg));
	} else if (rt_op_group(e->op) == RT_GROUP_CONDITION) {
		fprintf(w->out, ",\"arg\":\"0x%" PRIx64 "\"", e->arg);
	} else if (e->arg || rt_op_is_access(e->op)) {
		putc(',', w->out);
		put_number(w->out, "arg", e->arg);
	}
}

static void put_order(FILE *out, const struct rt_event *e)
{
	if (!rt_op_is_atomic(e->op) && e->op != RT_OP_FENCE && !e->order)
		return;
	const char *name = rt_memory_order_name(e->order);
	if (name)
		fprintf(out, ",\"order\":\"%s\"", name);
	else
		fprintf(out, ",\"order\":%u", e->order);
}

static void put_flags(FILE *out, unsigned op, unsigned flags)
{
	const char *between = ",\"flags\":[";
	flags &= ~(unsigned)RT_F_VALUE;
	if (!flags)
		return;
	for (unsigned bit = 0; bit < 8; bit++) {
		if (!(flags >> bit & 1))
			continue;
		fprintf(out, "%s\"%s\"", between, rt_flag_name(op, bit));
		between = ",";
	}
	putc(']', out);
}

enum rt_status rt_jsonl_event(struct rt_jsonl_writer *w, const struct rt_event *e, struct rt_error *err)
{
	enum rt_status status = refs_event(&w->refs, e, err);
	if (status)
		return status;
	if (e->thread >= w->thread_count)
		return rt_error_set(err, RT_EINPUT, "event %" PRIu64 " is of a thread that the trace does not name",
		                    e->number);
	FILE *out = w->out;
	putc('{', out);
	put_number(out, "number", e->number);
	fprintf(out, ",\"thread\":%s,", w->threads[e->thread]);
	put_number(out, "ordinal", e->ordinal);
	putc(',', out);
	put_number(out, "stamp", e->stamp);
	fprintf(out, ",\"op\":\"%s\"", rt_op_name(e->op));
	put_operands(w, e);
	put_order(out, e);
	put_flags(out, e->op, e->flags);
	if (e->flags & RT_F_VALUE) {
		putc(',', out);
		put_number(out, "value", e->value);
	}
	if (e->pc)
		fprintf(out, ",\"pc\":\"0x%" PRIx64 "\"", e->pc);
	fputs("}\n", out);
	return RT_OK;
}
