/* Interning; see intern.h. A small direct-mapped cache in front of each table answers nearly all look-ups of a loop. */
#include "lib/trace/intern.h"

#include "lib/base/vec.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static bool table_init(struct intern_table *t)
{
	t->mask = 255;
	t->count = 0;
	t->slots = calloc((size_t)t->mask + 1, sizeof *t->slots);
	return t->slots;
}

static bool table_put(struct intern_table *t, uint64_t hash, uint32_t index)
{
	uint32_t i = (uint32_t)hash & t->mask;
	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = index + 1;
	t->count++;
	return t->count * 2 <= t->mask;
}

/* Makes room; hash_of returns the hash of an item by index. */
static bool table_grow(struct intern_table *t, const struct model *m,
                       uint64_t (*hash_of)(const struct model *m, uint32_t index))
{
	struct intern_table grown = {.mask = t->mask * 2 + 1};
	grown.slots = calloc((size_t)grown.mask + 1, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (uint32_t i = 0; i <= t->mask; i++)
		if (t->slots[i])
			table_put(&grown, hash_of(m, t->slots[i] - 1), t->slots[i] - 1);
	free(t->slots);
	*t = grown;
	return true;
}

bool intern_init(struct intern *in, struct model *m)
{
	memset(in, 0, sizeof *in);
	in->m = m;
	bool ok = table_init(&in->sites);
	ok &= table_init(&in->objects);
	ok &= table_init(&in->locksets);
	if (ok)
		intern_lockset(in, NULL, 0);
	return ok && !in->failed;
}

void intern_release(struct intern *in)
{
	free(in->sites.slots);
	free(in->objects.slots);
	free(in->locksets.slots);
}

static uint32_t fail(struct intern *in)
{
	in->failed = true;
	return 0;
}

static uint64_t site_hash(const struct model *m, uint32_t i)
{
	const struct model_site *s = &m->sites[i];
	return mix(mix(s->pc, s->cells), (uint64_t)s->op << 16 | (uint64_t)s->order << 8 | s->flags);
}

static bool site_equal(const struct model_site *a, const struct model_site *b)
{
	return a->pc == b->pc && a->cells == b->cells && a->op == b->op && a->order == b->order && a->flags == b->flags;
}

uint32_t intern_site(struct intern *in, const struct model_site *site)
{
	struct model *m = in->m;
	uint32_t *cached = &in->site_cache[mix(site->pc, (uint64_t)site->op << 48) >> 32 & (INTERN_CACHE - 1)];
	if (*cached && site_equal(&m->sites[*cached - 1], site))
		return *cached - 1;
	/* The candidate is stored after the others, so that it is hashed as they are. */
	if (!vec_reserve(&m->sites, &in->site_capacity, (uint64_t)m->site_count + 1, sizeof *m->sites))
		return fail(in);
	m->sites[m->site_count] = *site;
	uint64_t hash = site_hash(m, m->site_count);
	for (uint32_t i = (uint32_t)hash & in->sites.mask; in->sites.slots[i]; i = (i + 1) & in->sites.mask)
		if (site_equal(&m->sites[in->sites.slots[i] - 1], site)) {
			*cached = in->sites.slots[i];
			return *cached - 1;
		}
	uint32_t index = m->site_count++;
	*cached = index + 1;
	if (!table_put(&in->sites, hash, index) && !table_grow(&in->sites, m, site_hash))
		return fail(in);
	return index;
}

static uint64_t object_hash(const struct model *m, uint32_t i)
{
	return mix(m->objects[i].addr, m->objects[i].kind);
}

static uint32_t *object_slot(const struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	const struct model *m = in->m;
	for (uint32_t i = (uint32_t)mix(addr, kind) & in->objects.mask; in->objects.slots[i];
	     i = (i + 1) & in->objects.mask) {
		const struct model_object *o = &m->objects[in->objects.slots[i] - 1];
		if (o->addr == addr && o->kind == kind)
			return &in->objects.slots[i];
	}
	return NULL;
}

static uint32_t *object_cached(struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	return &in->object_cache[(addr >> 3 ^ addr >> 13 ^ kind) % INTERN_CACHE];
}

uint32_t intern_object(struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	struct model *m = in->m;
	uint32_t *cached = object_cached(in, addr, kind), *slot;
	if (*cached && m->objects[*cached - 1].addr == addr && m->objects[*cached - 1].kind == kind)
		return *cached - 1;
	if ((slot = object_slot(in, addr, kind))) {
		*cached = *slot;
		return *slot - 1;
	}
	if (!vec_reserve(&m->objects, &in->object_capacity, (uint64_t)m->object_count + 1, sizeof *m->objects))
		return fail(in);
	uint32_t index = m->object_count++;
	m->objects[index] = (struct model_object){addr, kind, false};
	*cached = index + 1;
	if (!table_put(&in->objects, object_hash(m, index), index) && !table_grow(&in->objects, m, object_hash))
		return fail(in);
	return index;
}

uint32_t intern_object_find(const struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	const uint32_t *slot = object_slot(in, addr, kind);
	return slot ? *slot - 1 : MODEL_NONE;
}

uint32_t intern_object_anew(struct intern *in, uint64_t addr, enum model_object_kind kind)
{
	struct model *m = in->m;
	uint32_t *slot = object_slot(in, addr, kind);
	if (!slot)
		return intern_object(in, addr, kind);
	if (!vec_reserve(&m->objects, &in->object_capacity, (uint64_t)m->object_count + 1, sizeof *m->objects))
		return fail(in);
	m->objects[m->object_count] = (struct model_object){addr, kind, false};
	*slot = ++m->object_count;
	*object_cached(in, addr, kind) = *slot;
	return *slot - 1;
}

static uint64_t locks_hash(const struct model_lock *locks, uint32_t count)
{
	uint64_t hash = count;
	for (uint32_t i = 0; i < count; i++)
		hash = mix(hash, (uint64_t)locks[i].object << 1 | locks[i].shared);
	return hash;
}

static uint64_t lockset_hash(const struct model *m, uint32_t i)
{
	return locks_hash(m->locksets[i].locks, m->locksets[i].count);
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
	uint64_t hash = locks_hash(locks, count);
	uint32_t *cached = &in->lockset_cache[hash % INTERN_CACHE];
	if (*cached && locks_equal(&m->locksets[*cached - 1], locks, count))
		return *cached - 1;
	for (uint32_t i = (uint32_t)hash & in->locksets.mask; in->locksets.slots[i]; i = (i + 1) & in->locksets.mask)
		if (locks_equal(&m->locksets[in->locksets.slots[i] - 1], locks, count)) {
			*cached = in->locksets.slots[i];
			return *cached - 1;
		}
	in->held += count;
	if (in->held > INTERN_HELD_MAX)
		return fail(in);
	struct model_lock *copy = malloc((count ? count : 1) * sizeof *copy);
	if (!copy ||
	    !vec_reserve(&m->locksets, &in->lockset_capacity, (uint64_t)m->lockset_count + 1, sizeof *m->locksets)) {
		free(copy);
		return fail(in);
	}
	if (count)
		memcpy(copy, locks, count * sizeof *copy);
	uint32_t index = m->lockset_count++;
	m->locksets[index] = (struct model_lockset){copy, count};
	*cached = index + 1;
	if (!table_put(&in->locksets, hash, index) && !table_grow(&in->locksets, m, lockset_hash))
		return fail(in);
	return index;
}
