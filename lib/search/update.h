/* Which reads and writes of a variable are one update. */
#ifndef LIB_SEARCH_UPDATE_H
#define LIB_SEARCH_UPDATE_H

#include "lib/trace/model.h"
#include "lib/trace/snippet.h"

/*
 * True if the read and the write after it are one update of the variable (x++, x -= n, x = x + n), by where they are in
 * the source. Not if the line may decide by the read whether to write: what it says there is read if this machine has
 * it.
 */
bool update_is_one(const struct model *m, struct snippets *source, uint32_t read, uint32_t write);

#endif
