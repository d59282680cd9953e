/* Reading and writing schedules; see script.h. */
#include "lib/schedule/script.h"

#include "lib/base/hash.h"
#include "lib/base/json_memory.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {[GOAL_RACE] = "race", [GOAL_SEQUENCE] = "sequence", [GOAL_DEADLOCK] = "deadlock"};

/* A thread's name while the table of names is built. */
struct script_known_name {
	const char *text; /* borrowed from the JSON */
	uint32_t index;
	UT_hash_handle hh;
};

struct script_reader {
	const char *path;
	struct rt_error *err;
	struct script *s;
	struct script_known_name *names;
	uint32_t capacity;
};

static enum rt_status no_memory(struct script_reader *r)
{
	return rt_error_set(r->err, RT_EMEMORY, "no memory for the schedule");
}

/* Index of a thread's name; UINT32_MAX without memory. */
static uint32_t name_index(struct script_reader *r, const char *text)
{
	struct script_known_name *n;
	struct script *s = r->s;
	HASH_FIND_STR(r->names, text, n);
	if (n)
		return n->index;
	if (!vec_reserve(&s->names, &r->capacity, (uint64_t)s->name_count + 1, sizeof *s->names))
		return UINT32_MAX;
	n = calloc(1, sizeof *n);
	char *copy = strdup(text);
	if (!n || !copy) {
		free(n);
		free(copy);
		return UINT32_MAX;
	}
	*n = (struct script_known_name){.text = text, .index = s->name_count};
	s->names[s->name_count++] = copy;
	HASH_ADD_KEYPTR(hh, r->names, n->text, strlen(n->text), n);
	if (HASH_ADDED(n))
		return n->index;
	free(n);
	return UINT32_MAX;
}

/* The member that is an ordinal, from 1; 0 if it is not. */
static uint64_t ordinal(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	return json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

static enum rt_status read_thread(struct script_reader *r, const json_t *o, const char *what, size_t i, uint32_t *name)
{
	const json_t *thread = json_object_get(o, "thread");
	if (!json_is_string(thread))
		return rt_error_set(r->err, RT_EINPUT, "'%s': %s %zu: no thread's name under 'thread'", r->path, what,
		                    i + 1);
	*name = name_index(r, json_string_value(thread));
	return *name == UINT32_MAX ? no_memory(r) : RT_OK;
}

/* False without memory. What is no place is ignored: a schedule need not have one. */
static bool read_at(const json_t *o, struct script_at *at)
{
	const char *op = json_string_value(json_object_get(o, "op")),
	           *function = json_string_value(json_object_get(o, "function")),
	           *file = json_string_value(json_object_get(o, "file"));
	json_int_t line = json_integer_value(json_object_get(o, "line")),
	           after = json_integer_value(json_object_get(o, "after"));
	unsigned known = RT_OP_NONE + 1;
	while (op && known < RT_OP_COUNT && strcmp(rt_op_name(known), op) != 0)
		known++;
	if (!op || !function || !file || known == RT_OP_COUNT || line < 0 || line > UINT32_MAX || after < 0)
		return true;
	*at = (struct script_at){.function = strdup(function),
	                         .file = strdup(file),
	                         .line = (uint32_t)line,
	                         .op = known,
	                         .after = (uint64_t)after,
	                         .nth = ordinal(o, "nth")};
	return at->function && at->file;
}

static enum rt_status read_step(struct script_reader *r, const json_t *o, size_t i)
{
	struct script_step *step = &r->s->steps[i];
	enum rt_status status = read_thread(r, o, "step", i, &step->name);
	if (status)
		return status;
	step->from = ordinal(o, "from");
	step->to = ordinal(o, "to");
	if (!step->from || !step->to)
		return rt_error_set(r->err, RT_EINPUT,
		                    "'%s': step %zu: 'from' and 'to' must be places in the thread, from 1", r->path,
		                    i + 1);
	if (step->from > step->to)
		return rt_error_set(r->err, RT_EINPUT, "'%s': step %zu: 'from' is after 'to'", r->path, i + 1);
	r->s->step_count++;
	return read_at(json_object_get(o, "next"), &step->next) ? RT_OK : no_memory(r);
}

static enum rt_status read_goal_event(struct script_reader *r, const json_t *o, size_t i)
{
	struct script_event *event = &r->s->goal[i];
	enum rt_status status = read_thread(r, o, "goal", i, &event->name);
	if (status)
		return status;
	event->ordinal = ordinal(o, "ordinal");
	if (!event->ordinal)
		return rt_error_set(r->err, RT_EINPUT,
		                    "'%s': goal %zu: 'ordinal' must be a place in the thread, from 1", r->path, i + 1);
	r->s->goal_count++;
	return read_at(json_object_get(o, "at"), &event->at) ? RT_OK : no_memory(r);
}

static enum rt_status read_kind(struct script_reader *r, const json_t *schedule)
{
	struct script *s = r->s;
	const json_t *kind = json_object_get(schedule, "kind");
	for (size_t i = 0; json_is_string(kind) && i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(json_string_value(kind), kinds[i])) {
			s->kind_given = true;
			s->kind = (enum goal_kind)i;
		}
	if (kind && !s->kind_given)
		return rt_error_set(r->err, RT_EINPUT, "'%s': the kind must be race, sequence or deadlock", r->path);
	if (s->kind_given && s->kind == GOAL_RACE && s->goal_count != 2)
		return rt_error_set(r->err, RT_EINPUT, "'%s': a race's goal must be two events", r->path);
	return RT_OK;
}

static enum rt_status read_schedule(struct script_reader *r, const json_t *schedule)
{
	const json_t *steps = json_object_get(schedule, "steps"), *goal = json_object_get(schedule, "goal"), *o;
	size_t i;
	enum rt_status status = RT_OK;
	if (!json_is_array(steps) || !json_is_array(goal))
		return rt_error_set(r->err, RT_EINPUT, "'%s': no schedule: 'steps' and 'goal' must be lists", r->path);
	if (!json_array_size(goal) || json_array_size(goal) > ANOMALY_EVENTS_MAX)
		return rt_error_set(r->err, RT_EINPUT, "'%s': the goal must be 1 to %d events", r->path,
		                    ANOMALY_EVENTS_MAX);
	const json_t *recorded = json_object_get(schedule, "recorded");
	r->s->recorded = ordinal(schedule, "recorded");
	if (recorded && !r->s->recorded)
		return rt_error_set(r->err, RT_EINPUT, "'%s': 'recorded' must be the number of an event", r->path);
	r->s->steps = calloc(json_array_size(steps) + 1, sizeof *r->s->steps);
	if (!r->s->steps)
		return no_memory(r);
	json_array_foreach(steps, i, o) if (!status) status = read_step(r, o, i);
	json_array_foreach(goal, i, o) if (!status) status = read_goal_event(r, o, i);
	return status ? status : read_kind(r, schedule);
}

/* The anomaly that the caller named; it determines the kind of the goal. */
static enum rt_status read_anomaly(struct script_reader *r, const json_t *report, const char *id)
{
	const json_t *path = json_object_get(json_object_get(report, "trace"), "path"), *found = NULL, *o;
	size_t i, with = 0;
	json_array_foreach(json_object_get(report, "anomalies"), i, o)
	{
		const char *name = json_string_value(json_object_get(o, "id"));
		bool has = json_is_object(json_object_get(o, "schedule"));
		with += has;
		if (id ? name && !strcmp(name, id) : has)
			found = o;
	}
	if (!found && id)
		return rt_error_set(r->err, RT_EUSAGE, "there is no anomaly '%s' in '%s'", id, r->path);
	if (!id && with != 1)
		return rt_error_set(r->err, RT_EUSAGE, "'%s' has %zu anomalies with a schedule: say which by --anomaly",
		                    r->path, with);
	if (!id && !(id = json_string_value(json_object_get(found, "id"))))
		id = "an anomaly without id";
	if (json_is_integer(json_object_get(found, "schedule_left_out")))
		return rt_error_set(r->err, RT_EUSAGE,
		                    "'%s' has left out the schedule of '%s', it is too long: give the trace", r->path,
		                    id);
	if (!json_is_object(json_object_get(found, "schedule")))
		return rt_error_set(r->err, RT_EUSAGE,
		                    "'%s' has no schedule: it is not proved, or is what the trace ends with", id);
	enum rt_status status = read_schedule(r, json_object_get(found, "schedule"));
	const char *kind = json_string_value(json_object_get(found, "kind"));
	if (!status && kind && !r->s->kind_given) {
		r->s->kind_given = true;
		r->s->kind = !strcmp(kind, "race")       ? GOAL_RACE
		             : !strcmp(kind, "deadlock") ? GOAL_DEADLOCK
		                                         : GOAL_SEQUENCE;
	}
	if (!status && json_is_string(path) && !(r->s->trace = strdup(json_string_value(path))))
		return no_memory(r);
	return status;
}

struct input {
	FILE *file;
	int64_t left;
	bool too_long;
};

static size_t read_part(void *buffer, size_t size, void *context)
{
	struct input *in = context;
	if (in->left <= 0) {
		in->too_long = true;
		return (size_t)-1;
	}
	size_t got = fread(buffer, 1, size, in->file);
	in->left -= (int64_t)got;
	return ferror(in->file) ? (size_t)-1 : got;
}

static json_t *read_json(struct script_reader *r, FILE *file)
{
	json_error_t error;
	struct input in = {.file = file, .left = SCRIPT_FILE_MAX};
	rt_json_memory_watch();
	json_t *json = json_load_callback(read_part, &in, JSON_REJECT_DUPLICATES, &error);
	char text[sizeof error.text * 2];
	if (json && !rt_json_memory_failed())
		return json;
	json_decref(json);
	if (rt_json_memory_failed())
		no_memory(r);
	else if (in.too_long)
		rt_error_set(r->err, RT_EINPUT, "'%s' is too long: at most 1 GiB are read", r->path);
	else if (ferror(file))
		rt_error_set(r->err, RT_ESYSTEM, "cannot read '%s': %s", r->path, strerror(errno));
	else
		rt_error_set(r->err, RT_EINPUT, "'%s': line %d, column %d: %s", r->path, error.line, error.column,
		             rt_text_escape(text, sizeof text, error.text, strlen(error.text)));
	return NULL;
}

enum rt_status script_read(FILE *file, const char *path, const char *anomaly, struct script **out, struct rt_error *err)
{
	struct script_reader r = {.path = path, .err = err, .s = calloc(1, sizeof *r.s)};
	*out = NULL;
	if (!r.s)
		return no_memory(&r);
	json_t *json = read_json(&r, file);
	const char *schema = json_string_value(json_object_get(json, "schema"));
	enum rt_status status = json ? RT_OK : RT_EINPUT;
	if (status)
		;
	else if (schema && !strcmp(schema, "racetrace.report/1"))
		status = read_anomaly(&r, json, anomaly);
	else if (schema && strcmp(schema, "racetrace.schedule/1") != 0)
		status = rt_error_set(err, RT_EINPUT, "'%s' is neither a report nor a schedule of this version", path);
	else
		status = read_schedule(&r, json);
	HASH_FREE(r.names);
	json_decref(json);
	if (status) {
		script_free(r.s);
		return err && err->status ? err->status : status;
	}
	*out = r.s;
	return RT_OK;
}

void script_free(struct script *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->name_count; i++)
		free(s->names[i]);
	free(s->names);
	for (size_t i = 0; i < s->step_count; i++) {
		free(s->steps[i].next.function);
		free(s->steps[i].next.file);
	}
	for (uint32_t i = 0; i < s->goal_count; i++) {
		free(s->goal[i].at.function);
		free(s->goal[i].at.file);
	}
	free(s->steps);
	free(s->trace);
	free(s);
}

static bool write_name(const struct script *s, uint32_t name, FILE *out)
{
	json_t *text = json_string(s->names[name]);
	bool ok = text && (json_dumpf(text, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) == 0 || ferror(out));
	json_decref(text);
	return ok;
}

static bool write_at(const char *key, const struct script_at *at, FILE *out)
{
	if (!at->function || !at->file)
		return true;
	json_t *o =
	    json_pack("{ss,ss,ss,sI,sI,sI}", "op", rt_op_name(at->op), "function", at->function, "file", at->file,
	              "line", (json_int_t)at->line, "after", (json_int_t)at->after, "nth", (json_int_t)at->nth);
	fprintf(out, ", \"%s\": ", key);
	bool ok = o && (json_dumpf(o, out, JSON_ENSURE_ASCII) == 0 || ferror(out));
	json_decref(o);
	return ok;
}

bool script_write(const struct script *s, FILE *out)
{
	bool ok = true;
	fputs("{\n\"schema\": \"racetrace.schedule/1\",\n", out);
	if (s->kind_given)
		fprintf(out, "\"kind\": \"%s\",\n", kinds[s->kind]);
	if (s->recorded)
		fprintf(out, "\"recorded\": %" PRIu64 ",\n", s->recorded);
	fputs("\"steps\": [", out);
	for (size_t i = 0; i < s->step_count; i++) {
		fputs(i ? ",\n  {\"thread\": " : "\n  {\"thread\": ", out);
		ok = write_name(s, s->steps[i].name, out) && ok;
		fprintf(out, ", \"from\": %" PRIu64 ", \"to\": %" PRIu64, s->steps[i].from, s->steps[i].to);
		ok = write_at("next", &s->steps[i].next, out) && ok;
		putc('}', out);
	}
	fputs("\n],\n\"goal\": [", out);
	for (uint32_t i = 0; i < s->goal_count; i++) {
		fputs(i ? ",\n  {\"thread\": " : "\n  {\"thread\": ", out);
		ok = write_name(s, s->goal[i].name, out) && ok;
		fprintf(out, ", \"ordinal\": %" PRIu64, s->goal[i].ordinal);
		ok = write_at("at", &s->goal[i].at, out) && ok;
		putc('}', out);
	}
	fputs("\n]\n}\n", out);
	return ok;
}

/* A thread of the trace, by name. */
struct thread_name {
	const char *text;
	uint32_t index;
	UT_hash_handle hh;
};

/* True if a report writes the name so: JSON has U+FFFD for each byte that is not UTF-8. */
static bool is_written_as(const char *name, const char *written)
{
	enum { REPLACEMENT = 0xfffd, LONGEST = 4 };
	while (*name) {
		uint32_t c, w;
		size_t n = rt_text_character(name, strnlen(name, LONGEST), &c);
		size_t m = rt_text_character(written, strnlen(written, LONGEST), &w);
		if (!m || w != (n ? c : REPLACEMENT))
			return false;
		name += n ? n : 1;
		written += m;
	}
	return !*written;
}

static uint32_t find_written(const struct rt_trace_info *info, const char *written)
{
	for (uint32_t i = 0; i < info->thread_count; i++)
		if (is_written_as(info->threads[i].name, written))
			return i;
	return UINT32_MAX;
}

uint32_t *script_threads(const struct script *s, const struct rt_trace *trace)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	uint32_t *threads = malloc(((size_t)s->name_count + 1) * sizeof *threads);
	struct thread_name *table = calloc((size_t)info->thread_count + 1, sizeof *table), *names = NULL, *found;
	if (!threads || !table) {
		free(threads);
		free(table);
		return NULL;
	}
	bool ok = true;
	for (uint32_t i = 0; i < info->thread_count && ok; i++) {
		HASH_FIND_STR(names, info->threads[i].name, found);
		if (found)
			continue;
		table[i] = (struct thread_name){.text = info->threads[i].name, .index = i};
		HASH_ADD_KEYPTR(hh, names, table[i].text, strlen(table[i].text), &table[i]);
		ok = HASH_ADDED(&table[i]);
	}
	for (uint32_t i = 0; i < s->name_count; i++) {
		HASH_FIND_STR(names, s->names[i], found);
		threads[i] = found ? found->index : find_written(info, s->names[i]);
	}
	HASH_CLEAR(hh, names);
	free(table);
	if (ok)
		return threads;
	free(threads);
	return NULL;
}
