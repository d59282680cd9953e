/* Guards; see guard.h. */
#include "lib/report/guard.h"

enum { LOCKS = 16 }; /* counted for a variable; a lock that first comes after these is not */

struct count {
	uint32_t lock, thread; /* first thread that held it at an access */
	uint64_t held;
	bool shared; /* another thread did, too */
};

bool guard_is_held(const struct model *m, uint32_t e, uint32_t lock)
{
	const struct model_lockset *set = &m->locksets[model_lockset_of(m, e)];
	for (uint32_t i = 0; i < set->count; i++)
		if (set->locks[i].object == lock)
			return true;
	return false;
}

/* shared: the variable is, so that the access counts; before that it only tells which threads know the lock. */
static void count_locks(const struct model *m, uint32_t e, bool shared, struct count counts[LOCKS], uint32_t *n)
{
	const struct model_lockset *set = &m->locksets[model_lockset_of(m, e)];
	uint32_t thread = model_thread_of(m, e);
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t k = 0, lock = set->locks[i].object;
		while (k < *n && counts[k].lock != lock)
			k++;
		if (k == LOCKS)
			continue;
		if (k == *n)
			counts[(*n)++] = (struct count){.lock = lock, .thread = thread};
		counts[k].held += shared;
		counts[k].shared |= counts[k].thread != thread;
	}
}

struct guard guard_of(const struct model *m, uint32_t cell)
{
	struct count counts[LOCKS];
	struct guard guard = {.lock = MODEL_NONE};
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	uint32_t n = 0;
	bool shared = false;
	for (uint32_t i = 0; i < m->cells[cell].count; i++) {
		shared |= model_thread_of(m, events[i]) != model_thread_of(m, events[0]);
		guard.of += shared;
		count_locks(m, events[i], shared, counts, &n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (counts[i].shared && counts[i].held * 2 > guard.of && counts[i].held > guard.held) {
			guard.lock = counts[i].lock;
			guard.held = counts[i].held;
		}
	return guard;
}

bool guard_guards(const struct model *m, uint32_t lock, uint32_t cell)
{
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	uint64_t held = 0, of = 0;
	uint32_t holder = MODEL_NONE;
	bool shared = false, holders = false;
	for (uint32_t i = 0; i < m->cells[cell].count; i++) {
		uint32_t thread = model_thread_of(m, events[i]);
		shared |= thread != model_thread_of(m, events[0]);
		of += shared;
		if (!guard_is_held(m, events[i], lock))
			continue;
		held += shared;
		holders |= holder != MODEL_NONE && holder != thread;
		holder = thread;
	}
	return holders && held * 2 > of;
}
