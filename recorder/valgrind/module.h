/* The modules of the program: which of them are instrumented, and what is known of their code. */
#ifndef RECORDER_VALGRIND_MODULE_H
#define RECORDER_VALGRIND_MODULE_H

#include "recorder/valgrind/platform.h"

#include "recorder/watch.h"

#include <stdbool.h>
#include <stdint.h>

/* True if code in the file calls the hooks of ThreadSanitizer. False as well if the file cannot be read. */
bool module_is_instrumented(const char *file);
/*
 * True if an update in one instruction of the file's code is no atomic load and store. LLVM makes such updates of them
 * (x.store(x.load() + 1), below seq_cst), and GCC may from version 16 on.
 */
bool module_updates_plainly(const char *file);
/* Address in the file's own numbers of its table of functions (.eh_frame_hdr); 0: it has none, or cannot be read. */
uint64_t module_functions(const char *file);
/*
 * How the file is to be executed. Under the tool: a dynamically linked program that is not instrumented, or a script of
 * one. Not if execution gives it other rights, which the tool would have to deny it.
 */
enum rt_watch_file file_watch(const char *file);

#endif
