/* The memory that an analysis may take; see memory.h. */
#include "cmd/base/memory.h"

#include "cmd/base/command.h"
#include "lib/analysis/analysis.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { OPT_MAX_MEMORY = 540 };

static const struct argp_option options[] = {{"max-memory", OPT_MAX_MEMORY, "SIZE", 0,
                                              "Take no more memory: a number of bytes, or one with K, M, G or T; three "
                                              "quarters of the free memory if not given. A trace that may need more is "
                                              "analyzed by windows by 'analyze', and refused elsewhere",
                                              10},
                                             {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	uint64_t *most = state->input;
	if (key != OPT_MAX_MEMORY)
		return ARGP_ERR_UNKNOWN;
	*most = cmd_size(arg);
	if (!*most)
		argp_error(state, "'%s' is not a size: a number of bytes, or such as 512M or 16G", arg);
	return 0;
}

const struct argp cmd_memory_argp = {.options = options, .parser = parse};

/* The number after a key in a file; without a key, the file's first number. UINT64_MAX if there is none, or "max". */
static uint64_t number_in(const char *path, const char *key)
{
	char line[256];
	uint64_t number = UINT64_MAX;
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (!key || !strncmp(line, key, strlen(key))) {
			const char *digits = line + strcspn(line, "0123456789");
			if (*digits)
				number = strtoull(digits, NULL, 10);
			break;
		}
	if (f)
		fclose(f);
	return number;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Free memory of the process's control group and its ancestors, whichever has least. */
static uint64_t free_in_groups(void)
{
	char line[1024], path[1280];
	uint64_t most = UINT64_MAX;
	FILE *f = fopen("/proc/self/cgroup", "re");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		bool old = strstr(line, ":memory:");
		char *group = old ? strstr(line, ":memory:") + 8 : !strncmp(line, "0::", 3) ? line + 3 : NULL;
		for (char *end = group ? group + strlen(group) : NULL; end;
		     end = end > group ? strrchr(group, '/') : NULL) {
			*end = '\0';
			const char *root = old ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
			snprintf(path, sizeof path, "%s%s/%s", root, group,
			         old ? "memory.limit_in_bytes" : "memory.max");
			uint64_t limit = number_in(path, NULL);
			snprintf(path, sizeof path, "%s%s/%s", root, group,
			         old ? "memory.usage_in_bytes" : "memory.current");
			uint64_t used = number_in(path, NULL);
			if (limit != UINT64_MAX && used != UINT64_MAX)
				most = least(most, limit > used ? limit - used : 0);
		}
	}
	if (f)
		fclose(f);
	return most;
}

static uint64_t free_memory(void)
{
	struct rlimit limit;
	uint64_t kibibytes = number_in("/proc/meminfo", "MemAvailable:"), most = free_in_groups();
	if (kibibytes <= UINT64_MAX >> 10)
		most = least(most, kibibytes << 10);
	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		most = least(most, limit.rlim_cur);
	return most;
}

uint64_t cmd_own_memory(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
	return 0; /* nearly all of it is the sanitizer's */
#else
	malloc_trim(0);
	uint64_t kibibytes = number_in("/proc/self/status", "RssAnon:");
	return kibibytes <= UINT64_MAX >> 10 ? kibibytes << 10 : 0;
#endif
}

/* "21 GB", "1.5 GB", "300 MB" */
static const char *size_text(uint64_t bytes, char *text, size_t size)
{
	double giga = (double)bytes / 1e9;
	if (giga < 1)
		snprintf(text, size, "%.0f MB", giga * 1e3);
	else
		snprintf(text, size, giga < 10 ? "%.1f GB" : "%.0f GB", giga);
	return text;
}

uint64_t cmd_allowed_memory(uint64_t given)
{
	return given ? given : free_memory() / 4 * 3;
}

enum rt_status cmd_admit(void *most, const struct rt_trace_info *info, const struct model_size *size,
                         struct rt_error *err)
{
	const uint64_t *limit = most;
	uint64_t need = analysis_memory(info, size), allowed = cmd_allowed_memory(*limit);
	char needed[32], given[32];
	if (need <= allowed)
		return RT_OK;
	return rt_error_set(
	    err, RT_ELARGE,
	    "'%s' has %" PRIu64 " events: their analysis may need %s of memory, %s are allowed: allow more with "
	    "--max-memory SIZE, or record a shorter run",
	    info->path, info->events, size_text(need, needed, sizeof needed), size_text(allowed, given, sizeof given));
}
