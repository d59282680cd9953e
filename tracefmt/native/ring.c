/* The last part of a long trace, in memory; see ring.h. */
#include "tracefmt/native/ring.h"

#include "lib/base/vec.h"

/* The generations of a full ring: the part that is dropped at once. */
enum { GENERATIONS = 16 };

struct generation {
	uint64_t cut, bytes;
	struct rt_ring_chunk *chunks;
	size_t count, capacity;
};

struct rt_ring {
	uint64_t size, bytes;
	uint64_t newest_stamp;          /* of all records */
	struct generation *generations; /* from `oldest` on */
	size_t count, capacity;
	uint32_t oldest, first;          /* numbers of the first one, and of the first that may be in the trace */
	uint64_t packed_records, packed; /* records that were packed, and their bytes: what open ones may take */
	struct rt_shared_state shared;
};

struct rt_ring *rt_ring_create(uint64_t bytes)
{
	struct rt_ring *r = calloc(1, sizeof *r);
	if (r && vec_reserve(&r->generations, &r->capacity, 1, sizeof *r->generations)) {
		r->size = bytes;
		r->count = 1;
		r->generations[0] = (struct generation){0};
		return r;
	}
	free(r);
	return NULL;
}

static void generation_release(struct generation *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->chunks[i].frame);
	free(g->chunks);
}

void rt_ring_free(struct rt_ring *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		generation_release(&r->generations[i]);
	free(r->generations);
	rt_shared_state_release(&r->shared);
	free(r);
}

void rt_ring_thread_release(struct rt_ring_thread *t)
{
	rt_thread_state_release(&t->state);
	for (size_t i = 0; i < t->count; i++)
		rt_kept_release(&t->snapshots[i].events);
	free(t->snapshots);
	*t = (struct rt_ring_thread){0};
}

/* The cut of the generation after this one; UINT64_MAX: there is none yet. */
static uint64_t next_cut(const struct rt_ring *r, uint32_t generation)
{
	uint32_t next = generation + 1 < r->oldest ? r->oldest : generation + 1;
	return next - r->oldest < r->count ? r->generations[next - r->oldest].cut : UINT64_MAX;
}

static bool take_event(struct rt_ring *r, struct rt_ring_thread *t, uint32_t thread, struct rt_record event)
{
	struct rt_kept kept = {.stamp = t->stamp, .arg = t->arg, .value = t->value, .event = event, .thread = thread};
	kept.event.w0 &= ~((uint64_t)RT_RECORD_SKIP_MAX << 56);
	return rt_start_add(&t->state, &r->shared, kept);
}

size_t rt_ring_scan(struct rt_ring *r, struct rt_ring_thread *t, uint32_t thread, const struct rt_record *records,
                    size_t n)
{
	uint64_t cut = next_cut(r, t->generation);
	for (size_t i = 0; i < n; i++) {
		unsigned op = rt_record_op(records[i]);
		if (op == RT_OP_EXT) {
			uint64_t stamp = records[i].w1 > t->stamp ? records[i].w1 : t->stamp;
			if (stamp >= cut)
				return i;
			t->stamp = stamp;
			t->arg = rt_record_operand(records[i]);
			r->newest_stamp = stamp > r->newest_stamp ? stamp : r->newest_stamp;
		} else if (op == RT_OP_VALUE) {
			t->value = records[i].w1;
		} else if (op != RT_OP_SKIP) {
			if (rt_start_needs(op) && !take_event(r, t, thread, records[i]))
				return SIZE_MAX;
			t->arg = 0;
		}
	}
	return n;
}

/* Forgets the states at cuts that are gone. */
static void forget_snapshots(const struct rt_ring *r, struct rt_ring_thread *t)
{
	size_t gone = 0;
	while (gone < t->count && t->snapshots[gone].until < r->oldest)
		rt_kept_release(&t->snapshots[gone++].events);
	t->count -= gone;
	if (gone)
		memmove(t->snapshots, t->snapshots + gone, t->count * sizeof *t->snapshots);
}

bool rt_ring_cross(struct rt_ring *r, struct rt_ring_thread *t, uint64_t stamp)
{
	uint32_t to = r->oldest;
	while (to + 1 - r->oldest < r->count && r->generations[to + 1 - r->oldest].cut <= stamp)
		to++;
	forget_snapshots(r, t);
	if (!vec_reserve(&t->snapshots, &t->capacity, t->count + 1, sizeof *t->snapshots))
		return false;
	struct rt_snapshot *s = &t->snapshots[t->count++];
	*s = (struct rt_snapshot){.until = to};
	t->generation = to;
	return rt_start_of_thread(&t->state, &s->events);
}

static void drop_oldest(struct rt_ring *r)
{
	r->bytes -= r->generations[0].bytes;
	generation_release(&r->generations[0]);
	memmove(r->generations, r->generations + 1, --r->count * sizeof *r->generations);
	r->oldest++;
	rt_start_forget(&r->shared, r->generations[0].cut);
}

bool rt_ring_keep(struct rt_ring *r, const struct rt_ring_thread *t, const struct rt_block *block, const uint8_t *frame)
{
	uint64_t bytes = RT_BLOCK_HEADER_BYTES + (uint64_t)RT_INDEX_ENTRY_BYTES + block->packed;
	r->packed_records += block->records;
	r->packed += block->packed;
	if (t->generation < r->oldest)
		return true; /* dropped already */
	struct generation *g = &r->generations[t->generation - r->oldest];
	if (!vec_reserve(&g->chunks, &g->capacity, g->count + 1, sizeof *g->chunks))
		return false;
	uint8_t *copy = malloc(block->packed + (size_t)1);
	if (!copy)
		return false;
	memcpy(copy, frame, block->packed);
	g->chunks[g->count++] = (struct rt_ring_chunk){*block, copy};
	g->bytes += bytes;
	r->bytes += bytes;
	return true;
}

void rt_ring_end(struct rt_ring *r, const struct rt_ring_thread *t, size_t bytes)
{
	if (t->generation < r->oldest)
		return;
	r->generations[t->generation - r->oldest].bytes += bytes;
	r->bytes += bytes;
}

bool rt_ring_is_past(const struct rt_ring *r, const struct rt_ring_thread *t)
{
	return t->generation < r->oldest;
}

bool rt_ring_turn(struct rt_ring *r, uint64_t open_records, bool now)
{
	const struct generation *last = &r->generations[r->count - 1];
	double each = r->packed_records ? (double)r->packed / (double)r->packed_records : 1; /* mostly far below 1 */
	if (!now && (double)last->bytes + (double)open_records * each < (double)r->size / GENERATIONS)
		return true;
	if (r->newest_stamp < last->cut)
		return true; /* nothing has come since */
	if (!vec_reserve(&r->generations, &r->capacity, r->count + 1, sizeof *r->generations))
		return false;
	uint64_t cut = r->newest_stamp + 1;
	r->generations[r->count++] = (struct generation){.cut = cut};
	r->shared.newest = cut;
	r->first = now ? r->oldest + (uint32_t)r->count - 1 : r->first;
	while (r->count > 2 && r->bytes > r->size)
		drop_oldest(r);
	return true;
}

bool rt_ring_seal(struct rt_ring *r)
{
	while (r->count > 1 && (r->bytes > r->size || r->oldest < r->first))
		drop_oldest(r);
	return r->oldest > 0;
}

const struct rt_ring_chunk *rt_ring_next(const struct rt_ring *r, size_t *generation, size_t *chunk)
{
	for (; *generation < r->count; ++*generation, *chunk = 0)
		if (*chunk < r->generations[*generation].count)
			return &r->generations[*generation].chunks[(*chunk)++];
	return NULL;
}

bool rt_ring_start(const struct rt_ring *r, const struct rt_ring_thread *t, struct rt_kept_list *out)
{
	if (!t)
		return rt_start_of_all(&r->shared, r->generations[0].cut, out);
	if (t->generation < r->oldest)
		return rt_start_of_thread(&t->state, out);
	for (size_t i = 0; i < t->count; i++)
		if (t->snapshots[i].until >= r->oldest)
			return rt_kept_add(out, t->snapshots[i].events.items, t->snapshots[i].events.count);
	return true;
}

bool rt_ring_unsure(const struct rt_ring *r)
{
	return r->shared.unsure;
}
