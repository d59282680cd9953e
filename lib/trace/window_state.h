/* The state of a run at a place of its trace, as far as later events depend on it; for window.c alone. */
#ifndef LIB_TRACE_WINDOW_STATE_H
#define LIB_TRACE_WINDOW_STATE_H

#include "lib/trace/jumps.h"
#include "lib/trace/window.h"

struct state_hold {
	struct rt_event acquire;
	uint32_t depth;
};

struct state_thread {
	struct state_hold *holds;
	uint64_t *frames; /* pcs of the open calls */
	uint32_t hold_count, hold_capacity, frame_count, frame_capacity;
	struct jumps jumps;
	struct rt_event block; /* op RT_OP_NONE: it does not wait */
	uint32_t ignored[3], annotated;
	struct rt_event annotation; /* the last REGION_BEGIN or IGNORE_BEGIN */
	bool deep;                  /* it waits, and had taken the mutex more than once */
};

/* An object by its address: whatever it is. */
struct state_object;

struct state {
	const struct window_survey *survey;
	struct state_thread *threads;
	uint32_t thread_capacity;
	struct state_object *objects;
	bool failed; /* no memory */
};

void state_step(struct state *s, const struct rt_event *e);
/* True if the thread holds the lock. */
bool state_holds(const struct state *s, uint32_t thread, uint64_t lock);
void state_release(struct state *s);

/* Events that establish the state; each list in its order. */
struct opening {
	struct rt_event *before, *after; /* an annotation that orders all threads comes between */
	uint32_t before_count, before_capacity, after_count, after_capacity;
	bool doubtful; /* they may establish another one */
	bool failed;   /* no memory */
};
/* blocks: with the waits in which threads are. */
void state_open(const struct state *s, bool blocks, struct opening *out);

#endif
