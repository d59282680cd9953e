/* Constraints on reads; see reads.h. */
#include "lib/prove/state/reads.h"

bool reads_init(struct reads *r, struct facts *f, bool free, const struct values *values)
{
	*r = (struct reads){.m = f->m, .free = free, .values = values, .last_writes = facts_last_writes(f)};
	return r->last_writes;
}
