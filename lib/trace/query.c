/* Questions about a loaded model; see model.h. */
#include "lib/trace/model.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"

void model_free(struct model *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->lockset_count; i++)
		free((void *)(uintptr_t)m->locksets[i].locks);
	free_all(m->events, m->sites, m->segments, m->cells, m->cell_events, m->objects, m->locksets, m->regions,
	         m->threads, m->thread_events, m->sync, m->turns, m->args, m->values.bits, m->values.has,
	         m->values.before, m->raced, m->updates, m->alloc_uses, m->ordinals_before, m->tries, m->passes,
	         m->gaps);
	losses_release(&m->losses);
	free(m);
}

uint64_t model_bytes(const struct model *m)
{
	return (uint64_t)m->event_count * (sizeof *m->events + sizeof *m->thread_events) +
	       (uint64_t)m->site_count * sizeof *m->sites + (uint64_t)m->segment_count * sizeof *m->segments +
	       (uint64_t)m->cell_count * sizeof *m->cells + (uint64_t)model_entries(m) * sizeof *m->cell_events +
	       (uint64_t)m->object_count * sizeof *m->objects + (uint64_t)m->lockset_count * sizeof *m->locksets +
	       (uint64_t)m->region_count * sizeof *m->regions + (uint64_t)m->thread_count * sizeof *m->threads +
	       (uint64_t)m->sync_count * sizeof *m->sync + (uint64_t)m->turn_count * sizeof *m->turns +
	       (uint64_t)m->arg_count * sizeof *m->args + (uint64_t)m->value_count * sizeof *m->values.bits +
	       (m->value_count ? ((uint64_t)m->event_count / MODEL_VALUES_GROUP + 1) *
	                             (sizeof *m->values.has + sizeof *m->values.before)
	                       : 0);
}

uint32_t model_arg(const struct model *m, uint32_t e)
{
	uint32_t low = lower_bound(mid, 0, m->arg_count, m->args[mid].event < e);
	return low < m->arg_count && m->args[low].event == e ? m->args[low].value : MODEL_NONE;
}

/* The object of an event on a semaphore, if it is used as a lock. */
static uint32_t semaphore_lock(const struct model *m, uint32_t e)
{
	uint32_t object = m->events[e].object;
	return m->objects[object].lock ? object : MODEL_NONE;
}

uint32_t model_lock_taken(const struct model *m, uint32_t e)
{
	enum rt_op op = model_op(m, e);
	if (op == RT_OP_SEM_WAIT)
		return semaphore_lock(m, e);
	if (!rt_op_has(op, RT_TAKES))
		return MODEL_NONE;
	return rt_op_group(op) == RT_GROUP_LOCK ? m->events[e].object : model_arg(m, e);
}

static const struct model_pass *passed(const struct model *m, uint32_t e)
{
	uint32_t low = lower_bound(mid, 0, m->pass_count, m->passes[mid].event < e);
	return low < m->pass_count && m->passes[low].event == e ? &m->passes[low] : NULL;
}

uint32_t model_once_passed(const struct model *m, uint32_t e)
{
	enum rt_op op = model_op(m, e);
	if (op != RT_OP_ATOMIC_LOAD)
		return op == RT_OP_ONCE_SEEN ? m->events[e].object : MODEL_NONE;
	const struct model_pass *p = passed(m, e);
	return p ? p->once : MODEL_NONE;
}

const struct model_pass *model_result_passed(const struct model *m, uint32_t e)
{
	const struct model_pass *p = model_op(m, e) == RT_OP_ATOMIC_LOAD ? passed(m, e) : NULL;
	return p && p->set != MODEL_NONE ? p : NULL;
}

uint32_t model_lock_released(const struct model *m, uint32_t e)
{
	enum rt_op op = model_op(m, e);
	if (op == RT_OP_SEM_POST)
		return semaphore_lock(m, e);
	if (!rt_op_has(op, RT_RELEASES))
		return MODEL_NONE;
	return rt_op_group(op) == RT_GROUP_LOCK ? m->events[e].object : model_arg(m, e);
}

uint32_t model_executed(const struct model *m, uint32_t thread, uint32_t event)
{
	return lower_bound(middle, 0, m->threads[thread].count, m->threads[thread].events[middle] < event);
}

uint32_t model_entry(const struct model *m, uint32_t cell, uint32_t e)
{
	uint32_t first = m->cells[cell].first;
	return lower_bound(i, first + 1, first + m->cells[cell].count, m->cell_events[i] <= e) - 1;
}

uint32_t model_entry_behind(const struct model *m, uint32_t cell, uint32_t e, uint32_t entry)
{
	uint32_t at = entry - m->cells[cell - 1].first;
	bool there = at < m->cells[cell].count && m->cell_events[m->cells[cell].first + at] == e;
	return there ? m->cells[cell].first + at : model_entry(m, cell, e);
}

bool model_value(const struct model *m, uint32_t e, uint32_t cell, uint64_t *bits)
{
	if (!m->value_count || !model_has_value(m, e))
		return false;
	const struct model_values *v = &m->values;
	uint32_t group = e / MODEL_VALUES_GROUP;
	uint64_t earlier = v->has[group] & ((UINT64_C(1) << e % MODEL_VALUES_GROUP) - 1);
	uint64_t value = v->bits[v->before[group] + (uint32_t)__builtin_popcountll(earlier)];
	const struct model_cell *c = &m->cells[cell];
	uint32_t skip = (uint32_t)(c->addr - m->cells[m->events[e].object].addr);
	*bits = value >> 8 * skip & (UINT64_MAX >> (64 - 8 * c->size));
	return true;
}

bool model_raced(const struct model *m, uint32_t entry)
{
	return m->raced ? m->raced[entry / 8] >> entry % 8 & 1 : !rt_trace_info(m->trace)->exact;
}

int model_locksets_exclude(const struct model *m, uint32_t a, uint32_t b)
{
	const struct model_lockset *x = &m->locksets[a], *y = &m->locksets[b];
	for (uint32_t i = 0, j = 0; i < x->count && j < y->count;) {
		if (x->locks[i].object < y->locks[j].object) {
			i++;
		} else if (x->locks[i].object > y->locks[j].object) {
			j++;
		} else {
			if (!x->locks[i].shared || !y->locks[j].shared)
				return 1;
			i++;
			j++;
		}
	}
	return 0;
}

int model_conflict(const struct model *m, uint32_t e1, uint32_t e2)
{
	unsigned op1 = model_op(m, e1), op2 = model_op(m, e2);
	return model_thread_of(m, e1) != model_thread_of(m, e2) && (rt_op_writes(op1) || rt_op_writes(op2)) &&
	       !(rt_op_is_atomic(op1) && rt_op_is_atomic(op2));
}
