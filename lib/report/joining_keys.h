/* The keys by which anomalies are joined to findings. */
#ifndef LIB_REPORT_JOINING_KEYS_H
#define LIB_REPORT_JOINING_KEYS_H

#include "lib/base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum joining_kind {
	KEY_PAIR,
	KEY_CELL,
	KEY_LINES,
	KEY_LACKS,
	KEY_FREED,
	KEY_OWNED,
	KEY_ONE,
	KEY_DEGREE,
	KEY_PARTNER,
	KEY_REGION,
	KEY_FUNCTIONS,
	KEY_UNIT,
	KEY_PLACES,
	KEY_STABLE = 13, /* fingerprints, which baselines and suppressions have, contain the number */
	KEY_COPIED
};

struct joining_key {
	uint64_t key;
	size_t entry;   /* the first that had it */
	uint32_t count; /* KEY_DEGREE: distinct partners; KEY_STABLE: findings */
};

/* Compact, as there are several an entry. A zeroed struct is empty. */
struct joining_keys {
	struct joining_key *items;
	struct table by_key;
	uint32_t capacity;
};

uint64_t joining_key_of(enum joining_kind kind, const uint64_t *parts, size_t n);
/* NULL: there is none. */
struct joining_key *joining_key_find(const struct joining_keys *keys, uint64_t key);
/* The key, made if there is none; *is_new tells. It is there until the next one is made. NULL without memory. */
struct joining_key *joining_key_get(struct joining_keys *keys, uint64_t key, size_t entry, bool *is_new);
void joining_keys_release(struct joining_keys *keys);

#endif
