/* The provers' searches; see searches.h. */
#include "lib/witness/searches.h"

#include "lib/witness/updates.h"

#include <stdlib.h>

static void release(struct loose_search *l)
{
	if (l->search)
		trf_release(&l->trf);
	search_free(l->search);
	free(l->updates);
}

void searches_release(struct searches *s)
{
	release(&s->strict);
	release(&s->valued);
	release(&s->loose);
	release(&s->atomic);
	values_release(&s->values);
}

/* Makes a search in which reads see any write of their value, and l->updates any write. */
static bool make(struct searches *s, struct loose_search *l, struct rt_error *err)
{
	const struct model *m = s->m;
	uint8_t *free_reads = s->values.any ? values_free_reads(&s->values, m) : NULL;
	bool ok = free_reads || !s->values.any;
	for (size_t i = 0; free_reads && l->updates && i <= m->event_count / 8; i++)
		free_reads[i] |= l->updates[i];
	if (ok && !trf_compute(m, free_reads ? free_reads : l->updates, &l->trf, err)) {
		l->search = search_create(m, &l->trf, l->updates, s->values.any ? &s->values : NULL);
		if (!l->search)
			trf_release(&l->trf);
	}
	free(free_reads);
	return l->search;
}

bool searches_init(struct searches *s, const struct model *m, struct rt_error *err)
{
	uint32_t updates;
	*s = (struct searches){.m = m};
	/* The strict one first: values are not known yet. */
	if (!make(s, &s->strict, err) || (m->value_count && !values_init(&s->values, m)) ||
	    (s->values.any && !make(s, &s->valued, err)))
		return false;
	s->loose.updates = updates_find(m, &updates);
	return s->loose.updates && (!updates || make(s, &s->loose, err));
}

const struct trf *searches_needs(const struct searches *s)
{
	return s->loose.search ? &s->loose.trf : s->valued.search ? &s->valued.trf : &s->strict.trf;
}

/*
 * Is something given back, or a call on a lock, part of it? Who frees a block or destroys a lock often learns from a
 * counter that the others are done with it; that they could count in another order says nothing then.
 */
static bool ends_use(const struct model *m, const struct goal *goal)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (m->sites[m->events[goal->events[i]].site].flags & (RT_F_OBJECT | RT_F_FREE))
			return true;
	return false;
}

bool searches_loosest(struct searches *s, const struct goal *goal, struct search **out)
{
	struct rt_error err;
	uint32_t updates;
	*out = s->loose.search;
	if (!s->loose.search || !ends_use(s->m, goal))
		return true;
	if (!s->atomic.updates) {
		s->atomic.updates = updates_find_atomic(s->m, &updates);
		if (!s->atomic.updates || (updates && !make(s, &s->atomic, &err)))
			return false;
	}
	*out = s->atomic.search;
	return true;
}
