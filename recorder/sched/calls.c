/*
 * What a strategy may know of a thread beyond its step: the functions that it is in; and of a lock: its kind, by what
 * it is a part of.
 */
#include "recorder/sched/sched.h"

#include <link.h>

bool rt_turn_told;

/* ---- Calls ---- */

/* The innermost ones. A frame that is not above those of later calls was left by a jump. */
enum { KEPT = 128 };
struct rt_calls {
	unsigned depth; /* all calls, at most KEPT of which are kept */
	struct {
		uintptr_t function, frame;
	} at[KEPT];
};

static RT_OF_RUN struct rt_calls *all; /* by slot */

bool rt_sched_follow_calls(uint32_t slots)
{
	all = rt_sched_memory(slots * sizeof *all);
	rt_turn_told = all != NULL;
	rt_sched_see_modules();
	return all;
}

struct rt_calls *rt_sched_calls(const struct rt_task *t)
{
	struct rt_calls *c = all ? all + (t - rt_sched.tasks) : NULL;

	if (c)
		c->depth = 0;
	return c;
}

void rt_turn_enters(uintptr_t function, const void *frame)
{
	struct rt_calls *c = rt_thread.task ? rt_thread.task->calls : NULL;
	uintptr_t at = (uintptr_t)frame;

	if (!c)
		return;
	while (c->depth > 0 && c->at[(c->depth - 1) % KEPT].frame <= at)
		c->depth--;
	c->at[c->depth % KEPT].function = function;
	c->at[c->depth % KEPT].frame = at;
	c->depth++;
}

void rt_turn_exits_function(void)
{
	struct rt_calls *c = rt_thread.task ? rt_thread.task->calls : NULL;

	if (c && c->depth > 0)
		c->depth--;
}

uintptr_t rt_sched_call(const struct rt_task *task, unsigned n)
{
	const struct rt_calls *c = task->calls;

	return c && n < c->depth && n < KEPT ? c->at[(c->depth - 1 - n) % KEPT].function : 0;
}

/* ---- Modules ---- */

enum { MODULES = 512 };
static struct {
	uintptr_t start, end;
} modules[MODULES];
static RT_OF_RUN unsigned module_count;

static int see_module(struct dl_phdr_info *module, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < module->dlpi_phnum && module_count < MODULES; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		modules[module_count].start = module->dlpi_addr + p->p_vaddr;
		modules[module_count++].end = module->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return 0;
}

void rt_sched_see_modules(void)
{
	module_count = 0;
	if (all)
		dl_iterate_phdr(see_module, NULL);
}

/* True if it is a variable's. */
static bool is_static(uintptr_t address)
{
	for (unsigned i = 0; i < module_count; i++)
		if (address >= modules[i].start && address < modules[i].end)
			return true;
	return false;
}

/* ---- Blocks and objects ---- */

/* Open addressing. A key stays when its entry is dropped (pc 0), for the next block there. */
struct entry {
	uintptr_t key, pc;
	size_t size;
};
enum { ENTRIES = 1 << 18, FULL = ENTRIES / 4 * 3 };
struct table {
	struct entry *entries;
	unsigned used;
};
static RT_OF_RUN struct table blocks, objects;

/* NULL: it has none, or there is no room. */
static struct entry *find(struct table *t, uintptr_t key, bool insert)
{
	if (!t->entries && (!insert || !(t->entries = rt_sched_memory(ENTRIES * sizeof *t->entries))))
		return NULL;
	for (uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;; i++) {
		struct entry *e = &t->entries[i % ENTRIES];

		if (e->key == key)
			return e;
		if (e->key)
			continue;
		if (!insert || t->used >= FULL)
			return NULL;
		t->used++;
		e->key = key;
		return e;
	}
}

static void set(struct table *t, uintptr_t key, uintptr_t pc, size_t size)
{
	rt_busy_begin();
	rt_sched_lock();
	struct entry *e = find(t, key, pc != 0);
	if (e) {
		e->pc = pc;
		e->size = size;
	}
	rt_sched_unlock();
	rt_busy_end();
}

void rt_turn_allocates(uintptr_t block, size_t size, uintptr_t pc)
{
	set(&blocks, block, pc, size);
}

void rt_turn_frees(uintptr_t block)
{
	set(&blocks, block, 0, 0);
}

void rt_turn_initializes(uintptr_t object, uintptr_t pc)
{
	set(&objects, object, pc, 0);
}

/* The block that the address is in; blocks begin at multiples of ALIGN, and locks deep in large blocks are not found.
 */
static const struct entry *block_at(uintptr_t address)
{
	enum { ALIGN = 16, DEEP = 4096 };

	for (uintptr_t at = address / ALIGN * ALIGN; at > 0 && address - at <= DEEP; at -= ALIGN) {
		const struct entry *e = find(&blocks, at, false);

		if (e && e->pc)
			return address - at < e->size ? e : NULL;
	}
	return NULL;
}

struct rt_lock rt_sched_lock_kind(uintptr_t lock)
{
	const struct entry *e = block_at(lock);

	if (e)
		return (struct rt_lock){.kind = RT_LOCK_HEAP, .at = e->pc, .offset = lock - e->key, .block = e->size};
	if (is_static(lock))
		return (struct rt_lock){.kind = RT_LOCK_STATIC, .at = lock};
	e = find(&objects, lock, false);
	return e && e->pc ? (struct rt_lock){.kind = RT_LOCK_MADE, .at = e->pc}
	                  : (struct rt_lock){.kind = RT_LOCK_UNKNOWN};
}
