/* Names and groups of the event vocabulary; see event.h. */
#include "tracefmt/event.h"

#include <string.h>

static const struct {
	const char *name;
	enum rt_group group;
} ops[RT_OP_COUNT] = {
#define X(name, text, group, traits) {text, RT_GROUP_##group},
    RT_OPS(X)
#undef X
};

const char *rt_op_name(unsigned op)
{
	return op < RT_OP_COUNT ? ops[op].name : "unknown";
}

const char *rt_memory_order_name(unsigned order)
{
	static const char *const names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
	return order < sizeof names / sizeof *names ? names[order] : NULL;
}

const char *rt_flag_name(unsigned op, unsigned bit)
{
	static const char *const names[] = {"value", "volatile", "timed", "timeout", "vptr", "object", "free", "plain"};
	return op == RT_OP_WAIT_END && 1u << bit == RT_F_SIGNALLED ? "signalled" : names[bit];
}

enum rt_group rt_op_group(unsigned op)
{
	return op < RT_OP_COUNT ? ops[op].group : RT_GROUP_RECORD;
}

const char *rt_group_name(enum rt_group group)
{
	static const char *const names[] = {"record",  "memory",     "atomic",      "lock",    "condition",
	                                    "barrier", "semaphore",  "once",        "thread",  "heap",
	                                    "code",    "annotation", "bookkeeping", "blocking"};
	return (unsigned)group < sizeof names / sizeof *names ? names[group] : "unknown";
}

static const struct {
	const char *name, *text;
} calls[RT_CALL_COUNT] = {{NULL, NULL},
#define X(name, text, what) {text, what},
                          RT_CALLS(X)
#undef X
};

static unsigned known_call(unsigned kind)
{
	return kind > RT_CALL_NONE && kind < RT_CALL_COUNT ? kind : RT_CALL_OUTSIDE;
}

const char *rt_call_name(unsigned kind)
{
	return calls[known_call(kind)].name;
}

const char *rt_call_text(unsigned kind)
{
	return calls[known_call(kind)].text;
}

enum rt_op rt_op_parse(const char *name)
{
	for (unsigned op = RT_OP_READ; op < RT_OP_COUNT; op++)
		if (!strcmp(ops[op].name, name))
			return (enum rt_op)op;
	return RT_OP_NONE;
}
