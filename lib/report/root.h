/* The root of the sources that a command works on. */
#ifndef LIB_REPORT_ROOT_H
#define LIB_REPORT_ROOT_H

#include <limits.h>
#include <stdbool.h>

/* The folder, from the working folder upwards, that has a file or folder .racetrace or .git; without one the working
 * folder. False: it has no name. */
bool root_find(char path[PATH_MAX]);

#endif
