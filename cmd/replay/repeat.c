#include "cmd/replay/repeat.h"

#include "cmd/base/library.h"
#include "cmd/base/scratch.h"
#include "cmd/explore/explore.h"
#include "cmd/try/runner.h"
#include "lib/report/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which run ---- */

static const json_t *finding_of(const json_t *report, const char *id)
{
	const json_t *findings = json_object_get(report, "findings");
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *f = json_array_get(findings, i);
		const char *own = json_string_value(json_object_get(f, "id"));
		bool is_end = json_array_size(json_object_get(f, "anomalies")) == 0;
		if (id ? own && !strcmp(own, id) : is_end)
			return f;
	}
	return NULL;
}

static bool has_schedules(const json_t *report)
{
	const json_t *anomalies = json_object_get(report, "anomalies");
	for (size_t i = 0; i < json_array_size(anomalies); i++)
		if (json_is_object(json_object_get(json_array_get(anomalies, i), "schedule")))
			return true;
	return false;
}

/* NULL: nothing that is to be repeated. */
static const json_t *run_of(const json_t *report, const char *id, uint64_t seed)
{
	const json_t *runs = json_object_get(report, "runs");
	json_int_t number = 0;
	if (!seed && !id && has_schedules(report))
		return NULL;
	if (!seed || id) {
		const json_t *f = finding_of(report, id);
		if (!f || json_array_size(json_object_get(f, "anomalies")) > 0)
			return NULL;
		number = json_integer_value(json_object_get(json_object_get(f, "seen"), "first"));
	}
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		bool is = number ? json_integer_value(json_object_get(run, "number")) == number
		                 : (uint64_t)json_integer_value(json_object_get(run, "seed")) == seed;
		if (is && json_is_string(json_object_get(run, "repeat")))
			return run;
	}
	return NULL;
}

/* ---- Its command ---- */

/*
 * The words of a command as explore writes it: with quotes as the shell has them. *input: the file behind a last "<",
 * which the program reads; NULL: there is none. Their memory is *text, which is the caller's. NULL without memory.
 */
static char **split(const char *command, char **text, const char **input)
{
	char **words = calloc(strlen(command) / 2 + 2, sizeof *words); /* a space ends each but the last */
	char *to = *text = malloc(strlen(command) + 1);
	size_t n = 0, redirection = SIZE_MAX;
	while (words && to && *command) {
		bool quoted = false;
		command += strspn(command, " ");
		if (!*command)
			break;
		if (!strncmp(command, "< ", 2))
			redirection = n;
		words[n++] = to;
		for (; *command && (quoted || *command != ' '); command++) {
			if (*command == '\'')
				quoted = !quoted;
			else if (*command == '\\' && !quoted && command[1])
				*to++ = *++command;
			else
				*to++ = *command;
		}
		*to++ = '\0';
	}
	*input = NULL;
	if (!words || !to) {
		free(words);
		return NULL;
	}
	if (redirection < n && redirection + 2 == n) {
		*input = words[n - 1];
		words[n - 2] = NULL;
	}
	return words;
}

/* ---- Running ---- */

/* The run of an exploration that the command repeats. It has another number than in a report of several inputs. */
static const json_t *run_again(const json_t *report, const struct repeated *r)
{
	const json_t *runs = json_object_get(report, "runs");
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		const char *repeat = json_string_value(json_object_get(run, "repeat"));
		if (repeat && !strcmp(repeat, r->command))
			return run;
	}
	return json_array_get(runs, r->number - 1);
}

/* How the run came to its end: told by the process itself, by its outcome, or by the report of an exploration. */
static void take_end(const struct run_end *end, const char *folder, struct repeated *result)
{
	char path[SCRATCH_MAX + 16];
	snprintf(path, sizeof path, "%s/report.json", folder);
	json_t *report = json_load_file(path, 0, NULL);
	const char *said = json_string_value(json_object_get(run_again(report, result), "end"));
	snprintf(path, sizeof path, "%s/outcome", folder);
	json_t *outcome = json_load_file(path, 0, NULL);
	const char *control = json_string_value(json_object_get(outcome, "end"));
	if (said)
		snprintf(result->end, sizeof result->end, "%s", said);
	else
		explore_end_text(end, control ? control : "", result->end, sizeof result->end);
	json_decref(outcome);
	json_decref(report);
}

static enum rt_status run_command(char **words, const char *input, unsigned timeout_ms, const char *before,
                                  struct repeated *result, struct rt_error *err)
{
	char folder[SCRATCH_MAX] = "", file[SCRATCH_MAX + 16], outcome[SCRATCH_MAX + 16], *self = NULL;
	bool explores = words[1] && !strcmp(words[1], "explore");
	enum { OWN = 6 };
	const char **argv;
	struct runner *runner = NULL;
	size_t n = 0, count = 0;
	while (words[count])
		count++;
	if (!(argv = calloc(OWN + count + 1, sizeof *argv)))
		return rt_error_set(err, RT_EMEMORY, "no memory for a run");
	enum rt_status status = library_own_path(&self, err);
	if (!status)
		status = scratch_make(folder, err);
	snprintf(file, sizeof file, "%s/%s", folder, explores ? "report.json" : "trace.zst");
	snprintf(outcome, sizeof outcome, "%s/outcome", folder);
	argv[n++] = self;
	argv[n++] = words[1];
	argv[n++] = "-o";
	argv[n++] = file;
	argv[n++] = explores ? "-f" : "--outcome";
	argv[n++] = explores ? "json" : outcome;
	for (size_t i = 2; words[i]; i++)
		argv[n++] = words[i];
	/* An exploration limits the time of each of its runs by itself. */
	uint64_t most = explores ? timeout_ms * ((uint64_t)result->number + 1) : timeout_ms;
	const struct run_options options = {.argv = (char *const *)(uintptr_t)argv,
	                                    .input = input,
	                                    .before = explores ? NULL : before,
	                                    .timeout_ms = most < UINT_MAX ? (unsigned)most : UINT_MAX};
	if (!status)
		status = runner_start(&options, &runner, err);
	if (!status)
		take_end(runner_wait(runner), folder, result);
	runner_free(runner);
	scratch_remove(folder);
	free(argv);
	free(self);
	return status;
}

enum rt_status replay_repeat(FILE *report, const char *path, const char *finding, uint64_t seed, unsigned timeout_ms,
                             const char *before, struct repeated *result, bool *done, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	char *text = NULL, **words = NULL;
	const char *input;
	*done = false;
	rewind(report);
	json_t *json = json_loadf(report, 0, NULL);
	rewind(report);
	const json_t *run = run_of(json, finding, seed);
	const char *command = json_string_value(json_object_get(run, "repeat")),
	           *was = json_string_value(json_object_get(run, "end"));
	if (command && !(words = split(command, &text, &input)))
		status = rt_error_set(err, RT_EMEMORY, "no memory for a run");
	if (words && (!words[0] || !words[1] || strcmp(words[0], "racetrace") != 0 ||
	              (strcmp(words[1], "record") != 0 && strcmp(words[1], "explore") != 0)))
		status = rt_error_set(err, RT_EINPUT, "'%s' has a command that is none of racetrace's: '%.200s'", path,
		                      command);
	if (words && !status) {
		*result = (struct repeated){.number = (uint32_t)json_integer_value(json_object_get(run, "number"))};
		snprintf(result->was, sizeof result->was, "%s", was ? was : "");
		if (!(result->command = strdup(command)))
			status = rt_error_set(err, RT_EMEMORY, "no memory for a run");
		else
			status = run_command(words, input, timeout_ms, before, result, err);
		result->same = !strcmp(result->was, result->end);
		*done = true;
	}
	free(words);
	free(text);
	json_decref(json);
	return status;
}

enum rt_status repeated_write(const void *repeated, const struct report_format *format, bool color, FILE *out,
                              struct rt_error *err)
{
	const struct repeated *r = repeated;
	(void)color;
	if (!strcmp(format->name, "text")) {
		fprintf(out, "run %" PRIu32 ", %s:\n  %s%s%s\n", r->number, r->command, r->end,
		        r->same ? ", as before" : "; it was: ", r->same ? "" : r->was);
		return RT_OK;
	}
	if (strcmp(format->name, "json") != 0)
		return rt_error_set(err, RT_EUSAGE, "the repetition of a run has no %s: give text or json",
		                    format->name);
	json_t *json = json_pack("{s:s, s:i, s:s, s:s, s:s}", "outcome", r->same ? "confirmed" : "diverged", "run",
	                         (int)r->number, "repeat", r->command, "end", r->end, "was", r->was);
	bool ok = json && json_dumpf(json, out, JSON_COMPACT | JSON_ENSURE_ASCII) == 0 && fputc('\n', out) != EOF;
	json_decref(json);
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to write what became of a run");
}
