/*
 * The collector. Everything that it reads from the channel was written by a program that may be broken in any way, so
 * it validates every index and pointer. A slot with invalid data is dropped with its content.
 *
 * It does not poll: the recorder rings the bell when a ring is half full, when a thread ends and when it has a request.
 * Until then the content of the rings is safe, whatever happens to the program. Only where the program may have
 * confined itself unseen, so that the recorder asks before each system call, it looks each millisecond.
 */
#include "recorder/collector/collector.h"

#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "recorder/collector/confine.h"
#include "recorder/collector/find.h"
#include "recorder/collector/late.h"
#include "recorder/collector/limits.h"
#include "recorder/control.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Blocks passed to the writer at once: few enough that its output stays in the cache, and that a thread which waits for
 * room gets it soon. */
#define BATCH_BLOCKS 64u
/* Longest sleep, in case a ring of the bell is lost with a dying thread. */
#define SLEEP_NS 100000000
/* The same where a confined thread may not ring. */
#define NAP_NS 1000000
/* The writer's data is written to the file at least this often: so much, and a sleep, is lost if this process is
 * killed. */
#define FLUSH_NS 800000000
/* Most threads of one run; more are invalid. */
#define THREADS_MAX (1u << 24)

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The first failure is kept; the writer is not used after it. */
static void failed(struct collector *c)
{
	limit_name(&c->error, errno);
	if (c->writer && c->tell)
		c->tell(&c->error);
	c->writer = NULL;
}

/* ---- Threads ---- */

static struct rt_slot *slot_of(const struct collector *c, uint32_t i)
{
	return (struct rt_slot *)(void *)((char *)c->channel + c->slots_offset) + i;
}

static const struct rt_record *ring_of(const struct collector *c, uint32_t i)
{
	return (struct rt_record *)(void *)((char *)c->channel + c->rings_offset) +
	       (uint64_t)i * c->ring_blocks * RT_BLOCK_RECORDS;
}

static uint32_t slots_used(const struct collector *c)
{
	uint32_t used = atomic_load(&c->channel->slots_used);
	return used < c->slot_count ? used : c->slot_count;
}

/* True if the slot's thread takes part in this recording. */
static bool is_ours(const struct collector *c, uint32_t i)
{
	return !c->attached || atomic_load_explicit(&slot_of(c, i)->session, memory_order_acquire) == c->session;
}

static const char *thread_name(const struct collector *c, uint32_t thread)
{
	return thread < c->names_size ? c->names[thread] : NULL;
}

/* Makes room for the thread's name and stores it. Takes the name, which may be NULL (no memory). */
static bool take_name(struct collector *c, uint32_t thread, char *name)
{
	if (!name)
		return false;
	if (!vec_extend(&c->names, &c->names_size, (uint64_t)thread + 1, sizeof *c->names)) {
		free(name);
		return false;
	}
	free(c->names[thread]);
	c->names[thread] = name;
	return true;
}

#define MAIN "main"
/* A thread is named by its creation: "main", its first child "main.1", its first task "main.task1". */
static char *make_name(const struct collector *c, const struct rt_slot *slot, uint32_t thread)
{
	/* Of an attached program, main may do nothing meanwhile. */
	const char *parent = slot->parent == 0 ? MAIN : thread_name(c, slot->parent);
	if (thread == 0)
		return strdup(MAIN);
	uint32_t number = parent ? slot->child_number : thread;
	parent = parent ? parent : "thread";
	size_t size = (size_t)rt_child_name(NULL, 0, parent, number) + 1;
	char *name = malloc(size);
	if (name)
		rt_child_name(name, size, parent, number);
	return name;
}

static void write_records(struct collector *c, uint32_t thread, const struct rt_record *records, size_t n)
{
	if (n && c->writer && rt_writer_records(c->writer, thread, records, n, &c->error))
		failed(c);
}

/* Records in the trace that events of the thread are missing from here on; their number is unknown. */
static void tell_lost(struct collector *c, const struct view *view)
{
	struct rt_record lost[] = {rt_record_ext(0, 1), rt_record_make(RT_OP_LOST, RT_LOST_COLLECTOR, 0, 0, 0)};
	if (view->declared)
		write_records(c, view->thread, lost, 2);
}

/* The slot's data is invalid. */
static void drop(struct collector *c, struct view *view)
{
	if (view->broken)
		return;
	view->broken = true;
	c->broken++;
	tell_lost(c, view);
}

static void declare(struct collector *c, uint32_t i, unsigned depth);

/* A child may be seen before its parent, whose slot is then still in use: only the collector frees slots. */
static void declare_parent(struct collector *c, uint32_t parent, unsigned depth)
{
	if (thread_name(c, parent) || depth > 64)
		return;
	for (uint32_t i = 0; i < slots_used(c); i++) {
		uint32_t state = atomic_load(&slot_of(c, i)->state);
		if (is_ours(c, i) && (state == RT_SLOT_LIVE || state == RT_SLOT_ENDED) &&
		    slot_of(c, i)->thread == parent) {
			declare(c, i, depth + 1);
			return;
		}
	}
}

static void copy_label(const struct rt_slot *slot, char label[LABEL_SIZE])
{
	memcpy(label, slot->label, LABEL_SIZE - 1);
	label[LABEL_SIZE - 1] = '\0';
}

static void tell_thread(struct collector *c, uint32_t thread, uint32_t parent, const char *label)
{
	if (c->writer &&
	    rt_writer_thread(c->writer, thread, c->names[thread], parent, label[0] ? label : NULL, &c->error))
		failed(c);
}

/* The first event of all: the state in which the trace begins is not that of a program's start. */
static void tell_start(struct collector *c, uint32_t thread)
{
	struct rt_record lost[] = {rt_record_ext(0, 0), rt_record_make(RT_OP_LOST, RT_LOST_START, 0, 0, 0)};
	if (!c->attached || c->told_start || !c->writer)
		return;
	c->told_start = true;
	if (!thread_name(c, 0) && rt_writer_thread(c->writer, 0, MAIN, 0, NULL, &c->error))
		failed(c);
	write_records(c, thread, lost, 2);
}

/* Declares the thread of slot i to the writer, once. */
static void declare(struct collector *c, uint32_t i, unsigned depth)
{
	struct view *view = &c->views[i];
	const struct rt_slot *slot = slot_of(c, i);
	uint32_t thread = slot->thread, parent = slot->parent;
	if (view->declared || view->broken)
		return;
	if (thread >= THREADS_MAX || thread_name(c, thread)) {
		drop(c, view);
		return;
	}
	if (parent != thread)
		declare_parent(c, parent, depth);
	view->declared = true;
	view->thread = thread;
	view->parent = parent == 0 || thread_name(c, parent) ? parent : thread;
	copy_label(slot, view->label);
	if (!take_name(c, thread, make_name(c, slot, thread))) {
		rt_error_set(&c->error, RT_EMEMORY, "no memory for the names of threads");
		failed(c);
		return;
	}
	tell_thread(c, thread, view->parent, view->label);
	tell_start(c, thread);
}

/* The thread's label is final only when it ends. */
static void relabel(struct collector *c, uint32_t i)
{
	char label[LABEL_SIZE];
	const struct view *view = &c->views[i];
	copy_label(slot_of(c, i), label);
	if (view->declared && label[0] && strcmp(label, view->label) != 0)
		tell_thread(c, view->thread, view->parent, label);
}

/* ---- Records ---- */

/* Number of the records that are not behind the session. */
static size_t before_end(const struct collector *c, struct view *view, const struct rt_record *records, size_t n)
{
	for (size_t i = 0; c->until != UINT64_MAX && i < n && !view->past; i++)
		if (rt_record_op(records[i]) == RT_OP_EXT && records[i].w1 > c->until) {
			view->past = true;
			return i;
		}
	return view->past ? 0 : n;
}

/* Passes on adjacent whole blocks, each without the padding at its end. */
static void write_blocks(struct collector *c, struct view *view, const struct rt_record *records, size_t blocks)
{
	uint32_t thread = view->thread;
	size_t from = 0, to = 0;
	for (size_t b = 0; b < blocks; b++) {
		to = (b + 1) * RT_BLOCK_RECORDS;
		size_t end = to;
		while (end > b * RT_BLOCK_RECORDS && rt_record_op(records[end - 1]) == RT_OP_NONE)
			end--;
		if (end == to)
			continue;
		write_records(c, thread, records + from, before_end(c, view, records + from, end - from));
		from = to;
	}
	write_records(c, thread, records + from, before_end(c, view, records + from, to - from));
}

static void give_room(struct rt_slot *slot, uint64_t consumed)
{
	atomic_store(&slot->consumed, consumed);
	if (atomic_load(&slot->waiting) && atomic_exchange(&slot->waiting, 0))
		futex_wake(&slot->waiting);
}

/* Takes the complete blocks of a slot. */
static void drain(struct collector *c, uint32_t i)
{
	struct view *view = &c->views[i];
	struct rt_slot *slot = slot_of(c, i);
	const struct rt_record *ring = ring_of(c, i);
	uint64_t published = atomic_load_explicit(&slot->published, memory_order_acquire);
	if (published == view->consumed)
		return;
	declare(c, i, 0);
	if (published < view->consumed || published - view->consumed > c->ring_blocks)
		drop(c, view);
	if (view->broken) {
		view->consumed = published; /* its thread must not wait for ever */
		give_room(slot, published);
	}
	while (view->consumed < published) {
		uint64_t first = view->consumed % c->ring_blocks, n = published - view->consumed;
		if (n > c->ring_blocks - first)
			n = c->ring_blocks - first;
		if (n > BATCH_BLOCKS)
			n = BATCH_BLOCKS;
		write_blocks(c, view, ring + first * RT_BLOCK_RECORDS, n);
		view->consumed += n;
		give_room(slot, view->consumed);
	}
}

/* The thread has ended and its ring is empty: frees the slot. */
static void release(struct collector *c, uint32_t i)
{
	struct rt_slot *slot = slot_of(c, i);
	struct view *view = &c->views[i];
	declare(c, i, 0);
	relabel(c, i);
	if (view->declared && c->writer && rt_writer_thread_end(c->writer, view->thread, &c->error))
		failed(c);
	*view = (struct view){0};
	slot->cur = slot->limit = slot->ring = NULL;
	atomic_store(&slot->session, 0);
	atomic_store(&slot->published, 0);
	atomic_store(&slot->consumed, 0);
	atomic_store_explicit(&slot->state, RT_SLOT_FREE, memory_order_release);
}

static void drain_all(struct collector *c)
{
	uint32_t used = slots_used(c);
	for (uint32_t i = 0; i < used; i++) {
		if (!is_ours(c, i))
			continue;
		/* State first: the drain then sees everything published before the end. */
		bool ended = atomic_load_explicit(&slot_of(c, i)->state, memory_order_acquire) == RT_SLOT_ENDED;
		drain(c, i);
		if (ended)
			release(c, i);
	}
}

/*
 * The program is dead: takes the block that it was writing. cur and published may be inconsistent, at either side of a
 * block's end; modulo the ring both give the right count.
 */
static void drain_rest(struct collector *c, uint32_t i)
{
	struct rt_slot *slot = slot_of(c, i);
	struct view *view = &c->views[i];
	const struct rt_record *ring = ring_of(c, i);
	uint64_t bytes = (uint64_t)((uintptr_t)slot->cur - (uintptr_t)slot->ring);
	uint64_t ring_records = (uint64_t)c->ring_blocks * RT_BLOCK_RECORDS;
	uint32_t state = atomic_load(&slot->state);
	bool has_rest = state == RT_SLOT_LIVE || (c->attached && state == RT_SLOT_ENDED);
	if (!is_ours(c, i) || !has_rest || !slot->ring || view->broken)
		return;
	declare(c, i, 0);
	relabel(c, i);
	if (!slot->cur) { /* it has given up, because this process was stopped for too long */
		tell_lost(c, view);
		return;
	}
	if (bytes > ring_records * sizeof *ring || bytes % sizeof *ring != 0)
		drop(c, view);
	uint64_t first = view->consumed * RT_BLOCK_RECORDS % ring_records;
	uint64_t n = (bytes / sizeof *ring - first) % ring_records;
	if (n > RT_BLOCK_RECORDS)
		drop(c, view);
	if (view->broken)
		return;
	while (n &&
	       (rt_record_op(ring[first + n - 1]) == RT_OP_EXT || rt_record_op(ring[first + n - 1]) == RT_OP_NONE ||
	        rt_record_op(ring[first + n - 1]) == RT_OP_VALUE))
		n--;
	n = before_end(c, view, ring + first, n);
	write_records(c, view->thread, ring + first, n);
	if (view->past || c->attached) /* the program lives on */
		return;
	struct rt_record skip = rt_record_make(RT_OP_SKIP, slot->skipped, 0, 0, 0), wait[3];
	write_records(c, view->thread, &skip, slot->skipped ? 1 : 0);
	write_records(c, view->thread, wait, waits_records(c->channel, slot, &view->wait, wait));
}

/* One round of looks at the threads that wait in the kernel. */
static void look_at_waits(struct collector *c)
{
	uint32_t used = slots_used(c);
	uint64_t now = now_ns();
	unsigned looks = 0;
	if (!c->writer || now - c->looked < SLEEP_NS)
		return;
	c->looked = now;
	for (uint32_t i = 0; i < used; i++) {
		uint32_t at = (c->look_at + i) % used;
		if (is_ours(c, at))
			waits_look(c->channel, c->pid, slot_of(c, at), &c->views[at].wait, &looks);
	}
	c->look_at = used ? (c->look_at + looks) % used : 0;
}

/* ---- The loop ---- */

/* The code of modules that were not looked at yet tells whether the program may confine itself unseen. */
static void look_at_code(struct collector *c)
{
	for (; c->modules_seen < c->modules.count; c->modules_seen++) {
		const struct module *m = &c->modules.items[c->modules_seen];
		atomic_fetch_or(&c->channel->may_confine, m->code ? confine_may(m->path) : 0);
	}
}

/* Answers the thread that waits to be told whether it has confined itself. */
static void tell_confined(struct collector *c)
{
	uint32_t tid = atomic_load(&c->channel->ask);
	if (!tid)
		return;
	if (confine_is(c->pid, (pid_t)tid, c->filters + atomic_load(&c->channel->seen)))
		atomic_store(&c->channel->confined, 1);
	atomic_store(&c->channel->ask, 0);
}

/* The recorder waits for the answer: it is about to load or unload a module. */
static void answer(struct collector *c)
{
	struct rt_error ignored;
	uint32_t request = atomic_load(&c->channel->request);
	if (request == atomic_load(&c->channel->answer))
		return;
	modules_read(&c->modules, c->pid, &ignored); /* the program may have died in the meantime */
	look_at_code(c);
	atomic_store(&c->channel->answer, request);
	futex_wake(&c->channel->answer);
}

static void tell_loaded(struct collector *c)
{
	while (c->writer && c->modules_told < c->modules.count) {
		const struct module *m = &c->modules.items[c->modules_told++];
		char *build_id = build_id_of(m->path);
		struct rt_loaded loaded = {m->start, m->end, m->path, build_id};
		if (rt_writer_loaded(c->writer, &loaded, &c->error))
			failed(c);
		free(build_id);
	}
}

static void flush(struct collector *c)
{
	uint64_t now = now_ns();
	if (!c->writer || now - c->flushed < FLUSH_NS)
		return;
	if (c->flushed && rt_writer_flush(c->writer, &c->error))
		failed(c);
	c->flushed = now;
}

/* True if there is something that the recorder would ring the bell for. */
static bool is_wanted(const struct collector *c)
{
	if (atomic_load(&c->stop) || atomic_load(&c->channel->request) != atomic_load(&c->channel->answer) ||
	    atomic_load(&c->channel->ask))
		return true;
	for (uint32_t i = 0; i < slots_used(c); i++) {
		struct rt_slot *slot = slot_of(c, i);
		if (!is_ours(c, i))
			continue;
		if (atomic_load(&slot->state) == RT_SLOT_ENDED ||
		    atomic_load(&slot->published) - c->views[i].consumed >= c->ring_blocks / 2)
			return true;
	}
	return false;
}

/* True if the process still maps the channel, or if that cannot be determined. */
static bool is_mapped(const struct collector *c)
{
	bool known;
	return process_maps(c->pid, &(struct mapping){c->inode, c->offset}, &known) || !known;
}

/* exec leaves the process alive; one that died before this was checked had not returned from exec. */
static bool is_over(struct collector *c)
{
	bool stop = atomic_load(&c->stop);
	if (!c->replaced && atomic_load(&c->channel->executing))
		c->replaced = stop || !is_mapped(c);
	return c->replaced || stop;
}

/* The recorder rings only while `sleeping` is set: requests from right before that are checked here. */
static void sleep_on_bell(struct collector *c)
{
	struct timespec timeout = {0, atomic_load(&c->channel->may_confine) ? NAP_NS : SLEEP_NS};
	atomic_store(&c->channel->sleeping, 1);
	uint32_t bell = atomic_load(&c->channel->bell);
	if (!is_wanted(c))
		syscall(SYS_futex, &c->channel->bell, FUTEX_WAIT, bell, &timeout, NULL, 0);
	atomic_store(&c->channel->sleeping, 0);
}

/* For events that no thread could record itself. */
static void tell_unseen(struct collector *c)
{
	uint32_t n = atomic_load(&c->channel->unseen);
	struct rt_record lost[] = {rt_record_ext(0, n), rt_record_make(RT_OP_LOST, RT_LOST_UNSEEN, 0, 0, 0)};
	if (n && thread_name(c, 0))
		write_records(c, 0, lost, 2);
}

/* True if a thread has ended the session: this process was stopped for too long. */
static bool has_left(const struct collector *c)
{
	return atomic_load(&c->channel->session) != c->session;
}

/* The session ends: its threads go on idle. What they have recorded is taken here, each slot's once. */
static void leave(struct collector *c)
{
	attach_end(c);
	for (uint32_t i = 0; i < slots_used(c); i++)
		if (is_ours(c, i))
			drain(c, i);
}

void collector_begin(struct collector *c)
{
	struct rt_error ignored;
	modules_read(&c->modules, c->pid, &ignored);
	look_at_code(c);
	attach_begin(c);
}

enum rt_status collector_run(struct collector *c, pid_t in_proc, struct rt_writer *w, struct rt_error *err)
{
	c->pid = in_proc;
	c->writer = w;
	for (;;) {
		bool stop = is_over(c) || (c->attached && (!c->writer || has_left(c)));
		if (stop && c->attached) {
			leave(c);
			break;
		}
		tell_confined(c);
		answer(c);
		tell_loaded(c);
		drain_all(c);
		flush(c);
		if (stop)
			break;
		look_at_waits(c);
		sleep_on_bell(c);
	}
	for (uint32_t i = 0; i < slots_used(c); i++)
		drain_rest(c, i);
	attach_release(c);
	tell_unseen(c);
	if (c->writer && c->control && atomic_load(&c->control->degraded) && rt_writer_inexact(c->writer, &c->error))
		failed(c);
	if (c->error.status && err)
		*err = c->error;
	return c->error.status;
}

void collector_stop(struct collector *c)
{
	atomic_store(&c->stop, true);
	collector_wake(c);
}

void collector_wake(struct collector *c)
{
	atomic_fetch_add(&c->channel->bell, 1);
	futex_wake(&c->channel->bell);
}
