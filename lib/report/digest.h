/* Digests of texts and numbers, of which fingerprints and keys are made: the same on every machine. */
#ifndef LIB_REPORT_DIGEST_H
#define LIB_REPORT_DIGEST_H

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

static inline int digest_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* For digests whose order does not count. */
static inline void digest_sort(uint64_t *digests, size_t n)
{
	qsort(digests, n, sizeof *digests, digest_compare);
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
