/*
 * What systematic search learns from the executions so far: at which positions memory is accessed by several threads,
 * at which of those no lock protects it, and whether a lock may be tried.
 */
#ifndef LIB_EXPLORE_SHARING_H
#define LIB_EXPLORE_SHARING_H

#include "lib/base/set.h"
#include "tracefmt/event.h"
#include "tracefmt/search.h"

/* ACCESS_MAX: bytes of an access that are looked at. */
enum { ACCESS_MAX = 4096, LOCKS_MAX = 8 };

/* The locks that a thread holds, the first LOCKS_MAX of them. */
struct locks_held {
	uint64_t locks[LOCKS_MAX];
	uint32_t count;
};

struct shared_byte;
/* A zeroed struct knows nothing yet. */
struct sharing {
	struct shared_byte *bytes;
	struct set shared, exposed; /* positions: of what several threads access; of that, what no lock protects */
	bool grew;                  /* one of the two did: what was visited has missed states */
	bool tries;                 /* a lock may be tried: its release is visible to others */
};

static inline bool search_is_plain(const struct rt_search_record *r)
{
	return rt_op_is_access(r->op) && !rt_op_is_atomic(r->op);
}

/* Number of bytes of an access. */
static inline uint64_t search_bytes(const struct rt_search_record *r)
{
	return r->arg ? r->arg : 1;
}

/* A thread has done its step. *overflow: set if the access was too wide to look at all of it. False without memory. */
bool sharing_note(struct sharing *s, uint32_t thread, struct locks_held *held, const struct rt_search_record *step,
                  bool *overflow);
/* True if it is an access at a position of what is shared; exposed: and what no lock has protected so far. */
bool sharing_has(const struct sharing *s, bool exposed, uint64_t pc);
void sharing_release(struct sharing *s);

#endif
