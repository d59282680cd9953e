/* Waits on conditions: which signal ended which wait, derived from the events that each event needs (trf.h). */
#ifndef LIB_PROVE_STATE_WAITS_H
#define LIB_PROVE_STATE_WAITS_H

#include "lib/relation/trf.h"

/* A wait that must be signalled, as it was in the trace. */
struct wait {
	uint32_t signal, begin, end;
};

struct waits {
	struct wait *items; /* by signal */
	uint32_t count;
	uint32_t *signal_of; /* by event: WAIT_BEGIN, WAIT_END: the signal that ends the wait, MODEL_NONE: needs none */
};

/* False without memory. */
bool waits_init(struct waits *w, const struct model *m, const struct trf *trf);
void waits_release(struct waits *w);
/* Index of the first wait that the signal ends, or of where it would be. */
uint32_t waits_of(const struct waits *w, uint32_t signal);

#endif
