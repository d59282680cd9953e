#include "lib/trace/machine.h"

#include <string.h>

static uint64_t location(uint64_t addr, uint64_t size)
{
	return (addr & RT_OPERAND_MAX) | size << RT_OPERAND_BITS;
}

/* Of two words the program may look at one: LLVM makes such loads before the exchange that an atomic store is. */
bool machine_look(struct machine *m, const struct rt_event *e)
{
	enum { WORD = 8 };
	bool added;
	if (!rt_op_is_atomic(e->op))
		return true;
	bool is_double = e->arg == 2 * WORD;
	return set_add(&m->locked, location(e->addr, e->arg), &added) &&
	       (!is_double || (set_add(&m->locked, location(e->addr, WORD), &added) &&
	                       set_add(&m->locked, location(e->addr + WORD, WORD), &added)));
}

/* Of std::atomic, or a function to which those of Rust's atomic types lead. */
static bool is_member(const char *function)
{
	static const char *const classes[] = {"std::atomic", "std::__atomic_", "core::sync::atomic::atomic_"};
	for (unsigned i = 0; function && i < sizeof classes / sizeof *classes; i++)
		if (!strncmp(function, classes[i], strlen(classes[i])))
			return true;
	return false;
}

/* True if it is the file of these functions: in Rust's own libraries only a line is left of copies of them. */
static bool is_rust_source(const char *file)
{
	static const char name[] = "/library/core/src/sync/atomic.rs";
	size_t n = file ? strlen(file) : 0;
	return n >= sizeof name - 1 && !strcmp(file + n - (sizeof name - 1), name);
}

/* True if the position is in such a function, or a copy of one. */
static bool in_member(struct machine *m, uint64_t pc, bool *failed)
{
	bool added = false;
	if (!pc || set_has(&m->known, pc))
		return pc && set_has(&m->atomic, pc);
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(m->trace, pc, &n);
	bool is = false;
	for (size_t i = 0; i < n && !is; i++)
		is = is_member(frames[i].function) || is_rust_source(frames[i].file);
	*failed |= !set_add(&m->known, pc, &added) || (is && !set_add(&m->atomic, pc, &added));
	return is;
}

bool machine_mend(struct machine *m, struct rt_event *e)
{
	enum { ACQUIRE = 2, RELEASE = 3, MOST = 16 };
	bool failed = false;
	if ((e->op != RT_OP_READ && e->op != RT_OP_WRITE) || e->flags & RT_F_PLAIN || e->arg > MOST ||
	    (!set_has(&m->locked, location(e->addr, e->arg)) && !in_member(m, e->pc, &failed)))
		return !failed;
	e->order = e->op == RT_OP_READ ? ACQUIRE : RELEASE;
	e->op = e->op == RT_OP_READ ? RT_OP_ATOMIC_LOAD : RT_OP_ATOMIC_STORE;
	return !failed;
}

void machine_release(struct machine *m)
{
	set_release(&m->locked);
	set_release(&m->known);
	set_release(&m->atomic);
}
