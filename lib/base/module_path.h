/* What the path of a loaded module tells. */
#ifndef LIB_BASE_MODULE_PATH_H
#define LIB_BASE_MODULE_PATH_H

#include <stdbool.h>

/* The last part of a path; borrowed from it. */
const char *module_name(const char *path);
/* True if the module is the C library or comes with the compiler: it is never instrumented, and its orders are
 * known. */
bool module_is_system(const char *path);
/* True if it is the recorder, under its own name or the one that it replaces. */
bool module_is_recorder(const char *path);

#endif
