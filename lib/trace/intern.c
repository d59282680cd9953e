/* Interning; see intern.h. A small direct-mapped cache in front of each table answers nearly all look-ups of a loop. */
#include "lib/trace/intern.h"

#include "lib/base/vec.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

bool intern_init(struct intern *in, struct model *m)
{
	memset(in, 0, sizeof *in);
	in->m = m;
	intern_lockset(in, NULL, 0);
	return !in->failed;
}

void intern_release(struct intern *in)
{
	table_release(&in->sites);
	table_release(&in->objects);
	table_release(&in->locksets);
}

static uint32_t fail(struct intern *in)
{
	in->failed = true;
	return 0;
}

static uint32_t site_hash(const struct model_site *s)
{
	return (uint32_t)mix(mix(model_position(s), s->cells),
	                     (uint64_t)s->op << 16 | (uint64_t)s->order << 8 | s->flags);
}

static bool site_equal(const struct model_site *a, const struct model_site *b)
{
	return a->pc == b->pc && a->caller == b->caller && a->outer == b->outer && a->cells == b->cells &&
	       a->op == b->op && a->order == b->order && a->flags == b->flags;
}

uint32_t intern_site(struct intern *in, const struct model_site *site)
{
	struct model *m = in->m;
	uint32_t *cached =
	    &in->site_cache[mix(model_position(site), (uint64_t)site->op << 48) >> 32 & (INTERN_CACHE - 1)];
	if (*cached && site_equal(&m->sites[*cached - 1], site))
		return *cached - 1;
	uint32_t hash = site_hash(site);
	for (uint32_t at = hash, i; (i = table_next(&in->sites, hash, &at)) != TABLE_NONE;)
		if (site_equal(&m->sites[i], site)) {
			*cached = i + 1;
			return i;
		}
	if (!vec_reserve(&m->sites, &in->site_capacity, (uint64_t)m->site_count + 1, sizeof *m->sites) ||
	    !table_put(&in->sites, hash, m->site_count))
		return fail(in);
	m->sites[m->site_count] = *site;
	*cached = ++m->site_count;
	return *cached - 1;
}

static uint32_t object_hash(uint64_t addr, enum model_object_kind kind)
{
	return (uint32_t)mix(addr, kind);
}

uint32_t intern_object_find(const struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	uint32_t hash = object_hash(addr, kind);
	for (uint32_t at = hash, i; (i = table_next(&in->objects, hash, &at)) != TABLE_NONE;)
		if (in->m->objects[i].addr == addr && in->m->objects[i].kind == kind)
			return i;
	return MODEL_NONE;
}

static uint32_t *object_cached(struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	return &in->object_cache[(addr >> 3 ^ addr >> 13 ^ kind) % INTERN_CACHE];
}

uint32_t intern_object(struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	struct model *m = in->m;
	uint32_t *cached = object_cached(in, addr, kind), index;
	if (*cached && m->objects[*cached - 1].addr == addr && m->objects[*cached - 1].kind == kind)
		return *cached - 1;
	if ((index = intern_object_find(in, addr, kind)) != MODEL_NONE) {
		*cached = index + 1;
		return index;
	}
	if (!vec_reserve(&m->objects, &in->object_capacity, (uint64_t)m->object_count + 1, sizeof *m->objects) ||
	    !table_put(&in->objects, object_hash(addr, kind), m->object_count))
		return fail(in);
	m->objects[m->object_count] = (struct model_object){.addr = addr, .kind = kind};
	*cached = ++m->object_count;
	return *cached - 1;
}

uint32_t intern_object_anew(struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	struct model *m = in->m;
	uint32_t old = intern_object_find(in, addr, kind);
	if (old == MODEL_NONE)
		return intern_object(in, addr, kind);
	if (!vec_reserve(&m->objects, &in->object_capacity, (uint64_t)m->object_count + 1, sizeof *m->objects))
		return fail(in);
	m->objects[m->object_count] = (struct model_object){.addr = addr, .kind = kind};
	table_replace(&in->objects, object_hash(addr, kind), old, m->object_count);
	*object_cached(in, addr, kind) = ++m->object_count;
	return m->object_count - 1;
}

static uint32_t locks_hash(const struct model_lock *locks, uint32_t count)
{
	uint64_t hash = count;
	for (uint32_t i = 0; i < count; i++)
		hash = mix(hash, (uint64_t)locks[i].object << 1 | locks[i].shared);
	return (uint32_t)hash;
}

static bool locks_equal(const struct model_lockset *set, const struct model_lock *locks, uint32_t count)
{
	if (set->count != count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (set->locks[i].object != locks[i].object || set->locks[i].shared != locks[i].shared)
			return false;
	return true;
}

uint32_t intern_lockset(struct intern *in, const struct model_lock *locks, uint32_t count)
{
	struct model *m = in->m;
	uint32_t hash = locks_hash(locks, count);
	uint32_t *cached = &in->lockset_cache[hash % INTERN_CACHE];
	if (*cached && locks_equal(&m->locksets[*cached - 1], locks, count))
		return *cached - 1;
	for (uint32_t at = hash, i; (i = table_next(&in->locksets, hash, &at)) != TABLE_NONE;)
		if (locks_equal(&m->locksets[i], locks, count)) {
			*cached = i + 1;
			return i;
		}
	in->held += count;
	if (in->held > INTERN_HELD_MAX)
		return fail(in);
	struct model_lock *copy = malloc((count ? count : 1) * sizeof *copy);
	if (!copy ||
	    !vec_reserve(&m->locksets, &in->lockset_capacity, (uint64_t)m->lockset_count + 1, sizeof *m->locksets) ||
	    !table_put(&in->locksets, hash, m->lockset_count)) {
		free(copy);
		return fail(in);
	}
	if (count)
		memcpy(copy, locks, count * sizeof *copy);
	uint32_t index = m->lockset_count++;
	m->locksets[index] = (struct model_lockset){copy, count};
	*cached = index + 1;
	return index;
}
