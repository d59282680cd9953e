/* Growing arrays: capacity grows by half, so that large ones are moved by the kernel (mremap), not copied. */
#ifndef LIB_BASE_VEC_H
#define LIB_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static inline bool vec_grow(void *array, uint64_t *capacity, uint64_t need, size_t item, uint64_t most)
{
	if (need > most)
		return false;
	uint64_t more = *capacity + *capacity / 2 + 16;
	if (more < need)
		more = need;
	if (more > most)
		more = most;
	void *old, *grown;
	memcpy(&old, array, sizeof old);
	grown = reallocarray(old, more, item);
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof grown);
	*capacity = more;
	return true;
}

static inline bool vec_reserve_32(void *array, uint32_t *capacity, uint64_t need, size_t item)
{
	uint64_t wide = *capacity;
	if (need <= wide)
		return true;
	bool grown = vec_grow(array, &wide, need, item, UINT32_MAX);
	*capacity = (uint32_t)wide;
	return grown;
}

static inline bool vec_reserve_64(void *array, size_t *capacity, uint64_t need, size_t item)
{
	uint64_t wide = *capacity;
	if (need <= wide)
		return true;
	bool grown = vec_grow(array, &wide, need, item, SIZE_MAX);
	*capacity = wide;
	return grown;
}

/*
 * Makes room for need items of the given size in the array that *(void **)array points to. Its capacity is a uint32_t
 * or a size_t. False without memory; the array is then unchanged.
 */
#define vec_reserve(array, capacity, need, item)                                                                       \
	_Generic(*(capacity), uint32_t : vec_reserve_32, size_t : vec_reserve_64)(array, capacity, need, item)

/* The same, with zeros in all of the new room. */
#define vec_extend(array, capacity, need, item)                                                                        \
	({                                                                                                             \
		const size_t vec_before = *(capacity);                                                                 \
		bool vec_extended = vec_reserve(array, capacity, need, item);                                          \
		if (*(capacity) > vec_before)                                                                          \
			memset((char *)*(array) + vec_before * (item), 0, (*(capacity)-vec_before) * (item));          \
		vec_extended;                                                                                          \
	})

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
