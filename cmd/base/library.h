/* Where the recorder's library is, and the flags that Clang needs to build with it. */
#ifndef CMD_BASE_LIBRARY_H
#define CMD_BASE_LIBRARY_H

#include "lib/base/error.h"

/* The path of this program, owned by the caller. */
enum rt_status library_own_path(char **path, struct rt_error *err);
/* The folder of the recorder's library, PREFIX/lib/racetrace where the program is PREFIX/bin/racetrace; owned by the
 * caller. */
enum rt_status library_folder(bool controlled, char **folder, struct rt_error *err);

/* `racetrace --cflags`, `racetrace --libs`: prints them; returns an exit status. */
int library_print_cflags(void);
int library_print_libs(void);

#endif
