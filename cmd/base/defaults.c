/* Options of the environment and of .racetrace; see defaults.h. */
#include "cmd/base/defaults.h"

#include "lib/base/vec.h"
#include "lib/report/root.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct words {
	char **items;
	size_t count, room;
};

static enum rt_status add(struct words *w, char *word, struct rt_error *err)
{
	if (word && vec_reserve(&w->items, &w->room, (uint64_t)w->count + 2, sizeof *w->items)) {
		w->items[w->count++] = word;
		w->items[w->count] = NULL;
		return RT_OK;
	}
	return rt_error_set(err, RT_EMEMORY, "no memory to read the options");
}

/* True if the command has an option of this name. */
static bool has_option(const struct argp *argp, const char *name, size_t length)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name && strlen(o->name) == length && !strncmp(o->name, name, length))
			return true;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		if (has_option(c->argp, name, length))
			return true;
	return false;
}

/* The file */

/* What the file may set; path: a relative name in it is from the file's folder. */
static const struct {
	const char *name;
	bool path;
} settable[] = {{"suppressions", true},
                {"baseline", true},
                {"pattern", true},
                {"source-root", true},
                {"kinds", false},
                {"regions", false},
                {"model", false},
                {"granularity", false},
                {"fail-on", false},
                {"budget", false},
                {"limit", false},
                {"jobs", false},
                {"max-memory", false},
                {"timeout", false},
                {"runs", false},
                {"strategy", false},
                {"allow-incomplete", false},
                {"exhaustive", false},
                {"orders", false}};

/* "--NAME=FILE" with a file that is below the folder; otherwise as it is. NULL without memory. */
static char *resolved(const char *folder, const char *option)
{
	const char *value = strchr(option, '=');
	char *path = NULL, *whole = NULL;
	if (!value || value[1] == '/' || asprintf(&path, "%s/%s", folder, value + 1) < 0)
		return strdup(option);
	if (access(path, F_OK) != 0) /* a pattern's name; what is missing is reported by the command */
		whole = strdup(option);
	else if (asprintf(&whole, "%.*s=%s", (int)(value - option), option, path) < 0)
		whole = NULL;
	free(path);
	return whole;
}

/* "--NAME=VALUE" of "NAME = VALUE", "NAME VALUE" and "NAME=VALUE"; "--NAME" of "NAME". NULL without memory. */
static char *whole_option(const char *name, size_t length)
{
	char *option;
	const char *value = name + length + strspn(name + length, " \t");
	value += *value == '=';
	value += strspn(value, " \t");
	return asprintf(&option, "--%.*s%s%s", (int)length, name, name[length] ? "=" : "", value) < 0 ? NULL : option;
}

static enum rt_status add_line(struct words *w, const struct argp *argp, const char *folder, unsigned line, char *text,
                               struct rt_error *err)
{
	text += strspn(text, " \t");
	size_t end = strcspn(text, "\r\n");
	while (end && (text[end - 1] == ' ' || text[end - 1] == '\t'))
		end--;
	text[end] = '\0';
	if (!*text || *text == '#')
		return RT_OK;
	const char *name = text + (!strncmp(text, "--", 2) ? 2 : 0);
	size_t length = strcspn(name, "= \t");
	for (size_t i = 0; i < sizeof settable / sizeof *settable; i++) {
		if (strlen(settable[i].name) != length || strncmp(settable[i].name, name, length) != 0)
			continue;
		if (!has_option(argp, name, length))
			return RT_OK;
		char *option = whole_option(name, length);
		char *word = option && settable[i].path ? resolved(folder, option) : option;
		if (word != option)
			free(option);
		return add(w, word, err);
	}
	return rt_error_set(err, RT_EUSAGE,
	                    "'%s/.racetrace' line %u: '%s' cannot be set there: see 'FILES' in racetrace(1)", folder,
	                    line, text);
}

static enum rt_status add_file(struct words *w, const struct argp *argp, struct rt_error *err)
{
	char folder[PATH_MAX], path[PATH_MAX + 16], *text = NULL;
	size_t size = 0;
	enum rt_status status = RT_OK;
	if (!root_find(folder))
		return RT_OK;
	snprintf(path, sizeof path, "%s/.racetrace", folder);
	FILE *file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? RT_OK
		                       : rt_error_set(err, errno == ENOMEM ? RT_EMEMORY : RT_ESYSTEM,
		                                      "cannot open '%s': %s", path, strerror(errno));
	for (unsigned line = 1; !status && getline(&text, &size, file) >= 0; line++)
		status = add_line(w, argp, folder, line, text, err);
	free(text);
	fclose(file);
	return status;
}

/* The environment */

static enum rt_status add_environment(struct words *w, const struct argp *argp, struct rt_error *err)
{
	const char *at = getenv("RACETRACE_OPTIONS");
	enum rt_status status = RT_OK;
	while (at && *(at += strspn(at, " \t\n")) && !status) {
		size_t length = strcspn(at, " \t\n");
		if (length < 3 || strncmp(at, "--", 2) != 0)
			return rt_error_set(err, RT_EUSAGE, "RACETRACE_OPTIONS: '%.*s' is not --NAME or --NAME=VALUE",
			                    (int)length, at);
		size_t name = strcspn(at + 2, "= \t\n");
		if (has_option(argp, at + 2, name))
			status = add(w, strndup(at, length), err);
		at += length;
	}
	return status;
}

enum rt_status defaults_add(const struct argp *argp, int *argc, char ***argv, struct rt_error *err)
{
	static struct words w;
	w.count = 0; /* merge reads options twice */
	enum rt_status status = add(&w, (*argv)[0], err);
	if (!status)
		status = add_file(&w, argp, err);
	if (!status)
		status = add_environment(&w, argp, err);
	for (int i = 1; i < *argc && !status; i++)
		status = add(&w, (*argv)[i], err);
	if (status)
		return status;
	*argc = (int)w.count;
	*argv = w.items;
	return RT_OK;
}
