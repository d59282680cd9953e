/* Memory that is mapped at two addresses: what synchronises there is known by the first; see rt_place. */
#include "recorder/runtime/core.h"
#include "recorder/runtime/shared.h"

struct rt_shared rt_shared[RT_SHARED_MAX];
bool rt_place_twice;

static uintptr_t first_of(const struct rt_shared *s)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		const struct rt_shared *o = &rt_shared[i];
		if (atomic_load(&o->at) > 1 && o != s && o->device == s->device && o->inode == s->inode &&
		    o->offset < s->offset + s->size && s->offset < o->offset + o->size)
			return o->first + (s->offset - o->offset);
	}
	return 0;
}

void rt_place_add(void *p, size_t size, uint64_t device, uint64_t inode, uint64_t offset)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		uintptr_t none = 0;
		if (!atomic_compare_exchange_strong(&rt_shared[i].at, &none, 1))
			continue;
		rt_shared[i].size = size;
		rt_shared[i].device = device;
		rt_shared[i].inode = inode;
		rt_shared[i].offset = offset;
		uintptr_t first = first_of(&rt_shared[i]);
		rt_shared[i].first = first ? first : (uintptr_t)p;
		atomic_store(&rt_shared[i].at, (uintptr_t)p);
		if (first)
			__atomic_store_n(&rt_place_twice, true, __ATOMIC_RELEASE);
		return;
	}
}

void rt_place_forget(uintptr_t p, size_t size)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++)
		if (p > 1 && atomic_load(&rt_shared[i].at) == p && rt_shared[i].size <= size)
			atomic_store(&rt_shared[i].at, 0);
}

void rt_place_moved(void *p, size_t size, uintptr_t from, size_t old_size)
{
	enum { NO_FILE = -2 };
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		uintptr_t at = atomic_load(&rt_shared[i].at);
		if (at <= 1 || from < at || from >= at + rt_shared[i].size)
			continue;
		struct rt_shared was = rt_shared[i];
		if (old_size)
			rt_place_forget(from, old_size);
		rt_place_add(p, size, was.device, was.inode, was.offset + (from - at));
		return;
	}
	if (old_size)
		return;
	rt_place_add((void *)from, size, (uint64_t)NO_FILE, from, 0);
	rt_place_add(p, size, (uint64_t)NO_FILE, from, 0);
}

uintptr_t rt_place_first(uintptr_t p)
{
	return rt_shared_first(rt_shared, p);
}
