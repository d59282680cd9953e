/* Variables with a fixed address and their types, from DWARF and, where it has none, from the symbol tables. */
#ifndef RECORDER_COLLECTOR_TYPES_H
#define RECORDER_COLLECTOR_TYPES_H

#include "recorder/collector/debug.h"
#include "tracefmt/native/writer.h"

/* Writes the variables of all images. file_name gives a source file's name as it is to be shown (borrowed). */
enum rt_status types_write(struct debug *d, const char *(*file_name)(void *arg, struct debug_file file), void *arg,
                           struct rt_writer *w, struct rt_error *err);

#endif
