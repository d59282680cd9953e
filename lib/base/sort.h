/* Comparators for qsort and bsearch: numbers in rising order. */
#ifndef LIB_BASE_SORT_H
#define LIB_BASE_SORT_H

#include <stdint.h>

static inline int compare_u32(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

static inline int compare_u64(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

#endif
