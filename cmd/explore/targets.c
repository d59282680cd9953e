/*
 * What is explored: a program; a program with each input of a folder; or each test that ctest would run, found by
 * `ctest --show-only=json-v1`, in its folder and with its environment.
 */
#include "cmd/explore/explore.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Inputs ---- */

/* The program with the input's path in place of each "@@". *named: there was one. NULL without memory. */
static char **with_input(char *const *program, const char *path, bool *named)
{
	size_t n = 0;
	*named = false;
	while (program[n])
		n++;
	char **argv = calloc(n + 1, sizeof *argv);
	for (size_t i = 0; argv && i < n; i++) {
		argv[i] = (char *)(uintptr_t)(strcmp(program[i], "@@") ? program[i] : path);
		*named |= argv[i] == path;
	}
	return argv;
}

/* One of several. */
static enum rt_status explore_target(struct exploring *x, struct rt_error *err)
{
	uint32_t before = x->ended;
	enum rt_status status = explore_runs(x, err);
	x->explored++;
	x->untried += x->ended == before && !x->stopped;
	return status;
}

static enum rt_status explore_input(struct exploring *x, const char *folder, const char *name, struct rt_error *err)
{
	char *const *program = x->o.program;
	const char *input = x->o.input;
	char path[4096];
	struct stat st;
	bool named;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return RT_OK;
	char **argv = with_input(program, path, &named);
	if (!argv)
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	x->o.program = argv;
	x->o.input = named ? input : path;
	x->label = name;
	enum rt_status status = explore_target(x, err);
	x->label = NULL;
	x->o.program = program;
	x->o.input = input;
	free(argv);
	return status;
}

static enum rt_status explore_inputs(struct exploring *x, struct rt_error *err)
{
	struct dirent **names;
	enum rt_status status = RT_OK;
	int n = scandir(x->o.inputs, &names, NULL, alphasort);
	if (n < 0)
		return rt_error_set(err, RT_EUSAGE, "cannot open '%s': %s", x->o.inputs, strerror(errno));
	x->targets = (size_t)n;
	for (int i = 0; i < n; i++, x->targets--)
		if (!status && !x->stopped)
			status = explore_input(x, x->o.inputs, names[i]->d_name, err);
	if (!status && !x->ended && !x->stopped)
		status = rt_error_set(err, RT_EUSAGE, "there is no input in '%s'", x->o.inputs);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return status;
}

/* ---- Tests ---- */

/* What `ctest --show-only=json-v1` prints; NULL: nothing of use. */
static json_t *list_tests(char *const *program)
{
	int pipes[2];
	size_t n = 0;
	while (program[n])
		n++;
	char **argv = calloc(n + 2, sizeof *argv);
	if (!argv || pipe(pipes) != 0) {
		free(argv);
		return NULL;
	}
	memcpy(argv, program, n * sizeof *argv);
	argv[n] = (char *)(uintptr_t) "--show-only=json-v1";
	pid_t pid = fork();
	if (pid == 0) {
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipes[1]);
	FILE *f = fdopen(pipes[0], "r");
	json_t *json = f && pid > 0 ? json_loadf(f, 0, NULL) : NULL;
	if (f)
		fclose(f);
	explore_reap(pid);
	free(argv);
	return json;
}

static json_t *property(const json_t *test, const char *name)
{
	const json_t *properties = json_object_get(test, "properties");
	for (size_t i = 0; i < json_array_size(properties); i++) {
		const json_t *p = json_array_get(properties, i);
		const char *key = json_string_value(json_object_get(p, "name"));
		if (key && !strcmp(key, name))
			return json_object_get(p, "value");
	}
	return NULL;
}

/* Returns the variables' values before, null where there was none. */
static json_t *set_environment(const json_t *list)
{
	json_t *before = json_object();
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i)),
		           *equals = text ? strchr(text, '=') : NULL;
		char name[256];
		if (!equals)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
		const char *old = getenv(name);
		if (!json_object_get(before, name))
			json_object_set_new_nocheck(before, name, old ? json_string_nocheck(old) : json_null());
		setenv(name, equals + 1, 1);
	}
	return before;
}

static void restore_environment(json_t *before)
{
	const char *name;
	json_t *value;
	json_object_foreach(before, name, value)
	{
		if (json_is_string(value))
			setenv(name, json_string_value(value), 1);
		else
			unsetenv(name);
	}
	json_decref(before);
}

static enum rt_status explore_test(struct exploring *x, const json_t *test, struct rt_error *err)
{
	const json_t *command = json_object_get(test, "command");
	const char *name = json_string_value(json_object_get(test, "name"));
	const char *folder = json_string_value(property(test, "WORKING_DIRECTORY"));
	size_t n = json_array_size(command);
	char *const *program = x->o.program;
	char **argv = calloc(n + 1, sizeof *argv);
	enum rt_status status = argv ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to explore");
	for (size_t i = 0; argv && i < n; i++)
		argv[i] = (char *)(uintptr_t)json_string_value(json_array_get(command, i));
	if (!status && n && argv[0] && name && (!folder || chdir(folder) == 0)) {
		json_t *before = set_environment(property(test, "ENVIRONMENT"));
		x->o.program = argv;
		x->label = name;
		status = explore_target(x, err);
		x->label = NULL;
		x->o.program = program;
		restore_environment(before);
	}
	free(argv);
	return status;
}

static enum rt_status explore_tests(struct exploring *x, struct rt_error *err)
{
	json_t *json = list_tests(x->o.program);
	const json_t *tests = json_object_get(json, "tests");
	size_t n = json_array_size(tests);
	enum rt_status status =
	    n ? RT_OK
	      : rt_error_set(err, RT_EUSAGE,
	                     "'%s' lists no tests here; ctest does in the folder of the build, or with --test-dir",
	                     x->o.program[0]);
	x->targets = n;
	for (size_t i = 0; i < n; i++, x->targets--)
		if (!status && !x->stopped)
			status = explore_test(x, json_array_get(tests, i), err);
	json_decref(json);
	return status;
}

/* Tests have folders of their own: paths that were given are of this one. */
static enum rt_status explore_ctest(struct exploring *x, struct rt_error *err)
{
	const char **paths[] = {&x->o.traces, &x->o.input, &x->o.source_root};
	enum { PATHS = sizeof paths / sizeof *paths };
	const char *given[PATHS];
	char *whole[PATHS];
	for (int i = 0; i < PATHS; i++) {
		given[i] = *paths[i];
		whole[i] = given[i] ? realpath(given[i], NULL) : NULL;
		*paths[i] = whole[i] ? whole[i] : given[i]; /* what is not there is reported by what needs it */
	}
	enum rt_status status = explore_tests(x, err);
	for (int i = 0; i < PATHS; i++) {
		*paths[i] = given[i];
		free(whole[i]);
	}
	return status;
}

enum rt_status explore_targets(struct exploring *x, struct rt_error *err)
{
	const char *slash = strrchr(x->o.program[0], '/');
	x->targets = 1;
	if (x->o.traces && mkdir(x->o.traces, 0777) != 0 && errno != EEXIST)
		return rt_error_set(err, RT_ESYSTEM, "cannot make a folder '%s': %s", x->o.traces, strerror(errno));
	enum rt_status status = x->o.pairs ? racefuzzer_read_pairs(x, err) : RT_OK;
	if (status)
		return status;
	if (!strcmp(slash ? slash + 1 : x->o.program[0], "ctest"))
		return explore_ctest(x, err);
	return x->o.inputs ? explore_inputs(x, err) : explore_runs(x, err);
}
