/* Facts of a trace, each computed once; see facts.h. */
#include "lib/relation/facts.h"

#include <stdlib.h>

static const struct segment_order *order(struct facts *f, struct segment_order **fact, bool locks)
{
	struct rt_error err;
	if (*fact)
		return *fact;
	struct segment_order *made = calloc(1, sizeof *made);
	if (made && segment_order_compute(f->m, locks, made, &err)) {
		free(made);
		made = NULL;
	}
	return *fact = made;
}

const struct segment_order *facts_por(struct facts *f)
{
	return order(f, &f->por, false);
}

const struct segment_order *facts_hb(struct facts *f)
{
	return order(f, &f->hb, true);
}

const struct trf *facts_trf(struct facts *f)
{
	struct rt_error err;
	if (f->trf)
		return f->trf;
	struct trf *made = calloc(1, sizeof *made);
	if (made && trf_compute(f->m, NULL, made, &err)) {
		free(made);
		made = NULL;
	}
	return f->trf = made;
}

const struct sections *facts_sections(struct facts *f)
{
	if (f->sections)
		return f->sections;
	struct sections *made = calloc(1, sizeof *made);
	if (made && !sections_init(made, f->m)) {
		sections_release(made);
		free(made);
		made = NULL;
	}
	return f->sections = made;
}

const struct last_writes *facts_last_writes(struct facts *f)
{
	if (f->last_writes)
		return f->last_writes;
	struct last_writes *made = calloc(1, sizeof *made);
	if (made && !last_writes_init(made, f->m)) {
		last_writes_release(made);
		free(made);
		made = NULL;
	}
	return f->last_writes = made;
}

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
	free(f->por);
	free(f->hb);
	free(f->trf);
	free(f->sections);
	free(f->last_writes);
	*f = (struct facts){.m = f->m};
}
