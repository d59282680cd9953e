/* What a trace lacks; see losses.h. */
#include "lib/trace/losses.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

bool losses_need(unsigned op)
{
	switch (rt_op_group(op)) {
	case RT_GROUP_RECORD:
	case RT_GROUP_MEMORY:
	case RT_GROUP_HEAP:
	case RT_GROUP_CODE:
	case RT_GROUP_BLOCKING: /* what ends the wait is an event of its own */
		return false;
	default:
		return true;
	}
}

bool losses_add(struct losses *l, const struct rt_event *e)
{
	if (!vec_reserve(&l->marks, &l->mark_capacity, (uint64_t)l->mark_count + 1, sizeof *l->marks) ||
	    !vec_reserve(&l->items, &l->capacity, (uint64_t)l->count + 1, sizeof *l->items))
		return false;
	uint32_t number = (uint32_t)e->number;
	l->marks[l->mark_count++] =
	    (struct losses_mark){e->thread, number, e->op == RT_OP_ATOMIC_LOAD ? UINT32_MAX : number};
	/* Of threads whose creation was not seen it is not known since when they exist. */
	if (e->op == RT_OP_LOST && e->addr == RT_LOST_UNSEEN)
		number = 0;
	if (e->op == RT_OP_LOST) {
		bool start = e->addr == RT_LOST_START;
		l->calls |= e->addr == RT_LOST_CALL;
		l->start |= start;
		bool of_all = e->addr == RT_LOST_ORDER;
		l->orders |= of_all;
		l->threads |= e->addr != RT_LOST_CALL && !start && !of_all;
		l->items[l->count++] =
		    (struct loss){number, e->thread, e->addr != RT_LOST_SIGNAL && !start && !of_all, of_all};
	}
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static int by_thread(const void *a, const void *b)
{
	const struct losses_mark *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

void losses_sort(struct losses *l)
{
	if (l->count)
		qsort(l->items, l->count, sizeof *l->items, by_number);
	if (l->mark_count)
		qsort(l->marks, l->mark_count, sizeof *l->marks, by_thread);
	for (uint32_t i = l->mark_count; i-- > 0;)
		if (l->marks[i].sends == UINT32_MAX && i + 1 < l->mark_count &&
		    l->marks[i + 1].thread == l->marks[i].thread)
			l->marks[i].sends = l->marks[i + 1].sends;
}

void losses_release(struct losses *l)
{
	free(l->items);
	free(l->marks);
	*l = (struct losses){0};
}

/* Number of marks that are before this one. */
static uint32_t marks_before(const struct losses *l, struct losses_mark mark)
{
	return lower_bound(middle, 0, l->mark_count, by_thread(&l->marks[middle], &mark) < 0);
}

bool losses_may_order(const struct losses *l, uint32_t thread1, uint32_t number1, uint32_t thread2, uint32_t number2)
{
	uint32_t after = marks_before(l, (struct losses_mark){thread1, number1 + 1, 0});
	uint32_t before = marks_before(l, (struct losses_mark){thread2, number2, 0});
	bool sends = after < l->mark_count && l->marks[after].thread == thread1 && l->marks[after].sends != UINT32_MAX;
	bool receives = before > 0 && l->marks[before - 1].thread == thread2;
	uint32_t sent = sends ? l->marks[after].sends : UINT32_MAX;
	uint32_t received = receives ? l->marks[before - 1].number : 0;
	for (uint32_t i = 0; i < l->count && l->items[i].number < number2; i++) {
		const struct loss *loss = &l->items[i];
		if (loss->lasts) {
			if (sends && receives && sent < received && loss->number <= received)
				return true;
			continue;
		}
		/* The thread that lacks events here may have done anything with them, at this one point. */
		bool at_once = loss->of_all || loss->thread == thread1;
		bool reaches = at_once ? number1 < loss->number : sends && sent < loss->number;
		bool leaves = loss->thread == thread2 || (receives && loss->number < received);
		if (reaches && leaves)
			return true;
	}
	return false;
}
