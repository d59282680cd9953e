/* The modules of the program: which of them are instrumented. */
#ifndef RECORDER_VALGRIND_MODULE_H
#define RECORDER_VALGRIND_MODULE_H

#include "recorder/valgrind/platform.h"

#include <stdbool.h>

/* True if code in the file calls the hooks of ThreadSanitizer. False as well if the file cannot be read. */
bool module_is_instrumented(const char *file);

#endif
