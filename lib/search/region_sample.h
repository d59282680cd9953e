/*
 * Which atomic regions a search combines the accesses of, where all of them would take too many steps: of each kind of
 * region, by the thread and the source position of its first access, as many as have its share of the steps. They are
 * spread over the trace.
 */
#ifndef LIB_SEARCH_REGION_SAMPLE_H
#define LIB_SEARCH_REGION_SAMPLE_H

#include "lib/trace/model.h"

/* The accesses of the regions: those of region r are items[first[r]] to items[first[r + 1] - 1], in program order. */
struct region_access {
	uint32_t event, epoch; /* its thread's POR epoch */
};
struct region_accesses {
	uint32_t *first;
	struct region_access *items;
};

struct region_sample {
	uint8_t *left_out; /* by region, bits */
	bool partial;      /* not all regions are combined, or not all accesses of each */
	uint64_t all;      /* steps that all regions take */
	uint64_t most;     /* steps of one region */
};

/* Each access is combined with at most `recent` others, which is a step each. False without memory. */
bool region_sample_draw(struct region_sample *s, const struct model *m, const struct region_accesses *accesses,
                        uint32_t recent, uint64_t steps);
void region_sample_release(struct region_sample *s);

static inline bool region_sample_has(const struct region_sample *s, uint32_t region)
{
	return !(s->left_out[region / 8] >> region % 8 & 1);
}

#endif
