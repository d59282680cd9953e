/* What a search for patterns has found so far: one entry for each pattern at each tuple of source positions. */
#ifndef LIB_SEARCH_FOUND_H
#define LIB_SEARCH_FOUND_H

#include "lib/anomaly/pattern.h"
#include "lib/search/search.h"

/*
 * Instances that are kept of an anomaly, for the provers: where one cannot happen, another may; and it is refuted only
 * if all of them are. Once all anomalies together have FOUND_ALL and one for each event, FOUND_FEW of each that has no
 * more yet.
 */
enum { FOUND_INSTANCES = 2000, FOUND_FEW = 12, FOUND_ALL = 1 << 20 };

struct found;
struct found_cut;
struct found_list {
	const struct search_context *context; /* borrowed */
	struct anomaly_list *list;            /* borrowed */
	struct found *entries;
	uint32_t kept;     /* instances of all entries */
	uint64_t excluded; /* tuples of all that were ruled out */
	struct found_cut *cuts;
	uint64_t unfolded; /* tuples that --every listed */
	bool full;         /* failed, since as many are listed as may be */
	bool failed;       /* no memory, or too many tuples to list */
};

/* The entry of these events' source positions; NULL without memory, and if there are SEARCH_ANOMALIES
 * already, which is noted among the limits. */
struct found *found_entry(struct found_list *l, const struct pattern *pattern, const uint32_t *events);
/* Counts tuples of an entry. */
void found_count(struct found *f, uint64_t tuples);
/* Not all of its tuples are offered, or looked for. */
void found_partial(struct found *f);
/* The same of every entry with an access at this site. */
void found_cut(struct found_list *l, uint32_t site);
/* Has it as many instances as are kept, or were as many offered as are looked at? More may be offered, such as are
 * likely to be possible or spread over the trace: they may take the places of others. */
bool found_full(const struct found_list *l, const struct found *f);
/* Offers an instance. observed: the recorded run itself shows it. The same one may be offered again. One of whose
 * events one needs another that is to come after it is ruled out: counted, but for a few not kept. */
void found_offer(struct found_list *l, struct found *f, const uint32_t *events, bool observed);
/* Lists one tuple as an anomaly of its own. */
void found_every(struct found_list *l, const struct pattern *pattern, const uint32_t *events, bool observed);

/* Makes anomalies of the entries and frees them. */
enum rt_status found_finish(struct found_list *l, struct rt_error *err);

#endif
