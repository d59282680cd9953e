/* Runs that follow no schedule; see reference.h. */
#include "cmd/replay/reference.h"

#include "lib/trace/modules.h"
#include "recorder/collector/late.h"
#include "recorder/collector/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What it prints ---- */

enum { RUNS = 2 };

static void next_run(struct reference *r)
{
	struct rt_error err;
	r->runs++;
	if (try_start(&r->options, &r->run, &err))
		r->run = NULL;
}

void reference_start(struct reference *r, const struct try_options *options)
{
	if (r->runs)
		return;
	r->options = *options;
	next_run(r);
}

int reference_fd(const struct reference *r)
{
	return r->run ? try_fd(r->run) : -1;
}

bool reference_step(struct reference *r)
{
	while (r->run && try_ended(r->run)) {
		const struct run_end *end = try_end(r->run);
		bool ended = end->kind == RUN_EXITED || end->kind == RUN_SIGNALED;
		bool same = ended && r->runs > 1 && end->out.digest == r->printed;
		r->printed = end->out.digest;
		try_free(r->run);
		r->run = NULL;
		r->known = same && r->runs == RUNS;
		if (ended && r->runs < RUNS)
			next_run(r);
	}
	return r->run != NULL;
}

void reference_release(struct reference *r)
{
	try_free(r->run);
	*r = (struct reference){0};
}

const char *reference_input(const struct rt_trace_info *info, const char *asked)
{
	const char *recorded = info->input;
	if (asked || !recorded || !strcmp(recorded, "closed") || !strcmp(recorded, "/dev/null"))
		return asked;
	if (*recorded == '/' && access(recorded, R_OK) == 0)
		return recorded;
	if (strcmp(recorded, "terminal") != 0)
		fprintf(stderr,
		        "racetrace: the recorded run read '%s', which cannot be read again: runs read /dev/null "
		        "(--input FILE)\n",
		        recorded);
	return NULL;
}

/* ---- The program ---- */

bool reference_is_plain(const char *name)
{
	char *path;
	int reason;
	struct rt_error ignored = {0};
	if (program_find(name, &path, &reason, &ignored)) /* `record` says why */
		return false;
	bool is = file_is_plain(path);
	free(path);
	return is;
}

/* The program's file, links followed; NULL: not found. Owned by the caller. */
static char *find_file(const char *name)
{
	char *path = NULL, *real = NULL;
	struct rt_error err = {0};
	int reason;
	if (program_find(name, &path, &reason, &err) == RT_OK)
		real = realpath(path, NULL);
	free(path);
	return real;
}

bool reference_is_other_build(const struct rt_trace *trace, char *const *program)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	const char *recorded = info->command && info->command[0] ? module_name(info->command[0]) : NULL;
	char *file = find_file(program[0]);
	bool other = false;
	size_t n;
	const struct rt_module *m = rt_trace_modules(trace, &n);
	for (size_t i = 0; i < n && !other; i++) {
		/* No position of the program is in the recorder, which may have been updated since. */
		if (module_is_recorder(m[i].path))
			continue;
		/* A link's name is not that of the module: then the name now is a link's too, or the same file's. */
		bool is_program = recorded && !strcmp(module_name(m[i].path), recorded);
		const char *path = is_program && file ? file : m[i].path;
		char *now = m[i].build_id ? build_id_of(path) : NULL;
		other = (now && strcmp(now, m[i].build_id) != 0) ||
		        (is_program && file && strcmp(module_name(file), recorded) != 0);
		free(now);
	}
	free(file);
	return other;
}

enum rt_status reference_trace(const struct try_options *options, bool (*wait)(int fd), struct rt_trace **trace,
                               struct rt_error *err)
{
	struct try *t;
	enum rt_status status = try_start(options, &t, err);
	if (status)
		return status;
	while (!try_ended(t) && wait(try_fd(t)))
		;
	if (!try_ended(t))
		status = rt_error_set(err, RT_ESYSTEM, "interrupted");
	else if ((status = rt_trace_open(try_trace_path(t), trace, err)) != RT_OK)
		rt_error_set(err, status, "a run of '%s' without a schedule could not be recorded",
		             options->program[0]);
	try_free(t);
	return status;
}
