/* What a file has of a ring; see ring_file.h. */
#include "tracefmt/native/ring_file.h"

#include "lib/base/vec.h"

#include <zstd.h>

/* A block of memory is named if an access begins in one of its lines; larger ones are not looked at line by line. */
enum { LINE_SHIFT = 6, LINES_MAX = 4096 };

void rt_ring_file_release(struct rt_ring_file *f)
{
	rt_kept_release(&f->start);
	free(f->numbers);
	*f = (struct rt_ring_file){0};
}

/* NULL without memory. */
static struct rt_ring_numbers *numbers_of(struct rt_ring_file *f, uint32_t thread)
{
	size_t before = f->threads;
	if (!vec_reserve(&f->numbers, &f->thread_room, (uint64_t)thread + 1, sizeof *f->numbers))
		return NULL;
	for (size_t i = before; i <= thread; i++)
		f->numbers[i] = (struct rt_ring_numbers){.first = UINT64_MAX};
	f->threads = thread >= before ? (size_t)thread + 1 : before;
	return &f->numbers[thread];
}

bool rt_ring_file_begin(struct rt_ring_file *f, struct rt_ring *r)
{
	f->complete = true;
	f->late = rt_ring_seal(r);
	return !f->late || rt_ring_start(r, NULL, &f->start);
}

bool rt_ring_file_thread(struct rt_ring_file *f, const struct rt_ring *r, const struct rt_ring_thread *t)
{
	return !f->late || rt_ring_start(r, t, &f->start);
}

/* ---- What the chunks name ---- */

struct content {
	struct rt_bytes raw;
	struct rt_record *records; /* RT_CHUNK_RECORDS */
	struct set lines;          /* touched, numbers plus one */
	uint64_t line;             /* the last one */
};

static bool note_line(struct content *c, uint64_t address)
{
	bool added;
	uint64_t line = (address >> LINE_SHIFT) + 1;
	if (line == c->line)
		return true;
	c->line = line;
	return set_add(&c->lines, line, &added);
}

/* The pcs of a chunk are those of its sites, which have a column. */
static bool note_sites(const struct rt_decoder *d, struct set *pcs)
{
	struct rt_cursor c = d->column[RT_COLUMN_DEF];
	uint64_t pc = 0;
	bool added;
	while (rt_cursor_left(&c)) {
		pc += (uint64_t)rt_unzigzag(rt_cursor_varint(&c));
		rt_cursor_take(&c, 1);
		rt_cursor_varint(&c);
		if (c.bad || (pc & RT_OPERAND_MAX && !set_add(pcs, pc & RT_OPERAND_MAX, &added)))
			return false;
	}
	return true;
}

static bool note_lines(struct content *c, struct rt_decoder *d)
{
	size_t n = 0;
	bool ok = rt_decoder_records(d, c->records, RT_CHUNK_RECORDS, &n);
	for (size_t i = 0; i < n && ok; i++) {
		unsigned op = rt_record_op(c->records[i]);
		if (rt_op_is_access(op) || rt_op_has(op, RT_ON_OBJECT) || op == RT_OP_FREE)
			ok = note_line(c, rt_record_operand(c->records[i]));
	}
	return ok;
}

/* False without memory; a chunk is one of this process's own, so it is not damaged. */
static bool read_chunk(struct content *c, const struct rt_ring_chunk *chunk, bool lines, struct set *pcs)
{
	struct rt_decoder d = {0};
	bool memory = false;
	c->raw.len = 0;
	if (!rt_bytes_reserve(&c->raw, (size_t)chunk->block.raw + 1))
		return false;
	size_t raw = ZSTD_decompress(c->raw.data, c->raw.cap, chunk->frame, chunk->block.packed);
	bool ok = !ZSTD_isError(raw) && rt_decoder_init(&d, c->raw.data, raw, chunk->block.base_stamp, &memory) &&
	          note_sites(&d, pcs) && (!lines || note_lines(c, &d));
	rt_decoder_release(&d);
	return ok;
}

/* True if the window touches the block, or if that is not looked at. */
static bool is_touched(const struct content *c, const struct rt_kept *alloc)
{
	uint64_t first = rt_record_operand(alloc->event) >> LINE_SHIFT;
	uint64_t last = (rt_record_operand(alloc->event) + (alloc->arg ? alloc->arg - 1 : 0)) >> LINE_SHIFT;
	if (last - first > LINES_MAX)
		return true;
	for (uint64_t line = first; line <= last; line++)
		if (set_has(&c->lines, line + 1))
			return true;
	return false;
}

/* ---- The events that stand for the dropped ones ---- */

static int by_thread(const void *a, const void *b)
{
	const struct rt_kept *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->stamp != y->stamp)
		return x->stamp < y->stamp ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* The trace's first event, in a thread that is known: it says that what came before is missing. */
static bool add_loss(struct rt_ring_file *f, bool unsure)
{
	struct rt_kept loss = {.event = rt_record_make(RT_OP_LOST, unsure ? RT_LOST_CALL : RT_LOST_START, 0, 0, 0)};
	return rt_kept_add(&f->start, &loss, 1);
}

static bool list_start(struct rt_ring_file *f, const struct rt_ring *r, const struct content *c, struct set *pcs)
{
	size_t kept = 0;
	bool added;
	for (size_t i = 0; i < f->start.count; i++) {
		struct rt_kept *e = &f->start.items[i];
		uint64_t pc = rt_record_pc(e->event);
		if (rt_record_op(e->event) == RT_OP_ALLOC && !is_touched(c, e))
			continue;
		if (pc && !set_add(pcs, pc, &added))
			return false;
		f->start.items[kept++] = *e;
	}
	f->start.count = kept;
	if (!add_loss(f, false) || (rt_ring_unsure(r) && !add_loss(f, true)))
		return false;
	qsort(f->start.items, f->start.count, sizeof *f->start.items, by_thread);
	for (size_t i = 0; i < f->start.count; i++) {
		struct rt_ring_numbers *n = numbers_of(f, f->start.items[i].thread);
		if (!n)
			return false;
		n->start++;
	}
	return true;
}

static bool list_chunks(struct rt_ring_file *f, const struct rt_ring *r, struct content *c, struct set *pcs)
{
	size_t generation = 0, chunk = 0;
	for (const struct rt_ring_chunk *k; (k = rt_ring_next(r, &generation, &chunk)) != NULL;) {
		struct rt_ring_numbers *n = numbers_of(f, k->block.thread);
		if (!n || !read_chunk(c, k, f->late, pcs))
			return false;
		n->first = k->block.ordinal < n->first ? k->block.ordinal : n->first;
	}
	return true;
}

bool rt_ring_file_end(struct rt_ring_file *f, const struct rt_ring *r, struct set *pcs)
{
	struct content c = {.records = malloc(RT_CHUNK_RECORDS * sizeof *c.records)};
	bool ok = c.records && list_chunks(f, r, &c, pcs) && (!f->late || list_start(f, r, &c, pcs));
	free(c.records);
	rt_bytes_release(&c.raw);
	set_release(&c.lines);
	return ok;
}

/* ---- Writing ---- */

/* Their ordinals are directly before those of the thread's chunks, or begin at 1. */
static uint64_t base_of(const struct rt_ring_numbers *n)
{
	return n->first != UINT64_MAX && n->first > n->start ? n->first - n->start : 0;
}

bool rt_ring_file_start(struct rt_ring_file *f, size_t *at, struct rt_block *block, struct rt_bytes *raw)
{
	enum { EVENTS_MAX = RT_CHUNK_RECORDS / 3 };
	const struct rt_kept *first = &f->start.items[*at];
	struct rt_ring_numbers *n = &f->numbers[first->thread];
	struct rt_encoder *e = rt_encoder_create();
	size_t taken = 0, n_records = 0, count = 0;
	for (; e && taken == n_records && *at < f->start.count && count < EVENTS_MAX; count++) {
		const struct rt_kept *k = &f->start.items[*at];
		struct rt_record records[3] = {rt_record_ext(k->stamp, k->arg)};
		if (k->thread != first->thread)
			break;
		n_records = 1;
		if (rt_record_aux_of(k->event) >> 8 & RT_F_VALUE)
			records[n_records++] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, k->value};
		records[n_records++] = k->event;
		taken = rt_encoder_add(e, records, n_records);
		*at += taken == n_records;
	}
	if (!e || taken == SIZE_MAX) {
		rt_encoder_free(e);
		return false;
	}
	const struct rt_chunk_facts *facts = rt_encoder_facts(e);
	*block = (struct rt_block){.kind = RT_BLOCK_CHUNK,
	                           .thread = first->thread,
	                           .sequence = n->sequence++,
	                           .records = facts->records,
	                           .events = facts->events,
	                           .base_stamp = facts->base_stamp,
	                           .first_stamp = facts->first_stamp,
	                           .last_stamp = facts->last_stamp,
	                           .ordinal = base_of(n) + n->written,
	                           .lost = facts->lost};
	n->written += facts->events;
	rt_encoder_finish(e, raw);
	rt_encoder_free(e);
	return true;
}

void rt_ring_file_number(struct rt_ring_file *f, struct rt_block *block)
{
	struct rt_ring_numbers *n = &f->numbers[block->thread];
	block->sequence = n->sequence++;
	block->ordinal += base_of(n) + n->start > n->first ? base_of(n) + n->start - n->first : 0;
}
