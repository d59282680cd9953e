/* Which code is the program's own; see own_code.h. */
#include "lib/trace/own_code.h"

#include "lib/trace/modules.h"

#include <string.h>
#include <strings.h>

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool frame_is_library(const struct rt_frame *frame)
{
	if (frame->module && module_is_system(frame->module))
		return true;
	return frame->file && (begins(frame->file, "/usr/include/") || begins(frame->file, "/usr/lib/") ||
	                       strstr(frame->file, "/include/c++/"));
}

bool frame_is_own(const struct rt_frame *frame)
{
	return (frame->file || frame->function || frame->text) && !frame_is_library(frame);
}

/* True if the last word of the name is "alloc": "arena_alloc", "nn_alloc_". */
static bool ends_in_alloc(const char *function)
{
	static const char word[] = "alloc";
	size_t length = strcspn(function, "(<");
	while (length && function[length - 1] == '_')
		length--;
	return length >= sizeof word - 1 && !strncasecmp(function + length - (sizeof word - 1), word, sizeof word - 1);
}

bool frame_allocates(const struct rt_frame *frame)
{
	static const char *const words[] = {"malloc",   "calloc",  "realloc", "zalloc",
	                                    "memalign", "strndup", "strdup",  "operator new"};
	for (size_t i = 0; frame->function && i < sizeof words / sizeof *words; i++)
		if (strcasestr(frame->function, words[i]))
			return true;
	return frame->function && ends_in_alloc(frame->function);
}

bool own_code_has(struct own_code *o, uint64_t pc)
{
	if (!pc)
		return true;
	size_t at = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (OWN_CODE_CACHE - 1);
	if (o->cache[at].pc == pc)
		return o->cache[at].is;
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(o->trace, pc, &n);
	bool is = false;
	for (size_t i = 0; i < n && !is; i++)
		is = frame_is_own(&frames[i]);
	o->cache[at].pc = pc;
	o->cache[at].is = is;
	return is;
}
