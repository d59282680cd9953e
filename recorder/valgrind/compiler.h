/* Which compiler made a module. */
#ifndef RECORDER_VALGRIND_COMPILER_H
#define RECORDER_VALGRIND_COMPILER_H

#include <elf.h>
#include <stdbool.h>

/* True if the file says which compilers its parts are by, all of them versions of GCC that make no update in one
 * instruction of an atomic load and store. */
bool compiler_is_old_gcc(long fd, const Elf64_Ehdr *header);

#endif
