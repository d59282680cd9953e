/* Memory that is hardly needed any more, moved into files. */
#ifndef LIB_BASE_SPILL_H
#define LIB_BASE_SPILL_H

#include <stddef.h>

/*
 * Moves an allocated array's content into a file without a name, which then takes the place of its memory: it is read
 * and freed as before, and takes memory for the pages that are read since. The file is in TMPDIR, by default /var/tmp.
 * A small array, and one that no file can be made for, stays where it is. It must not be reallocated afterwards.
 */
void spill(void *array, size_t bytes);

#endif
