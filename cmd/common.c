/* What the commands on traces have in common; see common.h. */
#include "cmd/common.h"

#include "tracefmt/text.h"

#include <inttypes.h>
#include <string.h>

struct cmd_text cmd_text(const char *text)
{
	struct cmd_text out;
	rt_text_escape(out.text, sizeof out.text, text, strlen(text));
	return out;
}

void cmd_warn_incomplete(const struct rt_trace *trace)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	if (!info->complete)
		fprintf(stderr, "racetrace: '%s' is incomplete: %s\n", info->path,
		        info->incomplete_why ? cmd_text(info->incomplete_why).text : "it was cut short");
}

struct cmd_text cmd_position(const struct rt_trace *trace, uint64_t pc)
{
	struct cmd_text out;
	size_t n;
	const struct rt_frame *frame = rt_trace_frames(trace, pc, &n);
	if (n && frame->text)
		return cmd_text(frame->text);
	if (n && frame->file) {
		struct cmd_text file = cmd_text(frame->file),
		                function = cmd_text(frame->function ? frame->function : "");
		const char *between = frame->function ? " " : "";
		if (!frame->line)
			snprintf(out.text, sizeof out.text, "%.300s%s%.200s", file.text, between, function.text);
		else if (!frame->column)
			snprintf(out.text, sizeof out.text, "%.280s:%u%s%.200s", file.text, frame->line, between,
			         function.text);
		else
			snprintf(out.text, sizeof out.text, "%.270s:%u:%u%s%.200s", file.text, frame->line,
			         frame->column, between, function.text);
		return out;
	}
	if (n && frame->function)
		return cmd_text(frame->function);
	if (pc)
		snprintf(out.text, sizeof out.text, "0x%" PRIx64, pc);
	else
		out.text[0] = '\0';
	return out;
}

struct cmd_text cmd_address(const struct rt_trace *trace, uint64_t addr)
{
	struct rt_variable v;
	struct cmd_text out;
	const char *name = rt_trace_object_name(trace, addr);
	if (name)
		return cmd_text(name);
	if (!rt_trace_variable(trace, addr, &v)) {
		snprintf(out.text, sizeof out.text, "0x%" PRIx64, addr);
		return out;
	}
	/* What lies inside a mutex is the C library's business: "queue.mutex.__data.__lock" is "queue.mutex". */
	char *inside = addr == v.address ? strstr(v.name, ".__") : NULL;
	if (inside)
		*inside = '\0';
	out = cmd_text(v.name);
	if (addr > v.address) {
		size_t length = strlen(out.text);
		snprintf(out.text + length, sizeof out.text - length, "+%" PRIu64, addr - v.address);
	}
	return out;
}
