/*
 * A systematic run (Kulikov et al., "Detecting Data Races with Java PathFinder", 2010): which choices it takes first,
 * and what was pending at each choice. One file, which the tool makes and the program's recorder maps, as a plan
 * (plan.h).
 */
#ifndef TRACEFMT_SEARCH_H
#define TRACEFMT_SEARCH_H

#include <stdint.h>

#define RT_SEARCH_MAGIC UINT64_C(0x3168637261657372)
#define RT_SEARCH_THREADS 64u

enum rt_search_kind {
	RT_SEARCH_STEP,   /* the thread is about to do this */
	RT_SEARCH_CHOICE, /* it goes on; object: the threads that could (bit i: thread i), arg: the one that did before
	                   */
	RT_SEARCH_WAKE    /* it is woken; object: the threads that could be */
};

#define RT_SEARCH_OWN 128 /* flag of an access: to the thread's own stack */

struct rt_search_record {
	uint8_t kind, op, flags, reserved;
	uint32_t thread;
	uint64_t object, arg, pc; /* STEP: as an event has them */
};

struct rt_search {
	uint64_t magic, size; /* of all, in bytes */
	uint32_t choice_count;
	uint32_t diverged; /* result: a choice could not be taken */
	uint32_t overflow; /* result: there was no room for all records, or for all threads */
	uint32_t reserved;
	uint64_t record_room, record_count;
	/* uint8_t choices[choice_count], threads, padded to 8 bytes; struct rt_search_record records[record_room] */
};

static inline uint8_t *rt_search_choices(const struct rt_search *s)
{
	return (uint8_t *)(uintptr_t)(s + 1);
}
static inline struct rt_search_record *rt_search_records(const struct rt_search *s)
{
	return (struct rt_search_record *)(void *)(rt_search_choices(s) + ((s->choice_count + 7u) & ~7u));
}

#endif
