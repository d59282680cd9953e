/* uthash without its exit on a failed allocation: an element without memory is not added, and HASH_ADDED is false. */
#ifndef LIB_BASE_HASH_H
#define LIB_BASE_HASH_H

#include <stdlib.h>
#include <xxhash.h>

#define HASH_NONFATAL_OOM 1
/* Several times faster than uthash's own for keys of several words. */
#define HASH_FUNCTION(key, size, hash) ((hash) = (unsigned)XXH3_64bits(key, size))
#include <uthash.h>

#define HASH_ADDED(element) ((element)->hh.tbl != NULL)

/*
 * Adds an element of zeros to the table, with the key in its member `field`. The table must not have that key. The
 * element is from calloc; it becomes NULL without memory.
 */
#define HASH_MAKE(head, field, value, element)                                                                         \
	do {                                                                                                           \
		(element) = calloc(1, sizeof *(element));                                                              \
		if (!(element))                                                                                        \
			break;                                                                                         \
		(element)->field = (value);                                                                            \
		HASH_ADD(hh, head, field, sizeof(element)->field, element);                                            \
		if (!HASH_ADDED(element)) {                                                                            \
			free(element);                                                                                 \
			(element) = NULL;                                                                              \
		}                                                                                                      \
	} while (0)

/* Empties the table and frees its elements. */
#define HASH_FREE(head)                                                                                                \
	do {                                                                                                           \
		__typeof__(head) hash_element, hash_next;                                                              \
		HASH_ITER(hh, head, hash_element, hash_next)                                                           \
		{                                                                                                      \
			HASH_DELETE(hh, head, hash_element);                                                           \
			free(hash_element);                                                                            \
		}                                                                                                      \
	} while (0)

#endif
