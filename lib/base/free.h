/* free of several pointers at once. */
#ifndef LIB_BASE_FREE_H
#define LIB_BASE_FREE_H

#include <stdint.h>
#include <stdlib.h>

static inline void free_each(const void *const *pointers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)pointers[i]);
}

/* Frees each of the pointers; one that is NULL is none. All are read first: the last may be that of the struct which
 * holds the others. */
#define free_all(...)                                                                                                  \
	free_each((const void *const[]){__VA_ARGS__}, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))

#endif
