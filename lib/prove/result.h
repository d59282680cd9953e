/* What the provers found of an anomaly, as bytes: it comes from a process beside this one, or from a file of a part. */
#ifndef LIB_PROVE_RESULT_H
#define LIB_PROVE_RESULT_H

#include "lib/prove/prove.h"

struct result {
	enum verdict verdict;
	enum witness_kind witness;
	uint32_t events[ANOMALY_EVENTS_MAX];
	uint32_t uncertain, first_uncertain, substitutes, substitute, left_out;
	uint32_t reasons;                  /* bit i: enum reason i applies */
	uint64_t looked, instances;        /* of REASON_INSTANCES */
	uint32_t guess;                    /* enum verify_fault; 0: it has none */
	uint32_t scheduled;                /* 1: it has a schedule, which follows */
	uint32_t steps, needs, need_total; /* their number */
	uint64_t step_bytes;               /* that the steps take */
	uint64_t schedule_events;
	struct prove_counts before, after; /* of the provers that decided it */
	struct schedule *schedule;         /* owned; NULL when written */
	uint32_t *need_events;             /* owned; NULL when written */
};

/* Its result as *size bytes; the caller's to free. NULL without memory. */
void *result_pack(const struct anomaly *a, const struct prove_counts *before, const struct prove_counts *after,
                  uint64_t *size);
/* False if the file cannot be written. */
bool result_write(int fd, const struct anomaly *a, const struct prove_counts *before, const struct prove_counts *after);
/* False, and nothing is the caller's, at the end of the file, without memory, or if it is of no event of the model. */
bool result_read(int fd, const struct model *m, struct result *r);
/* Gives the anomaly, as it was before it was decided, the result, which is empty then. */
void result_apply(struct result *r, struct anomaly *a);
void result_release(struct result *r);

#endif
