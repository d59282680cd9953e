/* Whether two threads are about to race: see follow.h. */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

/* Bytes from an address on, of n, that are one after the other by the addresses by which they are known, too. */
static uint64_t together(uint64_t at, uint64_t n)
{
	enum { PAGE = 4096 };
	uint64_t known = rt_place(at), size = PAGE - at % PAGE;

	while (size < n && rt_place(at + size) == known + size)
		size += PAGE;
	return n < size ? n : size;
}

/* Memory may have several addresses, each page of an access others. Of most accesses, however long, they are not. */
static bool overlap(const struct rt_step *a, const struct rt_step *b)
{
	uint64_t a_size = a->arg ? a->arg : 1, b_size = b->arg ? b->arg : 1;

	if (!rt_place_twice)
		return a->object < b->object + b_size && b->object < a->object + a_size;
	for (uint64_t i = 0, x_size; i < a_size; i += x_size) {
		uint64_t x = rt_place(a->object + i);

		x_size = together(a->object + i, a_size - i);
		for (uint64_t k = 0, y_size; k < b_size; k += y_size) {
			uint64_t y = rt_place(b->object + k);

			y_size = together(b->object + k, b_size - k);
			if (x < y + y_size && y < x + x_size)
				return true;
		}
	}
	return false;
}

static bool writes(unsigned op)
{
	return op == RT_OP_WRITE || op == RT_OP_ATOMIC_STORE || op == RT_OP_ATOMIC_RMW || op == RT_OP_ATOMIC_CAS;
}

bool rt_follow_pending(const struct rt_task *a, const struct rt_task *b)
{
	return a && b && a != b && overlap(&a->next, &b->next) && (writes(a->next.op) || writes(b->next.op)) &&
	       (rt_follow_is_plain(a->next.op) || rt_follow_is_plain(b->next.op));
}
