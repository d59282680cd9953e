/*
 * The table of guards; see guard_table.h. Rows are ranked as Engler and others rank deviations (SOSP 2001, section 5):
 * by the z-statistic of the share of accesses that hold the lock, against nine of ten. 117 of 118 comes before 9 of 10,
 * and that before 50 of 100.
 */
#include "lib/report/guard_table.h"

#include "lib/analysis/guard.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/report/declaration.h"
#include "lib/report/expression.h"
#include "lib/trace/snippet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 200000, SITES_OF_CELL = 16 };

/* Accesses of a cell that do not hold its lock, at one position. */
struct lack {
	uint32_t e; /* the first of them */
	uint64_t count;
};

/* A cell that counts: its accesses while it is shared, and those without the lock that most of them hold. */
struct counted {
	uint32_t cell, e; /* e: its last access */
	uint32_t write;   /* a write, whose source line may name it; MODEL_NONE: none */
	uint32_t lock;    /* held most often; MODEL_NONE: none */
	uint64_t of, writes;
	bool atomic, cut;
	uint32_t first_lack, lacks;
};

struct named {
	char *name;
	size_t row;
	UT_hash_handle hh;
};

struct maker {
	struct report r;
	const struct model *m;
	struct guards guards;
	struct snippets snippets;
	struct counted *cells;
	size_t count, capacity;
	struct lack *lacks;
	size_t lack_count, lack_capacity;
	struct describe_query *queries;
	size_t query_count, query_capacity;
	uint32_t *holder; /* by object: an event that is described and holds it; MODEL_NONE: none */
	char **locks;     /* by object: its name as a lock; NULL: not asked for yet */
	struct named *names;
	struct guard_table *out;
	size_t row_capacity;
	bool no_memory;
};

/* --- cells --- */

static void add_lack(struct maker *k, struct counted *c, uint32_t e)
{
	for (uint32_t i = 0; i < c->lacks; i++) {
		struct lack *lack = &k->lacks[c->first_lack + i];
		if (k->m->events[lack->e].site == k->m->events[e].site) {
			lack->count++;
			return;
		}
	}
	if (c->lacks == SITES_OF_CELL) {
		c->cut = true;
		return;
	}
	if (!vec_reserve(&k->lacks, &k->lack_capacity, (uint64_t)k->lack_count + 1, sizeof *k->lacks)) {
		k->no_memory = true;
		return;
	}
	k->lacks[k->lack_count++] = (struct lack){e, 1};
	c->lacks++;
}

static uint32_t most_held(struct maker *k, uint32_t cell, uint64_t *of)
{
	uint32_t n, best = MODEL_NONE;
	uint64_t held = 0;
	const struct guard_count *counts = guard_counts(&k->guards, cell, &n, of);
	for (uint32_t i = 0; i < n; i++)
		if (counts[i].held > held) {
			held = counts[i].held;
			best = counts[i].lock;
		}
	return best;
}

static void count_cell(struct maker *k, uint32_t cell)
{
	const struct model *m = k->m;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	struct guard_span span = guard_span_of(m, k->guards.por, cell);
	struct counted c = {.cell = cell, .write = MODEL_NONE, .atomic = true, .first_lack = (uint32_t)k->lack_count};
	c.lock = most_held(k, cell, &c.of);
	if (!c.of)
		return;
	c.e = events[m->cells[cell].count - 1];
	for (uint32_t i = span.first; i < span.end && !k->no_memory; i++) {
		if (!guard_counts_event(m, events[i]))
			continue;
		if (rt_op_writes(model_op(m, events[i]))) {
			c.writes++;
			c.write = events[i];
		}
		c.atomic &= rt_op_is_atomic(model_op(m, events[i])) != 0;
		if (c.lock == MODEL_NONE || !guard_is_held(m, events[i], c.lock))
			add_lack(k, &c, events[i]);
	}
	if (!vec_reserve(&k->cells, &k->capacity, (uint64_t)k->count + 1, sizeof *k->cells))
		k->no_memory = true;
	else
		k->cells[k->count++] = c;
}

/* --- what is asked of the trace --- */

static void ask(struct maker *k, uint64_t number, uint64_t addr)
{
	if (!vec_reserve(&k->queries, &k->query_capacity, (uint64_t)k->query_count + 1, sizeof *k->queries)) {
		k->no_memory = true;
		return;
	}
	k->queries[k->query_count++] = (struct describe_query){.number = number, .addr = addr};
}

/* Asks for the event, and for the blocks of the locks that it is the first to hold. */
static void ask_event(struct maker *k, uint32_t e, uint64_t addr)
{
	const struct model *m = k->m;
	const struct model_lockset *set = &m->locksets[model_lockset_of(m, e)];
	ask(k, m->events[e].number, addr);
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t lock = set->locks[i].object;
		if (k->holder[lock] != MODEL_NONE)
			continue;
		k->holder[lock] = e;
		ask(k, 0, m->objects[lock].addr);
	}
}

static void ask_cell(struct maker *k, const struct counted *c)
{
	const struct model *m = k->m;
	const uint32_t *events = &m->cell_events[m->cells[c->cell].first];
	uint32_t n, known = 0;
	uint64_t of;
	ask_event(k, c->e, m->cells[c->cell].addr);
	if (c->write != MODEL_NONE)
		ask_event(k, c->write, 0);
	for (uint32_t i = 0; i < c->lacks; i++)
		ask_event(k, k->lacks[c->first_lack + i].e, 0);
	/* An access for each lock, by which it is named. */
	const struct guard_count *counts = guard_counts(&k->guards, c->cell, &n, &of);
	for (uint32_t i = 0; i < n; i++)
		known += k->holder[counts[i].lock] != MODEL_NONE;
	for (uint32_t i = 0; i < m->cells[c->cell].count && known < n; i++) {
		const struct model_lockset *set = &m->locksets[model_lockset_of(m, events[i])];
		bool is_new = false;
		for (uint32_t l = 0; l < set->count; l++)
			is_new |= k->holder[set->locks[l].object] == MODEL_NONE;
		if (is_new)
			ask_event(k, events[i], 0);
		known += is_new;
	}
}

/* --- rows --- */

static char *copy(struct maker *k, const char *text)
{
	char *own = text ? strdup(text) : NULL;
	k->no_memory |= text && !own;
	return own;
}

/* The lock, as the event has it that was asked for as its holder; NULL: none was. */
static const struct held_lock *held_by_holder(const struct maker *k, uint32_t lock)
{
	uint32_t e = k->holder[lock];
	const struct description *d =
	    e == MODEL_NONE ? NULL : description_of(k->r.descriptions, k->m->events[e].number);
	for (size_t i = 0; d && i < d->lock_count; i++)
		if (d->locks[i].addr == k->m->objects[lock].addr)
			return &d->locks[i];
	return NULL;
}

/* The same for all cells that the lock guards; NULL without memory. */
static const char *lock_name(struct maker *k, uint32_t lock)
{
	if (k->locks[lock])
		return k->locks[lock];
	char name[SUBJECT_NAME_MAX], full[SUBJECT_NAME_MAX];
	uint64_t addr = k->m->objects[lock].addr;
	const struct held_lock *held = held_by_holder(k, lock);
	subject_object_name(&k->r, addr, held ? &held->block : NULL, full);
	subject_stable_name(full, name);
	if (!name[0])
		snprintf(name, SUBJECT_NAME_MAX, "lock 0x%" PRIx64, addr);
	return k->locks[lock] = copy(k, name);
}

/* What the line of a write assigns to or, if there is none, that of the last access reads, or the container that it
 * calls. member: "": its type is not known. False: it is not known. */
static bool named_by_line(struct maker *k, const struct counted *c, char name[EXPRESSION_MAX],
                          char member[EXPRESSION_MAX])
{
	bool writes = c->write != MODEL_NONE;
	const struct description *d = description_of(k->r.descriptions, k->m->events[writes ? c->write : c->e].number);
	struct place place = d ? place_of_stack(&k->r, d->stack, d->stack_count) : (struct place){0};
	char *line = place_line(&k->r, &place);
	bool known = line ? (writes ? expression_assigned(line, place.frame->column, name)
	                            : expression_member(line, place.frame->column, name))
	                  : place_called_for(&k->r, &place, name);
	free(line);
	char stable[SUBJECT_NAME_MAX];
	if (!known || !declaration_member(&k->r, &place, name, member))
		member[0] = '\0';
	subject_stable_name(member, stable);
	memcpy(member, stable, strlen(stable) + 1);
	return known;
}

/* Elements of an array in a block are one variable: by the block, and by what the line has without indices. So is a
 * member of the elements that a pointer goes through, if the same lock guards them; lock: its name, or "". */
static void name_element(struct subject *s, const char *element, const char *lock, char name[SUBJECT_NAME_MAX])
{
	char stable[SUBJECT_NAME_MAX], *offset = strrchr(s->name, '+');
	if (offset && offset > s->name && offset[1] == ' ' && !offset[2 + strspn(offset + 2, "0123456789")])
		offset[-1] = '\0';
	subject_stable_name(element, stable);
	snprintf(name, SUBJECT_NAME_MAX, "%.300s %.100s %.100s", s->name, stable, lock);
}

/* What its acquire's line locks, of a lock without a name of its own. */
static void name_written(struct maker *k, uint32_t lock, struct guard_lock *out)
{
	char own[SUBJECT_NAME_MAX], name[EXPRESSION_MAX], member[EXPRESSION_MAX];
	const struct held_lock *held = held_by_holder(k, lock);
	subject_object_name(&k->r, k->m->objects[lock].addr, NULL, own);
	const struct description *taken = held && !own[0] ? place_taken(&k->r, held) : NULL;
	if (!taken || !place_locked(&k->r, taken, name))
		return;
	out->written = copy(k, name);
	if (declaration_of_lock(&k->r, taken, name, member))
		out->member = copy(k, member);
}

/* name: what tells the variable from others. */
static struct guard_row *row_of(struct maker *k, const struct subject *s, const char *name)
{
	char shown[SUBJECT_NAME_MAX];
	struct named *known;
	subject_stable_name(s->name, shown);
	HASH_FIND_STR(k->names, name, known);
	if (known)
		return &k->out->rows[known->row];
	known = calloc(1, sizeof *known);
	if (!known || !(known->name = copy(k, name)) ||
	    !vec_reserve(&k->out->rows, &k->row_capacity, (uint64_t)k->out->count + 1, sizeof *k->out->rows)) {
		k->no_memory = true;
		if (known)
			free(known->name);
		free(known);
		return NULL;
	}
	known->row = k->out->count;
	HASH_ADD_KEYPTR(hh, k->names, known->name, strlen(known->name), known);
	if (!HASH_ADDED(known)) {
		k->no_memory = true;
		free(known->name);
		free(known);
		return NULL;
	}
	struct guard_row *row = &k->out->rows[k->out->count++];
	*row = (struct guard_row){.kind = s->kind, .line = s->line, .atomic = true};
	row->name = copy(k, shown);
	row->file = copy(k, s->file);
	return row;
}

static void add_lock(struct maker *k, struct guard_row *row, const char *name, const struct guard_count *count)
{
	uint32_t i = 0;
	while (i < row->lock_count && strcmp(row->locks[i].name, name) != 0)
		i++;
	if (i == GUARD_LOCKS_MAX)
		return;
	if (i == row->lock_count) {
		char *own = copy(k, name);
		if (!own)
			return;
		row->locks[row->lock_count] = (struct guard_lock){.name = own};
		name_written(k, count->lock, &row->locks[row->lock_count++]);
	}
	row->locks[i].held += count->held;
	row->locks[i].shared |= count->shared;
}

static bool is_place(const struct guard_place *p, const struct rt_frame *f)
{
	if (f->file && p->file)
		return p->line == f->line && !strcmp(p->file, f->file);
	return !f->file && !p->file && f->text && p->text && !strcmp(p->text, f->text);
}

static void add_without(struct maker *k, struct guard_row *row, const struct lack *lack)
{
	const struct description *d = description_of(k->r.descriptions, k->m->events[lack->e].number);
	struct place place = d ? place_of_stack(&k->r, d->stack, d->stack_count) : (struct place){0};
	const struct rt_frame *f = place.frame, nothing = {0};
	uint32_t i = 0;
	f = f ? f : &nothing;
	while (i < row->without_count && !is_place(&row->without[i], f))
		i++;
	if (i == GUARD_WITHOUT_MAX) {
		row->without_cut = true;
		return;
	}
	struct guard_place *p = &row->without[i];
	if (i == row->without_count) {
		char function[PLACE_FUNCTION_MAX];
		place_function(&place, function);
		*p = (struct guard_place){.line = f->line};
		p->function = copy(k, f->function ? function : NULL);
		p->file = copy(k, f->file);
		p->text = copy(k, f->text);
		row->without_count++;
	}
	p->writes |= rt_op_writes(model_op(k->m, lack->e)) != 0;
	p->count += lack->count;
}

/* Locks of the cell under the same name count once: the one that is held most. */
static void add_locks(struct maker *k, struct guard_row *row, uint32_t cell)
{
	uint32_t n;
	uint64_t of;
	const struct guard_count *counts = guard_counts(&k->guards, cell, &n, &of);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = lock_name(k, counts[i].lock);
		bool best = name != NULL;
		for (uint32_t l = 0; l < n && best; l++) {
			const char *other = lock_name(k, counts[l].lock);
			best = l == i || !other || strcmp(name, other) != 0 || counts[l].held < counts[i].held ||
			       (counts[l].held == counts[i].held && l > i);
		}
		if (best)
			add_lock(k, row, name, &counts[i]);
	}
}

/* The cell's lock if it is no part of the block, as an element's own is; NULL: there is none. */
static const char *common_lock(struct maker *k, const struct counted *c, const struct memory_block *block)
{
	bool own = c->lock == MODEL_NONE || k->m->objects[c->lock].addr - block->address < block->size;
	return own ? NULL : lock_name(k, c->lock);
}

static void add_cell(struct maker *k, const struct counted *c)
{
	struct subject s;
	const struct description *d = description_of(k->r.descriptions, k->m->events[c->e].number);
	const struct memory_place *place = d ? description_place(d, k->m->cells[c->cell].addr) : NULL;
	if (!place)
		return;
	subject_at(&k->r, place, &s);
	if (!s.name[0])
		snprintf(s.name, sizeof s.name, "0x%" PRIx64, place->addr);
	char name[SUBJECT_NAME_MAX], line[EXPRESSION_MAX], member[EXPRESSION_MAX];
	bool by_line = !s.file && strcmp(s.kind, "tls") != 0 && named_by_line(k, c, line, member);
	subject_stable_name(s.name, name);
	const char *lock = common_lock(k, c, &s.block);
	const char *element = by_line && member[0] ? member : line;
	if (by_line && s.block.alloc && strchr(line, '['))
		name_element(&s, element, "", name);
	else if (by_line && s.block.alloc && (member[0] || strstr(line, "->")) && lock)
		name_element(&s, element, lock, name);
	else if (by_line && !strcmp(s.kind, "stack"))
		name_element(&s, element, "", name);
	struct guard_row *row = row_of(k, &s, name);
	if (!row)
		return;
	if (!row->written && by_line)
		row->written = copy(k, line);
	if (!row->member && by_line && member[0])
		row->member = copy(k, member);
	row->of += c->of;
	row->writes += c->writes;
	row->atomic &= c->atomic;
	row->without_cut |= c->cut;
	add_locks(k, row, c->cell);
	for (uint32_t i = 0; i < c->lacks; i++)
		add_without(k, row, &k->lacks[c->first_lack + i]);
}

/* --- order --- */

static int by_held(const void *a, const void *b)
{
	const struct guard_lock *x = a, *y = b;
	if (x->held != y->held)
		return x->held > y->held ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_count(const void *a, const void *b)
{
	const struct guard_place *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Mistakes first: guarded with exceptions; then guarded; then not guarded; atomic ones last. */
static double order_of(const struct guard_row *row)
{
	static const double chance = 0.9;
	double of = (double)row->of, held = row->lock_count ? (double)row->locks[0].held : 0;
	double z = (held / of - chance) / sqrt(chance * (1 - chance) / of);
	if (row->atomic)
		return -3e9;
	if (!row->guarded)
		return -2e9 + of;
	return held < of ? z : -1e9 + of;
}

static void finish_row(struct guard_row *row)
{
	if (row->lock_count)
		qsort(row->locks, row->lock_count, sizeof *row->locks, by_held);
	if (row->without_count)
		qsort(row->without, row->without_count, sizeof *row->without, by_count);
	row->guarded = row->lock_count && row->locks[0].shared && row->locks[0].held * 2 > row->of;
	row->order = order_of(row);
}

static int by_order(const void *a, const void *b)
{
	const struct guard_row *x = a, *y = b;
	if (x->order < y->order || x->order > y->order)
		return x->order > y->order ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void fill(struct maker *k)
{
	for (size_t i = 0; i < k->count && !k->no_memory; i++)
		add_cell(k, &k->cells[i]);
	for (size_t i = 0; i < k->out->count && !k->no_memory; i++)
		finish_row(&k->out->rows[i]);
	if (k->out->count && !k->no_memory)
		qsort(k->out->rows, k->out->count, sizeof *k->out->rows, by_order);
}

static void release(struct maker *k)
{
	struct named *n, *next;
	HASH_ITER(hh, k->names, n, next)
	{
		HASH_DELETE(hh, k->names, n);
		free(n->name);
		free(n);
	}
	guards_release(&k->guards);
	k->no_memory |= k->snippets.no_memory || k->guards.no_memory;
	snippets_release(&k->snippets);
	descriptions_free(k->r.descriptions);
	free(k->cells);
	free(k->lacks);
	free(k->queries);
	free(k->holder);
	for (uint32_t i = 0; k->locks && i < k->m->object_count; i++)
		free(k->locks[i]);
	free(k->locks);
}

enum rt_status guard_table_create(struct analysis *a, struct guard_table *out, struct rt_error *err)
{
	const struct model *m = a->model;
	struct maker k = {.r = {.analysis = a},
	                  .m = m,
	                  .guards = {.m = m, .por = facts_por(&a->facts)},
	                  .out = out,
	                  .snippets = {.trace = a->trace}};
	enum rt_status status = RT_OK;
	*out = (struct guard_table){0};
	k.r.sources = &k.snippets;
	k.holder = malloc(((size_t)m->object_count + 1) * sizeof *k.holder);
	k.locks = calloc((size_t)m->object_count + 1, sizeof *k.locks);
	k.no_memory = !k.holder || !k.locks || !k.guards.por;
	for (uint32_t i = 0; i < m->object_count && !k.no_memory; i++)
		k.holder[i] = MODEL_NONE;
	for (uint32_t cell = 0; cell < m->cell_count && !k.no_memory; cell++) {
		if (k.count == CELLS_MAX)
			out->left_out++;
		else if (m->cells[cell].count)
			count_cell(&k, cell);
	}
	for (size_t i = 0; i < k.count && !k.no_memory; i++)
		ask_cell(&k, &k.cells[i]);
	if (!k.no_memory)
		status = describe(a->trace, k.queries, k.query_count, &k.r.descriptions, err);
	if (!k.no_memory && !status)
		fill(&k);
	release(&k);
	if (k.no_memory)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the guards of the variables");
	if (status)
		guard_table_release(out);
	return status;
}

void guard_table_release(struct guard_table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct guard_row *row = &t->rows[i];
		free(row->name);
		free(row->file);
		free(row->written);
		free(row->member);
		for (uint32_t l = 0; l < row->lock_count; l++) {
			free(row->locks[l].name);
			free(row->locks[l].written);
			free(row->locks[l].member);
		}
		for (uint32_t l = 0; l < row->without_count; l++) {
			free(row->without[l].function);
			free(row->without[l].file);
			free(row->without[l].text);
		}
	}
	free(t->rows);
	*t = (struct guard_table){0};
}
