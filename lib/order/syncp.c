/*
 * syncp: sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021). A correct reordering is sync-preserving
 * when it keeps the order of the critical sections of a lock that it contains. (e1, e2) is such a race iff the least
 * set of events that contains what comes before both in their threads, and is closed under thread order, reads-from,
 * the partial order relation and "of two acquires of one lock in the set, the earlier section's release is in it",
 * contains neither e1 nor e2.
 *
 * The set (the ideal) is a prefix of each thread. It grows with e1 and e2 along their threads, so a query that comes
 * after one of the same two threads goes on from there. Its events in trace order, then e1 and e2, are the witness.
 * Readers' sections do not close one another.
 */
#include "lib/order/syncp.h"

#include "lib/order/builtin.h"
#include "lib/order/sections.h"
#include "lib/order/trf.h"
#include "lib/trace/vec.h"

struct unclosed {
	uint32_t *sections; /* of the lock, in the ideal, whose release is not asked for */
	uint32_t count, capacity;
};

struct order_result {
	const struct model *m;
	struct trf trf;
	struct sections sections;
	uint32_t *of_thread; /* section indices, thread by thread, in order */
	uint32_t *first;     /* by thread: where its sections begin; one more at the end */
	/* The query under way. */
	uint32_t *ideal;   /* by thread: so many of its events */
	uint32_t *scanned; /* by thread: so many of its sections were looked at */
	struct unclosed *locks;
	uint32_t threads[2], pos[2]; /* of the last query */
	bool stuck;                  /* the ideal needs a release that never comes */
	bool failed;                 /* no memory */
};

static void include_clock(struct order_result *r, uint32_t clock)
{
	for (uint32_t t = 0; t < r->m->thread_count; t++) {
		uint32_t n = clock_get(&r->trf.clocks, clock, t);
		if (n > r->ideal[t])
			r->ideal[t] = n;
	}
}

static void include(struct order_result *r, uint32_t e)
{
	uint32_t thread = model_thread_of(r->m, e), n = r->m->events[e].pos + 1;
	if (n <= r->ideal[thread])
		return;
	include_clock(r, trf_clock(&r->trf, e));
	r->ideal[thread] = n;
}

static void include_before(struct order_result *r, uint32_t e)
{
	uint32_t thread = model_thread_of(r->m, e), pos = r->m->events[e].pos;
	include_clock(r, trf_clock_before(&r->trf, e));
	if (pos > r->ideal[thread])
		r->ideal[thread] = pos;
}

/* The ideal must close this section. */
static void close_section(struct order_result *r, uint32_t section)
{
	if (r->sections.items[section].release == MODEL_NONE)
		r->stuck = true;
	else
		include(r, r->sections.items[section].release);
}

/* A section's acquire is in the ideal: of it and each other of its lock that it excludes, the earlier one is closed. */
static void add_section(struct order_result *r, uint32_t section)
{
	const struct section *s = r->sections.items;
	struct unclosed *u = &r->locks[s[section].lock];
	bool closed = false;
	for (uint32_t i = 0; i < u->count;) {
		uint32_t other = u->sections[i];
		if (!sections_exclude(&s[section], &s[other])) {
			i++;
		} else if (s[other].place < s[section].place) {
			u->sections[i] = u->sections[--u->count];
			close_section(r, other);
		} else {
			closed = true;
			i++;
		}
	}
	if (closed) {
		close_section(r, section);
	} else if (!vec_reserve(&u->sections, &u->capacity, (uint64_t)u->count + 1, sizeof *u->sections)) {
		r->failed = true;
	} else {
		u->sections[u->count++] = section;
	}
}

/* Closes the ideal. */
static void saturate(struct order_result *r)
{
	const struct section *s = r->sections.items;
	for (bool more = true; more && !r->stuck && !r->failed;) {
		more = false;
		for (uint32_t t = 0; t < r->m->thread_count; t++)
			while (r->first[t] + r->scanned[t] < r->first[t + 1]) {
				uint32_t section = r->of_thread[r->first[t] + r->scanned[t]];
				if (r->m->events[s[section].acquire].pos >= r->ideal[t])
					break;
				r->scanned[t]++;
				add_section(r, section);
				more = true;
			}
	}
}

static void reset(struct order_result *r)
{
	for (uint32_t t = 0; t < r->m->thread_count; t++) {
		for (uint32_t i = 0; i < r->scanned[t]; i++)
			r->locks[r->sections.items[r->of_thread[r->first[t] + i]].lock].count = 0;
		r->scanned[t] = r->ideal[t] = 0;
	}
	r->stuck = false;
}

/* The ideal for both events to be next. False if there is none that leaves them so. */
static bool find_ideal(struct order_result *r, uint32_t e1, uint32_t e2)
{
	const struct model *m = r->m;
	const uint32_t events[2] = {e1, e2};
	bool later = true;
	for (int i = 0; i < 2; i++)
		later &= r->threads[i] == model_thread_of(m, events[i]) && r->pos[i] <= m->events[events[i]].pos;
	if (!later)
		reset(r);
	for (int i = 0; i < 2; i++) {
		r->threads[i] = model_thread_of(m, events[i]);
		r->pos[i] = m->events[events[i]].pos;
		include_before(r, events[i]);
	}
	/* What the two events need may contain one of them already. */
	if (r->ideal[r->threads[0]] <= r->pos[0] && r->ideal[r->threads[1]] <= r->pos[1])
		saturate(r);
	return !r->stuck && !r->failed && r->ideal[r->threads[0]] <= r->pos[0] && r->ideal[r->threads[1]] <= r->pos[1];
}

bool syncp_unordered(const struct order_result *result, uint32_t e1, uint32_t e2)
{
	/* The answer does not depend on the work space that the result carries along. */
	struct order_result *r = (struct order_result *)(uintptr_t)result;
	return find_ideal(r, e1, e2);
}

const uint32_t *syncp_ideal(const struct order_result *result, uint32_t e1, uint32_t e2)
{
	return syncp_unordered(result, e1, e2) ? result->ideal : NULL;
}

static bool sort_by_thread(struct order_result *r)
{
	uint32_t threads = r->m->thread_count;
	for (uint32_t i = 0; i < r->sections.count; i++)
		r->first[r->sections.items[i].thread + 1]++;
	for (uint32_t t = 0; t < threads; t++)
		r->first[t + 1] += r->first[t];
	for (uint32_t i = 0; i < r->sections.count; i++) {
		uint32_t t = r->sections.items[i].thread;
		r->of_thread[r->first[t] + r->scanned[t]++] = i;
	}
	memset(r->scanned, 0, threads * sizeof *r->scanned);
	return true;
}

enum rt_status syncp_compute(const struct model *m, struct order_result **out, struct rt_error *err)
{
	struct order_result *r = *out = calloc(1, sizeof *r);
	if (!r)
		return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
	r->m = m;
	r->threads[0] = r->threads[1] = MODEL_NONE;
	size_t threads = (size_t)m->thread_count + 2;
	r->ideal = calloc(threads, sizeof *r->ideal);
	r->scanned = calloc(threads, sizeof *r->scanned);
	r->first = calloc(threads, sizeof *r->first);
	r->locks = calloc((size_t)m->object_count + 1, sizeof *r->locks);
	bool ok = r->ideal && r->scanned && r->first && r->locks && sections_init(&r->sections, m);
	r->of_thread = ok ? malloc(((size_t)r->sections.count + 1) * sizeof *r->of_thread) : NULL;
	if (r->of_thread && sort_by_thread(r) && !trf_compute(m, NULL, &r->trf, err))
		return RT_OK;
	syncp_free(r);
	*out = NULL;
	return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
}

void syncp_free(struct order_result *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; r->locks && i < r->m->object_count; i++)
		free(r->locks[i].sections);
	free(r->locks);
	free(r->ideal);
	free(r->scanned);
	free(r->first);
	free(r->of_thread);
	sections_release(&r->sections);
	trf_release(&r->trf);
	free(r);
}
