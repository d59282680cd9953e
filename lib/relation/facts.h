/*
 * What several orders, searches and provers need to know of a trace. Each fact is computed once, when it is first asked
 * for. An analysis makes the facts and lends them. The judge does not use them: it shares nothing with the provers.
 */
#ifndef LIB_RELATION_FACTS_H
#define LIB_RELATION_FACTS_H

#include "lib/relation/por.h"
#include "lib/relation/sections.h"
#include "lib/relation/trf.h"
#include "lib/trace/values.h"

/* Zero, and the model: nothing is computed. Read through the functions below. */
struct facts {
	const struct model *m;          /* borrowed; must outlive the facts */
	struct segment_order *por, *hb; /* NULL: not asked for */
	struct trf *trf;
	struct sections *sections;
	struct last_writes *last_writes;
	struct values *values;
};

void facts_release(struct facts *f);

/* Each is borrowed, valid until facts_release; NULL without memory. */
const struct segment_order *facts_por(struct facts *f); /* the partial order relation */
const struct segment_order *facts_hb(struct facts *f);  /* the same with lock edges: happens-before */
const struct trf *facts_trf(struct facts *f);           /* what each event needs; no read is free */
const struct sections *facts_sections(struct facts *f);
const struct last_writes *facts_last_writes(struct facts *f);
const struct values *facts_values(struct facts *f); /* after raced_find */

#endif
