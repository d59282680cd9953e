/* A set of pcs: which positions a trace needs to explain. Open addressing; zeroed is empty. The pc 0 is never in it. */
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
/* The pcs in rising order, *n of them; the array is the caller's to free. NULL without memory. */
uint64_t *rt_pc_set_sorted(const struct rt_pc_set *set, size_t *n);
void rt_pc_set_release(struct rt_pc_set *set);

#endif
