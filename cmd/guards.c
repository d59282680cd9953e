/* racetrace guards: which lock guards which variable, and where it is not held. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/memory.h"
#include "cmd/base/setting.h"
#include "lib/report/guarded_by.h"
#include "lib/report/json_writer.h"
#include "lib/report/text/text.h"

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_COMPILE_COMMANDS = 256, OPT_ALL };
enum { ROWS_SHOWN = 40 };

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CLANG };

struct options {
	struct rt_trace_options trace;
	uint64_t max_memory;
	const char *path, *database;
	enum format format;
	bool all;
};

static const struct argp_option option_table[] = {
    {"format", 'f', "FORMAT", 0, "text (the default), json, or clang: a GUARDED_BY attribute for each guarded variable",
     0},
    {"compile-commands", OPT_COMPILE_COMMANDS, "FILE", 0,
     "Check the GUARDED_BY attributes of the sources that FILE, a compile database, names; the exit status is 1 if the "
     "run did not keep one",
     0},
    {"all", OPT_ALL, NULL, 0, "List all variables in the text, also those without a guard and atomic ones", 0},
    {0},
};

static const struct cmd_setting settings[] = {
    CMD_SETS(OPT_COMPILE_COMMANDS, struct options, database),
    CMD_SETS(OPT_ALL, struct options, all),
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = {"text", "json", "clang", NULL};
	struct options *options = state->input;
	if (cmd_set(settings, key, arg, state, options))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->trace;
		state->child_inputs[1] = &options->max_memory;
		return 0;
	case 'f':
		options->format = (enum format)cmd_word(state, "a format", formats, arg);
		return 0;
	case ARGP_KEY_ARG:
		cmd_take_argument(state, &options->path, arg);
		return 0;
	case ARGP_KEY_END:
		cmd_need_argument(state, options->path, "trace", CMD_TRACE_HINT);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&cmd_trace_argp, 0, NULL, 0}, {&cmd_memory_argp, 0, NULL, 0}, {0}};

static const char doc[] =
    "Prints which lock guards each variable that threads share: the lock that more than half of its accesses "
    "hold. The most likely mistakes come first: a lock that is held nearly always, but not everywhere.\v"
    "Only accesses while the variable is shared count: not those before the second thread's first one, nor "
    "those that come after all of the others', such as after a join. Exit status: 0; 1 if an attribute of "
    "--compile-commands was not kept; 2 for wrong use; 3 if the trace cannot be read.";

static const struct argp parser = {option_table, parse_option, "TRACE", doc, children, NULL, NULL};

/* --- text --- */

static void print_place(const struct guard_place *p)
{
	if (p->function)
		printf("%s", cmd_text(p->function).text);
	if (p->file)
		printf("%s%s:%" PRIu32 "%s", p->function ? " (" : "", cmd_text(subject_basename(p->file)).text, p->line,
		       p->function ? ")" : "");
	else if (p->text)
		printf("location %s", cmd_text(p->text).text);
	else if (!p->function)
		fputs("unknown", stdout);
}

/* By its type, or as its line locks it, if it has no name of its own. */
static struct cmd_text lock_text(const struct guard_lock *lock)
{
	return cmd_text(lock->member ? lock->member : lock->written ? lock->written : lock->name);
}

static void print_row(const struct guard_row *row)
{
	if (row->written)
		printf("%s (%s): ", cmd_text(row->member ? row->member : row->written).text, cmd_text(row->name).text);
	else
		printf("%s: ", cmd_text(row->name).text);
	if (row->atomic)
		printf("atomic, %" PRIu64 " accesses", row->of);
	else if (row->guarded)
		printf("guarded by %s, held at %" PRIu64 " of %" PRIu64 " accesses", lock_text(&row->locks[0]).text,
		       row->locks[0].held, row->of);
	else if (row->lock_count && row->locks[0].held)
		printf("no guard; %s is held at %" PRIu64 " of %" PRIu64 " accesses", lock_text(&row->locks[0]).text,
		       row->locks[0].held, row->of);
	else
		printf("no guard, %" PRIu64 " access%s", row->of, row->of == 1 ? "" : "es");
	if (row->file)
		printf("; declared at %s:%" PRIu32, cmd_text(subject_basename(row->file)).text, row->line);
	putchar('\n');
	for (uint32_t i = 0; !row->atomic && i < row->without_count; i++) {
		const struct guard_place *p = &row->without[i];
		fputs(row->guarded ? "  without it: " : "  ", stdout);
		print_place(p);
		printf(" %s, %" PRIu64 " time%s\n", p->writes ? "writes" : "reads", p->count, p->count == 1 ? "" : "s");
	}
	if (!row->atomic && row->without_cut)
		puts("  and more places");
}

static bool is_outlier(const struct guard_row *row)
{
	return row->guarded && !row->atomic && row->locks[0].held < row->of;
}

static void print_text(const struct guard_table *t, bool all)
{
	size_t guarded = 0, outliers = 0, atomic = 0, shown = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct guard_row *row = &t->rows[i];
		guarded += row->guarded && !row->atomic;
		outliers += is_outlier(row);
		atomic += row->atomic;
		if (all || (row->guarded && !row->atomic && shown < ROWS_SHOWN)) {
			print_row(row);
			shown++;
		}
	}
	if (!t->count)
		puts("no variable is shared");
	else
		printf("%zu variable%s: %zu guarded, %zu of them not everywhere; %zu atomic; %zu without a guard%s\n",
		       t->count, text_plural(t->count), guarded, outliers, atomic, t->count - guarded - atomic,
		       shown < t->count ? " (--all lists all)" : "");
	if (t->left_out)
		printf("%" PRIu64 " pieces of memory beyond the bound were not counted\n", t->left_out);
}

/* --- attributes --- */

static bool is_attributable(const struct guard_row *row)
{
	return row->guarded && !row->atomic && !strcmp(row->kind, "global") && row->file;
}

/* Length of the namespaces and classes in front of a name, "app::" of "app::level". */
static size_t scope_of(const char *name)
{
	size_t n = 0;
	for (const char *at = name; (at = strstr(at, "::")) != NULL; at += 2)
		n = (size_t)(at + 2 - name);
	return n;
}

/* "size" of "queue.items[].size" and of "app::size". */
static const char *last_component(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot ? dot + 1 : name + scope_of(name);
}

/* The lock as an attribute names it: within one object by its member alone, within one class by its name. */
static const char *attribute_lock(const struct guard_row *row)
{
	const char *lock = row->locks[0].name;
	size_t object = strcspn(row->name, "."), scope = scope_of(row->name);
	if (row->name[object] && !strncmp(row->name, lock, object + 1))
		return last_component(lock);
	return scope && scope == scope_of(lock) && !strncmp(row->name, lock, scope) ? lock + scope : lock;
}

static void print_clang(const struct guard_table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct guard_row *row = &t->rows[i];
		if (!is_attributable(row))
			continue;
		const char *name = last_component(row->name), *lock = attribute_lock(row);
		printf("%s:%" PRIu32 ": ", cmd_text(row->file).text, row->line);
		if (strchr(lock, '[')) {
			printf("// %s: no attribute names one lock of the array %s, held at %" PRIu64 " of %" PRIu64
			       " accesses\n",
			       cmd_text(row->name).text, cmd_text(lock).text, row->locks[0].held, row->of);
			continue;
		}
		printf("%.*s GUARDED_BY(%s)", (int)strcspn(name, "["), cmd_text(name).text, cmd_text(lock).text);
		printf(" // %s: held at %" PRIu64 " of %" PRIu64 " accesses\n", cmd_text(row->name).text,
		       row->locks[0].held, row->of);
	}
}

/* What the run says of an attribute. */
static const char *judge(const struct guard_row *row, const struct guarded_by *a, uint64_t *held)
{
	*held = row ? guarded_by_held(row, a) : 0;
	return !row ? "not shared" : *held == row->of ? "kept" : "not kept";
}

static size_t print_attributes(const struct guard_table *t, const struct guarded_by_list *list)
{
	size_t broken = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct guarded_by *a = &list->items[i];
		const struct guard_row *row = guarded_by_row(t, a);
		uint64_t held;
		const char *is = judge(row, a, &held);
		printf("%s:%" PRIu32 ": %s GUARDED_BY(%s): ", cmd_text(a->file).text, a->line,
		       cmd_text(a->variable).text, cmd_text(a->lock).text);
		if (!row) {
			puts("the run does not share it");
			continue;
		}
		printf("%s, held at %" PRIu64 " of %" PRIu64 " accesses of %s\n", is, held, row->of,
		       cmd_text(row->name).text);
		broken += held < row->of;
	}
	return broken;
}

/* --- JSON --- */

static void write_places(struct json_writer *w, const struct guard_row *row)
{
	jw_array(w, "without");
	for (uint32_t i = 0; i < row->without_count; i++) {
		const struct guard_place *p = &row->without[i];
		jw_object(w, NULL);
		jw_text(w, "file", p->file);
		jw_number_or_null(w, "line", p->line);
		jw_text(w, "function", p->function);
		if (p->text)
			jw_text(w, "text", p->text);
		jw_text(w, "what", p->writes ? "writes" : "reads");
		jw_number(w, "count", p->count);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void write_row(struct json_writer *w, const struct guard_row *row)
{
	jw_object(w, NULL);
	jw_text(w, "variable", row->name);
	if (row->written)
		jw_text(w, "written", row->written);
	if (row->member)
		jw_text(w, "member", row->member);
	jw_text(w, "kind", row->kind);
	jw_text(w, "file", row->file);
	jw_number_or_null(w, "line", row->line);
	jw_number(w, "of", row->of);
	jw_number(w, "writes", row->writes);
	jw_bool(w, "atomic", row->atomic);
	jw_text(w, "lock", row->guarded ? row->locks[0].name : NULL);
	jw_number(w, "held", row->guarded ? row->locks[0].held : 0);
	jw_array(w, "locks");
	for (uint32_t i = 0; i < row->lock_count; i++) {
		jw_object(w, NULL);
		jw_text(w, "name", row->locks[i].name);
		if (row->locks[i].written)
			jw_text(w, "written", row->locks[i].written);
		if (row->locks[i].member)
			jw_text(w, "member", row->locks[i].member);
		jw_number(w, "held", row->locks[i].held);
		jw_object_end(w);
	}
	jw_array_end(w);
	write_places(w, row);
	jw_bool(w, "cut", row->without_cut);
	jw_object_end(w);
}

static size_t write_json(const struct guard_table *t, const struct guarded_by_list *list, bool attributes)
{
	struct json_writer w = {.out = stdout};
	size_t broken = 0;
	jw_object(&w, NULL);
	jw_text(&w, "schema", "racetrace.guards/1");
	jw_array(&w, "guards");
	for (size_t i = 0; i < t->count; i++)
		write_row(&w, &t->rows[i]);
	jw_array_end(&w);
	jw_number(&w, "left_out", t->left_out);
	if (attributes) {
		jw_array(&w, "attributes");
		for (size_t i = 0; i < list->count; i++) {
			const struct guarded_by *a = &list->items[i];
			const struct guard_row *row = guarded_by_row(t, a);
			uint64_t held;
			const char *is = judge(row, a, &held);
			jw_object(&w, NULL);
			jw_text(&w, "file", a->file);
			jw_number(&w, "line", a->line);
			jw_text(&w, "variable", a->variable);
			jw_text(&w, "lock", a->lock);
			jw_text(&w, "is", is);
			jw_number(&w, "held", held);
			jw_number(&w, "of", row ? row->of : 0);
			jw_object_end(&w);
			broken += row && held < row->of;
		}
		jw_array_end(&w);
	}
	jw_object_end(&w);
	putchar('\n');
	return broken;
}

/* --- the command --- */

static enum rt_status make(const struct options *options, struct rt_trace *trace, struct guard_table *table,
                           struct rt_error *err)
{
	struct analysis a = {.trace = trace};
	uint64_t most = options->max_memory;
	struct model_options model = {.admit = cmd_admit, .admit_arg = &most};
	enum rt_status status = model_load(trace, &model, &a.model, err);
	if (status)
		return status;
	a.facts.m = a.model;
	status = guard_table_create(&a, table, err);
	if (!status)
		status = rt_trace_memory(trace, err);
	facts_release(&a.facts);
	model_free(a.model);
	return status;
}

int cmd_guards(int argc, char **argv)
{
	struct options options = {0};
	struct rt_trace *trace;
	struct rt_error err = {0};
	struct guard_table table = {0};
	struct guarded_by_list list = {0};
	size_t broken = 0;
	cmd_parse(&parser, argc, argv, 0, &options);
	if (options.database && guarded_by_read(options.database, &list, &err)) {
		guarded_by_release(&list);
		return cmd_fail(&err);
	}
	if (cmd_open_trace(options.path, &options.trace, &trace, &err)) {
		guarded_by_release(&list);
		return cmd_fail(&err);
	}
	int status = make(&options, trace, &table, &err) ? cmd_fail(&err) : EXIT_CLEAN;
	cmd_warn_incomplete(trace);
	if (!status && options.format == FORMAT_JSON) {
		broken = write_json(&table, &list, options.database);
	} else if (!status) {
		if (options.format == FORMAT_CLANG)
			print_clang(&table);
		else
			print_text(&table, options.all);
		broken = print_attributes(&table, &list);
	}
	guard_table_release(&table);
	guarded_by_release(&list);
	rt_trace_free(trace);
	return status ? status : broken ? EXIT_FOUND : EXIT_CLEAN;
}
