/* A set of 64-bit keys other than 0, by open addressing. A zeroed struct is the empty set. */
#ifndef LIB_BASE_SET_H
#define LIB_BASE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct set {
	uint64_t *keys; /* 0: free */
	size_t mask;    /* number of places - 1, when keys is set */
	size_t count;
};

/* The place of a key, or the free one for it, in a set that has places. */
static inline uint64_t *set_place(const struct set *s, uint64_t key)
{
	size_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & s->mask;
	while (s->keys[at] && s->keys[at] != key)
		at = (at + 1) & s->mask;
	return &s->keys[at];
}

static inline bool set_has(const struct set *s, uint64_t key)
{
	return s->keys && *set_place(s, key);
}

/* *added: it was not there. False without memory. */
bool set_add(struct set *s, uint64_t key, bool *added);
/* Removes all keys and keeps the memory. */
void set_clear(struct set *s);
/* The keys in rising order, *n of them; the caller frees the array. NULL without memory. */
uint64_t *set_sorted(const struct set *s, size_t *n);
void set_release(struct set *s);

#endif
