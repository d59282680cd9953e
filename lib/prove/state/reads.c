/* Constraints on reads; see reads.h. */
#include "lib/prove/state/reads.h"

bool reads_init(struct reads *r, struct facts *f, bool free, const struct values *values)
{
	*r = (struct reads){.m = f->m, .free = free, .values = values, .last_writes = facts_last_writes(f)};
	return r->last_writes;
}

uint32_t reads_entry(const struct reads *r, uint32_t e, uint32_t cell)
{
	const struct model *m = r->m;
	return cell == m->events[e].object ? r->last_writes->entry[e] : model_entry(m, cell, e);
}
