/* A set of pcs: the positions that a trace must explain. Open addressing; a zeroed set is empty. It never holds the pc
 * 0. */
#ifndef TRACEFMT_NATIVE_PCS_H
#define TRACEFMT_NATIVE_PCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rt_pc_set {
	uint64_t *slots;
	size_t count, cap;
};

/* False without memory. */
bool rt_pc_set_add(struct rt_pc_set *set, uint64_t pc);
/* The pcs in rising order, *n of them; the caller frees the array. NULL without memory. */
uint64_t *rt_pc_set_sorted(const struct rt_pc_set *set, size_t *n);
void rt_pc_set_release(struct rt_pc_set *set);

#endif
