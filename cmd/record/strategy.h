/* What `racetrace record` says to a strategy of the controlled scheduler: its aims. */
#ifndef CMD_RECORD_STRATEGY_H
#define CMD_RECORD_STRATEGY_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct argp_state;
struct rt_place;

/* The options --strategy, --pattern, --at, --depth and --learn. */
struct strategy_options {
	const char *name;    /* NULL: random */
	const char *pattern; /* NULL: race */
	struct rt_place *places;
	uint32_t place_count;
	bool everywhere; /* --at=all */
	uint32_t depth;  /* 0: the strategy's own choice */
	const char **learn;
	uint32_t learn_count;
};

/* The name of the strategy that leaves the threads to the system. */
#define STRATEGY_NATIVE "native"

/* Each stores an option's argument; a wrong one ends the program with a message. */
void strategy_take_name(struct argp_state *state, struct strategy_options *o, const char *name);
void strategy_take_pattern(struct argp_state *state, struct strategy_options *o, const char *pattern);
void strategy_take_place(struct argp_state *state, struct strategy_options *o, const char *position);
void strategy_take_outcome(struct argp_state *state, struct strategy_options *o, const char *path);
/* True if an option asks for more than a name. */
bool strategy_has_aims(const struct strategy_options *o);

/* The strategy's input, for struct collector_control; reads the outcomes of earlier runs. On RT_OK the caller frees
 * *input. */
enum rt_status strategy_input(const struct strategy_options *o, void **input, size_t *size, struct rt_error *err);
void strategy_free(struct strategy_options *o);

#endif
