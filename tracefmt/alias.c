/* Memory that is mapped at several addresses; see alias.h. */
#include "tracefmt/alias.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

void rt_aliases_release(struct rt_aliases *a)
{
	free(a->items);
	*a = (struct rt_aliases){0};
}

/* Index of the first item that ends behind the address. */
static uint32_t find(const struct rt_aliases *a, uint64_t addr)
{
	return lower_bound(i, 0, a->count, a->items[i].at + a->items[i].size <= addr);
}

static bool insert(struct rt_aliases *a, uint32_t place, struct rt_alias item)
{
	if (!vec_reserve(&a->items, &a->capacity, (uint64_t)a->count + 1, sizeof *a->items))
		return false;
	memmove(&a->items[place + 1], &a->items[place], (a->count++ - place) * sizeof *a->items);
	a->items[place] = item;
	return true;
}

static void take_out(struct rt_aliases *a, uint32_t place)
{
	memmove(&a->items[place], &a->items[place + 1], (--a->count - place) * sizeof *a->items);
}

/* From here on these addresses are their own. */
static bool cut(struct rt_aliases *a, uint64_t from, uint64_t to)
{
	uint32_t i = find(a, from);
	while (i < a->count && a->items[i].at < to) {
		struct rt_alias *item = &a->items[i], was = *item;
		uint64_t end = was.at + was.size;
		if (was.at < from)
			item->size = from - was.at;
		if (end > to && !insert(a, i + 1, (struct rt_alias){to, end - to, was.known + (to - was.at)}))
			return false;
		if (was.at < from)
			i++;
		else
			take_out(a, i);
		if (end > to)
			break;
	}
	return true;
}

bool rt_aliases_event(struct rt_aliases *a, const struct rt_event *e)
{
	uint64_t end = e->arg > UINT64_MAX - e->addr ? UINT64_MAX : e->addr + e->arg;
	if (!cut(a, e->addr, end))
		return false;
	if (!(e->flags & RT_F_VALUE) || e->value == e->addr || e->addr == end || e->value > RT_OPERAND_MAX)
		return true;
	return insert(a, find(a, e->addr), (struct rt_alias){e->addr, end - e->addr, e->value});
}

/* Leaves out the first bytes of the value. */
static void shift(struct rt_event *e, uint64_t bytes)
{
	if (bytes >= sizeof e->value)
		e->flags &= (uint8_t)~RT_F_VALUE;
	else
		e->value >>= 8 * bytes;
}

/* One of several mappings comes and goes, and the memory stays; what has a spare name is only there. */
static bool applies(const struct rt_alias *item, const struct rt_event *e)
{
	return (e->op != RT_OP_MAP && e->op != RT_OP_UNMAP && e->op != RT_OP_NEW_MEMORY) || item->known >= RT_RENAMED;
}

bool rt_aliases_split(const struct rt_aliases *a, struct rt_event *access, struct rt_event *rest)
{
	uint64_t addr = access->addr, first = access->arg;
	uint32_t i = find(a, addr);
	*rest = *access;
	if (i < a->count && a->items[i].at > addr) {
		first = a->items[i].at - addr < first ? a->items[i].at - addr : first;
	} else if (i < a->count) {
		const struct rt_alias *item = &a->items[i];
		uint64_t left = item->at + item->size - addr;
		if (applies(item, access))
			access->addr = item->known + (addr - item->at);
		first = left < first ? left : first;
	}
	if (first == access->arg)
		return false;
	rest->addr += first;
	rest->arg -= first;
	shift(rest, first);
	access->arg = first;
	return true;
}
