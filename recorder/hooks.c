/*
 * What the compiler calls: plain accesses, function entry and exit.
 *
 * An access that this thread has made twice already (same address, size, kind and pc) since its last synchronisation is
 * left out and counted: see recorder.h.
 */
#include "recorder/core.h"

/* Has this thread seen (k0, k1) twice in this epoch? Remembers that it has seen it once more. */
static inline bool repeats(struct rt_slot *s, uint64_t w0, uint64_t k1)
{
	uint64_t k0 = w0 + s->filter_epoch;
	struct rt_filter *f = s->filter + (((w0 >> 3) ^ k1 ^ (w0 >> 13)) & (RT_FILTER_ENTRIES - 1));

	if (f->k1 == k1) {
		if (f->k0 == k0 + RT_FILTER_TWICE)
			return true;
		if (f->k0 == k0) {
			f->k0 = k0 + RT_FILTER_TWICE;
			return false;
		}
	}
	f->k0 = k0;
	f->k1 = k1;
	return false;
}

/* One instruction, so that a handler comes before or after it. */
static inline void count_repeat(struct rt_slot *s)
{
#ifdef __x86_64__
	__asm__("incq %0" : "+m"(s->skipped) : : "cc");
#else
	__atomic_fetch_add(&s->skipped, 1, __ATOMIC_RELAXED);
#endif
}

static inline __attribute__((always_inline)) void plain_access(unsigned op, const volatile void *addr, uintptr_t pc,
                                                               unsigned aux)
{
	struct rt_slot *s = rt_self;
	uint64_t w0 = (uintptr_t)addr | (uint64_t)op << 48;
	uint64_t w1 = pc | (uint64_t)aux << 48;

	if (repeats(s, w0, w1))
		count_repeat(s);
	else
		rt_append(w0, w1, s);
}

void rt_emit_range(unsigned op, const void *addr, size_t size, uintptr_t pc)
{
	struct rt_slot *s = rt_self;
	struct rt_record event, ext;

	if (size == 0)
		return;
	if (size <= 16) {
		plain_access(op, addr, pc, rt_record_aux((unsigned)size, 0, 0));
		return;
	}
	event = rt_record_make(op, (uintptr_t)addr, pc, 0, 0);
	if (size < 1u << 15 && repeats(s, event.w0, event.w1 | UINT64_C(1) << 63 | (uint64_t)size << 48)) {
		count_repeat(s);
		return;
	}
	if (s->limit == NULL) {
		rt_append_slow(event.w0, event.w1, s);
		return;
	}
	ext = rt_record_ext(rt_plain_stamp(s), size);
	rt_append2(event.w0, event.w1, s, ext.w0, ext.w1);
}

#define ACCESSES(size)                                                                                                 \
	RT_EXPORT void __tsan_read##size(void *p);                                                                     \
	RT_EXPORT void __tsan_write##size(void *p);                                                                    \
	RT_EXPORT void __tsan_read##size(void *p)                                                                      \
	{                                                                                                              \
		plain_access(RT_OP_READ, p, RT_CALLER, size);                                                          \
	}                                                                                                              \
	RT_EXPORT void __tsan_write##size(void *p)                                                                     \
	{                                                                                                              \
		plain_access(RT_OP_WRITE, p, RT_CALLER, size);                                                         \
	}
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

RT_EXPORT void __tsan_init(void);
RT_EXPORT void __tsan_func_entry(void *pc);
RT_EXPORT void __tsan_func_exit(void);

RT_EXPORT void __tsan_init(void)
{
}

RT_EXPORT void __tsan_func_entry(void *pc)
{
	rt_append((uint64_t)RT_OP_ENTER << 48, (uintptr_t)pc - 1, rt_self);
}

RT_EXPORT void __tsan_func_exit(void)
{
	rt_append((uint64_t)RT_OP_LEAVE << 48, 0, rt_self);
}
