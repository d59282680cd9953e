/* Options that are not on the command line: of the file .racetrace at the root of the sources, then of the
 * environment's RACETRACE_OPTIONS. Those on the command line come after them. */
#ifndef CMD_BASE_DEFAULTS_H
#define CMD_BASE_DEFAULTS_H

#include "lib/base/error.h"

#include <argp.h>

/*
 * Puts the options that the command has before those of *argv, whose new array lives until the program ends. The file
 * comes with the sources that another user may have written: it may set only what writes and runs
 * nothing. RT_EUSAGE: it sets something else, or a word is no option; RT_EMEMORY.
 */
enum rt_status defaults_add(const struct argp *argp, int *argc, char ***argv, struct rt_error *err);

#endif
