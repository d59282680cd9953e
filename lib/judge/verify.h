/*
 * The judge: replays a schedule against the definition of a correct reordering, event by event, and decides whether it
 * reaches its goal. It shares nothing with the provers but the trace model: it determines itself what each read saw,
 * which release ends which acquire, which signal woke which wait. Linear in the schedule. A schedule that begins with
 * the trace's own events in their order is replayed from a saved state.
 *
 * Correct reordering: each thread's events are a prefix of its events in the trace. A lock is held by one thread at a
 * time; readers share. A fork comes before the child's first event, all the child's events before the join. Every read
 * sees, cell by cell, the write that it saw, or the initial value if it saw that. Untimed waits end after their signal,
 * and barriers are left after all of the round arrived. Semaphores do not go below zero. Once-routines end before they
 * are seen done. Happens-before annotations are kept. The goal's own events may see another writer. A thread whose goal
 * event did so runs no further, unless its next event is the goal's next. In a recorded program it does not even then,
 * since the program may do something else. Where values are recorded, a read may also see another write of the value
 * that it saw (lib/trace/values.h). The read of an update of which the machine code shows that nothing else depends on
 * it may see any write. What it leaves is then another value than in the trace (lib/trace/updates.c).
 */
#ifndef LIB_JUDGE_VERIFY_H
#define LIB_JUDGE_VERIFY_H

#include "lib/anomaly/goal.h"

#define VERIFY_FAULTS(X)                                                                                               \
	X(NONE, "the schedule is a witness")                                                                           \
	X(NO_EVENT, "there is no such event")                                                                          \
	X(PROGRAM_ORDER, "the event is not its thread's next")                                                         \
	X(NOT_BEGUN, "the thread has not been created at this point")                                                  \
	X(JOIN_EARLY, "the thread that is joined has events left")                                                     \
	X(LOCK_HELD, "the lock is held by another thread")                                                             \
	X(READS_FROM, "the read sees another write than in the trace")                                                 \
	X(NO_SIGNAL, "the wait ends before its signal")                                                                \
	X(BARRIER_EARLY, "the barrier is left before all have arrived")                                                \
	X(SEMAPHORE_ZERO, "the semaphore has nothing to take")                                                         \
	X(ONCE_EARLY, "the once-routine is seen done before its end")                                                  \
	X(ANNOTATION, "an annotated happens-before is broken")                                                         \
	X(FROZEN, "the thread's goal event saw another write: it may not run further")                                 \
	X(GOAL_MISSED, "the goal is not reached")                                                                      \
	X(GOAL_NOT_NEXT, "a goal event is not its thread's next")                                                      \
	X(GOAL_NO_CONFLICT, "the goal's events do not conflict")                                                       \
	X(GOAL_ORDER, "the goal's events occur in another order")                                                      \
	X(GOAL_NOT_BLOCKED, "a goal event is not blocked by another thread of the goal")                               \
	X(REPEAT, "an access that repeats others, and was left out, may read or leave something else")                 \
	X(TRY, "a try fails though nobody holds what it tries to take")                                                \
	X(NO_RULE, "the judge has no rule for the operation")

enum verify_fault {
#define X(name, text) VERIFY_##name,
	VERIFY_FAULTS(X)
#undef X
};

struct verdict_of_judge {
	enum verify_fault fault;
	uint64_t step;  /* number of events replayed before the fault */
	uint32_t event; /* the event that breaks a rule; MODEL_NONE if there is none */
	uint32_t
	    other; /* the event that it conflicts with (the lock's holder, the write that is seen), or MODEL_NONE */
	uint32_t substitutes; /* reads that see another write, of the same value */
	uint32_t substitute;  /* the first of them; MODEL_NONE if there is none */
	uint32_t updates;     /* cells of updates' reads that see another value */
	uint64_t replays;     /* number of the schedule's events that no replay of the trace itself has */
};

struct judge;

/* Prepares to judge schedules of a model, in one forward pass. NULL without memory. The model must outlive it. */
struct judge *judge_create(const struct model *m);
void judge_free(struct judge *j);
/* An event whose operation the judge has no rule for, which is an error of this program; MODEL_NONE: there is none. */
uint32_t judge_without_rule(const struct judge *j);
/* Sets the error about such an event; returns its status. */
enum rt_status judge_error(const struct model *m, uint32_t e, struct rt_error *err);

/* Judges one schedule; v->fault is VERIFY_NONE exactly when it is a witness for the goal. */
void judge_verify(struct judge *j, const struct schedule *s, const struct goal *goal, struct verdict_of_judge *v);

/*
 * Tries of locks and semaphores that failed in the trace. True if each that fails in the schedule, or right before its
 * goal, can fail there. Also false without memory. judge_verify does not ask this.
 */
bool judge_tries_fail(const struct judge *j, const struct schedule *s, const struct goal *goal);

/*
 * Accesses that the recorder left out, as they repeat others. True if each occurs in the schedule where it reads and
 * leaves what it did. Also false without memory. judge_verify does not ask this.
 */
bool judge_repeats_hold(const struct judge *j, const struct schedule *s, const struct goal *goal);
/* Both: what is no event of the trace may be as it was. */
static inline bool judge_admits(const struct judge *j, const struct schedule *s, const struct goal *goal)
{
	return judge_tries_fail(j, s, goal) && judge_repeats_hold(j, s, goal);
}

/*
 * judge_verify for a witness in which reads may see other writes: each read may see any write, but an acquiring atomic
 * comes after the releasing one that it saw. *others (zeroed and owned by the caller) gets the reads that see
 * another write, of another value, than in the trace, in the schedule's order; goal events only if their threads run
 * on.
 */
struct judge_reads {
	uint32_t *events;
	uint32_t count, capacity;
	bool failed; /* no memory: some reads are missing */
};
void judge_verify_free(struct judge *j, const struct schedule *s, const struct goal *goal, struct verdict_of_judge *v,
                       struct judge_reads *others);

/*
 * Raises the anomaly's verdict to `proved`, if its schedule is a witness for its own events that depends on no read
 * whose writer is uncertain, and nothing holds it to less. False if not; the verdict stays. A schedule that was judged
 * last is not replayed again.
 */
bool judge_prove(struct judge *j, struct anomaly *a);

const char *verify_fault_text(enum verify_fault fault);

#endif
