/* Look-up, then act; see lookup.h. */
#include "lib/search/lookup.h"

#include "lib/base/lower_bound.h"
#include "lib/base/name.h"

#include <stdlib.h>
#include <string.h>

/* Bytes from the count; and from what is known of the object to what else is of it. */
enum { NEAR = 256, GAP = 32 };
enum { SECTION_EVENTS = 512 }; /* of another thread's section that are looked at, on either side of its write */
enum { ACT_EVENTS = 4096 };    /* between a look-up and its act */
enum { CHANGES_MAX = 16 };

struct changes {
	uint32_t cells[CHANGES_MAX], count;
};

bool lookup_is_near(const struct model *m, uint32_t cell, uint32_t count)
{
	uint64_t a = m->cells[cell].addr, b = m->cells[count].addr;
	return (a > b ? a - b : b - a) <= NEAR;
}

bool lookup_is_next(const struct model *m, uint32_t cell, uint32_t count, uint64_t first, uint64_t last)
{
	uint64_t own = m->cells[count].addr, addr = m->cells[cell].addr;
	first = first < own ? first : own;
	last = last > own ? last : own;
	return addr + GAP >= first && addr <= last + GAP;
}

static bool has(const struct changes *c, uint32_t cell)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->cells[i] == cell)
			return true;
	return false;
}

static void add(struct changes *c, uint32_t cell)
{
	if (c->count < CHANGES_MAX && !has(c, cell))
		c->cells[c->count++] = cell;
}

/* What the section of e1 accesses of the object after the link. */
static void find_seen(const struct model *m, uint32_t e1, uint32_t count, struct changes *c)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e1)];
	for (uint32_t pos = m->events[e1].pos + 1, i = 0; pos < t->count && i < SECTION_EVENTS; pos++, i++) {
		uint32_t e = t->events[pos], op = model_op(m, e);
		if (op == RT_OP_ACQUIRE)
			break;
		if (rt_op_is_access(op) && lookup_is_near(m, m->events[e].object, count))
			add(c, m->events[e].object);
	}
}

/* What the section around e2 writes of the object. */
static void find_changes(const struct model *m, uint32_t e2, uint32_t lock, uint32_t count, struct changes *c)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e2)];
	for (int step = -1; step <= 1; step += 2) {
		uint32_t pos = m->events[e2].pos;
		for (int i = 0; i < SECTION_EVENTS && c->count < CHANGES_MAX; i++) {
			if (step < 0 ? pos == 0 : pos + 1 >= t->count)
				break;
			pos += (uint32_t)step;
			uint32_t e = t->events[pos], op = model_op(m, e);
			const struct model_lock *held = model_lockset_lock(m, model_lockset_of(m, e), lock);
			if (op == RT_OP_ACQUIRE && m->events[e].object == lock)
				break;
			if (!held || held->shared)
				break;
			if (rt_op_is_access(op) && rt_op_writes(op) && lookup_is_near(m, m->events[e].object, count))
				add(c, m->events[e].object);
		}
	}
}

/* The bracket that closes the one at `at`; NULL: it is not on this line. */
static const char *closing(const char *at)
{
	int depth = 0;
	for (; *at; at++) {
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		if (!depth)
			return at;
	}
	return NULL;
}

static bool decides(const char *text, size_t length)
{
	static const char *const words[] = {"if", "while", "for", "switch", "return", "assert",
	                                    "?",  "&&",    "||",  "==",     "!"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		for (size_t k = 0; k + strlen(words[i]) <= length; k++) {
			bool word = is_in_name(*words[i]);
			size_t n = strlen(words[i]);
			if (!strncmp(text + k, words[i], n) &&
			    (!word ||
			     ((!k || !is_in_name(text[k - 1])) && !(k + n < length && is_in_name(text[k + n])))))
				return true;
		}
	return false;
}

/*
 * True if what is read at this position may decide whether to act. Not where it only tells an address: a macro's name
 * or a call is at the column, and what surrounds it on the line asks nothing.
 */
static bool may_decide(const struct model *m, struct snippets *source, uint32_t e)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(m->trace, m->sites[m->events[e].site].pc, &n);
	char *line = n && f->file && f->column ? snippet_whole(source, f->file, f->line) : NULL;
	bool decides_by_it = true;
	if (line && f->column <= strlen(line)) {
		const char *at = line + f->column - 1, *end = at;
		while (is_in_name(*end))
			end++;
		const char *last = end > at && *end == '(' ? closing(end) : NULL;
		if (last)
			decides_by_it = decides(line, (size_t)(at - line)) || decides(last + 1, strlen(last + 1));
	}
	free(line);
	return decides_by_it;
}

/* True if the thread of e1 and e3 looks at one of the changed cells in its section before e3. */
static bool looks_again(const struct model *m, struct snippets *source, uint32_t e1, uint32_t e3, uint32_t lock,
                        const struct changes *c)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e1)];
	uint32_t first = m->events[e1].pos, pos = m->events[e3].pos;
	if (pos - first > ACT_EVENTS)
		return true;
	while (--pos > first) {
		uint32_t e = t->events[pos], op = model_op(m, e);
		if (op == RT_OP_ACQUIRE && m->events[e].object == lock)
			return false;
		if (rt_op_is_access(op) && rt_op_reads(op) && has(c, m->events[e].object) && may_decide(m, source, e))
			return true;
	}
	return false;
}

/* True if the event reads what some thread wrote after e1, other than of the object. */
static bool reads_new(const struct model *m, uint32_t e, uint32_t e1, uint32_t count)
{
	uint32_t first = m->events[e].object, end = first + m->sites[m->events[e].site].cells;
	for (uint32_t cell = first; cell < end; cell++) {
		const uint32_t *events = &m->cell_events[m->cells[cell].first];
		size_t i = lower_bound(mid, 0, m->cells[cell].count, events[mid] < e);
		while (i && events[i - 1] > e1 && !rt_op_writes(model_op(m, events[i - 1])))
			i--;
		if (i && events[i - 1] > e1 && model_thread_of(m, events[i - 1]) != model_thread_of(m, e) &&
		    !lookup_is_near(m, cell, count))
			return true;
	}
	return false;
}

/*
 * True if the section of e2 might have come before e3: up to e2 it reads nothing that was written since e1, but
 * what it updates, and needs no other lock that the thread of e1 and e3 holds.
 */
static bool might_be_earlier(const struct model *m, uint32_t e1, uint32_t e2, uint32_t e3, uint32_t lock,
                             uint32_t count)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e2)];
	const struct model_lockset *held = &m->locksets[model_lockset_of(m, e2)];
	for (uint32_t i = 0; i < held->count; i++)
		if (held->locks[i].object != lock &&
		    model_lockset_lock(m, model_lockset_of(m, e1), held->locks[i].object) &&
		    model_lockset_lock(m, model_lockset_of(m, e3), held->locks[i].object))
			return false;
	if (e2 < e3)
		return true;
	uint32_t pos = m->events[e2].pos;
	for (int i = 0; pos-- && i < SECTION_EVENTS; i++) {
		uint32_t e = t->events[pos], op = model_op(m, e);
		if (op == RT_OP_ACQUIRE && m->events[e].object == lock)
			return true;
		uint32_t next = pos + 1 < t->count ? t->events[pos + 1] : e;
		bool updates = m->events[next].object == m->events[e].object && rt_op_writes(model_op(m, next));
		if (rt_op_is_access(op) && rt_op_reads(op) && !updates && reads_new(m, e, e1, count))
			return false;
	}
	return false;
}

bool lookup_is_lost(const struct model *m, struct snippets *source, uint32_t e1, uint32_t e2, uint32_t e3,
                    uint32_t lock, uint32_t count)
{
	struct changes seen = {.count = 0}, c = {.count = 0};
	find_seen(m, e1, count, &seen);
	find_changes(m, e2, lock, count, &c);
	bool same = false;
	for (uint32_t i = 0; i < c.count; i++)
		same |= has(&seen, c.cells[i]);
	return same && might_be_earlier(m, e1, e2, e3, lock, count) && !looks_again(m, source, e1, e3, lock, &c);
}
