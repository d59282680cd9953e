/* A set of 128-bit fingerprints of states. */
#ifndef LIB_PROVE_STATE_SEEN_H
#define LIB_PROVE_STATE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing; a zeroed struct is empty. A fingerprint of zero marks a free slot, and so is never found again. */
struct seen {
	uint64_t (*slots)[2];
	size_t count, capacity;
	bool failed; /* no memory */
};

void seen_release(struct seen *seen);
/* Empties it, and frees its memory if that is large. */
void seen_clear(struct seen *seen);
/* Adds a fingerprint. False if it was there, and without memory. */
bool seen_add(struct seen *seen, const uint64_t hash[2]);

#endif
