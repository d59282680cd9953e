/* The judge: wrong schedules of every kind of fault are refused, each with the right reason. */
#include "lib/judge/verify.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>

struct step {
	unsigned thread, op;  /* op: with AGAIN, at the place of all such; with GAP, repeats were left out before it;
	                       * TIMED, SIGNALLED: of a WAIT_END */
	uint64_t object, arg; /* arg: of a join or a SEM_WAIT, its flags */
};

enum { AGAIN = 0x100, GAP = 0x200, TIMED = 0x400, SIGNALLED = 0x800 };
enum { X = 0x1000, Y = 0x2000, L = 1, M, COND, BARRIER, SEM, ONCE, MARK };

#define RD(t, x)                                                                                                       \
	{                                                                                                              \
		t, RT_OP_READ, x, 8                                                                                    \
	}
#define WR(t, x)                                                                                                       \
	{                                                                                                              \
		t, RT_OP_WRITE, x, 8                                                                                   \
	}
#define TRY(t, op, x)                                                                                                  \
	{                                                                                                              \
		t, RT_OP_TRY_FAILED, x, RT_OP_##op                                                                     \
	}
#define OP(t, op, x)                                                                                                   \
	{                                                                                                              \
		t, RT_OP_##op, x, 0                                                                                    \
	}

/* Events are named by number, from 1; 0 ends a list. A schedule's number that the trace lacks is handed on as it is. */
struct example {
	struct step steps[12];
	unsigned schedule[12];
	enum goal_kind kind;
	unsigned goal[4];
	enum verify_fault fault;
};

/* Thread 0 waits for the signal; then its write races with thread 1's. */
#define WAITS(signaller, how)                                                                                          \
	OP(0, ACQUIRE, L), {0, RT_OP_WAIT_BEGIN, COND, L}, OP(signaller, SIGNAL, COND),                                \
	    {0, RT_OP_WAIT_END | (how), COND, L}, WR(0, X), WR(1, X)

/* A third write of the place comes behind what follows the second one; and a third read. */
#define TWICE(kind)                                                                                                    \
	{0, RT_OP_##kind | AGAIN, X, 8},                                                                               \
	{                                                                                                              \
		0, RT_OP_##kind | AGAIN, X, 8                                                                          \
	}
#define LEFT_OUT                                                                                                       \
	{                                                                                                              \
		0, RT_OP_WRITE | GAP, M, 8                                                                             \
	}
#define SEES OP(0, ACQUIRE, L), OP(0, RELEASE, L), OP(1, ACQUIRE, L), OP(1, RELEASE, L), RD(1, X), WR(1, Y), WR(1, M)
#define SETS WR(1, X), WR(1, M), WR(1, Y)

static const struct example examples[] = {
    {{TWICE(WRITE), WR(0, Y), LEFT_OUT, SEES}, {1, 2, 7, 8, 9}, GOAL_RACE, {3, 10}, VERIFY_REPEAT},
    {{TWICE(WRITE), WR(0, Y), WR(0, M), SEES}, {1, 2, 7, 8, 9}, GOAL_RACE, {3, 10}, VERIFY_NONE},
    {{TWICE(WRITE), WR(0, Y), LEFT_OUT, SEES}, {1, 2, 3, 7, 8, 9, 10}, GOAL_RACE, {4, 11}, VERIFY_NONE},
    {{TWICE(WRITE), WR(0, X), WR(0, Y), LEFT_OUT, SEES}, {1, 2, 3, 8, 9, 10}, GOAL_RACE, {4, 11}, VERIFY_REPEAT},
    {{TWICE(READ), WR(0, Y), LEFT_OUT, SETS}, {1, 2, 5, 3}, GOAL_RACE, {4, 6}, VERIFY_REPEAT},
    {{TWICE(READ), WR(0, Y), WR(0, M), SETS}, {1, 2, 5, 3}, GOAL_RACE, {4, 6}, VERIFY_NONE},
    {{TWICE(READ), WR(0, Y), LEFT_OUT, SETS}, {1, 2, 3, 5}, GOAL_RACE, {4, 6}, VERIFY_NONE},
    {{WR(0, X), OP(0, ACQUIRE, L), TRY(1, ACQUIRE, L), WR(1, X), OP(0, RELEASE, L)},
     {0},
     GOAL_RACE,
     {1, 4},
     VERIFY_TRY},
    {{OP(0, ACQUIRE, L), TRY(1, ACQUIRE, L), OP(0, RELEASE, L), WR(0, X), WR(1, X)},
     {1, 3},
     GOAL_RACE,
     {4, 5},
     VERIFY_NONE},
    {{OP(0, ACQUIRE, L), TRY(1, ACQUIRE, L), OP(0, RELEASE, L), WR(1, X), WR(0, X), WR(1, Y), WR(0, Y)},
     {4, 1, 3, 5},
     GOAL_RACE,
     {6, 7},
     VERIFY_TRY},
    {{OP(0, ACQUIRE_SHARED, L), TRY(1, ACQUIRE, L), WR(0, X), WR(1, X)}, {1}, GOAL_RACE, {3, 4}, VERIFY_NONE},
    {{OP(0, ACQUIRE_SHARED, L), TRY(1, ACQUIRE_SHARED, L), WR(0, X), WR(1, X)}, {1}, GOAL_RACE, {3, 4}, VERIFY_TRY},
    {{{0, RT_OP_SEM_INIT, SEM, 1}, OP(0, FORK, 1), WR(0, X), OP(0, SEM_WAIT, SEM), TRY(1, SEM_WAIT, SEM), WR(1, X)},
     {1, 2},
     GOAL_RACE,
     {3, 6},
     VERIFY_TRY},
    {{{0, RT_OP_SEM_INIT, SEM, 0}, TRY(1, SEM_WAIT, SEM), OP(0, SEM_POST, SEM), WR(0, X), WR(1, X)},
     {1, 3},
     GOAL_RACE,
     {4, 5},
     VERIFY_NONE},
    {{OP(0, FORK, 1), OP(0, ACQUIRE, L), TRY(1, ACQUIRE, L), OP(0, RELEASE, L), WR(0, X), WR(1, X)},
     {1, 2, 4},
     GOAL_RACE,
     {5, 6},
     VERIFY_NONE},
    {{OP(0, ACQUIRE, L), OP(0, RELEASE, L), OP(0, FORK, 1), TRY(1, ACQUIRE, L), WR(0, X), WR(1, X)},
     {1, 2, 3},
     GOAL_RACE,
     {5, 6},
     VERIFY_TRY},
    {{OP(2, ACQUIRE, L), OP(0, FORK, 1), TRY(1, ACQUIRE, L), WR(0, X), WR(1, X)},
     {1, 2},
     GOAL_RACE,
     {4, 5},
     VERIFY_NONE},
    {{OP(2, ACQUIRE, L), OP(0, FORK, 1), TRY(1, ACQUIRE, L), OP(2, RELEASE, L), WR(0, X), WR(1, X)},
     {1, 2, 4},
     GOAL_RACE,
     {5, 6},
     VERIFY_NONE},
    {{WR(0, X), WR(1, X)}, {0}, GOAL_RACE, {1, 2}, VERIFY_NONE},
    {{WR(0, X), WR(1, X)}, {99}, GOAL_RACE, {1, 2}, VERIFY_NO_EVENT},
    {{WR(0, Y), WR(0, X), WR(1, X), WR(1, Y)}, {2}, GOAL_RACE, {2, 3}, VERIFY_PROGRAM_ORDER},
    {{OP(0, FORK, 1), WR(0, X), WR(1, X)}, {3}, GOAL_RACE, {2, 3}, VERIFY_NOT_BEGUN},
    {{OP(0, FORK, 1), WR(0, X), WR(1, X)}, {0}, GOAL_RACE, {1, 3}, VERIFY_NOT_BEGUN},
    {{OP(0, FORK, 1), WR(1, X), OP(0, JOIN, 1), WR(0, X)}, {1, 3}, GOAL_RACE, {2, 4}, VERIFY_JOIN_EARLY},
    {{OP(0, ACQUIRE, L), WR(0, X), OP(0, RELEASE, L), OP(1, ACQUIRE, L), WR(1, X), OP(1, RELEASE, L)},
     {1, 4},
     GOAL_RACE,
     {2, 5},
     VERIFY_LOCK_HELD},
    {{OP(0, ACQUIRE_SHARED, L), WR(0, X), OP(0, RELEASE, L), OP(1, ACQUIRE, L), WR(1, X), OP(1, RELEASE, L)},
     {1, 4},
     GOAL_RACE,
     {2, 5},
     VERIFY_LOCK_HELD},
    {{WR(0, X), RD(1, X), WR(1, Y), WR(0, Y)}, {2}, GOAL_RACE, {3, 4}, VERIFY_READS_FROM},
    {{WAITS(1, 0)}, {1, 2, 4}, GOAL_RACE, {5, 6}, VERIFY_NO_SIGNAL},
    /* A timed wait ends by itself, but only with its signal as if it had it. */
    {{WAITS(2, TIMED)}, {1, 2, 4}, GOAL_RACE, {5, 6}, VERIFY_NONE},
    {{WAITS(2, SIGNALLED)}, {1, 2, 4}, GOAL_RACE, {5, 6}, VERIFY_NO_SIGNAL},
    {{WAITS(1, 0)}, {3, 1, 2, 4}, GOAL_RACE, {5, 6}, VERIFY_NO_SIGNAL},
    /* Thread 1 waited first, but it was thread 0 that the one signal woke: thread 1 woke by itself. */
    {{OP(1, ACQUIRE, L),
      {1, RT_OP_WAIT_BEGIN, COND, L},
      OP(0, ACQUIRE, M),
      {0, RT_OP_WAIT_BEGIN, COND, M},
      WR(2, X),
      OP(2, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, M},
      {1, RT_OP_WAIT_END, COND, L},
      WR(1, X)},
     {1, 2, 8},
     GOAL_RACE,
     {5, 9},
     VERIFY_NONE},
    {{OP(1, ACQUIRE, L),
      {1, RT_OP_WAIT_BEGIN, COND, L},
      OP(0, ACQUIRE, M),
      {0, RT_OP_WAIT_BEGIN, COND, M},
      WR(2, X),
      OP(2, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, M},
      {1, RT_OP_WAIT_END, COND, L},
      WR(0, X)},
     {3, 4, 7},
     GOAL_RACE,
     {5, 9},
     VERIFY_NO_SIGNAL},
    {{{0, RT_OP_BARRIER_ARRIVE, BARRIER, 2},
      {1, RT_OP_BARRIER_ARRIVE, BARRIER, 2},
      OP(0, BARRIER_LEAVE, BARRIER),
      OP(1, BARRIER_LEAVE, BARRIER),
      WR(0, X),
      WR(1, X)},
     {1, 3},
     GOAL_RACE,
     {5, 6},
     VERIFY_BARRIER_EARLY},
    {{OP(0, SEM_INIT, SEM), OP(0, SEM_POST, SEM), OP(1, SEM_WAIT, SEM), WR(1, X), WR(0, X)},
     {1, 3},
     GOAL_RACE,
     {4, 5},
     VERIFY_SEMAPHORE_ZERO},
    {{OP(0, ONCE_BEGIN, ONCE), OP(0, ONCE_END, ONCE), OP(1, ONCE_SEEN, ONCE), WR(1, X), WR(0, X)},
     {1, 3},
     GOAL_RACE,
     {4, 5},
     VERIFY_ONCE_EARLY},
    {{OP(0, HB_BEFORE, MARK), OP(1, HB_AFTER, MARK), WR(1, X), WR(0, X)}, {2}, GOAL_RACE, {3, 4}, VERIFY_ANNOTATION},
    {{RD(0, X), RD(0, Y), WR(0, X), WR(1, X), WR(1, Y)}, {4, 1, 2, 3}, GOAL_SEQUENCE, {4, 1, 3}, VERIFY_FROZEN},
    {{RD(0, X), WR(0, X), WR(1, X)}, {1, 3}, GOAL_SEQUENCE, {1, 3, 2}, VERIFY_GOAL_MISSED},
    {{RD(0, X), WR(0, X), WR(1, X)}, {1, 3, 2}, GOAL_SEQUENCE, {1, 3, 2}, VERIFY_NONE},
    {{RD(0, X), WR(0, X), WR(1, X)}, {1, 2, 3}, GOAL_SEQUENCE, {1, 3, 2}, VERIFY_GOAL_ORDER},
    {{WR(0, Y), WR(0, X), WR(1, X), WR(1, Y)}, {0}, GOAL_RACE, {2, 3}, VERIFY_GOAL_NOT_NEXT},
    {{RD(0, X), RD(1, X), WR(1, X)}, {0}, GOAL_RACE, {1, 2}, VERIFY_GOAL_NO_CONFLICT},
    {{OP(0, ACQUIRE, L), OP(0, ACQUIRE, M), OP(0, RELEASE, M), OP(0, RELEASE, L), OP(1, ACQUIRE, M), OP(1, ACQUIRE, L)},
     {1, 5},
     GOAL_DEADLOCK,
     {2, 6},
     VERIFY_NONE},
    {{OP(0, ACQUIRE, L), OP(0, ACQUIRE, M), OP(0, RELEASE, M), OP(0, RELEASE, L), OP(1, ACQUIRE, M), OP(1, ACQUIRE, L)},
     {1},
     GOAL_DEADLOCK,
     {2, 5},
     VERIFY_GOAL_NOT_BLOCKED},
    /* Readers do not block one another, nor does a thread block itself; and nobody waits for a mutex before its signal.
     */
    {{OP(0, ACQUIRE_SHARED, L), OP(0, ACQUIRE_SHARED, M), OP(0, RELEASE, M), OP(0, RELEASE, L),
      OP(1, ACQUIRE_SHARED, M), OP(1, ACQUIRE_SHARED, L)},
     {1, 5},
     GOAL_DEADLOCK,
     {2, 6},
     VERIFY_GOAL_NOT_BLOCKED},
    {{OP(0, ACQUIRE, L), OP(0, ACQUIRE, M)}, {1}, GOAL_DEADLOCK, {2}, VERIFY_GOAL_NOT_BLOCKED},
    {{OP(0, ACQUIRE, M),
      OP(0, ACQUIRE, L),
      {0, RT_OP_WAIT_BEGIN, COND, L},
      OP(2, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, L},
      OP(0, RELEASE, L),
      OP(0, RELEASE, M),
      OP(1, ACQUIRE, L),
      OP(1, ACQUIRE, M)},
     {1, 2, 3, 8},
     GOAL_DEADLOCK,
     {5, 9},
     VERIFY_NO_SIGNAL},
    {{OP(0, ACQUIRE, M),
      OP(0, ACQUIRE, L),
      {0, RT_OP_WAIT_BEGIN, COND, L},
      OP(2, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, L},
      OP(0, RELEASE, L),
      OP(0, RELEASE, M),
      OP(1, ACQUIRE, L),
      OP(1, ACQUIRE, M)},
     {1, 2, 3, 4, 8},
     GOAL_DEADLOCK,
     {5, 9},
     VERIFY_NONE},
    /* A join waits for the thread that has an event left before it, and for no other; not if it may give up. */
    {{OP(0, FORK, 1), OP(1, ACQUIRE, L), OP(1, RELEASE, L), OP(0, ACQUIRE, L), OP(0, JOIN, 1)},
     {1, 4},
     GOAL_DEADLOCK,
     {2, 5},
     VERIFY_NONE},
    {{OP(0, FORK, 1), OP(1, ACQUIRE, L), OP(1, RELEASE, L), OP(0, ACQUIRE, L), OP(0, JOIN, 1)},
     {1, 2, 3, 4},
     GOAL_DEADLOCK,
     {2, 5},
     VERIFY_GOAL_NOT_NEXT},
    {{OP(0, FORK, 1), OP(1, ACQUIRE, L), OP(1, RELEASE, L), OP(0, ACQUIRE, L), {0, RT_OP_JOIN, 1, RT_F_TIMED}},
     {1, 4},
     GOAL_DEADLOCK,
     {2, 5},
     VERIFY_GOAL_NOT_BLOCKED},
    {{OP(0, FORK, 2), OP(1, ACQUIRE, L), OP(1, RELEASE, L), OP(2, ACQUIRE, M), OP(0, ACQUIRE, L), OP(0, JOIN, 2)},
     {1, 5},
     GOAL_DEADLOCK,
     {2, 6},
     VERIFY_GOAL_NOT_BLOCKED},
    {{OP(0, FORK, 1), OP(0, ACQUIRE, L), OP(0, JOIN, 1), OP(0, RELEASE, L), OP(1, ACQUIRE, L)},
     {1, 2},
     GOAL_DEADLOCK,
     {3, 5},
     VERIFY_GOAL_NOT_BLOCKED},
    /* A semaphore waits for the thread that took it, or will post it; for none that only takes it first, too. */
    {{{0, RT_OP_SEM_INIT, SEM, 1},
      OP(0, ACQUIRE, L),
      OP(0, SEM_WAIT, SEM),
      OP(0, SEM_POST, SEM),
      OP(0, RELEASE, L),
      OP(1, SEM_WAIT, SEM),
      OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(1, SEM_POST, SEM),
      OP(2, SEM_WAIT, SEM),
      OP(2, SEM_POST, SEM)},
     {1, 2, 6},
     GOAL_DEADLOCK,
     {3, 7},
     VERIFY_NONE},
    {{{0, RT_OP_SEM_INIT, SEM, 1},
      OP(0, ACQUIRE, L),
      OP(0, SEM_WAIT, SEM),
      OP(0, SEM_POST, SEM),
      OP(0, RELEASE, L),
      OP(1, SEM_WAIT, SEM),
      OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(1, SEM_POST, SEM),
      OP(2, SEM_POST, SEM),
      OP(2, SEM_WAIT, SEM)},
     {1, 2, 6},
     GOAL_DEADLOCK,
     {3, 7},
     VERIFY_GOAL_NOT_BLOCKED},
    {{{0, RT_OP_SEM_INIT, SEM, 2},
      OP(0, ACQUIRE, L),
      OP(0, SEM_WAIT, SEM),
      OP(0, SEM_POST, SEM),
      OP(0, RELEASE, L),
      OP(1, SEM_WAIT, SEM),
      OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(1, SEM_POST, SEM)},
     {1, 2, 6},
     GOAL_DEADLOCK,
     {3, 7},
     VERIFY_GOAL_NOT_BLOCKED},
    {{OP(0, ACQUIRE, L), OP(0, SEM_WAIT, SEM), OP(0, SEM_POST, SEM), OP(0, RELEASE, L), OP(1, SEM_WAIT, SEM),
      OP(1, ACQUIRE, L), OP(1, RELEASE, L), OP(1, SEM_POST, SEM)},
     {1, 5},
     GOAL_DEADLOCK,
     {2, 6},
     VERIFY_GOAL_NOT_BLOCKED},
    {{{0, RT_OP_SEM_INIT, SEM, 1},
      OP(0, ACQUIRE, L),
      {0, RT_OP_SEM_WAIT, SEM, RT_F_TIMED},
      OP(0, SEM_POST, SEM),
      OP(0, RELEASE, L),
      OP(1, SEM_WAIT, SEM),
      OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(1, SEM_POST, SEM)},
     {1, 2, 6},
     GOAL_DEADLOCK,
     {3, 7},
     VERIFY_GOAL_NOT_BLOCKED},
    {{{0, RT_OP_SEM_INIT, SEM, 0},
      OP(1, ACQUIRE, L),
      OP(1, SEM_POST, SEM),
      OP(1, RELEASE, L),
      OP(0, ACQUIRE, L),
      OP(0, SEM_WAIT, SEM)},
     {1, 5},
     GOAL_DEADLOCK,
     {2, 6},
     VERIFY_NONE},
    /* A once-routine waits for the thread that runs it, not for one that has left it by an exception. */
    {{OP(1, ONCE_BEGIN, ONCE), OP(1, ACQUIRE, L), OP(1, RELEASE, L), OP(1, ONCE_END, ONCE), OP(0, ACQUIRE, L),
      OP(0, ONCE_SEEN, ONCE)},
     {1, 5},
     GOAL_DEADLOCK,
     {2, 6},
     VERIFY_NONE},
    {{OP(1, ONCE_BEGIN, ONCE), OP(1, HB_BEFORE, ONCE), OP(1, ACQUIRE, L), OP(1, RELEASE, L), OP(0, ACQUIRE, L),
      OP(0, ONCE_SEEN, ONCE)},
     {1, 2, 5},
     GOAL_DEADLOCK,
     {3, 6},
     VERIFY_GOAL_NOT_BLOCKED},
    /* So does a look at the guard of a static local. */
    {{OP(1, ONCE_BEGIN, ONCE),
      OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(1, ONCE_END, ONCE),
      {1, RT_OP_ATOMIC_STORE, ONCE, 1},
      OP(0, ACQUIRE, L),
      {0, RT_OP_ATOMIC_LOAD, ONCE, 1}},
     {1, 6},
     GOAL_DEADLOCK,
     {2, 7},
     VERIFY_NONE},
    {{OP(1, ONCE_BEGIN, ONCE),
      OP(1, ONCE_END, ONCE),
      {1, RT_OP_ATOMIC_STORE, ONCE, 1},
      OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(0, ACQUIRE, L),
      {0, RT_OP_ATOMIC_LOAD, ONCE, 1}},
     {1, 2, 3, 6},
     GOAL_DEADLOCK,
     {4, 7},
     VERIFY_GOAL_NOT_BLOCKED},
    /* A wait that is not signalled waits for the thread that is to signal, if no signal came since it began and no
     * other thread may send one. */
    {{OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(0, ACQUIRE, L),
      OP(0, ACQUIRE, M),
      {0, RT_OP_WAIT_BEGIN, COND, M},
      OP(1, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, M}},
     {3, 4, 5},
     GOAL_DEADLOCK,
     {1, 7},
     VERIFY_NONE},
    {{OP(0, ACQUIRE, L),
      OP(0, ACQUIRE, M),
      {0, RT_OP_WAIT_BEGIN, COND, M},
      OP(1, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, M},
      OP(0, RELEASE, L),
      OP(1, ACQUIRE, L),
      OP(1, SIGNAL, COND)},
     {1, 2, 3, 4},
     GOAL_DEADLOCK,
     {5, 7},
     VERIFY_GOAL_NOT_BLOCKED},
    {{OP(0, ACQUIRE, L),
      OP(0, ACQUIRE, M),
      {0, RT_OP_WAIT_BEGIN, COND, M},
      OP(1, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, M},
      OP(0, RELEASE, L),
      OP(1, ACQUIRE, L),
      OP(1, SIGNAL, COND)},
     {4, 1, 2, 3},
     GOAL_DEADLOCK,
     {5, 7},
     VERIFY_NONE},
    {{OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      OP(0, ACQUIRE, L),
      OP(0, ACQUIRE, M),
      {0, RT_OP_WAIT_BEGIN, COND, M},
      OP(1, SIGNAL, COND),
      {0, RT_OP_WAIT_END, COND, M},
      OP(2, BROADCAST, COND)},
     {3, 4, 5},
     GOAL_DEADLOCK,
     {1, 7},
     VERIFY_GOAL_NOT_BLOCKED},
    /* A barrier waits for the parties that have not come, if no other thread may come instead. */
    {{OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      {1, RT_OP_BARRIER_ARRIVE, BARRIER, 2},
      OP(0, ACQUIRE, L),
      {0, RT_OP_BARRIER_ARRIVE, BARRIER, 2},
      OP(0, BARRIER_LEAVE, BARRIER)},
     {4, 5},
     GOAL_DEADLOCK,
     {1, 6},
     VERIFY_NONE},
    {{OP(1, ACQUIRE, L),
      OP(1, RELEASE, L),
      {1, RT_OP_BARRIER_ARRIVE, BARRIER, 2},
      OP(0, ACQUIRE, L),
      {0, RT_OP_BARRIER_ARRIVE, BARRIER, 2},
      OP(0, BARRIER_LEAVE, BARRIER),
      {2, RT_OP_BARRIER_ARRIVE, BARRIER, 2}},
     {4, 5},
     GOAL_DEADLOCK,
     {1, 6},
     VERIFY_GOAL_NOT_BLOCKED},
    /* A race has two events, in different threads, that do not both synchronise; a sequence ends with its last event.
     */
    {{WR(0, X), WR(1, X), WR(2, X)}, {0}, GOAL_RACE, {1, 2, 3}, VERIFY_GOAL_MISSED},
    {{WR(0, X), WR(1, X)}, {0}, GOAL_RACE, {1}, VERIFY_GOAL_MISSED},
    {{WR(0, X), WR(0, X), WR(1, X)}, {0}, GOAL_RACE, {1, 1}, VERIFY_GOAL_NO_CONFLICT},
    {{{0, RT_OP_ATOMIC_STORE, X, 8}, {1, RT_OP_ATOMIC_STORE, X, 8}}, {0}, GOAL_RACE, {1, 2}, VERIFY_GOAL_NO_CONFLICT},
    {{WR(0, X), WR(1, Y), WR(0, Y), WR(1, X)}, {0}, GOAL_RACE, {1, 2}, VERIFY_GOAL_NO_CONFLICT},
    {{RD(0, X), WR(0, X), WR(1, X), RD(1, Y), WR(2, Y)}, {1, 3, 2, 4}, GOAL_SEQUENCE, {1, 3, 2}, VERIFY_GOAL_MISSED},
};

static uint32_t event_of(const struct model *m, unsigned number)
{
	for (uint32_t e = 0; e < m->event_count; e++)
		if (m->events[e].number == number)
			return e;
	return MODEL_NONE;
}

static bool push(struct schedule *s, const struct model *m, unsigned number)
{
	uint32_t e = event_of(m, number);
	if (e != MODEL_NONE)
		return schedule_push(s, m, e);
	s->steps = malloc(sizeof *s->steps);
	s->steps[0] = (struct schedule_step){0, number, number};
	s->count = 1;
	return true;
}

START_TEST(a_schedule_is_judged_by_the_definition)
{
	const struct example *x = &examples[_i];
	struct rt_event events[12] = {{0}};
	size_t count = 0;
	for (; count < 12 && x->steps[count].op; count++)
		events[count] =
		    (struct rt_event){.number = count + 1,
		                      .addr = x->steps[count].object,
		                      .arg = x->steps[count].arg,
		                      .pc = x->steps[count].op & AGAIN ? UINT16_MAX : count + 1,
		                      .gap = x->steps[count].op & GAP,
		                      .thread = x->steps[count].thread,
		                      .op = x->steps[count].op & (AGAIN - 1),
		                      .flags = x->steps[count].op == RT_OP_JOIN || x->steps[count].op == RT_OP_SEM_WAIT
		                                   ? (uint8_t)x->steps[count].arg
		                               : x->steps[count].op & SIGNALLED ? RT_F_TIMED | RT_F_SIGNALLED
		                               : x->steps[count].op & TIMED     ? RT_F_TIMED
		                                                                : 0};
	struct memory_trace memory;
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct model *m;
	struct rt_error err = {0};
	ck_assert_int_eq(model_load(memory_trace(&memory, events, count, 3), &options, &m, &err), RT_OK);
	struct schedule s = {0};
	for (int i = 0; i < 12 && x->schedule[i]; i++)
		ck_assert(push(&s, m, x->schedule[i]));
	struct goal goal = {.kind = x->kind};
	for (; goal.count < 4 && x->goal[goal.count]; goal.count++)
		goal.events[goal.count] = event_of(m, x->goal[goal.count]);
	struct judge *judge = judge_create(m);
	struct verdict_of_judge v;
	ck_assert_ptr_nonnull(judge);
	judge_verify(judge, &s, &goal, &v);
	if (!v.fault && !judge_tries_fail(judge, &s, &goal))
		v.fault = VERIFY_TRY;
	else if (!v.fault && !judge_repeats_hold(judge, &s, &goal))
		v.fault = VERIFY_REPEAT;
	ck_assert_msg(v.fault == x->fault, "example %d: '%s', not '%s'", _i, verify_fault_text(v.fault),
	              verify_fault_text(x->fault));
	schedule_release(&s);
	judge_free(judge);
	model_free(m);
}
END_TEST

/* There is no such trace: the loader keeps no event of a never kept operation. */
START_TEST(an_operation_without_a_rule_is_an_error_of_the_program_and_no_witness)
{
	static const struct rt_event events[] = {
	    {.number = 1, .op = RT_OP_SIGNAL, .addr = 1, .thread = 0},
	    {.number = 2, .op = RT_OP_WRITE, .addr = X, .arg = 8, .thread = 0},
	    {.number = 3, .op = RT_OP_WRITE, .addr = X, .arg = 8, .thread = 1},
	};
	struct memory_trace memory;
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct model *m;
	struct rt_error err = {0};
	ck_assert_int_eq(model_load(memory_trace(&memory, events, 3, 2), &options, &m, &err), RT_OK);
	struct judge *judge = judge_create(m);
	ck_assert_uint_eq(judge_without_rule(judge), MODEL_NONE);
	judge_free(judge);
	m->sites[m->events[0].site].op = RT_OP_BENIGN;
	judge = judge_create(m);
	ck_assert_uint_eq(judge_without_rule(judge), 0);
	ck_assert_int_eq(judge_error(m, 0, &err), RT_EINTERNAL);
	ck_assert_ptr_nonnull(strstr(err.message, "'benign' (event 1)"));
	struct schedule s = {0};
	struct verdict_of_judge v;
	ck_assert(schedule_push(&s, m, 0));
	judge_verify(judge, &s, &(struct goal){.kind = GOAL_RACE, .count = 2, .events = {1, 2}}, &v);
	ck_assert_int_eq(v.fault, VERIFY_NO_RULE);
	schedule_release(&s);
	judge_free(judge);
	model_free(m);
}
END_TEST

START_TEST(every_reason_to_refuse_has_an_example)
{
	static const enum verify_fault faults[] = {
#define X(name, text) VERIFY_##name,
	    VERIFY_FAULTS(X)
#undef X
	};
	for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
		bool there = faults[f] == VERIFY_NO_RULE; /* the test above */
		for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
			there |= examples[i].fault == faults[f];
		ck_assert_msg(there, "there is no example of '%s'", verify_fault_text(faults[f]));
	}
}
END_TEST

SUITE(judge)
{
	Suite *s = suite_create("judge");
	TCase *c = tcase_create("faults");
	tcase_add_loop_test(c, a_schedule_is_judged_by_the_definition, 0, (int)(sizeof examples / sizeof *examples));
	tcase_add_test(c, an_operation_without_a_rule_is_an_error_of_the_program_and_no_witness);
	tcase_add_test(c, every_reason_to_refuse_has_an_example);
	suite_add_tcase(s, c);
	return s;
}
