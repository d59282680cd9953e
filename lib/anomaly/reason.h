/* Why an anomaly is only predicted: the reasons that an anomaly carries, and their texts. */
#ifndef LIB_ANOMALY_REASON_H
#define LIB_ANOMALY_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reason {
	REASON_BUDGET,            /* a search reached its budget */
	REASON_INSTANCES,         /* not every instance was examined */
	REASON_RACY_READ,         /* the schedule depends on a read whose writer only time stamps tell */
	REASON_VALUES,            /* other writes of the values that reads saw may allow it */
	REASON_UPDATES,           /* updates on which nothing depends would have to see other writes */
	REASON_WINDOW,            /* more events lie between its own than the search examines */
	REASON_SYNC_ONLY,         /* the program was not instrumented */
	REASON_ALLOCATION,        /* the use comes after the allocation in every run */
	REASON_UNRECORDED_THREAD, /* an unrecorded thread may order it */
	REASON_UNKNOWN_CALL,      /* a call whose orders are not understood may order it */
	REASON_HIDDEN_ATOMIC,     /* an atomic instruction of a function, the detail, may order it */
	REASON_PLAIN_MODULE,      /* an uninstrumented module, the detail, may order it */
	REASON_BARE_ACCESS,       /* an access without a hook, in the function that is the detail, may decide it */
	REASON_MACHINE_CODE,      /* of machine code, whose accesses may be atomic */
	REASON_MACHINE_ORDER,     /* the same: others of them may order it */
	REASON_UNGUARDED,         /* the lock of its critical section does not guard the variable */
	REASON_PARTS,             /* its only schedule stops a thread inside a call on a synchronisation object */
	REASON_OBJECTS,           /* accesses of objects that keep the ownership rule are left out */
	REASON_CHECKS,            /* checks of the same variable would have to see other writes */
	REASON_OWN_READ,          /* a read of its own would see another value right before its thread's next event */
	REASON_WINDOWED,          /* the trace was analyzed by windows: other events were not examined */
	REASON_UNKNOWN_ORDER,     /* a call that comes after all that other threads did may order it */
	REASON_REPEATS,           /* accesses that were left out would read or leave something else in the schedule */
	REASON_FAILED_TRY,        /* what a thread could not take would be free in the schedule */
	REASON_START,             /* the trace begins in the middle of the run */
	REASON_OTHERS,            /* every instance that was examined is refuted */
	REASONS
};

enum { REASON_TEXT_MAX = 512 };

/* A zeroed struct has no reason. */
struct reasons {
	uint32_t set;                 /* bit i: enum reason i applies */
	bool capped;                  /* some of them limit the verdict to `predicted`; see anomaly_cap */
	const char *details[REASONS]; /* borrowed; NULL: none */
	uint64_t looked, instances;   /* of REASON_INSTANCES: number examined, and in all */
};

static inline void reasons_add(struct reasons *r, enum reason reason)
{
	r->set |= UINT32_C(1) << reason;
}
static inline bool reasons_has(const struct reasons *r, enum reason reason)
{
	return r->set >> reason & 1;
}

const char *reason_name(enum reason reason); /* "hidden-atomic", as in the JSON report */
/* Writes a reason as part of a sentence, such as "33 of 2000 instances were looked at". */
void reason_text(const struct reasons *r, enum reason reason, char text[REASON_TEXT_MAX]);
/* The text of the next reason, if there is one. *next is 0 at first. */
bool reasons_next(const struct reasons *r, int *next, char text[REASON_TEXT_MAX]);
enum { REASONS_TEXT_MAX = REASONS * (REASON_TEXT_MAX + 2) };
/* The texts of all reasons, with "; " between them. */
void reasons_text(const struct reasons *r, char text[REASONS_TEXT_MAX]);

#endif
