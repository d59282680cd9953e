/*
 * Options that do no more than set a member of a struct: a line each. A command's parser has a case for each of the
 * others.
 */
#ifndef CMD_BASE_SETTING_H
#define CMD_BASE_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmd_setting_kind { CMD_FLAG, CMD_TEXT, CMD_NUMBER_32, CMD_NUMBER_64, CMD_TIME };

struct cmd_setting {
	int key; /* of the option; 0 ends a list */
	enum cmd_setting_kind kind;
	size_t at;        /* offset of the member */
	const char *what; /* of a number: "the number of threads", for the message */
	uint32_t min, max;
};

/* A flag becomes true; a text is the option's argument, borrowed. The member's type says which. */
/* clang-format off */
#define CMD_SETS(key, type, member) \
	{key, _Generic(((type *)0)->member, bool: CMD_FLAG, const char *: CMD_TEXT), offsetof(type, member), NULL, 0, 0}
#define CMD_SETS_NUMBER(key, type, member, what, min, max) \
	{key, _Generic(((type *)0)->member, uint32_t: CMD_NUMBER_32, uint64_t: CMD_NUMBER_64), offsetof(type, member), \
	 what, min, max}
/* Milliseconds (cmd_time_ms), a uint64_t. */
#define CMD_SETS_TIME(key, type, member, what, zero) \
	{key, _Generic(((type *)0)->member, uint64_t: CMD_TIME), offsetof(type, member), what, !(zero), 0}
/* clang-format on */

struct argp_state;
/* True if the list has the option: its member of *options is set. A wrong number ends the program with a message. */
bool cmd_set(const struct cmd_setting *list, int key, const char *arg, struct argp_state *state, void *options);

#endif
