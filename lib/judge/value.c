/*
 * Values, as the judge sees them: it works them out for itself (the provers have lib/trace/values.h). What a write left
 * in a cell is known if the trace has it, or if the reads that saw it all agree. Only those count whose values are
 * recorded and with which no write races. The same holds for a cell's content before its first write, which is 0 in a
 * trace that says so, unless the cell's memory is new. Few cells are asked about: each is looked at when it is.
 */
#include "lib/judge/judge.h"

#include <stdlib.h>

enum { VALUE_UNKNOWN, VALUE_KNOWN, VALUE_NONE }; /* NONE: like no other's */

/* The values that a cell's writes left, by access, from 1 on; 0: what was there before the first. */
struct judge_left {
	uint8_t *state;
	uint64_t bits[];
};

static void leave(struct judge_left *l, uint32_t i, uint64_t bits, uint8_t state)
{
	l->bits[i] = bits;
	l->state[i] = state;
}

static void saw(struct judge_left *l, uint32_t i, uint64_t bits)
{
	if (l->state[i] == VALUE_UNKNOWN)
		leave(l, i, bits, VALUE_KNOWN);
	else if (l->bits[i] != bits)
		l->state[i] = VALUE_NONE;
}

static void scan_cell(const struct judge *j, uint32_t cell, struct judge_left *l)
{
	const struct model *m = j->m;
	uint32_t first = m->cells[cell].first, last = 0;
	leave(l, 0, 0, m->cells[cell].renewed ? VALUE_NONE : VALUE_UNKNOWN);
	for (uint32_t i = 0; i < m->cells[cell].count; i++) {
		uint32_t e = m->cell_events[first + i];
		enum rt_op op = model_op(m, e);
		uint64_t bits = 0;
		bool known = model_value(m, e, cell, &bits) && !model_raced(m, first + i);
		if (rt_op_reads(op) && known)
			saw(l, last, bits);
		if (!rt_op_writes(op))
			continue;
		last = i + 1;
		/* An update's value is the one that it read. Repeats that were left out may have left several. */
		bool several = !known && judge_may_be_repeated(j, e);
		leave(l, last, bits, several ? VALUE_NONE : known && !rt_op_reads(op) ? VALUE_KNOWN : VALUE_UNKNOWN);
	}
	if (l->state[0] == VALUE_UNKNOWN && rt_trace_info(m->trace)->zeroed)
		leave(l, 0, 0, VALUE_KNOWN);
}

static const struct judge_left *left_in(struct judge *j, uint32_t cell)
{
	size_t values = (size_t)j->m->cells[cell].count + 1;
	if (!j->left)
		j->left = calloc((size_t)j->m->cell_count + 1, sizeof(struct judge_left *));
	if (!j->left || j->left[cell])
		return j->left ? j->left[cell] : NULL;
	struct judge_left *l = malloc(sizeof *l + values * (sizeof *l->bits + sizeof *l->state));
	if (l) {
		l->state = (uint8_t *)&l->bits[values];
		scan_cell(j, cell, l);
	}
	return j->left[cell] = l;
}

bool judge_same_value(struct judge *j, uint32_t cell, uint32_t write1, uint32_t write2)
{
	const struct model *m = j->m;
	const struct judge_left *l = m->value_count ? left_in(j, cell) : NULL;
	if (!l)
		return false;
	uint32_t before = m->cells[cell].first - 1; /* the content before the first access is number 0 */
	uint32_t i1 = write1 == MODEL_NONE ? 0 : model_entry(m, cell, write1) - before;
	uint32_t i2 = write2 == MODEL_NONE ? 0 : model_entry(m, cell, write2) - before;
	return l->state[i1] == VALUE_KNOWN && l->state[i2] == VALUE_KNOWN && l->bits[i1] == l->bits[i2];
}

void judge_values_release(struct judge *j)
{
	for (uint32_t c = 0; j->left && c < j->m->cell_count; c++)
		free(j->left[c]);
	free(j->left);
	j->left = NULL;
}
