/* What a thread waits for; see waiting.h. */
#include "lib/report/waiting.h"

#include "lib/report/place.h"

#include <inttypes.h>
#include <stdio.h>

unsigned waiting_op(const struct description *d)
{
	enum rt_op op = d->event.op;
	bool waits = op == RT_OP_JOIN || op == RT_OP_ONCE_SEEN || op == RT_OP_BARRIER_LEAVE ||
	             (op == RT_OP_SEM_WAIT && !d->is_lock);
	if (d->waits)
		return d->waits;
	return op == RT_OP_BLOCK ? (unsigned)d->event.arg : waits ? op : RT_OP_NONE;
}

void waiting_object(const struct report *r, const struct description *d, char name[WAITING_TEXT_MAX])
{
	char object[SUBJECT_NAME_MAX];
	subject_object_name(r, d->event.addr, subject_lock_block(d), object);
	snprintf(name, WAITING_TEXT_MAX, "%.600s", object);
}

/* The text before the name. */
static const char *lead(unsigned op)
{
	switch (op) {
	case RT_OP_WAIT_END:
		return "waits for a signal of";
	case RT_OP_SEM_WAIT:
		return "waits for a post of";
	case RT_OP_BARRIER_LEAVE:
		return "waits at the barrier";
	case RT_OP_ONCE_SEEN:
		return "waits for the routine of";
	case RT_OP_ATOMIC_LOAD:
		return "waits for the result in";
	default:
		return "waits for";
	}
}

/* A futex of a library's own has no name that says anything: what waits is its function that the program calls. False:
 * it is the program's. */
static bool inside_text(const struct report *r, const struct description *d, const char *quote,
                        char text[WAITING_TEXT_MAX])
{
	char name[PLACE_FUNCTION_MAX];
	struct place place = place_of_stack(r, d->stack, d->stack_count), callee = {.frame = place.callee};
	if (!place.callee)
		return false;
	place_function(&callee, name);
	snprintf(text, WAITING_TEXT_MAX, "waits inside %s%s%s for a wake", quote, name, quote);
	return true;
}

/* Of a wait in the kernel. */
static void call_text(const struct report *r, const struct description *d, const char *quote,
                      char text[WAITING_TEXT_MAX])
{
	const struct rt_event *e = &d->event;
	unsigned kind = rt_call_kind(e->value);
	int32_t descriptor = rt_call_descriptor(e->value);
	if (kind == RT_CALL_FUTEX && inside_text(r, d, quote, text))
		return;
	int n = snprintf(text, WAITING_TEXT_MAX, "waits for %s", rt_call_text(kind));
	if (descriptor >= 0)
		snprintf(text + n, WAITING_TEXT_MAX - (size_t)n, "%s descriptor %d", kind == RT_CALL_POLL ? ":" : "",
		         descriptor);
	else if (kind == RT_CALL_FUTEX)
		snprintf(text + n, WAITING_TEXT_MAX - (size_t)n, " at 0x%" PRIx64, e->addr);
}

static void write_text(const struct report *r, const struct description *d, const char *quote,
                       char text[WAITING_TEXT_MAX])
{
	char name[WAITING_TEXT_MAX];
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	if (waiting_op(d) == RT_OP_JOIN) {
		snprintf(text, WAITING_TEXT_MAX, "waits for the end of thread %.200s",
		         d->event.addr < info->thread_count ? info->threads[d->event.addr].name : "unknown");
		return;
	}
	if (waiting_op(d) == RT_OP_HB_AFTER) {
		call_text(r, d, quote, text);
		return;
	}
	char object[SUBJECT_NAME_MAX];
	place_lock_name(r, d->event.addr, subject_lock_block(d), d, object);
	snprintf(name, sizeof name, "%.600s", object);
	if (!name[0]) {
		snprintf(name, sizeof name, "0x%" PRIx64, d->event.addr);
		quote = "";
	}
	snprintf(text, WAITING_TEXT_MAX, "%s %s%.600s%s%s", lead(waiting_op(d)), quote, name, quote,
	         waiting_op(d) == RT_OP_ACQUIRE_SHARED ? " as a reader" : "");
}

void waiting_text(const struct report *r, const struct description *d, char text[WAITING_TEXT_MAX])
{
	write_text(r, d, "", text);
}

void waiting_title(const struct report *r, const struct description *d, char text[WAITING_TEXT_MAX])
{
	write_text(r, d, "`", text);
}

const char *waiting_by(const struct description *d)
{
	switch (waiting_op(d)) {
	case RT_OP_JOIN:
		return "";
	case RT_OP_ONCE_SEEN:
		return "runs";
	case RT_OP_ATOMIC_LOAD:
		return "is to set";
	case RT_OP_SEM_WAIT:
	case RT_OP_WAIT_END:
		return "is to give";
	case RT_OP_BARRIER_LEAVE:
		return "has not come to";
	case RT_OP_ACQUIRE_SHARED:
		return "holds or waits for";
	default:
		return "holds";
	}
}
