/* Limits of the process; see limits.h. */
#include "recorder/collector/limits.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* The program maps one channel and has its own memory; the collector makes some channels ahead. */
enum { SHARE = 10, THREADS_MIN = 16 };

const char *limit_behind(int error)
{
	static const struct {
		int error;
		__rlimit_resource_t resource;
		const char *text;
	} limits[] = {
	    {EFBIG, RLIMIT_FSIZE, " (ulimit -f)"},  {EMFILE, RLIMIT_NOFILE, " (ulimit -n)"},
	    {EAGAIN, RLIMIT_DATA, " (ulimit -d)"},  {EAGAIN, RLIMIT_AS, " (ulimit -v)"},
	    {EAGAIN, RLIMIT_NPROC, " (ulimit -u)"}, {ENOMEM, RLIMIT_AS, " (ulimit -v)"},
	    {ENOMEM, RLIMIT_DATA, " (ulimit -d)"},
	};
	struct rlimit limit;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (limits[i].error == error && getrlimit(limits[i].resource, &limit) == 0 &&
		    limit.rlim_cur != RLIM_INFINITY)
			return limits[i].text;
	return "";
}

enum rt_status limit_name(struct rt_error *err, int error)
{
	const char *limit = limit_behind(err->status == RT_EMEMORY ? ENOMEM : error);
	size_t n = strlen(err->message);
	snprintf(err->message + n, sizeof err->message - n, "%s", limit);
	return err->status;
}

uint32_t limit_threads(uint32_t threads, uint64_t ring_bytes)
{
	static const __rlimit_resource_t resources[] = {RLIMIT_AS, RLIMIT_FSIZE};
	struct rlimit limit;
	for (int i = 0; i < 2; i++) {
		if (getrlimit(resources[i], &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
			continue;
		uint64_t fit = limit.rlim_cur / SHARE / ring_bytes;
		if (fit < THREADS_MIN)
			fit = THREADS_MIN;
		threads = fit < threads ? (uint32_t)fit : threads;
	}
	return threads;
}

bool limit_allows_collector(void)
{
	enum { COLLECTOR_BYTES = 16 << 20 };
	struct rlimit limit;
	return getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_max == RLIM_INFINITY ||
	       limit.rlim_max >= COLLECTOR_BYTES;
}

/*
 * What malloc keeps. Blocks of this size are the system's again when they are freed; by itself malloc takes ever larger
 * ones from its arenas, where 500 children of a program left 200 MB. Each further arena takes 64 MiB of addresses.
 */
static void limit_malloc(void)
{
	enum { BLOCK_BYTES = 128 << 10 };
	struct rlimit limit;
	mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		mallopt(M_ARENA_MAX, 1);
}

void limit_raise(void)
{
	static const __rlimit_resource_t resources[] = {RLIMIT_NOFILE, RLIMIT_DATA};
	struct rlimit limit;
	for (int i = 0; i < 2; i++) {
		if (getrlimit(resources[i], &limit) != 0)
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(resources[i], &limit);
	}
	limit_malloc();
}

bool limit_allows_file(uint64_t size)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}
