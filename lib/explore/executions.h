/*
 * Systematic search of all executions of a small program without storing its states: an execution is repeated up to a
 * state by the choices that led there. In each state all pending accesses are looked at; two that conflict are a race
 * (Kulikov, Shafiei, van Breugel, Visser, "Detecting Data Races with Java PathFinder", 2010, theorem 1).
 *
 * A state is known by the hash of its happens-before order: each thread's steps, with what they depend on. Executions
 * that differ in the order of independent steps alone come to one state.
 */
#ifndef LIB_EXPLORE_EXECUTIONS_H
#define LIB_EXPLORE_EXECUTIONS_H

#include "lib/base/error.h"
#include "tracefmt/search.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * At which steps another thread may go on. NONE: all but accesses to the thread's own stack that no other thread
 * accesses. PARTIAL: those that are visible to others: synchronisation, and accesses of what several threads access;
 * theorem 1 still holds. FULL: of these accesses only those of variables that no lock has protected so far; races may
 * be missed.
 */
enum executions_reduction { EXECUTIONS_NONE, EXECUTIONS_PARTIAL, EXECUTIONS_FULL, EXECUTIONS_REDUCTIONS };
enum executions_order { EXECUTIONS_DFS, EXECUTIONS_BFS, EXECUTIONS_RANDOM, EXECUTIONS_ORDERS };
const char *executions_reduction_name(enum executions_reduction r); /* "none" */
const char *executions_order_name(enum executions_order o);         /* "dfs" */

struct executions_options {
	enum executions_reduction reduction;
	enum executions_order order;
	uint32_t preemptions; /* at most, in an execution; UINT32_MAX: any number */
	uint64_t seed;        /* of EXECUTIONS_RANDOM */
};

struct executions_race {
	uint64_t pcs[2];
};

struct executions_counts {
	uint64_t executions;
	uint64_t states, transitions; /* of the last round: a round ends when a position turns out to be shared */
	/* Executions that did not take their choices, or had too many steps or threads or too wide accesses. */
	uint64_t diverged, overflows;
	bool bounded; /* the bound of preemptions has kept the search from a state */
};

struct executions;

/* On RT_OK *out is the caller's. */
enum rt_status executions_create(const struct executions_options *options, struct executions **out,
                                 struct rt_error *err);
/* NULL is allowed. */
void executions_free(struct executions *s);

/*
 * The choices of an execution to be made: threads, borrowed until the next call. *shows: it is made for a race, whose
 * two accesses it has one right after the other. False: there is none; if none is under way, all executions are known.
 */
bool executions_next(struct executions *s, const uint8_t **choices, uint32_t *count, bool *shows);
/* Takes in an execution that was to take `count` choices. *fresh: number of races that no execution before showed. */
enum rt_status executions_take(struct executions *s, uint32_t count, const struct rt_search_record *records, size_t n,
                               uint32_t *fresh, struct rt_error *err);
/* Adds one that is to be made: also again, as executions_next gave it. The choices are copied. False without memory. */
bool executions_add(struct executions *s, const uint8_t *choices, uint32_t count, bool shows);
/* An execution whose records are not whole is of no use. */
void executions_fail(struct executions *s, bool diverged);

/* True if each is made or under way. */
bool executions_are_all(const struct executions *s);

const struct executions_counts *executions_counts(const struct executions *s);
/* Borrowed. */
const struct executions_race *executions_races(const struct executions *s, size_t *count);

#endif
