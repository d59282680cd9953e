/* Traces as text in tests: written to a scratch file, opened, read whole. Each test has a process of its own. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include "tracefmt/trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens a trace that has these bytes. Returns the status; the file is gone afterwards, text sources do not need it. */
static inline enum rt_status scratch_open_as(const char *bytes, size_t size, const struct rt_trace_options *options,
                                             struct rt_trace **trace, struct rt_error *err)
{
	char path[] = "/tmp/racetrace-test-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	*err = (struct rt_error){0};
	enum rt_status status = rt_trace_open_as(path, options, trace, err);
	unlink(path);
	return status;
}

static inline enum rt_status scratch_open(const char *bytes, size_t size, struct rt_trace **trace, struct rt_error *err)
{
	return scratch_open_as(bytes, size, &(struct rt_trace_options){0}, trace, err);
}

static inline struct rt_trace *scratch_trace(const char *text)
{
	struct rt_trace *trace;
	struct rt_error err;
	enum rt_status status = scratch_open(text, strlen(text), &trace, &err);
	ck_assert_msg(status == RT_OK, "%s", err.message);
	return trace;
}

/* Asserts that the text is refused and that the message has `part` in it. */
static inline void scratch_refused_as(const char *text, const struct rt_trace_options *options, const char *part)
{
	struct rt_trace *trace;
	struct rt_error err;
	enum rt_status status = scratch_open_as(text, strlen(text), options, &trace, &err);
	ck_assert_msg(status == RT_EINPUT, "'%s' was read", text);
	ck_assert_msg(strstr(err.message, part) != NULL, "'%s' does not say '%s'", err.message, part);
}

static inline void scratch_refused(const char *text, const char *part)
{
	scratch_refused_as(text, &(struct rt_trace_options){0}, part);
}

/* All events from the beginning, at most `room`. */
static inline size_t scratch_events(struct rt_trace *trace, struct rt_event *events, size_t room)
{
	struct rt_error err = {0};
	size_t n = 0, got;
	ck_assert_int_eq(rt_trace_rewind(trace, &err), RT_OK);
	do {
		ck_assert_int_eq(rt_trace_read(trace, events + n, room - n, &got, &err), RT_OK);
		n += got;
	} while (got && n < room);
	return n;
}

#endif
