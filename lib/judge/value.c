/*
 * Values, as the judge sees them: it works them out for itself (the provers have lib/trace/values.h). What a write left
 * in a cell is known if the trace has it, or if the reads that saw it all agree. Only those count whose values are
 * recorded and with which no write races. The same holds for a cell's content before its first write, which is 0 in a
 * trace that says so, unless the cell's memory is new.
 */
#include "lib/judge/judge.h"

#include <stdlib.h>

static void saw(struct judge_value *v, uint64_t bits)
{
	if (v->state == JUDGE_VALUE_UNKNOWN)
		*v = (struct judge_value){bits, JUDGE_VALUE_KNOWN};
	else if (v->bits != bits)
		v->state = JUDGE_VALUE_NONE;
}

static void scan_cell(struct judge *j, uint32_t cell, bool zeroed)
{
	const struct model *m = j->m;
	struct judge_value *initial = &j->left_initially[cell], *last = initial;
	*initial = (struct judge_value){0, m->cells[cell].renewed ? JUDGE_VALUE_NONE : JUDGE_VALUE_UNKNOWN};
	for (uint32_t i = m->cells[cell].first; i < m->cells[cell].first + m->cells[cell].count; i++) {
		enum rt_op op = model_op(m, m->cell_events[i]);
		uint64_t bits = 0;
		bool known = model_value(m, m->cell_events[i], cell, &bits) && !model_raced(m, i);
		if (rt_op_reads(op) && known)
			saw(last, bits);
		if (!rt_op_writes(op))
			continue;
		last = &j->left[i];
		/* An update's value is the one that it read. */
		known &= !rt_op_reads(op);
		*last = (struct judge_value){bits, known ? JUDGE_VALUE_KNOWN : JUDGE_VALUE_UNKNOWN};
	}
	if (initial->state == JUDGE_VALUE_UNKNOWN && zeroed)
		*initial = (struct judge_value){0, JUDGE_VALUE_KNOWN};
}

bool judge_scan_values(struct judge *j)
{
	const struct model *m = j->m;
	if (!m->value_count)
		return true;
	j->left = calloc((size_t)model_entries(m) + 1, sizeof *j->left);
	j->left_initially = calloc((size_t)m->cell_count + 1, sizeof *j->left_initially);
	if (!j->left || !j->left_initially)
		return false;
	for (uint32_t c = 0; c < m->cell_count; c++)
		scan_cell(j, c, rt_trace_info(m->trace)->zeroed);
	return true;
}

static const struct judge_value *left_by(const struct judge *j, uint32_t cell, uint32_t write)
{
	return write == MODEL_NONE ? &j->left_initially[cell] : &j->left[model_entry(j->m, cell, write)];
}

bool judge_same_value(const struct judge *j, uint32_t cell, uint32_t write1, uint32_t write2)
{
	if (!j->left)
		return false;
	const struct judge_value *v1 = left_by(j, cell, write1), *v2 = left_by(j, cell, write2);
	return v1->state == JUDGE_VALUE_KNOWN && v2->state == JUDGE_VALUE_KNOWN && v1->bits == v2->bits;
}
