/* A folder for what a command needs while it runs: below $TMPDIR, or /tmp. */
#ifndef CMD_BASE_SCRATCH_H
#define CMD_BASE_SCRATCH_H

#include "lib/base/error.h"

enum { SCRATCH_MAX = 256 };

/* Makes one and writes its path to folder. On failure that is "", which scratch_remove takes for nothing. */
enum rt_status scratch_make(char folder[SCRATCH_MAX], struct rt_error *err);
/* Removes it with all that is in it. */
void scratch_remove(const char *folder);

#endif
