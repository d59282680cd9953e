/*
 * What the compiler calls: plain accesses, function entry and exit.
 *
 * An access that this thread has made twice already (same address, size, kind and pc) since its last synchronisation is
 * left out and counted: see recorder.h.
 */
#include "recorder/runtime/core.h"

/* Has this thread seen (k0, k1) twice in this epoch? Remembers that it has seen it once more. */
static inline bool repeats(struct rt_slot *s, uint64_t w0, uint64_t k1)
{
	uint64_t k0 = w0 + s->filter_epoch;
	/* Neighbours stay neighbours (in the cache); arrays of bytes spread over either size of table, and columns too.
	 */
	uint64_t hash = (w0 >> 3) ^ (w0 >> 13) ^ (w0 & 7) * (1 << 9 | 1 << 14) ^ k1;
	struct rt_filter *f = s->filter + (hash & s->filter_mask);

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

	if (size == 0 || RT_UNLIKELY(rt_sync_only))
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

/* Declares (so that no header of a compiler is needed) and defines an exported function. */
#define HOOK(name, parameters)                                                                                         \
	RT_EXPORT void name parameters;                                                                                \
	RT_EXPORT void name parameters

#define ACCESS(name, op, size, flags)                                                                                  \
	HOOK(__tsan_##name, (void *p))                                                                                 \
	{                                                                                                              \
		plain_access(op, p, RT_CALLER, (size) | (flags) << 8);                                                 \
	}
#define ACCESS_PC(name, op, size)                                                                                      \
	HOOK(__tsan_##name##_pc, (void *p, void *pc))                                                                  \
	{                                                                                                              \
		plain_access(op, p, (uintptr_t)pc - 1, size);                                                          \
	}
#define READ_WRITE(name, size)                                                                                         \
	HOOK(__tsan_##name, (void *p))                                                                                 \
	{                                                                                                              \
		plain_access(RT_OP_READ, p, RT_CALLER, size);                                                          \
		plain_access(RT_OP_WRITE, p, RT_CALLER, size);                                                         \
	}
#define ACCESSES(size)                                                                                                 \
	ACCESS(read##size, RT_OP_READ, size, 0)                                                                        \
	ACCESS(write##size, RT_OP_WRITE, size, 0)                                                                      \
	ACCESS_PC(read##size, RT_OP_READ, size)                                                                        \
	ACCESS_PC(write##size, RT_OP_WRITE, size)                                                                      \
	READ_WRITE(read_write##size, size)                                                                             \
	ACCESS(volatile_read##size, RT_OP_READ, size, RT_F_VOLATILE)                                                   \
	ACCESS(volatile_write##size, RT_OP_WRITE, size, RT_F_VOLATILE)
#define UNALIGNED(size)                                                                                                \
	ACCESS(unaligned_read##size, RT_OP_READ, size, 0)                                                              \
	ACCESS(unaligned_write##size, RT_OP_WRITE, size, 0)                                                            \
	READ_WRITE(unaligned_read_write##size, size)                                                                   \
	ACCESS(unaligned_volatile_read##size, RT_OP_READ, size, RT_F_VOLATILE)                                         \
	ACCESS(unaligned_volatile_write##size, RT_OP_WRITE, size, RT_F_VOLATILE)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

HOOK(__tsan_read_range, (void *p, unsigned long size))
{
	rt_emit_range(RT_OP_READ, p, size, RT_CALLER);
}
HOOK(__tsan_write_range, (void *p, unsigned long size))
{
	rt_emit_range(RT_OP_WRITE, p, size, RT_CALLER);
}
HOOK(__tsan_read_range_pc, (void *p, unsigned long size, void *pc))
{
	rt_emit_range(RT_OP_READ, p, size, (uintptr_t)pc - 1);
}
HOOK(__tsan_write_range_pc, (void *p, unsigned long size, void *pc))
{
	rt_emit_range(RT_OP_WRITE, p, size, (uintptr_t)pc - 1);
}

/* Called before the store. Constructors and destructors often store what is there already: that cannot race. */
HOOK(__tsan_vptr_update, (void **p, void *value))
{
	if (*p != value)
		plain_access(RT_OP_WRITE, p, RT_CALLER, sizeof *p | RT_F_VPTR << 8);
}
HOOK(__tsan_vptr_read, (void **p))
{
	plain_access(RT_OP_READ, p, RT_CALLER, sizeof *p | RT_F_VPTR << 8);
}

HOOK(__tsan_init, (void))
{
}
HOOK(__tsan_func_entry, (void *pc))
{
	rt_append((uint64_t)RT_OP_ENTER << 48, (uintptr_t)pc - 1, rt_self);
}
HOOK(__tsan_func_exit, (void))
{
	rt_append((uint64_t)RT_OP_LEAVE << 48, 0, rt_self);
}

/* Clang's instrumented forms of the memory functions. */
RT_EXPORT void *__tsan_memcpy(void *to, const void *from, size_t n);
RT_EXPORT void *__tsan_memmove(void *to, const void *from, size_t n);
RT_EXPORT void *__tsan_memset(void *to, int byte, size_t n);

RT_EXPORT void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	static void *real;
	void *(*copy)(void *, const void *, size_t) = (void *(*)(void *, const void *, size_t))rt_real(&real, "memcpy");

	rt_emit_range(RT_OP_READ, from, n, RT_CALLER);
	rt_emit_range(RT_OP_WRITE, to, n, RT_CALLER);
	return copy(to, from, n);
}
RT_EXPORT void *__tsan_memmove(void *to, const void *from, size_t n)
{
	static void *real;
	void *(*move)(void *, const void *, size_t) =
	    (void *(*)(void *, const void *, size_t))rt_real(&real, "memmove");

	rt_emit_range(RT_OP_READ, from, n, RT_CALLER);
	rt_emit_range(RT_OP_WRITE, to, n, RT_CALLER);
	return move(to, from, n);
}
RT_EXPORT void *__tsan_memset(void *to, int byte, size_t n)
{
	static void *real;
	void *(*set)(void *, int, size_t) = (void *(*)(void *, int, size_t))rt_real(&real, "memset");

	rt_emit_range(RT_OP_WRITE, to, n, RT_CALLER);
	return set(to, byte, n);
}

#define LOAD(bits, type)                                                                                               \
	RT_EXPORT type __sanitizer_unaligned_load##bits(const type *p);                                                \
	RT_EXPORT type __sanitizer_unaligned_load##bits(const type *p)                                                 \
	{                                                                                                              \
		const struct {                                                                                         \
			type value;                                                                                    \
		} __attribute__((packed)) *u = (const void *)p;                                                        \
		plain_access(RT_OP_READ, p, RT_CALLER, (bits) / 8);                                                    \
		return u->value;                                                                                       \
	}                                                                                                              \
	HOOK(__sanitizer_unaligned_store##bits, (type * p, type value))                                                \
	{                                                                                                              \
		struct {                                                                                               \
			type value;                                                                                    \
		} __attribute__((packed)) *u = (void *)p;                                                              \
		plain_access(RT_OP_WRITE, p, RT_CALLER, (bits) / 8);                                                   \
		u->value = value;                                                                                      \
	}
LOAD(16, uint16_t)
LOAD(32, uint32_t)
LOAD(64, uint64_t)
