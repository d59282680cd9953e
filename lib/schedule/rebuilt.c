/* Positions of one build in another; see rebuilt.h. */
#include "lib/schedule/rebuilt.h"

#include "lib/base/free.h"
#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/schedule/variables.h"
#include "lib/trace/modules.h"

#include <stdlib.h>
#include <string.h>

/* A position that events have. */
struct rebuilt_position {
	const char *function, *file; /* file without its folder; never NULL */
	uint64_t pc;
	size_t found, found_count; /* what it may be in the other build: from this index on */
	uint32_t line, column, op;
	uint32_t ordinal; /* among those of the line and operation */
};
struct positions {
	struct rebuilt_position *items;
	size_t count, capacity;
};
struct rebuilt_seen {
	struct {
		uint64_t pc, op;
	} key;
	UT_hash_handle hh;
};

struct rebuilt {
	struct rt_trace *before, *now;
	struct positions old, other; /* by function, file, operation, line and pc; old in the end by pc and operation */
	uint64_t *found;             /* of the other build */
	size_t found_count, found_capacity;
	uint64_t *starts;            /* of the modules before: where the same one is now; 0: it is not there */
	struct variables *variables; /* of the other build */
};

/* ---- Gathering ---- */

/* Compare-and-swap fails or not, a once begins or was seen: one instruction. */
static uint32_t class_of(unsigned op)
{
	return op == RT_OP_ATOMIC_CAS_FAIL ? RT_OP_ATOMIC_CAS : op == RT_OP_ONCE_SEEN ? RT_OP_ONCE_BEGIN : op;
}

static bool add_position(struct positions *list, const struct rt_trace *trace, uint64_t pc, unsigned op)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(trace, pc, &n);
	while (n && (!f->function || !f->file || !f->line))
		f++, n--;
	if (!n)
		return true;
	if (!vec_reserve(&list->items, &list->capacity, (uint64_t)list->count + 1, sizeof *list->items))
		return false;
	const char *slash = strrchr(f->file, '/');
	list->items[list->count++] = (struct rebuilt_position){.function = f->function,
	                                                       .file = slash ? slash + 1 : f->file,
	                                                       .pc = pc,
	                                                       .line = f->line,
	                                                       .column = f->column,
	                                                       .op = class_of(op)};
	return true;
}

/* True if it is new. */
static bool see(struct rebuilt_seen **all, uint64_t pc, unsigned op, bool *no_memory)
{
	struct rebuilt_seen *s, key = {.key = {pc, class_of(op)}};
	HASH_FIND(hh, *all, &key.key, sizeof key.key, s);
	if (s)
		return false;
	HASH_MAKE(*all, key, key.key, s);
	*no_memory |= !s;
	return s;
}

/* variables: NULL if they are not asked for. */
static enum rt_status gather(struct rt_trace *trace, struct positions *list, struct variables *variables,
                             struct rt_error *err)
{
	struct rebuilt_seen *all = NULL;
	struct rt_pass pass;
	bool no_memory = false;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && !no_memory; e = rt_pass_next(&pass)) {
		/* A wait that never ends is where the thread is about to do what it waits for. */
		unsigned op = e->op == RT_OP_BLOCK ? (unsigned)e->arg : e->op;
		if (e->pc && see(&all, e->pc, op, &no_memory))
			no_memory = !add_position(list, trace, e->pc, op);
		if (variables && module_at(trace, e->addr))
			no_memory |= !variables_add(variables, e->addr);
	}
	HASH_FREE(all);
	return pass.status ? pass.status : no_memory ? rt_error_set(err, RT_EMEMORY, "no memory for positions") : RT_OK;
}

/* ---- Matching ---- */

static int compare_functions(const struct rebuilt_position *a, const struct rebuilt_position *b)
{
	int order = strcmp(a->function, b->function);
	return order ? order : strcmp(a->file, b->file);
}

static int compare_positions(const void *a, const void *b)
{
	const struct rebuilt_position *x = a, *y = b;
	int order = compare_functions(x, y);
	if (order)
		return order;
	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int compare_pcs(const void *a, const void *b)
{
	const struct rebuilt_position *x = a, *y = b;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static void sort(struct positions *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, compare_positions);
	for (size_t i = 1; i < list->count; i++) {
		struct rebuilt_position *p = &list->items[i], *last = p - 1;
		if (!compare_functions(p, last) && p->op == last->op && p->line == last->line)
			p->ordinal = last->ordinal + 1;
	}
}

/* One function's positions in a list: from first up to end. */
struct rebuilt_part {
	const struct rebuilt_position *first, *end;
};

static struct rebuilt_part part_of(const struct positions *list, size_t from)
{
	size_t end = from + 1;
	while (end < list->count && !compare_functions(&list->items[from], &list->items[end]))
		end++;
	return (struct rebuilt_part){list->items + from, list->items + end};
}

/* The same function's in the other list; empty if it has none. */
static struct rebuilt_part counterpart(const struct positions *list, const struct rebuilt_position *of)
{
	size_t i = lower_bound(middle, 0, list->count, compare_functions(&list->items[middle], of) < 0);
	if (i < list->count && !compare_functions(&list->items[i], of))
		return part_of(list, i);
	return (struct rebuilt_part){NULL, NULL};
}

static bool agree(const struct rebuilt_position *p, const struct rebuilt_position *q, int64_t distance)
{
	return q->op == p->op && (int64_t)q->line == (int64_t)p->line + distance;
}

static const struct rebuilt_position *find(struct rebuilt_part in, const struct rebuilt_position *p, int64_t distance)
{
	for (const struct rebuilt_position *q = in.first; q < in.end; q++)
		if (q->ordinal == p->ordinal && agree(p, q, distance))
			return q;
	return NULL;
}

/* Those that agree with a position. They lie one behind another, as p does with those that agree with it. */
static struct rebuilt_part alike(struct rebuilt_part in, const struct rebuilt_position *p, int64_t distance)
{
	struct rebuilt_part part = {in.first, in.first};
	while (part.first < in.end && !agree(p, part.first, distance))
		part.first++;
	part.end = part.first;
	while (part.end < in.end && agree(p, part.end, distance))
		part.end++;
	return part;
}

static size_t matches(struct rebuilt_part a, struct rebuilt_part b, int64_t distance)
{
	size_t n = 0;
	for (const struct rebuilt_position *p = a.first; p < a.end; p++)
		n += find(b, p, distance) != NULL;
	return n;
}

/* The distance of lines that brings most positions together; of equal ones the smallest. */
static int64_t best_distance(struct rebuilt_part a, struct rebuilt_part b)
{
	enum { LOOKS = 64 }; /* positions that are tried as a pair */
	int64_t best = 0;
	size_t most = matches(a, b, 0);
	for (const struct rebuilt_position *q = b.first; q < b.end && q < b.first + LOOKS; q++) {
		int64_t distance = (int64_t)q->line - (int64_t)a.first->line;
		size_t n = q->op == a.first->op ? matches(a, b, distance) : 0;
		if (n > most || (n == most && n && llabs(distance) < llabs(best))) {
			most = n;
			best = distance;
		}
	}
	return best;
}

/* True if the lines have a column in common: then positions that agree have the same one. */
static bool columns_agree(struct rebuilt_part a, struct rebuilt_part b)
{
	for (const struct rebuilt_position *p = a.first; p < a.end; p++)
		for (const struct rebuilt_position *q = b.first; q < b.end; q++)
			if (p->column == q->column)
				return true;
	return false;
}

/* Lists the positions of the other build that a position may be. False: no memory. */
static bool match_position(struct rebuilt *b, struct rebuilt_position *p, struct rebuilt_part from,
                           struct rebuilt_part to)
{
	bool by_column = columns_agree(from, to);
	p->found = b->found_count;
	for (const struct rebuilt_position *q = to.first; q < to.end; q++) {
		if (by_column && q->column != p->column)
			continue;
		if (!vec_reserve(&b->found, &b->found_capacity, (uint64_t)b->found_count + 1, sizeof *b->found))
			return false;
		b->found[b->found_count++] = q->pc;
		p->found_count++;
	}
	return true;
}

static bool match(struct rebuilt *b)
{
	for (size_t i = 0; i < b->old.count;) {
		struct rebuilt_part old = part_of(&b->old, i), other = counterpart(&b->other, &b->old.items[i]);
		size_t end = (size_t)(old.end - b->old.items);
		int64_t distance = other.first < other.end ? best_distance(old, other) : 0;
		for (; i < end; i++) {
			struct rebuilt_position *p = &b->old.items[i];
			if (!match_position(b, p, alike(old, p, 0), alike(other, p, distance)))
				return false;
		}
	}
	return true;
}

/* ---- Modules ---- */

/* Finds the modules that are the same in both. False: no memory. */
static bool match_modules(struct rebuilt *b)
{
	size_t n, m;
	const struct rt_module *before = rt_trace_modules(b->before, &n), *now = rt_trace_modules(b->now, &m);
	b->starts = calloc(n + 1, sizeof *b->starts);
	for (size_t i = 0; b->starts && i < n; i++)
		for (size_t k = 0; k < m && before[i].build_id && !b->starts[i]; k++)
			if (now[k].build_id && !strcmp(before[i].build_id, now[k].build_id))
				b->starts[i] = now[k].start;
	return b->starts;
}

/* What is at the address in a module that is the same in both; 0: it is in none. */
static uint64_t in_same_module(const struct rebuilt *b, uint64_t address)
{
	size_t n;
	const struct rt_module *all = rt_trace_modules(b->before, &n), *in = module_at(b->before, address);
	return in && b->starts[in - all] ? b->starts[in - all] + (address - in->start) : 0;
}

/* ---- Public ---- */

enum rt_status rebuilt_create(struct rt_trace *before, struct rt_trace *now, struct rebuilt **out, struct rt_error *err)
{
	struct rebuilt *b = calloc(1, sizeof *b);
	if (!b)
		return rt_error_set(err, RT_EMEMORY, "no memory for positions");
	b->before = before;
	b->now = now;
	b->variables = variables_create(now);
	enum rt_status status = RT_OK;
	if (!b->variables || !match_modules(b))
		status = rt_error_set(err, RT_EMEMORY, "no memory for positions");
	if (!status)
		status = gather(before, &b->old, NULL, err);
	if (!status)
		status = gather(now, &b->other, b->variables, err);
	if (status) {
		rebuilt_free(b);
		return status;
	}
	sort(&b->old);
	sort(&b->other);
	if (!match(b)) {
		rebuilt_free(b);
		return rt_error_set(err, RT_EMEMORY, "no memory for positions");
	}
	if (b->old.count)
		qsort(b->old.items, b->old.count, sizeof *b->old.items, compare_pcs);
	*out = b;
	return RT_OK;
}

void rebuilt_free(struct rebuilt *b)
{
	if (!b)
		return;
	variables_free(b->variables);
	free_all(b->old.items, b->other.items, b->found, b->starts, b);
}

struct rt_trace *rebuilt_trace(const struct rebuilt *b)
{
	return b->now;
}

uint64_t rebuilt_pc(const struct rebuilt *b, uint64_t pc, unsigned op, size_t i)
{
	const struct rebuilt_position key = {.pc = pc, .op = class_of(op)};
	uint64_t same = in_same_module(b, pc);
	if (same)
		return i == 0 ? same : 0;
	size_t at = lower_bound(middle, 0, b->old.count, compare_pcs(&b->old.items[middle], &key) < 0);
	if (at == b->old.count || compare_pcs(&b->old.items[at], &key) || i >= b->old.items[at].found_count)
		return 0;
	return b->found[b->old.items[at].found + i];
}

uint64_t rebuilt_address(const struct rebuilt *b, uint64_t address)
{
	uint64_t same = in_same_module(b, address);
	if (same || !module_at(b->before, address))
		return same;
	return variables_find(b->variables, b->before, address);
}
