/*
 * Streams that a program makes itself. What the C library calls of them, it calls with the stream locked, so these
 * calls hold the lock that flockfile takes.
 */
#include "recorder/intercept/call.h" /* before all others */

#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"

#include <stdio.h>

#define COOKIES 64
static struct cookie {
	_Atomic bool used;
	FILE *f;
	void *own;
	cookie_io_functions_t functions;
} cookies[COOKIES];

static struct cookie *cookie_locks(void *cookie)
{
	struct cookie *c = cookie;
	if (rt_recording() && rt_held_enter(c->f))
		rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)c->f, 0, (uintptr_t)c->functions.write, 0);
	return c;
}

static void cookie_unlocks(const struct cookie *c)
{
	if (rt_recording() && rt_held_leave(c->f))
		rt_emit_sync(RT_OP_RELEASE, (uintptr_t)c->f, 0, (uintptr_t)c->functions.write, 0);
}

#define COOKIE(type, what, parameters, arguments)                                                                      \
	static type cookie_##what parameters                                                                           \
	{                                                                                                              \
		struct cookie *c = cookie_locks(cookie);                                                               \
		type result = c->functions.what arguments;                                                             \
		cookie_unlocks(c);                                                                                     \
		return result;                                                                                         \
	}
COOKIE(ssize_t, read, (void *cookie, char *to, size_t size), (c->own, to, size))
COOKIE(ssize_t, write, (void *cookie, const char *from, size_t size), (c->own, from, size))
COOKIE(int, seek, (void *cookie, off64_t *at, int from), (c->own, at, from))

static int cookie_close(void *cookie)
{
	struct cookie *c = cookie_locks(cookie);
	int result = c->functions.close ? c->functions.close(c->own) : 0;
	cookie_unlocks(c);
	atomic_store(&c->used, false);
	return result;
}

/* NULL if there are too many, which have no lock then. */
static struct cookie *cookie_of(void *own, const cookie_io_functions_t *functions)
{
	for (struct cookie *c = cookies; c < cookies + COOKIES; c++)
		if (!atomic_exchange(&c->used, true)) {
			c->own = own;
			c->functions = *functions;
			return c;
		}
	return NULL;
}

RT_INTERPOSE(FILE *, fopencookie, (void *restrict own, const char *restrict mode, cookie_io_functions_t functions))
{
	uintptr_t pc = RT_PC;
	struct cookie *c = rt_recording() ? cookie_of(own, &functions) : NULL;
	STR(mode);
	HEAP;
	if (c) {
		functions = (cookie_io_functions_t){.read = functions.read ? cookie_read : NULL,
		                                    .write = functions.write ? cookie_write : NULL,
		                                    .seek = functions.seek ? cookie_seek : NULL,
		                                    .close = cookie_close};
		own = c;
	}
	FILE *f = RT_REAL(fopencookie)(own, mode, functions);
	if (c && f)
		c->f = f;
	else if (c)
		atomic_store(&c->used, false);
	return f;
}
