/* Digests of texts and numbers, of which fingerprints and keys are made: the same on every machine. */
#ifndef LIB_REPORT_DIGEST_H
#define LIB_REPORT_DIGEST_H

#include "lib/base/sort.h"

#define XXH_STATIC_LINKING_ONLY /* the state on the stack */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* NULL counts as "". */
static inline void digest_text(XXH3_state_t *state, const char *text)
{
	XXH3_64bits_update(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

static inline void digest_number(XXH3_state_t *state, uint64_t number)
{
	unsigned char bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
	XXH3_64bits_update(state, bytes, sizeof bytes);
}

/* For digests whose order does not count. */
static inline void digest_sort(uint64_t *digests, size_t n)
{
	qsort(digests, n, sizeof *digests, compare_u64);
}

/* The same, without repeats; returns how many are left. */
static inline size_t digest_distinct(uint64_t *digests, size_t n)
{
	size_t kept = 0;
	digest_sort(digests, n);
	for (size_t i = 0; i < n; i++)
		if (!i || digests[i] != digests[i - 1])
			digests[kept++] = digests[i];
	return kept;
}

#endif
