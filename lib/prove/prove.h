/*
 * Provers, from cheap to expensive: each may raise a predicted anomaly to proved or find that it has no witness. One
 * line a prover in the table of instance.c. Whatever they build goes to the judge (verify.h), without which nothing is
 * `proved`. What has no witness is conditional, and is asked about once more with reads that may see any write:
 * settle.c.
 */
#ifndef LIB_PROVE_PROVE_H
#define LIB_PROVE_PROVE_H

#include "lib/anomaly/anomaly.h"
#include "lib/anomaly/limit.h"
#include "lib/relation/facts.h"

struct prove_options {
	bool guess; /* what stays predicted gets PECAN's schedule, though it is no witness */
};

struct prove_counts {
	uint64_t asked, proved, refuted, conditional, undecided;
	uint64_t with_uncertain;         /* have only a witness with reads whose writer is uncertain */
	uint64_t built[WITNESS_KINDS];   /* schedules that each prover built, those of what is observed included */
	uint64_t refused[WITNESS_KINDS]; /* those of them that the judge refused */
	uint64_t rejected; /* the same of provers that promise witnesses (all but recorded, pecan): errors of theirs */
	uint64_t spent;    /* events executed */
	uint64_t settle_spent;          /* by provers_settle */
	uint64_t pecan_spent;           /* events in PECAN's schedules */
	uint64_t pecan_ns, pecan_asked; /* time that its algorithm took alone, and how often it ran */
	uint64_t free_spent;            /* and in those in which reads see other writes */
	uint64_t judged;                /* events of the schedules of a stamped trace that were judged */
	uint64_t checked;               /* events looked at for what goals need, and replayed by the judge */
	uint64_t shortened;             /* events of the schedules that were to be made shorter */
	uint64_t observed_steps;        /* in schedules of what the recorded run shows */
	uint64_t cut;                   /* number of searches that reached their budget */
	bool exhausted;                 /* the total budget ran out */
	bool settle_exhausted;          /* and that of provers_settle */
	bool pecan_exhausted;           /* and so did PECAN's part */
	bool free_exhausted;            /* and that of schedules in which reads see other writes */
	bool judged_exhausted;          /* and that of the judge */
	bool checked_exhausted;         /* and that of looking and replaying */
	bool shortened_exhausted;       /* and that of making schedules shorter */
	bool observed_exhausted;        /* and that of schedules of what the recorded run shows */
	uint64_t known;                 /* results that were worked out before, by another process or analysis */
	uint64_t instances_cut;         /* anomalies of which not all instances were looked at */
	bool precede_exhausted;         /* and that of provers_precede */
	bool made;                      /* provers were made */
	/* provers_visit: */
	uint64_t states;   /* number visited */
	bool visited, all; /* it was asked; every state was visited, or all that it was asked about was met before */
};

/* What the provers work on; all of it is borrowed and must outlive them. */
struct prove_context {
	struct facts *facts;
	const struct limits *limits;
	bool exact;                        /* the trace's order is */
	bool sync_only;                    /* its plain accesses are missing: then nothing can be proved */
	struct order_result *const *syncp; /* where that order's result will be; while it is NULL it is no prover */
};

struct provers;

/* NULL on failure, err says why. */
struct provers *provers_create(const struct prove_context *context, const struct prove_options *options,
                               struct rt_error *err);
void provers_free(struct provers *p);
/* What each event needs, whatever the reordering; borrowed. A candidate one of whose events needs another has no
 * witness. */
const struct trf *provers_needs(const struct provers *p);

/*
 * Visits every state that the trace's correct reorderings reach (states.h), for the races and deadlocks among the
 * anomalies all at once. provers_decide then knows of each instance what was found. May execute as many events as the
 * total budget says, beside it; what is left open then is for the other provers.
 */
enum rt_status provers_visit(struct provers *p, const struct anomaly_list *list, struct rt_error *err);

/* Notes the pairs of all sequences. provers_precede_now finds for all at once which event may come before which
 * (precede.h), unless it was done: what asks for another order has no witness. To be called before anything is decided
 * here. */
enum rt_status provers_precede(struct provers *p, const struct anomaly_list *list, struct rt_error *err);
void provers_precede_now(struct provers *p);

/*
 * Decides an anomaly: sets verdict, witness, events (of the instance that was proved) and schedule. One that is
 * observed keeps its verdict and gets a schedule. `conditional`: no instance has a witness in which reads see what they
 * saw; that is for provers_settle.
 */
enum rt_status provers_decide(struct provers *p, struct anomaly *a, struct rt_error *err);
/*
 * Asks about a conditional anomaly with reads that may see any write: sets its needs and schedule, or refutes it. It is
 * predicted after all where updates alone, or reads of its own, would have to see other writes. What no schedule was
 * found for within the limits stays conditional, without needs. It has limits of its own, so that no proof goes short:
 * to be called when all anomalies are decided.
 */
enum rt_status provers_settle(struct provers *p, struct anomaly *a, struct rt_error *err);
const struct prove_counts *provers_counts(const struct provers *p);
/*
 * Counts what a copy of these provers did about one anomaly, the next one in order: its counts before and after. False,
 * and nothing is counted, if these provers might have come to another verdict, as less of the total budget is left
 * here.
 */
bool provers_add(struct provers *p, const struct prove_counts *before, const struct prove_counts *after);

#endif
