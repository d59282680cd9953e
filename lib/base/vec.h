/* Growing arrays: capacity grows by half, so that the kernel moves large ones (mremap) instead of copying them. */
#ifndef LIB_BASE_VEC_H
#define LIB_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Makes room for `need` items of the given size in the array that *(void **)array points to. False without memory; the
 * array is then unchanged. */
static inline bool vec_reserve(void *array, uint32_t *capacity, uint64_t need, size_t item)
{
	if (need <= *capacity)
		return true;
	if (need > UINT32_MAX)
		return false;
	uint64_t more = (uint64_t)*capacity + *capacity / 2 + 16;
	if (more < need)
		more = need;
	if (more > UINT32_MAX)
		more = UINT32_MAX;
	void *old, *grown;
	memcpy(&old, array, sizeof old);
	grown = realloc(old, more * item);
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof grown);
	*capacity = (uint32_t)more;
	return true;
}

/*
 * Makes room for `need` items, or as many as possible, in an empty array. Only address space is used until an item is
 * written. It is used in large pages: faults on small ones are a third of the time to load a trace otherwise. False on
 * failure; the array is then still empty.
 */
static inline bool vec_open(void *array, uint32_t *capacity, uint64_t want, size_t item)
{
	enum { LARGE = 1 << 21 };
	if (want > UINT32_MAX)
		want = UINT32_MAX;
	void *opened = malloc(want * item);
	if (!opened)
		return false;
	uintptr_t first = ((uintptr_t)opened + LARGE - 1) & ~(uintptr_t)(LARGE - 1),
	          end = (uintptr_t)opened + want * item;
	if (first + LARGE <= end)
		madvise((void *)first, end - first, MADV_HUGEPAGE);
	memcpy(array, &opened, sizeof opened);
	*capacity = (uint32_t)want;
	return true;
}

#endif
