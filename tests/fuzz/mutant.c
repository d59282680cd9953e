/*
 * Mutants of what racetrace reads, for tests/cli/t_mutants.sh: mutant SEED FILE >MUTANT. The same seed makes the same
 * mutant. What a mutant is depends on the file: lines of a trace of text change as in mutate.h; blocks of racetrace's
 * own format are dropped, repeated, swapped or get other content, with right checksums; a JSON document (a report, a
 * part, a schedule) gets other values, members and elements; every eighth file is cut, or has other bytes.
 */
#include "tests/fuzz/mutate.h"
#include "tracefmt/native/file.h"

#include <jansson.h>
#include <zstd.h>

enum { SIZE_MAX_OF_MUTANT = 4 << 20, BLOCKS_MAX = 4096 };

static uint64_t state;

static uint32_t below(uint32_t n)
{
	return mutate_random(&state, n);
}

static void die(const char *what)
{
	fprintf(stderr, "mutant: %s\n", what);
	exit(2);
}

/* libFuzzer's: some bytes become others. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	(void)max;
	for (uint32_t n = 1 + below(4); size && n; n--)
		data[below((uint32_t)size)] = (uint8_t)below(256);
	return size;
}

/* ---- JSON documents ---- */

static json_t *any_value(void)
{
	static const char *const texts[] = {"",     "x",  "R1",           "main",
	                                    "race", "\n", "\xe2\x80\xa8", "../../../../etc/passwd"};
	switch (below(8)) {
	case 0:
		return json_integer(0);
	case 1:
		return json_integer(-1);
	case 2:
		return json_integer(INT64_MAX - (json_int_t)below(3));
	case 3:
		return json_real(1e300);
	case 4:
		return json_null();
	case 5:
		return json_array();
	case 6:
		return json_object();
	default:
		return json_string(texts[below(sizeof texts / sizeof *texts)]);
	}
}

static void mutate_object(json_t *v)
{
	const char *key = NULL, *another = NULL;
	json_t *child;
	uint32_t at = below((uint32_t)json_object_size(v)), other = below((uint32_t)json_object_size(v)), i = 0;
	json_object_foreach(v, key, child)
	{
		another = i == other ? key : another;
		if (i++ == at)
			break;
	}
	if (!key)
		return;
	if (below(3) == 0)
		json_object_del(v, key);
	else if (another && below(2))
		json_object_set(v, key, json_object_get(v, another));
	else
		json_object_set_new(v, key, any_value());
}

static void mutate_array(json_t *v)
{
	size_t n = json_array_size(v), at = below((uint32_t)n);
	switch (n ? below(4) : 3) {
	case 0:
		json_array_remove(v, at);
		break;
	case 1:
		json_array_insert_new(v, below((uint32_t)n), json_deep_copy(json_array_get(v, at)));
		break;
	case 2:
		json_array_set_new(v, at, any_value());
		break;
	default:
		json_array_append_new(v, any_value());
	}
}

/* Somewhere within: the deeper, the likelier, as most of a document is deep. */
static void mutate_json(json_t *v)
{
	const char *key;
	json_t *child, *next = NULL;
	uint32_t seen = 0;
	size_t i;
	if (json_is_object(v)) {
		json_object_foreach(v, key, child)
		{
			if ((json_is_object(child) || json_is_array(child)) && below(++seen) == 0)
				next = child;
		}
	} else {
		json_array_foreach(v, i, child)
		{
			if ((json_is_object(child) || json_is_array(child)) && below(++seen) == 0)
				next = child;
		}
	}
	if (next && below(4))
		mutate_json(next);
	else if (json_is_object(v))
		mutate_object(v);
	else
		mutate_array(v);
}

static size_t mutate_document(uint8_t *data, json_t *v)
{
	for (uint32_t n = 1 + below(4); n; n--)
		mutate_json(v);
	size_t size = json_dumpb(v, (char *)data, SIZE_MAX_OF_MUTANT, JSON_INDENT(1));
	json_decref(v);
	return size;
}

/* ---- racetrace's own format ---- */

struct block {
	struct rt_block head;
	const uint8_t *frame;
};

/* Returns their number; *end: the place behind the last. */
static uint32_t read_blocks(const uint8_t *data, size_t size, struct block *blocks, size_t *end)
{
	uint32_t n = 0;
	size_t at = RT_FILE_HEADER_BYTES;
	while (n < BLOCKS_MAX && size - at >= RT_BLOCK_HEADER_BYTES && rt_block_get(data + at, &blocks[n].head) &&
	       blocks[n].head.packed <= size - at - RT_BLOCK_HEADER_BYTES) {
		blocks[n].frame = data + at + RT_BLOCK_HEADER_BYTES;
		at += RT_BLOCK_HEADER_BYTES + blocks[n++].head.packed;
	}
	*end = at;
	return n;
}

/* The block with other content, or another head: its checksums are right. Returns its size in the file. */
static size_t put_changed(uint8_t *to, struct rt_block head, const uint8_t *frame)
{
	static uint8_t raw[SIZE_MAX_OF_MUTANT];
	size_t n = ZSTD_decompress(raw, sizeof raw, frame, head.packed);
	if (ZSTD_isError(n))
		die("a block of the valid trace cannot be read");
	uint32_t *const numbers[] = {&head.thread, &head.sequence, &head.records, &head.events, &head.raw, &head.kind};
	if (below(4) == 0) {
		*numbers[below(sizeof numbers / sizeof *numbers)] = below(2) ? below(10) : UINT32_MAX - below(3);
	} else {
		LLVMFuzzerMutate(raw, n, n);
		if (below(4) == 0)
			head.raw = (uint32_t)(n = below((uint32_t)n + 1));
	}
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	head.packed = (uint32_t)ZSTD_compress2(zstd, to + RT_BLOCK_HEADER_BYTES, ZSTD_compressBound(n), raw, n);
	ZSTD_freeCCtx(zstd);
	rt_block_put(to, &head);
	return RT_BLOCK_HEADER_BYTES + head.packed;
}

static size_t put_block(uint8_t *to, const struct block *b)
{
	rt_block_put(to, &b->head);
	memcpy(to + RT_BLOCK_HEADER_BYTES, b->frame, b->head.packed);
	return RT_BLOCK_HEADER_BYTES + b->head.packed;
}

static size_t mutate_native(uint8_t *data, size_t size)
{
	static struct block blocks[BLOCKS_MAX];
	static uint8_t copy[SIZE_MAX_OF_MUTANT];
	size_t end, out = RT_FILE_HEADER_BYTES;
	memcpy(copy, data, size);
	uint32_t n = read_blocks(copy, size, blocks, &end), at = below(n), what = below(8), other = below(n);
	/* With the index at the end, which then names other places; or as a file that was cut short has none. */
	bool whole = below(2);
	for (uint32_t i = 0; i < n; i++) {
		if (i == at && what == 0)
			continue;
		if (i == at && what == 1)
			out += put_block(data + out, &blocks[i]);
		if (!whole && blocks[i].head.kind == RT_BLOCK_INDEX)
			break;
		bool swapped = what == 2 && (i == at || i == other);
		if (i == at && what > 2)
			out += put_changed(data + out, blocks[i].head, blocks[i].frame);
		else
			out += put_block(data + out, &blocks[swapped ? at + other - i : i]);
	}
	if (whole && end < size) {
		memcpy(data + out, copy + end, size - end);
		out += size - end;
	}
	return out;
}

int main(int argc, char **argv)
{
	static uint8_t data[2 * SIZE_MAX_OF_MUTANT];
	json_error_t where;
	FILE *f = argc == 3 ? fopen(argv[2], "r") : NULL;
	size_t size = f ? fread(data, 1, SIZE_MAX_OF_MUTANT / 2, f) : 0;
	if (!size)
		die("usage: mutant SEED FILE >MUTANT");
	fclose(f);
	state = strtoull(argv[1], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	json_t *document = *data == '{' ? json_loadb((char *)data, size, 0, &where) : NULL;
	if (below(8) == 0)
		size = below(2) ? below((uint32_t)size) : LLVMFuzzerMutate(data, size, size);
	else if (document)
		size = mutate_document(data, json_incref(document));
	else if (rt_file_header_probe(data, size))
		size = mutate_native(data, size);
	else
		size = LLVMFuzzerCustomMutator(data, size, SIZE_MAX_OF_MUTANT, below(UINT32_MAX));
	json_decref(document);
	return fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0 ? 0 : 2;
}
