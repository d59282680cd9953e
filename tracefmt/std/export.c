/*
 * Writes a trace as RAPID's STD text (docs/std-format.md). Operations that STD lacks are expressed by those it has, so
 * that at least the same is ordered and nothing new can race:
 * - Accesses become one line for each cell that they cover.
 * - A lock that is ever taken shared becomes one lock, and one more for each thread that reads. A reader takes its
 * thread's, a writer takes all. So readers exclude writers but not each other, as before.
 * - Atomic operations become accesses in a critical section of a lock of the cell.
 * - Other orders between threads (signal and wait, barriers, semaphores, once, annotations) become a message under the
 * object's lock: the sender reads and writes a variable, the receiver reads it. Correct reorderings keep reads-from, so
 * they keep the order.
 */
#include "tracefmt/export.h"
#include "tracefmt/alias.h"
#include "tracefmt/std/names.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct std_reader {
	uint64_t lock;
	uint32_t thread;
};

struct exporter {
	struct rt_trace *trace;
	FILE *out;
	struct rt_std_losses *losses;
	struct rt_error *err;
	struct cells cells;
	struct std_names names;
	struct names reader_set;    /* of struct std_reader */
	struct std_reader *readers; /* sorted by lock */
	bool *shared;               /* by reader: it holds the lock now */
	size_t reader_count;
	struct ignore {
		uint32_t reads, writes;
	} * ignores;                        /* by thread */
	const struct rt_numbers *uncertain; /* their values are left out */
	struct content {
		uint32_t generation; /* plus 1; 0: not accessed yet */
		bool written, known; /* it is written to; its initial content is known, by a read */
	} * contents;                /* by cell */
	char location[2048];
	struct rt_aliases aliases;
	bool failed; /* no memory */
};

static enum rt_status no_memory(struct exporter *x)
{
	return rt_error_set(x->err, RT_EMEMORY, "no memory to write STD");
}

static uint64_t size_of(const struct rt_event *e)
{
	return e->arg ? e->arg : 1;
}

/* --- first pass: cells and readers --- */

static bool collect(struct exporter *x, const struct rt_event *e)
{
	uint32_t index;
	struct std_reader reader;
	memset(&reader, 0, sizeof reader);
	if (rt_op_is_access(e->op))
		return cells_cut(&x->cells, e->addr, size_of(e));
	if (e->op != RT_OP_ACQUIRE_SHARED)
		return true;
	reader.lock = e->addr;
	reader.thread = e->thread;
	return names_intern(&x->reader_set, (const char *)&reader, sizeof reader, &index);
}

static int compare_readers(const void *a, const void *b)
{
	const struct std_reader *x = a, *y = b;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static bool finish_collecting(struct exporter *x)
{
	size_t n = x->reader_set.count;
	x->readers = calloc(n + 1, sizeof *x->readers);
	x->shared = calloc(n + 1, sizeof *x->shared);
	x->ignores = calloc(rt_trace_info(x->trace)->thread_count + 1u, sizeof *x->ignores);
	if (!x->readers || !x->shared || !x->ignores)
		return false;
	for (size_t i = 0; i < n; i++)
		memcpy(&x->readers[i], names_text(&x->reader_set, (uint32_t)i), sizeof *x->readers);
	qsort(x->readers, n, sizeof *x->readers, compare_readers);
	x->reader_count = n;
	if (!cells_finish(&x->cells))
		return false;
	x->contents = calloc(x->cells.count + 1, sizeof *x->contents);
	return x->contents && std_names_init(&x->names, x->trace) && std_names_cells(&x->names, &x->cells);
}

/* The lock's first reader; its other ones follow. */
static size_t readers_of(const struct exporter *x, uint64_t lock)
{
	return lower_bound(middle, 0, x->reader_count, x->readers[middle].lock < lock);
}

static size_t reader_end(const struct exporter *x, size_t first)
{
	size_t end = first;
	while (end < x->reader_count && x->readers[end].lock == x->readers[first].lock)
		end++;
	return end;
}

/* --- lines --- */

static void set_location(struct exporter *x, uint64_t pc)
{
	size_t n, length;
	const struct rt_frame *f = rt_trace_frames(x->trace, pc, &n);
	char *out = x->location;
	out[0] = '\0';
	if (n && (f->text || !f->file)) {
		const char *text = f->text ? f->text : f->function;
		std_name_text(&x->names, out, sizeof x->location, text ? text : "");
	} else if (n) {
		std_name_text(&x->names, out, sizeof x->location - 32, f->file);
		length = strlen(out);
		if (f->line && f->column)
			snprintf(out + length, 32, ":%u:%u", f->line, f->column);
		else if (f->line)
			snprintf(out + length, 32, ":%u", f->line);
	}
	if (!out[0] && pc)
		snprintf(out, sizeof x->location, "0x%" PRIx64, pc);
}

/* value may be NULL; object NULL: no memory for its name; object "": it has none. */
static void line(struct exporter *x, const struct rt_event *e, const char *op, const char *object,
                 const uint64_t *value)
{
	if (!object) {
		x->failed = true;
		return;
	}
	fputs(std_name_thread(&x->names, e->thread), x->out);
	putc('|', x->out);
	fputs(op, x->out);
	if (object[0]) {
		putc('(', x->out);
		fputs(object, x->out);
		putc(')', x->out);
	}
	putc('|', x->out);
	fputs(x->location, x->out);
	if (value)
		fprintf(x->out, "|%" PRId64, (int64_t)*value);
	putc('\n', x->out);
}

static void lock_line(struct exporter *x, const struct rt_event *e, const char *op, enum std_lock kind,
                      uint64_t address, uint32_t thread)
{
	line(x, e, op, std_name_lock(&x->names, kind, address, thread), NULL);
}

/* --- operations --- */

static bool has_number(const struct rt_numbers *n, uint64_t number)
{
	return number < n->end && n->bits[number / 8] >> number % 8 & 1;
}

/*
 * The part of an access's value that is in a cell. False: there is none to write, as of an access of more than 8 bytes.
 *
 * In STD a variable begins as 0 unless a read says otherwise. So of a cell whose first access is not a read with a
 * value no 0 is written: that would claim that this is what it began with. What is read before the first write to
 * memory that was given out anew is not written either, for that may be another value in another order.
 */
static bool value_in(struct exporter *x, const struct rt_event *e, size_t cell, bool reads, bool writes,
                     uint64_t *value)
{
	const struct rt_trace_info *info = rt_trace_info(x->trace);
	struct content *c = &x->contents[cell];
	uint32_t generation = cells_generation(&x->cells, cell);
	uint64_t at = x->cells.cuts[cell] - e->addr, size = x->cells.cuts[cell + 1] - x->cells.cuts[cell];
	bool certain = info->exact || (x->uncertain && !has_number(x->uncertain, e->number));
	bool known = e->flags & RT_F_VALUE && certain && size_of(e) <= sizeof e->value, whole = size == size_of(e);
	if (c->generation != generation + 1)
		*c = (struct content){generation + 1, false, info->zeroed || (known && reads && !generation)};
	if (known)
		*value = whole ? e->value : e->value >> 8 * at & ((UINT64_C(1) << 8 * size) - 1);
	known &= c->known || (*value && (c->written || !reads));
	c->written |= writes;
	return known;
}

static void access_lines(struct exporter *x, const struct rt_event *e)
{
	uint64_t end = e->addr + size_of(e);
	size_t first = cells_at(&x->cells, e->addr), last = first;
	bool reads = rt_op_reads(e->op), writes = rt_op_writes(e->op), atomic = rt_op_is_atomic(e->op);
	while (last < x->cells.count && x->cells.cuts[last] < end)
		last++;
	uint64_t value = 0;
	bool lost = false;
	for (size_t i = first; atomic && i < last; i++)
		lock_line(x, e, "acq", STD_ATOMIC, i, 0);
	for (size_t i = first; i < last && !ferror(x->out); i++) {
		bool known = value_in(x, e, i, reads, writes, &value);
		lost |= !known;
		if (reads)
			line(x, e, "r", std_name_cell(&x->names, i), known ? &value : NULL);
		if (writes)
			line(x, e, "w", std_name_cell(&x->names, i), known && !reads ? &value : NULL);
	}
	x->losses->values += lost && e->flags & RT_F_VALUE;
	for (size_t i = last; atomic && i > first; i--)
		lock_line(x, e, "rel", STD_ATOMIC, i - 1, 0);
}

static void acquire_lines(struct exporter *x, const struct rt_event *e, uint64_t lock, bool shared)
{
	size_t first = readers_of(x, lock), end = reader_end(x, first);
	bool has_readers = first < x->reader_count && x->readers[first].lock == lock;
	if (!shared)
		lock_line(x, e, "acq", STD_LOCK, lock, 0);
	for (size_t i = first; has_readers && i < end; i++) {
		if (shared && x->readers[i].thread != e->thread)
			continue;
		lock_line(x, e, "acq", STD_READER, lock, x->readers[i].thread);
		x->shared[i] = shared;
	}
}

static void release_lines(struct exporter *x, const struct rt_event *e, uint64_t lock)
{
	size_t first = readers_of(x, lock), end = reader_end(x, first);
	bool has_readers = first < x->reader_count && x->readers[first].lock == lock, shared = false;
	for (size_t i = end; has_readers && i > first; i--)
		if (x->readers[i - 1].thread == e->thread && x->shared[i - 1]) {
			shared = true;
			x->shared[i - 1] = false;
			lock_line(x, e, "rel", STD_READER, lock, e->thread);
		}
	if (shared)
		return;
	for (size_t i = end; has_readers && i > first; i--)
		lock_line(x, e, "rel", STD_READER, lock, x->readers[i - 1].thread);
	lock_line(x, e, "rel", STD_LOCK, lock, 0);
}

/* Sends an order through the object (gives), or receives it. */
static void message_lines(struct exporter *x, const struct rt_event *e, bool gives)
{
	const char *message = std_name_message(&x->names, e->addr);
	lock_line(x, e, "acq", STD_ORDER, e->addr, 0);
	line(x, e, "r", message, NULL);
	if (gives)
		line(x, e, "w", message, NULL);
	lock_line(x, e, "rel", STD_ORDER, e->addr, 0);
}

static void thread_line(struct exporter *x, const struct rt_event *e, const char *op)
{
	if (e->addr < rt_trace_info(x->trace)->thread_count)
		line(x, e, op, std_name_thread(&x->names, (uint32_t)e->addr), NULL);
}

static void region_line(struct exporter *x, const struct rt_event *e, const char *op)
{
	char name[1024];
	const char *object = rt_trace_object_name(x->trace, e->addr);
	std_name_text(&x->names, name, sizeof name, object ? object : "");
	line(x, e, op, name, NULL);
}

/* arg: bit 0 reads, bit 1 writes; ignored synchronisation is kept: it only orders more. */
static void ignore(struct ignore *i, uint64_t arg, bool begin)
{
	uint32_t by = begin ? 1 : UINT32_MAX;
	if (arg & 1 && (begin || i->reads))
		i->reads += by;
	if (arg & 2 && (begin || i->writes))
		i->writes += by;
}

/* Writes an event with STD's operations. */
enum spoken { SAID, AS_LOCK, LEFT_OUT };

static enum spoken access_event(struct exporter *x, const struct rt_event *e)
{
	const struct ignore *i = &x->ignores[e->thread];
	if ((i->writes && rt_op_writes(e->op)) || (i->reads && !rt_op_writes(e->op)))
		return LEFT_OUT;
	access_lines(x, e);
	return rt_op_is_atomic(e->op) ? AS_LOCK : SAID;
}

static enum spoken say(struct exporter *x, const struct rt_event *e)
{
	switch (e->op) {
	case RT_OP_ACQUIRE:
		acquire_lines(x, e, e->addr, false);
		return SAID;
	case RT_OP_ACQUIRE_SHARED:
		acquire_lines(x, e, e->addr, true);
		return AS_LOCK;
	case RT_OP_RELEASE:
		release_lines(x, e, e->addr);
		return SAID;
	case RT_OP_WAIT_BEGIN:
		release_lines(x, e, e->arg);
		return AS_LOCK;
	case RT_OP_WAIT_END:
		acquire_lines(x, e, e->arg, false);
		if (!(e->flags & RT_F_TIMEOUT))
			message_lines(x, e, false);
		return AS_LOCK;
	case RT_OP_FORK:
		thread_line(x, e, "fork");
		return SAID;
	case RT_OP_JOIN:
		thread_line(x, e, "join");
		return SAID;
	case RT_OP_REGION_BEGIN:
		region_line(x, e, "begin");
		return SAID;
	case RT_OP_REGION_END:
		region_line(x, e, "end");
		return SAID;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_SEM_INIT:
	case RT_OP_SEM_POST:
	case RT_OP_ONCE_END:
	case RT_OP_HB_BEFORE:
		message_lines(x, e, true);
		return AS_LOCK;
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_SEM_WAIT:
	case RT_OP_ONCE_SEEN:
	case RT_OP_HB_AFTER:
		message_lines(x, e, false);
		return AS_LOCK;
	case RT_OP_ALLOC:
	case RT_OP_MAP:
	case RT_OP_NEW_MEMORY:
	case RT_OP_BEGIN: /* its stack */
		cells_renew(&x->cells, e->addr, e->arg);
		return LEFT_OUT;
	case RT_OP_IGNORE_BEGIN:
	case RT_OP_IGNORE_END:
		ignore(&x->ignores[e->thread], e->arg, e->op == RT_OP_IGNORE_BEGIN);
		return LEFT_OUT;
	RT_CASES_ACCESS:
		return access_event(x, e);
	RT_CASES_RECORD:
	case RT_OP_FENCE:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_END:
	case RT_OP_DETACH:
	case RT_OP_FREE:
	case RT_OP_UNMAP:
	case RT_OP_ENTER:
	case RT_OP_LEAVE:
	case RT_OP_MODULE_LOAD:
	case RT_OP_MODULE_UNLOAD:
	case RT_OP_BENIGN:
	case RT_OP_LOST:
	case RT_OP_SETJMP:
	case RT_OP_LONGJMP:
	case RT_OP_TLS:
	case RT_OP_FAULT:
	case RT_OP_BLOCK:
	case RT_OP_UNBLOCK:
	case RT_OP_TRY_FAILED:
	case RT_OP_ALIAS:
	case RT_OP_SHARED:
		return LEFT_OUT;
	}
	return LEFT_OUT;
}

static void export_event(struct exporter *x, const struct rt_event *e)
{
	set_location(x, e->pc);
	enum spoken spoken = say(x, e);
	x->losses->as_locks += spoken == AS_LOCK;
	x->losses->left_out += spoken == LEFT_OUT;
	if (spoken != SAID && e->op < RT_OP_COUNT)
		x->losses->ops[e->op]++;
}

static void take(struct exporter *x, const struct rt_event *e, bool collecting)
{
	if (e->op == RT_OP_ALIAS)
		x->failed |= !rt_aliases_event(&x->aliases, e);
	if (!collecting)
		export_event(x, e);
	else if (!collect(x, e))
		x->failed = true;
}

/* An access is of the memory that is mapped where it is, piece by piece. */
static void take_accesses(struct exporter *x, const struct rt_event *e, bool collecting)
{
	struct rt_event piece = *e, rest;
	while (rt_aliases_split(&x->aliases, &piece, &rest)) {
		take(x, &piece, collecting);
		piece = rest;
	}
	take(x, &piece, collecting);
}

/* One pass over the trace. */
static enum rt_status pass(struct exporter *x, bool collecting)
{
	struct rt_pass pass;
	uint32_t threads = rt_trace_info(x->trace)->thread_count;
	rt_trace_select(x->trace, RT_SELECT_ALL);
	x->aliases.count = 0;
	for (struct rt_event *e = rt_pass_first(&pass, x->trace, x->err); e && !x->failed && !ferror(x->out);
	     e = rt_pass_next(&pass)) {
		if (e->thread >= threads)
			return rt_error_set(x->err, RT_EINPUT,
			                    "event %" PRIu64 " is of a thread that the trace does not name", e->number);
		if (rt_aliases_apply(&x->aliases, e))
			take_accesses(x, e, collecting);
		else
			take(x, e, collecting);
	}
	return x->failed ? no_memory(x) : pass.status;
}

enum rt_status rt_export_std(struct rt_trace *trace, const struct rt_numbers *uncertain, FILE *out,
                             struct rt_std_losses *losses, struct rt_error *err)
{
	struct exporter *x = calloc(1, sizeof *x);
	*losses = (struct rt_std_losses){0};
	if (!x)
		return rt_error_set(err, RT_EMEMORY, "no memory to write STD");
	x->trace = trace;
	x->out = out;
	x->losses = losses;
	x->err = err;
	x->uncertain = uncertain;
	enum rt_status status = pass(x, true);
	if (!status && !finish_collecting(x))
		status = no_memory(x);
	if (!status)
		status = pass(x, false);
	std_names_release(&x->names);
	cells_release(&x->cells);
	rt_aliases_release(&x->aliases);
	names_release(&x->reader_set);
	free_all(x->readers, x->shared, x->ignores, x->contents, x);
	return status;
}
