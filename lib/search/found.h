/*
 * The anomalies that a search has found so far: one entry for each pattern at each tuple of source positions, with how
 * many tuples of events it stands for and some of them. Every search gathers what it finds here.
 */
#ifndef LIB_SEARCH_FOUND_H
#define LIB_SEARCH_FOUND_H

#include "lib/anomaly/pattern.h"
#include "lib/search/search.h"

/*
 * Number of instances that found_offer keeps of an anomaly, for the provers: where one cannot happen, another may; and
 * it is refuted only if all of them are. Once all anomalies together have FOUND_ALL and one for each event, FOUND_FEW
 * of each that has no more yet.
 */
enum { FOUND_INSTANCES = 2000, FOUND_FEW = 12, FOUND_ALL = 1 << 20, FOUND_FILTER = 1 << 21 };

/* How much the recorded run itself shows of an instance. */
enum found_rank {
	FOUND_UNRANKED,
	FOUND_POSSIBLE,  /* nothing */
	FOUND_UNORDERED, /* happens-before leaves the pair unordered: observed by C11, though another race may order it
	                  */
	FOUND_OBSERVED
};

struct found;
struct found_cut;
struct found_list {
	const struct search_context *context; /* borrowed */
	struct anomaly_list *list;            /* borrowed */
	struct found *entries;
	/* By hash, bits: there may be an entry. Of most tuples of a search there is none, and the table of entries is
	 * in no cache. NULL: there is no entry. */
	uint64_t *filter;
	uint64_t kept;       /* number of instances that found_offer kept, of all entries */
	uint64_t excluded;   /* number of tuples of all that were ruled out */
	uint64_t remembered; /* number of tuples of all whose hash is kept */
	/* By place in the pattern: the event last asked for, + 1, and the clock that it needs. Of successive tuples
	 * most events are the same. */
	struct {
		uint32_t event, clock;
	} asked[ANOMALY_EVENTS_MAX];
	struct found_cut *cuts;
	bool cut;          /* tuples of any entry may have been left out, as if found_partial were called of each */
	uint64_t unfolded; /* number of tuples that --every listed */
	bool full;         /* failed, since as many are listed as may be */
	bool failed;       /* no memory, or too many tuples to list */
};

/* The pattern's entry at these source positions, pattern->count of them; NULL if there is none yet. */
struct found *found_find(const struct found_list *l, const struct pattern *pattern, const uint64_t *positions);
/* The same, created if absent; NULL without memory, and if there are LIMIT_ANOMALIES already, which is noted among
 * the limits. */
struct found *found_at(struct found_list *l, const struct pattern *pattern, const uint64_t *positions);
/* The same at the positions of these events, in the pattern's order. */
struct found *found_entry(struct found_list *l, const struct pattern *pattern, const uint32_t *events);
/* True if there are as many as may be: no further one is created. */
bool found_no_more(const struct found_list *l);
/* Number of calls so far, of those for this entry: for a search that stops when it comes back to a full one often. */
uint32_t found_full_again(struct found *f);
/* Removes an entry. */
void found_drop(struct found_list *l, struct found *f);

/* Counts tuples of an entry; and those of them in which one event needs another to have happened before. */
void found_count(struct found *f, uint64_t tuples);
void found_rule_out(struct found *f, uint64_t tuples);
/* Number of tuples that were counted, and of instances that are kept. */
uint64_t found_counted(const struct found *f);
uint32_t found_kept(const struct found *f);
enum found_rank found_rank(const struct found *f);

/* Notes that not all tuples of the entry are offered, or looked for. */
void found_partial(struct found *f);
/* The same of every entry with an access at this site. */
void found_cut(struct found_list *l, uint32_t site);
/* True if as many instances are kept as may be, or as many were offered as are looked at. More may be offered, such as
 * are likely to be possible or spread over the trace: they may replace kept ones. */
bool found_full(const struct found_list *l, const struct found *f);
/* True if further tuples of the entry that are ruled out are only counted, because of the number offered before. */
bool found_only_counts(const struct found *f);
/* Counts tuples of such an entry that are ruled out, as if they were offered. */
void found_exclude(struct found_list *l, struct found *f, uint64_t tuples);
/* Offers an instance, which may be offered again: the tuples are counted here. observed: the recorded run itself shows
 * it. A tuple of which one event needs another that comes after it is ruled out: of those only a few are kept. */
void found_offer(struct found_list *l, struct found *f, const uint32_t *events, bool observed);
/* Keeps an instance that is offered once. If `most` are kept it may replace one of their second half. */
void found_keep(struct found_list *l, struct found *f, const uint32_t *events, uint32_t most);
/* Makes the instance the one that represents the anomaly if its rank is higher, or the same and its last event earlier.
 */
void found_represent(struct found *f, const uint32_t *events, enum found_rank rank);
/* Lists one tuple as an anomaly of its own (--every). */
void found_every(struct found_list *l, const struct pattern *pattern, const uint32_t *events, enum found_rank rank);
/* Counts and offers one tuple, or lists it as an anomaly of its own if every one is to be. */
void found_tuple(struct found_list *l, const struct pattern *pattern, const uint32_t *events, bool observed);

/* Makes anomalies of the entries and frees them. */
enum rt_status found_finish(struct found_list *l, struct rt_error *err);

/* The search for races with allocations, which adds its own to those that race_search found. */
void alloc_race_search(struct found_list *l);

#endif
