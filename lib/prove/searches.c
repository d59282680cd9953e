/* The provers' searches; see searches.h. */
#include "lib/prove/searches.h"

#include <stdlib.h>
#include <string.h>

static void release(struct search_of_reads *l)
{
	if (l->trf == &l->own)
		trf_release(&l->own);
	search_free(l->search);
	*l = (struct search_of_reads){0};
}

void searches_release(struct searches *s)
{
	release(&s->strict);
	release(&s->valued);
	release(&s->free);
}

/* Makes a search with these free reads (NULL: none), which need not see the write that they saw. */
static bool make(struct facts *f, struct search_of_reads *l, const uint8_t *reads, bool free,
                 const struct values *values, struct rt_error *err)
{
	if (!reads)
		l->trf = facts_trf(f);
	else if (!trf_compute(f->m, reads, &l->own, err))
		l->trf = &l->own;
	l->search = l->trf ? search_create(f, l->trf, free, values) : NULL;
	if (!l->search)
		release(l);
	return l->search;
}

static bool make_valued(struct searches *s, struct rt_error *err)
{
	uint8_t *reads = values_free_reads(s->values, s->m);
	bool ok = reads && make(s->facts, &s->valued, reads, false, s->values, err);
	free(reads);
	return ok;
}

bool searches_init(struct searches *s, struct facts *f, struct rt_error *err)
{
	const struct model *m = f->m;
	*s = (struct searches){.m = m, .facts = f};
	if (!make(f, &s->strict, NULL, false, NULL, err))
		return false;
	s->values = m->value_count ? facts_values(f) : NULL;
	return searches_of_values(s) ? make_valued(s, err) : s->values || !m->value_count;
}

const struct trf *searches_needs(const struct searches *s)
{
	return s->valued.search ? s->valued.trf : s->strict.trf;
}

uint64_t searches_looked(const struct searches *s)
{
	const struct search *all[] = {s->strict.search, s->valued.search, s->free.search};
	uint64_t looked = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		looked += all[i] ? search_looked(all[i]) : 0;
	return looked;
}

struct search *searches_free(struct searches *s)
{
	struct rt_error err;
	size_t size = (size_t)s->m->event_count / 8 + 1;
	uint8_t *all = s->free.search ? NULL : malloc(size);
	if (all) {
		memset(all, 0xff, size);
		make(s->facts, &s->free, all, true, NULL, &err);
	}
	free(all);
	return s->free.search;
}
