/*
 * Where an exception that leaves a call goes on, by the tables that compilers emit beside .eh_frame (the language
 * specific data of a function: its call sites).
 */
#include "recorder/collector/code.h"

#include "lib/base/bytes.h"
#include "lib/base/lower_bound.h"

#include <string.h>

enum { ABSENT = 0xff, ULEB128 = 0x01, UDATA4 = 0x03 };

static unsigned read_byte(struct rt_cursor *c)
{
	const uint8_t *p = rt_cursor_take(c, 1);
	return p ? *p : 0;
}

static uint64_t read_number(struct rt_cursor *c, unsigned encoding)
{
	uint32_t number = 0;
	if (encoding == ULEB128)
		return rt_cursor_varint(c);
	const uint8_t *p = rt_cursor_take(c, sizeof number);
	if (p)
		memcpy(&number, p, sizeof number);
	return number;
}

/* The call sites of a function are in the order of their addresses; a call that is in none cannot throw. */
static bool find_site(struct rt_cursor *c, uint64_t distance, uint64_t *pad)
{
	bool other_base = read_byte(c) != ABSENT;
	if (read_byte(c) != ABSENT)
		rt_cursor_varint(c); /* where the types are */
	unsigned encoding = read_byte(c);
	uint64_t size = rt_cursor_varint(c);
	if (c->bad || other_base || (encoding != ULEB128 && encoding != UDATA4) || size > rt_cursor_left(c))
		return false;
	for (const uint8_t *end = c->p + size; c->p < end && !c->bad;) {
		uint64_t start = read_number(c, encoding), length = read_number(c, encoding);
		*pad = read_number(c, encoding);
		rt_cursor_varint(c); /* what it catches */
		if (distance - start < length)
			return !c->bad;
	}
	*pad = 0;
	return !c->bad;
}

bool code_pad(const struct code *c, uint64_t call, uint64_t *pad)
{
	size_t low = lower_bound(middle, 0, c->handler_count, c->handlers[middle].start <= call);
	const struct code_handler *h = low ? &c->handlers[low - 1] : NULL;
	*pad = 0;
	if (!h || call >= h->end)
		return true;
	if (h->table < c->tables.start || h->table - c->tables.start >= c->tables.size)
		return false;
	uint64_t at = h->table - c->tables.start;
	struct rt_cursor cursor = rt_cursor_make(c->tables.bytes + at, c->tables.size - at);
	if (!find_site(&cursor, call - h->start, pad))
		return false;
	*pad += *pad ? h->start : 0;
	return true;
}
