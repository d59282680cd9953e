/* Interning for the loader: sites, synchronisation objects and sets of locks get small indices. */
#ifndef LIB_TRACE_INTERN_H
#define LIB_TRACE_INTERN_H

#include "lib/base/table.h"
#include "lib/trace/model.h"

enum { INTERN_CACHE = 1024, INTERN_HELD_MAX = 8000000 };

struct intern {
	struct model *m; /* sites, objects and locksets grow here */
	struct table sites, objects, locksets;
	uint32_t site_capacity, object_capacity, lockset_capacity;
	uint32_t site_cache[INTERN_CACHE]; /* index + 1 by pc */
	uint32_t object_cache[INTERN_CACHE];
	uint32_t lockset_cache[INTERN_CACHE];
	uint64_t held; /* locks of all locksets */
	bool failed;   /* no memory, or too much held: indices returned since are 0 */
};

bool intern_init(struct intern *in, struct model *m);
/* Frees the tables; the interned items stay with the model. */
void intern_release(struct intern *in);

uint32_t intern_site(struct intern *in, const struct model_site *site);
uint32_t intern_object(struct intern *in, uint64_t addr, enum model_object_kind kind);
/* MODEL_NONE: there is none yet. */
uint32_t intern_object_find(const struct intern *in, uint64_t addr, enum model_object_kind kind);
/* Adds another object in place of the existing one, which is not found any more. */
uint32_t intern_object_anew(struct intern *in, uint64_t addr, enum model_object_kind kind);
/* locks sorted by object. */
uint32_t intern_lockset(struct intern *in, const struct model_lock *locks, uint32_t count);

#endif
