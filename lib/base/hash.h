/* uthash without its exit on a failed allocation: an element without memory is not added, and HASH_ADDED is false. */
#ifndef LIB_BASE_HASH_H
#define LIB_BASE_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define HASH_ADDED(element) ((element)->hh.tbl != NULL)

#endif
