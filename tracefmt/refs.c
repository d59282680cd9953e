/* References of events; see refs.h. */
#include "tracefmt/refs.h"

#include <string.h>

void refs_init(struct refs *refs, const struct rt_trace *trace, const struct refs_sink *sink, void *arg)
{
	*refs = (struct refs){.trace = trace, .sink = sink, .arg = arg};
}

void refs_release(struct refs *refs)
{
	names_release(&refs->positions);
	names_release(&refs->addresses);
	names_release(&refs->variables);
	names_release(&refs->locals);
	names_release(&refs->shared);
}

/* Marks the key as seen. True if it was not. */
static enum rt_status see(struct names *seen, const void *key, size_t size, bool *first, struct rt_error *err)
{
	uint32_t before = seen->count, index;
	if (!names_intern(seen, key, size, &index))
		return rt_error_set(err, RT_EMEMORY, "no memory for the positions and names of the trace");
	*first = index == before;
	return RT_OK;
}

static enum rt_status see_position(struct refs *refs, uint64_t pc, struct rt_error *err)
{
	bool first = false;
	size_t n;
	enum rt_status status = see(&refs->positions, &pc, sizeof pc, &first, err);
	if (status || !first)
		return status;
	const struct rt_frame *frames = rt_trace_frames(refs->trace, pc, &n);
	return n ? refs->sink->position(refs->arg, pc, frames, n, err) : RT_OK;
}

/* Many addresses lie in one variable. */
static enum rt_status see_variable(struct refs *refs, const struct rt_variable *v, struct rt_error *err)
{
	struct {
		uint64_t address, size;
		char name[sizeof v->name];
	} key = {.address = v->address, .size = v->size};
	size_t length = strnlen(v->name, sizeof v->name);
	memcpy(key.name, v->name, length);
	bool first = false;
	enum rt_status status = see(&refs->variables, &key, offsetof(__typeof__(key), name) + length, &first, err);
	return status || !first ? status : refs->sink->variable(refs->arg, v, err);
}

/* Thread-local variables at that place in some thread. */
static enum rt_status see_local(struct refs *refs, uint64_t addr, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	struct rt_variable v;
	for (uint32_t i = 0; i < refs->locals.count && !status; i++) {
		struct refs_locals l;
		memcpy(&l, names_text(&refs->locals, i), sizeof l);
		if (addr >= l.begin && addr < l.end && rt_trace_variable(refs->trace, RT_TLS_END - (l.end - addr), &v))
			status = see_variable(refs, &v, err);
	}
	return status;
}

static enum rt_status see_address(struct refs *refs, uint64_t addr, struct rt_error *err)
{
	bool first = false;
	struct rt_variable v;
	enum rt_status status = see(&refs->addresses, &addr, sizeof addr, &first, err);
	if (status || !first)
		return status;
	if ((rt_trace_variable(refs->trace, addr, &v) && (status = see_variable(refs, &v, err))) ||
	    (status = see_local(refs, addr, err)))
		return status;
	const char *name = rt_trace_object_name(refs->trace, addr);
	return name ? refs->sink->object(refs->arg, addr, name, err) : RT_OK;
}

/* The variables that a region shares, whose addresses are of this function. */
static enum rt_status see_shared(struct refs *refs, uint64_t function, struct rt_error *err)
{
	bool first = false;
	struct rt_variable v;
	enum rt_status status = see(&refs->shared, &function, sizeof function, &first, err);
	for (uint64_t i = 0; i < RT_SHARED_MAX && first && !status; i++)
		if (rt_trace_variable(refs->trace, function + i, &v))
			status = see_variable(refs, &v, err);
	return status;
}

/* True if the object of the event is in memory. */
static bool has_address(const struct rt_event *e)
{
	return !rt_event_is_of_thread(e) && e->op != RT_OP_LOST;
}

enum rt_status refs_event(struct refs *refs, const struct rt_event *e, struct rt_error *err)
{
	enum rt_status status = e->pc ? see_position(refs, e->pc, err) : RT_OK;
	if (!status && e->op == RT_OP_TLS) {
		const struct refs_locals l = {e->addr, e->addr + e->arg};
		bool first;
		return see(&refs->locals, &l, sizeof l, &first, err);
	}
	if (!status && e->op == RT_OP_SHARED)
		return see_shared(refs, e->arg, err);
	if (status || !has_address(e) || (status = see_address(refs, e->addr, err)))
		return status;
	/* The end of an access may be the beginning of another access's cell. */
	if (rt_op_is_access(e->op) && e->arg && e->arg <= RT_OPERAND_MAX - e->addr)
		return see_address(refs, e->addr + e->arg, err);
	return rt_op_group(e->op) == RT_GROUP_CONDITION && e->arg ? see_address(refs, e->arg, err) : RT_OK;
}
