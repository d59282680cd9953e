/* The hooks that compiled code calls: plain accesses, function entry and exit. */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/plain.h"

#define HOOK(name, parameters) RT_DEFINE(void, name, parameters)

#define ACCESS(name, op, size, flags)                                                                                  \
	HOOK(__tsan_##name, (void *p))                                                                                 \
	{                                                                                                              \
		rt_plain_access(op, p, RT_CALLER, (size) | (flags) << 8);                                              \
	}
#define ACCESS_PC(name, op, size)                                                                                      \
	HOOK(__tsan_##name##_pc, (void *p, void *pc))                                                                  \
	{                                                                                                              \
		rt_plain_access(op, p, (uintptr_t)pc - 1, size);                                                       \
	}
#define READ_WRITE(name, size)                                                                                         \
	HOOK(__tsan_##name, (void *p))                                                                                 \
	{                                                                                                              \
		rt_plain_access(RT_OP_READ, p, RT_CALLER, size);                                                       \
		rt_plain_access(RT_OP_WRITE, p, RT_CALLER, size);                                                      \
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

/* GCC has these of accesses that are not aligned, too: they have values as those of other hooks. */
static inline __attribute__((always_inline)) void range(unsigned op, const void *p, unsigned long size, uintptr_t pc)
{
	if (RT_UNLIKELY(rt_values) && size <= 8 && size)
		rt_plain_access(op, p, pc, (unsigned)size);
	else
		rt_emit_range(op, p, size, pc);
}
HOOK(__tsan_read_range, (void *p, unsigned long size))
{
	range(RT_OP_READ, p, size, RT_CALLER);
}
HOOK(__tsan_write_range, (void *p, unsigned long size))
{
	range(RT_OP_WRITE, p, size, RT_CALLER);
}
HOOK(__tsan_read_range_pc, (void *p, unsigned long size, void *pc))
{
	range(RT_OP_READ, p, size, (uintptr_t)pc - 1);
}
HOOK(__tsan_write_range_pc, (void *p, unsigned long size, void *pc))
{
	range(RT_OP_WRITE, p, size, (uintptr_t)pc - 1);
}

/* Called before the store. Constructors and destructors often store the value that is there already: that cannot
 * race. */
HOOK(__tsan_vptr_update, (void **p, void *value))
{
	if (*p != value)
		rt_plain_access(RT_OP_WRITE, p, RT_CALLER, sizeof *p | RT_F_VPTR << 8);
}
HOOK(__tsan_vptr_read, (void **p))
{
	rt_plain_access(RT_OP_READ, p, RT_CALLER, sizeof *p | RT_F_VPTR << 8);
}

HOOK(__tsan_init, (void))
{
	rt_code_begins(RT_CALLER);
}
HOOK(__tsan_func_entry, (void *pc))
{
	if (RT_CONTROLLED && RT_UNLIKELY(rt_turn_told))
		rt_turn_enters(RT_CALLER, __builtin_frame_address(0));
	struct rt_slot *s = rt_self;
	if (!rt_is_silent(s))
		rt_append((uint64_t)RT_OP_ENTER << 48, (uintptr_t)pc - 1, s);
}
HOOK(__tsan_func_exit, (void))
{
	if (RT_CONTROLLED && RT_UNLIKELY(rt_turn_told))
		rt_turn_exits_function();
	struct rt_slot *s = rt_self;
	if (!rt_is_silent(s))
		rt_append((uint64_t)RT_OP_LEAVE << 48, 0, s);
}

/* Clang's instrumented forms of the memory functions. */

RT_DEFINE(void *, __tsan_memcpy, (void *to, const void *from, size_t n))
{
	static void *real;
	void *(*copy)(void *, const void *, size_t) = (void *(*)(void *, const void *, size_t))rt_real(&real, "memcpy");

	rt_emit_range(RT_OP_READ, from, n, RT_CALLER);
	rt_emit_range(RT_OP_WRITE, to, n, RT_CALLER);
	return copy(to, from, n);
}
RT_DEFINE(void *, __tsan_memmove, (void *to, const void *from, size_t n))
{
	static void *real;
	void *(*move)(void *, const void *, size_t) =
	    (void *(*)(void *, const void *, size_t))rt_real(&real, "memmove");

	rt_emit_range(RT_OP_READ, from, n, RT_CALLER);
	rt_emit_range(RT_OP_WRITE, to, n, RT_CALLER);
	return move(to, from, n);
}
RT_DEFINE(void *, __tsan_memset, (void *to, int byte, size_t n))
{
	static void *real;
	void *(*set)(void *, int, size_t) = (void *(*)(void *, int, size_t))rt_real(&real, "memset");

	rt_emit_range(RT_OP_WRITE, to, n, RT_CALLER);
	return set(to, byte, n);
}

#define LOAD(bits, type)                                                                                               \
	RT_DEFINE(type, __sanitizer_unaligned_load##bits, (const type *p))                                             \
	{                                                                                                              \
		const struct {                                                                                         \
			type value;                                                                                    \
		} __attribute__((packed)) *u = (const void *)p;                                                        \
		rt_plain_access(RT_OP_READ, p, RT_CALLER, (bits) / 8);                                                 \
		return u->value;                                                                                       \
	}                                                                                                              \
	HOOK(__sanitizer_unaligned_store##bits, (type * p, type value))                                                \
	{                                                                                                              \
		struct {                                                                                               \
			type value;                                                                                    \
		} __attribute__((packed)) *u = (void *)p;                                                              \
		rt_plain_access(RT_OP_WRITE, p, RT_CALLER, (bits) / 8);                                                \
		u->value = value;                                                                                      \
	}
LOAD(16, uint16_t)
LOAD(32, uint32_t)
LOAD(64, uint64_t)
