/*
 * The choices of a depth-first search: at each of them, the enabled events that were not tried yet. The search itself
 * executes and undoes them.
 */
#ifndef LIB_PROVE_STATE_CHOICES_H
#define LIB_PROVE_STATE_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

struct choice {
	uint32_t depth;       /* number of executed events when it was made */
	uint32_t first, next; /* index into candidates; its events end where the next choice's begin */
};

/* A zeroed struct is empty. */
struct choices {
	struct choice *items;
	uint32_t count, capacity;
	uint32_t *candidates;
	uint32_t candidate_count, candidate_capacity;
};

void choices_release(struct choices *c);
void choices_clear(struct choices *c);
/* Makes a choice at this depth; choices_add then adds events to its end. False without memory. */
bool choices_push(struct choices *c, uint32_t depth);
bool choices_add(struct choices *c, uint32_t event);
/*
 * Returns to the newest choice that has an event left: *depth is where it was made, *event is tried next. False if none
 * has one.
 */
bool choices_next(struct choices *c, uint32_t *depth, uint32_t *event);

#endif
