/*
 * Bytes to write and bytes to read: a growing buffer, a checked cursor, and variable-length integers (LEB128; signed
 * ones zigzag). The cursor never reads past its end: it becomes bad and yields zeros from there on, so a parser may
 * check once per item instead of once per field.
 */
#ifndef LIB_BASE_BYTES_H
#define LIB_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RT_VARINT_MAX 10 /* bytes of the longest varint */

/* A growing buffer. A zeroed struct is empty. failed: memory ran out, the contents are incomplete. */
struct rt_bytes {
	uint8_t *data;
	size_t len, cap;
	bool failed;
};

static inline void rt_bytes_release(struct rt_bytes *b)
{
	free(b->data);
	memset(b, 0, sizeof *b);
}

/* Makes room for n more bytes. False, and failed, without memory. */
static inline bool rt_bytes_reserve(struct rt_bytes *b, size_t n)
{
	if (b->cap - b->len >= n)
		return true;
	size_t cap = b->cap ? b->cap : 64;
	while (cap - b->len < n && cap <= SIZE_MAX / 2)
		cap *= 2;
	uint8_t *data = cap - b->len >= n ? realloc(b->data, cap) : NULL;
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

static inline void rt_bytes_add(struct rt_bytes *b, const void *data, size_t n)
{
	if (n && rt_bytes_reserve(b, n)) {
		memcpy(b->data + b->len, data, n);
		b->len += n;
	}
}

/* Writes v at p, which has room for RT_VARINT_MAX bytes. Returns the first byte after it. */
static inline uint8_t *rt_varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 128) {
		*p++ = (uint8_t)(v | 128);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline void rt_bytes_varint(struct rt_bytes *b, uint64_t v)
{
	if (rt_bytes_reserve(b, RT_VARINT_MAX))
		b->len = (size_t)(rt_varint_put(b->data + b->len, v) - b->data);
}

static inline uint64_t rt_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}
static inline int64_t rt_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* A position in borrowed bytes. */
struct rt_cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct rt_cursor rt_cursor_make(const void *data, size_t n)
{
	struct rt_cursor c = {data, (const uint8_t *)data + n, false};
	return c;
}
static inline size_t rt_cursor_left(const struct rt_cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Returns n bytes, or NULL (the cursor is then bad) if fewer are left. */
static inline const uint8_t *rt_cursor_take(struct rt_cursor *c, uint64_t n)
{
	if (c->bad || n > rt_cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	const uint8_t *p = c->p;
	c->p += n;
	return p;
}

static inline uint64_t rt_cursor_varint(struct rt_cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64 && c->p < c->end && !c->bad; shift += 7) {
		uint8_t byte = *c->p++;
		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
	}
	c->bad = true;
	return 0;
}

/* Reads a count of items of at least `least` bytes each. The cursor becomes bad if they exceed the bytes left. */
static inline size_t rt_cursor_count(struct rt_cursor *c, size_t least)
{
	uint64_t n = rt_cursor_varint(c);
	if (n > rt_cursor_left(c) / least) {
		c->bad = true;
		return 0;
	}
	return (size_t)n;
}

#endif
