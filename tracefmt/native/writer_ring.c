/* Writing the last part of a run: what of it is in the ring, and then in the file. */
#include "tracefmt/native/writer_parts.h"

#include <string.h>

/* The thread's next record begins a later generation. */
static enum rt_status cross(struct rt_writer *w, struct writer_thread *t, uint64_t stamp, struct rt_error *err)
{
	enum rt_status status = rt_encoder_facts(t->encoder)->records ? writer_chunk(w, t, err) : RT_OK;
	if (status)
		return status;
	return rt_ring_cross(w->ring, &t->ring, stamp) ? RT_OK : writer_no_memory(w, err);
}

void writer_ring_end(struct rt_writer *w, struct writer_thread *t)
{
	if (!t->announced || t->ended_later || t == w->ended_last) /* it has written nothing, or is in the list */
		return;
	*(w->ended ? &w->ended_last->ended_later : &w->ended) = t;
	w->ended_last = t;
	rt_ring_end(w->ring, &t->ring, sizeof *t + sizeof(struct rt_snapshot));
}

/* A program may have any number of threads in its life. The file has their names. One that left a lock held stays: the
 * trace begins with that. */
static void forget_ended(struct rt_writer *w)
{
	struct writer_thread *t;
	while ((t = w->ended) && rt_ring_is_past(w->ring, &t->ring)) {
		w->ended = t->ended_later;
		w->ended_last = w->ended ? w->ended_last : NULL;
		if (!rt_start_is_over(&t->ring.state))
			continue;
		w->threads[t->index] = NULL;
		writer_thread_free(t);
	}
}

enum rt_status writer_ring_encode(struct rt_writer *w, struct writer_thread *t, const struct rt_record *records,
                                  size_t n, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	while (n && !status) {
		size_t taken = rt_ring_scan(w->ring, &t->ring, t->index, records, n);
		if (taken == SIZE_MAX)
			return writer_no_memory(w, err);
		status = writer_encode(w, t, records, taken, err);
		records += taken;
		n -= taken;
		if (n && !status)
			status = cross(w, t, records->w1, err);
	}
	if (!status && !rt_ring_turn(w->ring, w->open_records, false))
		return writer_no_memory(w, err);
	forget_ended(w);
	return status;
}

enum rt_status rt_writer_begin(struct rt_writer *w, struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	return !w->ring || rt_ring_turn(w->ring, w->open_records, true) ? RT_OK : writer_no_memory(w, err);
}

enum rt_status writer_ring_complete(struct rt_writer *w, struct rt_error *err)
{
	enum rt_status status = w->failure.status ? writer_fail(w, err) : RT_OK;
	if (status || !w->ring || w->last.complete)
		return status;
	if (writer_open_chunks(w, err))
		return w->failure.status;
	if (!rt_ring_file_begin(&w->last, w->ring))
		return writer_no_memory(w, err);
	for (uint32_t i = 0; i < w->thread_count; i++)
		if (w->threads[i] && !rt_ring_file_thread(&w->last, w->ring, &w->threads[i]->ring))
			return writer_no_memory(w, err);
	return rt_ring_file_end(&w->last, w->ring, &w->pcs) ? RT_OK : writer_no_memory(w, err);
}

/* A part of what stands for the events before the ring: as many as a chunk has room for. */
static enum rt_status write_start(struct rt_writer *w, size_t *at, struct rt_error *err)
{
	struct rt_block block;
	if (!rt_ring_file_start(&w->last, at, &block, &w->raw))
		return writer_no_memory(w, err);
	w->events += block.events;
	return writer_block(w, &block, err);
}

static enum rt_status write_kept(struct rt_writer *w, const struct rt_ring_chunk *chunk, struct rt_error *err)
{
	struct rt_block block = chunk->block;
	rt_ring_file_number(&w->last, &block);
	w->packed.len = 0;
	if (!rt_bytes_reserve(&w->packed, RT_BLOCK_HEADER_BYTES + (size_t)block.packed))
		return writer_no_memory(w, err);
	memcpy(w->packed.data + RT_BLOCK_HEADER_BYTES, chunk->frame, block.packed);
	w->events += block.events;
	w->left_out += block.left_out;
	return writer_put_packed(w, &block, err);
}

enum rt_status writer_ring_write(struct rt_writer *w, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	const uint64_t all = w->events;
	size_t generation = 0, chunk = 0;
	w->events = w->left_out = 0;
	for (size_t at = 0; at < w->last.start.count && !status;)
		status = write_start(w, &at, err);
	const uint64_t start = w->events;
	for (const struct rt_ring_chunk *c; !status && (c = rt_ring_next(w->ring, &generation, &chunk)) != NULL;)
		status = write_kept(w, c, err);
	w->last.dropped = all - (w->events - start);
	return status;
}
