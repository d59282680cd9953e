/* The first line of JSON lines: facts about the run; see docs/jsonl-format.md. */
#include "tracefmt/jsonl/parse.h"

#include <stdlib.h>
#include <string.h>

static enum rt_status parse_header_thread(struct jsonl_parser *p, const json_t *value)
{
	struct jsonl *j = p->j;
	const char *name =
	    json_is_string(value) ? json_string_value(value) : json_string_value(jsonl_get(value, "name"));
	uint32_t before = j->trace.info.thread_count, index;
	if (!name)
		return jsonl_fail(p, "a thread in the header has no name");
	enum rt_status status = jsonl_add_thread(p, name, &index);
	if (status)
		return status;
	if (index < before)
		return jsonl_fail(p, "thread '%s' is in the header twice", jsonl_quote(name).text);
	if (!json_is_object(value))
		return RT_OK;
	struct rt_thread *thread = &j->threads[index];
	if ((status = jsonl_text(p, value, "label", &thread->label)) ||
	    (status = jsonl_number(p, value, "left_out", INT64_MAX, &thread->left_out)))
		return status;
	j->trace.info.left_out += thread->left_out;
	return RT_OK;
}

/* Parents may come after their children, so they are resolved when all threads are known. */
static enum rt_status parse_parents(struct jsonl_parser *p, const json_t *threads)
{
	size_t i;
	const json_t *value;
	json_array_foreach(threads, i, value)
	{
		const json_t *parent = json_is_object(value) ? jsonl_get(value, "parent") : NULL;
		if (!parent)
			continue;
		uint32_t count = p->j->trace.info.thread_count, index;
		enum rt_status status = jsonl_thread(p, parent, "parent", &index);
		if (status)
			return status;
		if (index >= count)
			return jsonl_fail(p, "the parent '%s' is not among the threads",
			                  jsonl_quote(json_string_value(parent)).text);
		p->j->threads[i].parent = index;
	}
	return RT_OK;
}

static enum rt_status parse_exit(struct jsonl_parser *p, const json_t *exit)
{
	struct rt_trace_info *info = &p->j->trace.info;
	uint64_t value = UINT64_MAX;
	if (!exit)
		return RT_OK;
	enum rt_status status = jsonl_number(p, exit, "status", INT32_MAX, &value);
	info->exit_kind = RT_EXIT_STATUS;
	if (!status && value == UINT64_MAX) {
		status = jsonl_number(p, exit, "signal", INT32_MAX, &value);
		info->exit_kind = RT_EXIT_SIGNAL;
	}
	if (!status && value == UINT64_MAX)
		return jsonl_fail(p, "'exit' has neither 'status' nor 'signal'");
	info->exit_value = (int)value;
	return status;
}

static enum rt_status parse_command(struct jsonl_parser *p, const json_t *command)
{
	struct jsonl *j = p->j;
	size_t i;
	const json_t *value;
	if (!command)
		return RT_OK;
	if (!json_is_array(command))
		return jsonl_fail(p, "'command' is not an array of strings");
	j->command = calloc(json_array_size(command) + 1, sizeof *j->command);
	if (!j->command)
		return jsonl_no_memory(p);
	json_array_foreach(command, i, value)
	{
		uint32_t index;
		if (!json_is_string(value))
			return jsonl_fail(p, "'command' is not an array of strings");
		if (!names_intern(&j->strings, json_string_value(value), json_string_length(value), &index))
			return jsonl_no_memory(p);
		j->command[i] = names_text(&j->strings, index);
	}
	j->trace.info.command = j->command;
	return RT_OK;
}

/* One object of an array. */
typedef enum rt_status parse_item(struct jsonl_parser *p, const json_t *value, void *item);

/* The header's array of objects with this name, if it has one. *items, of which the parser's jsonl owns all. */
static enum rt_status parse_objects(struct jsonl_parser *p, const json_t *header, const char *name, void *items,
                                    size_t size, size_t *count, parse_item *parse)
{
	size_t i;
	const json_t *value, *array = jsonl_get(header, name);
	if (!array)
		return RT_OK;
	if (!json_is_array(array))
		return jsonl_fail(p, "'%s' is not an array of objects", name);
	char *made = calloc(json_array_size(array) + 1, size);
	if (!made)
		return jsonl_no_memory(p);
	memcpy(items, &made, sizeof made);
	json_array_foreach(array, i, value)
	{
		if (!json_is_object(value))
			return jsonl_fail(p, "'%s' is not an array of objects", name);
		enum rt_status status = parse(p, value, made + (*count)++ * size);
		if (status)
			return status;
	}
	return RT_OK;
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct rt_module *)a)->start, y = ((const struct rt_module *)b)->start;
	return x < y ? -1 : x > y;
}

static enum rt_status parse_module(struct jsonl_parser *p, const json_t *value, void *item)
{
	struct rt_module *m = item;
	enum rt_status status;
	m->path = "";
	m->plain = json_is_true(jsonl_get(value, "plain"));
	if ((status = jsonl_text(p, value, "path", &m->path)) ||
	    (status = jsonl_text(p, value, "build_id", &m->build_id)) ||
	    (status = jsonl_number(p, value, "start", UINT64_MAX, &m->start)))
		return status;
	return jsonl_number(p, value, "end", UINT64_MAX, &m->end);
}

static int by_atomic(const void *a, const void *b)
{
	const struct rt_hidden_atomic *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static enum rt_status parse_atomic(struct jsonl_parser *p, const json_t *value, void *item)
{
	struct rt_hidden_atomic *a = item;
	enum rt_status status;
	if ((status = jsonl_number(p, value, "start", UINT64_MAX, &a->start)))
		return status;
	a->end = a->from = a->until = a->start;
	a->may_lock = json_is_true(jsonl_get(value, "may_lock"));
	a->orders_nothing = json_is_true(jsonl_get(value, "orders_nothing"));
	a->reads_nothing = json_is_true(jsonl_get(value, "reads_nothing"));
	a->writes_nothing = json_is_true(jsonl_get(value, "writes_nothing"));
	if ((status = jsonl_number(p, value, "end", UINT64_MAX, &a->end)) ||
	    (status = jsonl_number(p, value, "from", UINT64_MAX, &a->from)) ||
	    (status = jsonl_number(p, value, "until", UINT64_MAX, &a->until)) ||
	    (status = jsonl_text(p, value, "function", &a->function)))
		return status;
	return jsonl_text(p, value, "module", &a->module);
}

static int by_read(const void *a, const void *b)
{
	const struct rt_update *x = a, *y = b;
	return x->read < y->read ? -1 : x->read > y->read;
}

static enum rt_status parse_update(struct jsonl_parser *p, const json_t *value, void *item)
{
	struct rt_update *u = item;
	enum rt_status status = jsonl_number(p, value, "read", UINT64_MAX, &u->read);
	return status ? status : jsonl_number(p, value, "write", UINT64_MAX, &u->write);
}

static enum rt_status parse_declared(struct jsonl_parser *p, const json_t *value, void *item)
{
	struct rt_declared *d = item;
	const char *kind = json_string_value(jsonl_get(value, "kind"));
	enum rt_status status;
	d->of = d->name = d->type = "";
	while (d->kind < RT_DECLARED_KINDS && (!kind || strcmp(kind, rt_declared_kind_name(d->kind)) != 0))
		d->kind++;
	if ((status = jsonl_text(p, value, "of", &d->of)) || (status = jsonl_text(p, value, "name", &d->name)))
		return status;
	return jsonl_text(p, value, "type", &d->type);
}

static enum rt_status parse_text_file(struct jsonl_parser *p, const json_t *value, void *item)
{
	struct rt_text_file *f = item;
	f->path = "";
	enum rt_status status = jsonl_text(p, value, "path", &f->path);
	return status ? status : jsonl_number(p, value, "digest", UINT64_MAX, &f->digest);
}

static enum rt_status parse_schema(struct jsonl_parser *p, const json_t *header)
{
	static const size_t prefix = sizeof JSONL_SCHEMA - 1;
	const char *schema = json_string_value(jsonl_get(header, "schema"));
	if (!schema || strncmp(schema, JSONL_SCHEMA, prefix) != 0)
		return jsonl_fail(p, "the first line has no \"schema\": \"" JSONL_SCHEMA "%d\"", JSONL_VERSION);
	if (strtoul(schema + prefix, NULL, 10) != JSONL_VERSION)
		return jsonl_fail(p, "the schema '%s' needs a newer racetrace: this one reads " JSONL_SCHEMA "%d",
		                  jsonl_quote(schema).text, JSONL_VERSION);
	return RT_OK;
}

static enum rt_status parse_threads(struct jsonl_parser *p, const json_t *threads)
{
	size_t i;
	const json_t *value;
	if (threads && !json_is_array(threads))
		return jsonl_fail(p, "'threads' is not an array");
	json_array_foreach(threads, i, value)
	{
		enum rt_status status = parse_header_thread(p, value);
		if (status)
			return status;
	}
	p->declared_threads = p->j->trace.info.thread_count;
	return parse_parents(p, threads);
}

/* Without the key: sequentially consistent, as for traces made by hand or by another tool. */
static enum rt_status parse_model(struct jsonl_parser *p, const json_t *model)
{
	const char *name = json_string_value(model);
	p->j->trace.info.model = RT_MODEL_SC;
	for (int i = 0; i < RT_MODELS; i++)
		if (name && !strcmp(name, rt_model_name((enum rt_memory_model)i))) {
			p->j->trace.info.model = (enum rt_memory_model)i;
			return RT_OK;
		}
	return model ? jsonl_fail(p, "'model' is neither \"c11\" nor \"sc\"") : RT_OK;
}

enum rt_status jsonl_header(struct jsonl_parser *p, const json_t *header)
{
	struct jsonl *j = p->j;
	struct rt_trace_info *info = &p->j->trace.info;
	const char *order = json_string_value(jsonl_get(header, "order"));
	enum rt_status status = parse_schema(p, header);
	if (status)
		return status;
	if (order && strcmp(order, "exact") != 0 && strcmp(order, "stamped") != 0)
		return jsonl_fail(p, "'order' is neither \"exact\" nor \"stamped\"");
	info->exact = !order || !strcmp(order, "exact");
	info->zeroed = json_is_true(jsonl_get(header, "zeroed"));
	info->sync_only = json_is_true(jsonl_get(header, "sync_only"));
	info->values = json_is_true(jsonl_get(header, "values"));
	info->binary = json_is_true(jsonl_get(header, "binary"));
	info->complete = !json_is_false(jsonl_get(header, "complete"));
	p->declared_lost = jsonl_get(header, "lost") != NULL;
	if ((status = jsonl_text(p, header, "incomplete_why", &info->incomplete_why)) ||
	    (status = parse_model(p, jsonl_get(header, "model"))) ||
	    (status = parse_command(p, jsonl_get(header, "command"))) ||
	    (status = parse_exit(p, jsonl_get(header, "exit"))) ||
	    (status = jsonl_number(p, header, "duration_ns", UINT64_MAX, &info->duration_ns)) ||
	    (status = jsonl_number(p, header, "dropped", UINT64_MAX, &info->dropped)) ||
	    (status = jsonl_number(p, header, "pid", UINT64_MAX, &info->pid)) ||
	    (status = jsonl_number(p, header, "lost", UINT64_MAX, &info->lost)) ||
	    (status = jsonl_line(p, header, "vary", &info->vary)) ||
	    (status = jsonl_text(p, header, "input", &info->input)) ||
	    (status = jsonl_number(p, header, "events", UINT64_MAX, &p->declared_events)) ||
	    (status = parse_threads(p, jsonl_get(header, "threads"))) ||
	    (status = parse_objects(p, header, "modules", &j->modules, sizeof *j->modules, &j->module_count,
	                            parse_module)) ||
	    (status = parse_objects(p, header, "source_files", &j->text_files, sizeof *j->text_files,
	                            &j->text_file_count, parse_text_file)) ||
	    (status = parse_objects(p, header, "hidden_atomics", &j->atomics, sizeof *j->atomics, &j->atomic_count,
	                            parse_atomic)) ||
	    (status = parse_objects(p, header, "updates", &j->updates, sizeof *j->updates, &j->update_count,
	                            parse_update)) ||
	    (status = parse_objects(p, header, "declared", &j->declared, sizeof *j->declared, &j->declared_count,
	                            parse_declared)))
		return status;
	if (j->module_count)
		qsort(j->modules, j->module_count, sizeof *j->modules, by_start);
	if (j->atomic_count)
		qsort(j->atomics, j->atomic_count, sizeof *j->atomics, by_atomic);
	if (j->update_count)
		qsort(j->updates, j->update_count, sizeof *j->updates, by_read);
	if (j->declared_count)
		qsort(j->declared, j->declared_count, sizeof *j->declared, rt_declared_compare);
	if (!info->complete && !info->incomplete_why)
		info->incomplete_why = "the header says so";
	if (info->complete)
		info->incomplete_why = NULL;
	return RT_OK;
}
