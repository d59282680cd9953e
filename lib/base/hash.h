/* uthash without its exit on a failed allocation: an element without memory is not added, and HASH_ADDED is false. */
#ifndef LIB_BASE_HASH_H
#define LIB_BASE_HASH_H

#include <xxhash.h>

#define HASH_NONFATAL_OOM 1
/* Several times faster than uthash's own for keys of several words. */
#define HASH_FUNCTION(key, size, hash) ((hash) = (unsigned)XXH3_64bits(key, size))
#include <uthash.h>

#define HASH_ADDED(element) ((element)->hh.tbl != NULL)

#endif
