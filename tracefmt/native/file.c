/* Block headers of trace.zst; see file.h and docs/trace-format.md. All numbers are little-endian. */
#include "tracefmt/native/file.h"

#include <xxhash.h>

/* Three of the sixteen magic numbers that zstd skips. */
enum { MAGIC_FILE = 0x184D2A52, MAGIC_BLOCK = 0x184D2A53, MAGIC_TRAILER = 0x184D2A54 };
static const char name[16] = "racetrace trace";

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, 4);
	return p + 4;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
	return p + 8;
}

static uint32_t get32(const uint8_t **p)
{
	uint32_t v;
	memcpy(&v, *p, 4);
	*p += 4;
	return le32toh(v);
}

static uint64_t get64(const uint8_t **p)
{
	uint64_t v;
	memcpy(&v, *p, 8);
	*p += 8;
	return le64toh(v);
}

/* The checksum is the last field and covers all before it. It is not checked when fuzzing: no input would pass. */
static void seal(uint8_t *frame, size_t n)
{
	put64(frame + n - 8, XXH64(frame, n - 8, 0));
}

static bool sealed(const uint8_t *frame, size_t n)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)frame;
	return n > 8;
#else
	const uint8_t *p = frame + n - 8;
	return get64(&p) == XXH64(frame, n - 8, 0);
#endif
}

void rt_file_header_put(uint8_t out[RT_FILE_HEADER_BYTES])
{
	uint8_t *p = put32(put32(out, MAGIC_FILE), RT_FILE_HEADER_BYTES - 8);
	memcpy(p, name, sizeof name);
	put32(put32(p + sizeof name, RT_FILE_MAJOR), RT_FILE_MINOR);
}

bool rt_file_header_probe(const uint8_t *data, size_t n)
{
	uint8_t expected[RT_FILE_HEADER_BYTES];
	rt_file_header_put(expected);
	size_t most = 8 + sizeof name;
	return n >= 8 && !memcmp(data, expected, n < most ? n : most);
}

void rt_file_header_version(const uint8_t data[RT_FILE_HEADER_BYTES], unsigned *major, unsigned *minor)
{
	const uint8_t *p = data + 8 + sizeof name;
	*major = get32(&p);
	*minor = get32(&p);
}

void rt_block_put(uint8_t out[RT_BLOCK_HEADER_BYTES], const struct rt_block *b)
{
	uint8_t *p = put32(put32(out, MAGIC_BLOCK), RT_BLOCK_HEADER_BYTES - 8);
	p = put32(put32(put32(put32(p, b->kind), b->thread), b->sequence), b->records);
	p = put32(put32(put32(put32(p, b->events), b->raw), b->packed), 0);
	p = put64(put64(put64(p, b->base_stamp), b->first_stamp), b->last_stamp);
	put64(put64(put64(p, b->ordinal), b->left_out), b->lost);
	seal(out, RT_BLOCK_HEADER_BYTES);
}

bool rt_block_get(const uint8_t data[RT_BLOCK_HEADER_BYTES], struct rt_block *b)
{
	const uint8_t *p = data;
	if (get32(&p) != MAGIC_BLOCK || get32(&p) != RT_BLOCK_HEADER_BYTES - 8 || !sealed(data, RT_BLOCK_HEADER_BYTES))
		return false;
	b->kind = get32(&p);
	b->thread = get32(&p);
	b->sequence = get32(&p);
	b->records = get32(&p);
	b->events = get32(&p);
	b->raw = get32(&p);
	b->packed = get32(&p);
	p += 4;
	b->base_stamp = get64(&p);
	b->first_stamp = get64(&p);
	b->last_stamp = get64(&p);
	b->ordinal = get64(&p);
	b->left_out = get64(&p);
	b->lost = get64(&p);
	if (b->kind == RT_BLOCK_CHUNK)
		return b->records <= RT_CHUNK_RECORDS && b->events <= b->records && b->raw <= RT_CHUNK_RAW_MAX &&
		       b->thread < RT_THREAD_MAX;
	return b->raw <= RT_SECTION_RAW_MAX && b->raw / RT_SECTION_RATIO_MAX <= b->packed + 16u;
}

void rt_trailer_put(uint8_t out[RT_TRAILER_BYTES], uint64_t index_offset)
{
	uint8_t *p = put32(put32(out, MAGIC_TRAILER), RT_TRAILER_BYTES - 8);
	put64(put64(p, index_offset), 0);
	seal(out, RT_TRAILER_BYTES);
}

bool rt_trailer_get(const uint8_t data[RT_TRAILER_BYTES], uint64_t *index_offset)
{
	const uint8_t *p = data;
	if (get32(&p) != MAGIC_TRAILER || get32(&p) != RT_TRAILER_BYTES - 8 || !sealed(data, RT_TRAILER_BYTES))
		return false;
	*index_offset = get64(&p);
	return true;
}
