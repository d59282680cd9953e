/* Growing arrays: capacity doubles by half, so that large ones are moved by the kernel (mremap), not copied. */
#ifndef LIB_TRACE_VEC_H
#define LIB_TRACE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

#endif
