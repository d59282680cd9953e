/* What recordings have in common; see common.h. */
#include "cmd/record/common.h"

#include "cmd/base/command.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void record_block_ends(sigset_t *ends)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigemptyset(ends);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaddset(ends, signals[i]);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
}

enum rt_status record_create_trace(const char *output, const char *program, const struct rt_writer_options *options,
                                   struct rt_writer **w, char **path, struct rt_error *err)
{
	char *name;
	enum rt_status status = name_expand(output, (pid_t)options->pid, program, &name, err);
	if (!status && rt_writer_create(name, options, w, err))
		status = limit_name(err, errno);
	if (status) {
		free(name);
		return status;
	}
	if (strcmp(name, rt_writer_path(*w)) != 0)
		fprintf(stderr, "racetrace: another process writes '%s': the trace is '%s'\n", name,
		        rt_writer_path(*w));
	free(name);
	*path = strdup(rt_writer_path(*w));
	return *path ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for a path");
}

void record_tell_error(struct rt_error *error)
{
	cmd_fail(error);
	error->told = true;
}

void record_say_counts(const char *path, const struct rt_writer_result *result)
{
	fprintf(stderr, "racetrace: %s: %" PRIu64 " events, %" PRIu64 " repeats left out, %" PRIu64 " bytes\n", path,
	        result->events, result->left_out, result->bytes);
}

void record_say_broken(unsigned threads)
{
	if (threads)
		fprintf(stderr, "racetrace: the program overwrote its records: events of %u threads are lost\n",
		        threads);
}

void record_say_trace(const char *path)
{
	fprintf(stderr, "racetrace: the trace is '%s'; next: racetrace analyze %s\n", path, path);
}
