/*
 * The choices of a depth-first search: at each of them, the events that may come next and have not been tried. Whoever
 * searches executes and takes back.
 */
#ifndef LIB_PROVE_STATE_CHOICES_H
#define LIB_PROVE_STATE_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

struct choice {
	uint32_t depth;       /* executed events when it was made */
	uint32_t first, next; /* in candidates; they end where the next choice's begin */
};

/* All zero: empty. */
struct choices {
	struct choice *items;
	uint32_t count, capacity;
	uint32_t *candidates;
	uint32_t candidate_count, candidate_capacity;
};

void choices_release(struct choices *c);
void choices_clear(struct choices *c);
/* Makes a choice at this depth; choices_add then adds to it, behind what it has. False without memory. */
bool choices_push(struct choices *c, uint32_t depth);
bool choices_add(struct choices *c, uint32_t event);
/*
 * Goes to the newest choice that has an event left: *depth is where it was made, *event to be tried next. False: there
 * is none anywhere.
 */
bool choices_next(struct choices *c, uint32_t *depth, uint32_t *event);

#endif
