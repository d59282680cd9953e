/* What functions are by their linker's names. */
#ifndef RECORDER_COLLECTOR_CODE_NAMES_H
#define RECORDER_COLLECTOR_CODE_NAMES_H

#include "recorder/collector/code.h"

/* Calls by which a program declares orders: of racetrace.h, and of ThreadSanitizer's interface. */
bool code_name_annotates(const char *name);
/* A statically linked compiler runtime keeps its own data in order. */
bool code_name_is_runtime(const char *name);
/* Linked statically, too, what libstdc++ calls through pointers of its own is left out as it is in the library. */
bool code_name_is_of_libstdcxx(const char *name);
/* The function whose cold part this is: "f" for "f.cold". */
size_t code_whole_function(const struct code *code, size_t function);

#endif
