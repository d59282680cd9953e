/*
 * Interned names: equal text, equal index, indices dense from 0. On the hot path of the text formats (three look-ups a
 * line), so it is an open-addressing table of 8-byte slots instead of uthash's chained 56-byte nodes.
 */
#ifndef LIB_BASE_NAMES_H
#define LIB_BASE_NAMES_H

#include "lib/base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names_entry {
	const char *text; /* NUL-terminated; lives as long as the table */
	uint32_t length;
};

/* A zeroed struct is the empty table. */
struct names {
	struct names_entry *entries;
	uint32_t count, room;
	struct table table;
	struct names_block *blocks;
};

#define NAMES_MAX (UINT32_MAX - 1)

/* Index of text[0..length), added if it is new. False: no memory, or NAMES_MAX names. The text is copied. */
bool names_intern(struct names *names, const char *text, size_t length, uint32_t *index);
/* Index of a name that was added before. False if there is none. */
bool names_find(const struct names *names, const char *text, size_t length, uint32_t *index);
/* The text of an index below names->count. */
static inline const char *names_text(const struct names *names, uint32_t index)
{
	return names->entries[index].text;
}
void names_release(struct names *names);

#endif
