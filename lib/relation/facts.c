/* Facts of a trace, each computed once; see facts.h. */
#include "lib/relation/facts.h"
#include "lib/base/free.h"

#include <stdlib.h>

/* Defines facts_NAME. compute: what computes *made: true on success; otherwise nothing of it is left. */
#define FACT(type, name, compute)                                                                                      \
	const struct type *facts_##name(struct facts *f)                                                               \
	{                                                                                                              \
		struct type *made = f->name ? NULL : calloc(1, sizeof *made);                                          \
		if (made && (compute))                                                                                 \
			f->name = made;                                                                                \
		else                                                                                                   \
			free(made);                                                                                    \
		return f->name;                                                                                        \
	}
FACT(segment_order, por, !segment_order_compute(f->m, false, made, &(struct rt_error){0}))
FACT(segment_order, hb, !segment_order_compute(f->m, true, made, &(struct rt_error){0}))
FACT(trf, trf, !trf_compute(f->m, NULL, made, &(struct rt_error){0}))
FACT(sections, sections, sections_init(made, f->m))
FACT(last_writes, last_writes, last_writes_init(made, f->m))
FACT(values, values, facts_last_writes(f) && values_init(made, f->m, f->last_writes))

void facts_release(struct facts *f)
{
	if (f->por)
		segment_order_release(f->por);
	if (f->hb)
		segment_order_release(f->hb);
	if (f->trf)
		trf_release(f->trf);
	if (f->sections)
		sections_release(f->sections);
	if (f->last_writes)
		last_writes_release(f->last_writes);
	if (f->values)
		values_release(f->values);
	free_all(f->por, f->hb, f->trf, f->sections, f->last_writes, f->values);
	*f = (struct facts){.m = f->m};
}
