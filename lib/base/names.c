/* Interned names; see names.h. */
#include "lib/base/names.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Texts are stored one after the other in blocks: a million short names must not be a million allocations. */
struct names_block {
	struct names_block *next;
	size_t used, room;
	char bytes[];
};

enum { BLOCK_BYTES = 64 << 10, FIRST_BLOCK_BYTES = 1 << 10 };

static char *store(struct names *names, const char *text, size_t length)
{
	struct names_block *block = names->blocks;
	if (!block || block->room - block->used <= length) {
		size_t room = block ? BLOCK_BYTES : FIRST_BLOCK_BYTES;
		if (room <= length)
			room = length + 1;
		block = malloc(sizeof *block + room);
		if (!block)
			return NULL;
		*block = (struct names_block){names->blocks, 0, room};
		names->blocks = block;
	}
	char *copy = block->bytes + block->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	block->used += length + 1;
	return copy;
}

static bool append(struct names *names, const char *text, size_t length)
{
	if (names->count == NAMES_MAX || length > UINT32_MAX)
		return false;
	if (!vec_reserve(&names->entries, &names->room, (uint64_t)names->count + 1, sizeof *names->entries))
		return false;
	char *copy = store(names, text, length);
	if (!copy)
		return false;
	names->entries[names->count++] = (struct names_entry){copy, (uint32_t)length};
	return true;
}

static bool look_up(const struct names *names, const char *text, size_t length, uint32_t hash, uint32_t *index)
{
	for (uint32_t at = hash; (*index = table_next(&names->table, hash, &at)) != TABLE_NONE;) {
		const struct names_entry *entry = &names->entries[*index];
		if (entry->length == length && !memcmp(entry->text, text, length))
			return true;
	}
	return false;
}

bool names_find(const struct names *names, const char *text, size_t length, uint32_t *index)
{
	return look_up(names, text, length, (uint32_t)XXH3_64bits(text, length), index);
}

bool names_intern(struct names *names, const char *text, size_t length, uint32_t *index)
{
	uint32_t hash = (uint32_t)XXH3_64bits(text, length);
	if (look_up(names, text, length, hash, index))
		return true;
	if (!append(names, text, length))
		return false;
	*index = names->count - 1;
	if (table_put(&names->table, hash, *index))
		return true;
	names->count--; /* its text stays, unused */
	return false;
}

void names_release(struct names *names)
{
	for (struct names_block *block = names->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(names->entries);
	table_release(&names->table);
	*names = (struct names){0};
}
