/* The blocks of a trace file; see writer_parts.h and docs/trace-format.md. */
#include "tracefmt/native/writer_parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum rt_status writer_fail(struct rt_writer *w, struct rt_error *err)
{
	if (err)
		*err = w->failure;
	return w->failure.status;
}

/* The file so far is a trace that was cut short. */
static const char *leave_what_is_there(struct rt_writer *w)
{
	bool there = w->recording && w->chunks && !w->ring && ftruncate(w->output.fd, (off_t)w->whole) == 0 &&
	             rt_output_name(&w->output);
	return there ? "; what was written before stays there" : "";
}

enum rt_status writer_no_memory(struct rt_writer *w, struct rt_error *err)
{
	const char *stays = w->output.path ? leave_what_is_there(w) : "";
	rt_error_set(&w->failure, RT_EMEMORY, "no memory to write '%s'%s", w->output.path ? w->output.path : "symbols",
	             stays);
	return writer_fail(w, err);
}

enum rt_status writer_fail_system(struct rt_writer *w, struct rt_error *err)
{
	int error = errno;
	const char *stays = leave_what_is_there(w);
	rt_error_set(&w->failure, RT_ESYSTEM, "cannot write '%s': %s%s", w->output.path, strerror(error), stays);
	enum rt_status status = writer_fail(w, err);
	errno = error;
	return status;
}

enum rt_status writer_put(struct rt_writer *w, const void *data, size_t n, struct rt_error *err)
{
	for (const char *p = data; n;) {
		ssize_t k = write(w->output.fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return writer_fail_system(w, err);
		p += k;
		n -= (size_t)k;
		w->offset += (uint64_t)k;
	}
	return RT_OK;
}

enum rt_status writer_pack(struct rt_writer *w, struct rt_block *block, struct rt_error *err)
{
	size_t bound = ZSTD_compressBound(w->raw.len);
	w->packed.len = 0;
	if (w->raw.failed || !rt_bytes_reserve(&w->packed, RT_BLOCK_HEADER_BYTES + bound))
		return writer_no_memory(w, err);
	if (block->kind != RT_BLOCK_CHUNK && w->raw.len > RT_SECTION_RAW_MAX) {
		rt_error_set(&w->failure, RT_EINPUT, "cannot write '%s': its tables exceed %u MiB", w->output.path,
		             RT_SECTION_RAW_MAX >> 20);
		return writer_fail(w, err);
	}
	size_t n = ZSTD_compress2(w->zstd, w->packed.data + RT_BLOCK_HEADER_BYTES, bound, w->raw.data, w->raw.len);
	if (ZSTD_isError(n))
		return writer_no_memory(w, err);
	block->raw = (uint32_t)w->raw.len;
	block->packed = (uint32_t)n;
	w->raw.len = 0;
	return RT_OK;
}

enum rt_status writer_put_packed(struct rt_writer *w, struct rt_block *block, struct rt_error *err)
{
	block->offset = w->offset;
	rt_block_put(w->packed.data, block);
	if (block->kind != RT_BLOCK_INDEX) {
		uint64_t offset = htole64(block->offset);
		rt_bytes_add(&w->index, &offset, sizeof offset);
		rt_bytes_add(&w->index, w->packed.data, RT_BLOCK_HEADER_BYTES);
		w->blocks++;
	}
	enum rt_status status = writer_put(w, w->packed.data, RT_BLOCK_HEADER_BYTES + block->packed, err);
	if (!status)
		w->whole = w->offset;
	return status;
}

enum rt_status writer_block(struct rt_writer *w, struct rt_block *block, struct rt_error *err)
{
	enum rt_status status = writer_pack(w, block, err);
	return status ? status : writer_put_packed(w, block, err);
}
