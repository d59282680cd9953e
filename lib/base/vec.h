/* Growing arrays: capacity doubles by half, so that large ones are moved by the kernel (mremap), not copied. */
#ifndef LIB_BASE_VEC_H
#define LIB_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Makes room for need items of the given size in the array that *(void **)array points to. False without memory; the
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
 * Makes room for so many items, or as many as can be had, in an array that is empty: address space, not memory, until
 * it is used; and used in large pages, as faults on small ones are a third of the time to load a trace otherwise. False
 * if there is none; the array is then still empty.
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
