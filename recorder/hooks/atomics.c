/*
 * Atomic operations. A lock for each stripe of addresses is held around the operation and its stamp, so that stamps are
 * in the order in which operations on one location took effect. Operations are sequentially consistent, whatever order
 * the program asks for (and the record says): stronger is always allowed.
 *
 * The thread is busy meanwhile, so no handler finds a stripe held by its own thread. The exception is a fault in the
 * operation itself, for which signal.c releases the stripe.
 *
 * A load that the thread repeats with nothing in between (a spin), and that sees the same write again, is left out
 * after its second occurrence and counted, as plain accesses are. It needs no stripe: each stripe counts the writes
 * under it, before they take effect. A load after which the count and the value are those of the last recorded one has
 * seen the same write. A write without a hook that leaves the value as it was is not noticed; it races with the loads.
 */
#include "recorder/runtime/children.h"
#include "recorder/runtime/plain.h"
#include "recorder/runtime/syscall.h"

#define STRIPES 1024u

static struct stripe {
	_Alignas(64) unsigned char taken; /* first: rt_thread.stripe points to it */
	uint64_t writes;                  /* number of operations begun that may write */
} stripes[STRIPES];

/* The thread's last record, if that is an atomic load's. */
static __thread struct {
	const volatile void *p; /* NULL: it is not */
	uintptr_t pc;
	int order;
	bool again;            /* the record before it is its twin */
	struct rt_record *cur; /* the place behind it, and the number of blocks published before it */
	uint64_t published;
	uint32_t session; /* of the slot */
	const struct stripe *stripe;
	uint64_t writes, value; /* of the stripe, and the one that it read */
} last_load;

/* In a forked child: their holders do not exist. */
static void free_stripes(void)
{
	for (unsigned i = 0; i < STRIPES; i++)
		*(volatile unsigned char *)&stripes[i].taken = 0;
	last_load.p = NULL;
}
RT_CALL_AT(RT_AT_CHILD, free_stripes);

/* True if a load would repeat the thread's last record. */
static inline bool spins(const struct rt_slot *s, const volatile void *p, uintptr_t pc, int order)
{
	return last_load.p == p && last_load.pc == pc && last_load.order == order && last_load.cur == s->cur &&
	       s->limit && last_load.session == atomic_load_explicit(&s->session, memory_order_relaxed) &&
	       last_load.published == atomic_load_explicit(&s->published, memory_order_relaxed);
}

/* True if the load, which has read this value, has seen what the thread's last two records saw. It is counted then. */
static inline bool sees_the_same(const volatile void *p, uint64_t value, uintptr_t pc, int order)
{
	struct rt_slot *s = rt_self;
	bool same;

	rt_busy_begin(); /* a handler's records come before or after it */
	same = spins(s, p, pc, order) && last_load.again && last_load.value == value &&
	       last_load.writes == __atomic_load_n(&last_load.stripe->writes, __ATOMIC_ACQUIRE);
	if (same)
		rt_count_repeat(s);
	rt_busy_end();
	return same;
}

/* Before an operation on p: NULL if it is not recorded. */
static inline struct rt_slot *lock_stripe(unsigned op, const volatile void *p, unsigned size, uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(op, rt_place((uintptr_t)p), size, pc, 0, false);
	struct rt_slot *s = rt_self;
	uintptr_t granule = rt_place((uintptr_t)p) >> 4; /* operations that overlap have the same one */
	unsigned char *stripe = &stripes[(granule ^ granule >> 10) & (STRIPES - 1)].taken;

	if (s->limit == NULL && !(RT_UNLIKELY(rt_idle) && rt_idle_join(s)))
		return NULL;
	if (RT_UNLIKELY(rt_children.share) && rt_op_writes(op) && rt_children_share_at(&rt_children, (uintptr_t)p))
		rt_children_told(pc);
	rt_busy_begin();
	rt_reserve(s, 3); /* so that no thread waits for room while it holds a stripe */
	for (unsigned spin = 1; __atomic_exchange_n(stripe, 1, __ATOMIC_ACQUIRE); spin++) {
		RT_PAUSE();
		if (spin % 128 == 0)
			RT_SYSCALL(SYS_sched_yield);
	}
	rt_thread.stripe = stripe;
	if (rt_op_writes(op))
		__atomic_store_n(&((struct stripe *)stripe)->writes, ((struct stripe *)stripe)->writes + 1,
		                 __ATOMIC_RELEASE);
	return s;
}

/* True if an operation that was not recorded, and has changed nothing, is to be done again, as a recording has begun.
 */
static inline bool is_again(const struct rt_slot *s)
{
	return !s && RT_UNLIKELY(rt_idle) && rt_appending();
}

/* Before and after a load's record. The stripe is held until then. */
static inline bool begin_spin(const struct rt_slot *s, const volatile void *p, uintptr_t pc, int order, uint64_t value)
{
	return spins(s, p, pc, order) && last_load.value == value && last_load.writes == last_load.stripe->writes;
}
static inline void end_spin(const struct rt_slot *s, const volatile void *p, uintptr_t pc, int order, uint64_t value,
                            bool again)
{
	last_load.p = s->limit ? p : NULL;
	last_load.pc = pc;
	last_load.order = order;
	last_load.again = again;
	last_load.cur = s->cur;
	last_load.published = atomic_load_explicit(&s->published, memory_order_relaxed);
	last_load.session = atomic_load_explicit(&s->session, memory_order_relaxed);
	last_load.stripe = (const struct stripe *)rt_thread.stripe;
	last_load.writes = last_load.stripe->writes;
	last_load.value = value;
}

static bool acquires(int order)
{
	return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

/* value: what the operation read, or stored if it does not read; where values are recorded it is of at most 8 bytes. */
static inline void unlock_stripe(struct rt_slot *s, unsigned op, const volatile void *p, uintptr_t pc, unsigned size,
                                 int order, uint64_t value)
{
	unsigned char *stripe = rt_thread.stripe;
	bool load = op == RT_OP_ATOMIC_LOAD && size <= sizeof value, again;
	uint64_t writes = stripe ? ((const struct stripe *)stripe)->writes : 0;

	if (!s) {
		/* A store comes behind nothing; what has changed nothing was looked at by is_again. */
		if (RT_UNLIKELY(rt_idle) && rt_op_writes(op) && op != RT_OP_ATOMIC_STORE)
			rt_idle_missed(pc);
		return;
	}
	rt_thread.value = value;
	rt_thread.on[rt_thread.atomics++ % (sizeof rt_thread.on / sizeof *rt_thread.on)] = (uintptr_t)p;
	again = load && stripe && begin_spin(s, p, pc, order, value);
	rt_sync(s, op, rt_place((uintptr_t)p), 0, pc, rt_record_aux(size, (unsigned)order, 0));
	if (load && stripe)
		end_spin(s, p, pc, order, value, again);
	rt_thread.stripe = NULL;
	if (stripe)
		__atomic_store_n(stripe, 0, __ATOMIC_RELEASE);
	rt_thread.whole = true; /* a thread that is cancelled now has lost nothing */
	rt_busy_end();
	rt_thread.whole = false;
	if (RT_UNLIKELY(rt_children.share) && op != RT_OP_ATOMIC_STORE && acquires(order))
		rt_children_heard_at(p, value, writes, pc);
}

/* After an operation that wrote nothing new: the value that it saw. */
static inline void saw(const volatile void *p, uint64_t value, uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_saw((uintptr_t)p, value, pc);
}

#define RMW(bits, type, name, operation)                                                                               \
	RT_DEFINE(type, __tsan_atomic##bits##_##name, (volatile type * p, type v, int order))                          \
	{                                                                                                              \
		struct rt_slot *s = lock_stripe(RT_OP_ATOMIC_RMW, p, (bits) / 8, RT_CALLER);                           \
		type was = operation(bits, name, p, v);                                                                \
		unlock_stripe(s, RT_OP_ATOMIC_RMW, p, RT_CALLER, (bits) / 8, order, (uint64_t)was);                    \
		saw(p, (uint64_t)was, RT_CALLER);                                                                      \
		return was;                                                                                            \
	}
#define CAS(bits, type, name, operation)                                                                               \
	RT_DEFINE(int, __tsan_atomic##bits##_compare_exchange_##name,                                                  \
	          (volatile type * p, type * expected, type v, int order, int failure))                                \
	{                                                                                                              \
		type seen = *expected, wanted = seen;                                                                  \
		struct rt_slot *s = lock_stripe(RT_OP_ATOMIC_CAS, p, (bits) / 8, RT_CALLER);                           \
		bool done = (seen = operation(bits, p, wanted, v)) == wanted;                                          \
		if (!done && is_again(s)) {                                                                            \
			s = lock_stripe(RT_OP_ATOMIC_CAS, p, (bits) / 8, RT_CALLER);                                   \
			done = (seen = operation(bits, p, wanted, v)) == wanted;                                       \
		}                                                                                                      \
		unlock_stripe(s, done ? RT_OP_ATOMIC_CAS : RT_OP_ATOMIC_CAS_FAIL, p, RT_CALLER, (bits) / 8,            \
		              done ? order : failure, (uint64_t)seen);                                                 \
		saw(p, (uint64_t)seen, RT_CALLER);                                                                     \
		if (!done)                                                                                             \
			*expected = seen;                                                                              \
		return done;                                                                                           \
	}
#define OPERATIONS(bits, type, load, store, rmw, cas)                                                                  \
	RT_DEFINE(type, __tsan_atomic##bits##_load, (const volatile type *p, int order))                               \
	{                                                                                                              \
		type v;                                                                                                \
		if (sizeof v <= 8 && spins(rt_self, p, RT_CALLER, order) && !rt_controlled) {                          \
			v = load(bits, p);                                                                             \
			if (sees_the_same(p, (uint64_t)v, RT_CALLER, order))                                           \
				return v;                                                                              \
		}                                                                                                      \
		struct rt_slot *s = lock_stripe(RT_OP_ATOMIC_LOAD, p, (bits) / 8, RT_CALLER);                          \
		v = load(bits, p);                                                                                     \
		if (is_again(s)) {                                                                                     \
			s = lock_stripe(RT_OP_ATOMIC_LOAD, p, (bits) / 8, RT_CALLER);                                  \
			v = load(bits, p);                                                                             \
		}                                                                                                      \
		unlock_stripe(s, RT_OP_ATOMIC_LOAD, p, RT_CALLER, (bits) / 8, order, (uint64_t)v);                     \
		saw(p, (uint64_t)v, RT_CALLER);                                                                        \
		return v;                                                                                              \
	}                                                                                                              \
	RT_DEFINE(void, __tsan_atomic##bits##_store, (volatile type * p, type v, int order))                           \
	{                                                                                                              \
		struct rt_slot *s = lock_stripe(RT_OP_ATOMIC_STORE, p, (bits) / 8, RT_CALLER);                         \
		store(bits, p, v);                                                                                     \
		unlock_stripe(s, RT_OP_ATOMIC_STORE, p, RT_CALLER, (bits) / 8, order, (uint64_t)v);                    \
	}                                                                                                              \
	RMW(bits, type, exchange, rmw)                                                                                 \
	RMW(bits, type, fetch_add, rmw)                                                                                \
	RMW(bits, type, fetch_sub, rmw)                                                                                \
	RMW(bits, type, fetch_and, rmw)                                                                                \
	RMW(bits, type, fetch_or, rmw)                                                                                 \
	RMW(bits, type, fetch_xor, rmw)                                                                                \
	RMW(bits, type, fetch_nand, rmw)                                                                               \
	CAS(bits, type, strong, cas)                                                                                   \
	CAS(bits, type, weak, cas)                                                                                     \
	RT_DEFINE(type, __tsan_atomic##bits##_compare_exchange_val,                                                    \
	          (volatile type * p, type expected, type v, int order, int failure))                                  \
	{                                                                                                              \
		struct rt_slot *s = lock_stripe(RT_OP_ATOMIC_CAS, p, (bits) / 8, RT_CALLER);                           \
		type seen = cas(bits, p, expected, v);                                                                 \
		if (seen != expected && is_again(s)) {                                                                 \
			s = lock_stripe(RT_OP_ATOMIC_CAS, p, (bits) / 8, RT_CALLER);                                   \
			seen = cas(bits, p, expected, v);                                                              \
		}                                                                                                      \
		bool done = seen == expected;                                                                          \
		unlock_stripe(s, done ? RT_OP_ATOMIC_CAS : RT_OP_ATOMIC_CAS_FAIL, p, RT_CALLER, (bits) / 8,            \
		              done ? order : failure, (uint64_t)seen);                                                 \
		saw(p, (uint64_t)seen, RT_CALLER);                                                                     \
		return seen;                                                                                           \
	}

#define WORD_LOAD(bits, p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define WORD_STORE(bits, p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define WORD_RMW(bits, name, p, v) word_##name(p, v)
#define word_exchange(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define word_fetch_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)
#define word_fetch_sub(p, v) __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST)
#define word_fetch_and(p, v) __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST)
#define word_fetch_or(p, v) __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST)
#define word_fetch_xor(p, v) __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST)
#define word_fetch_nand(p, v) __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST)
#define WORD_CAS(bits, p, expected, v) __sync_val_compare_and_swap(p, expected, v)

OPERATIONS(8, uint8_t, WORD_LOAD, WORD_STORE, WORD_RMW, WORD_CAS)
OPERATIONS(16, uint16_t, WORD_LOAD, WORD_STORE, WORD_RMW, WORD_CAS)
OPERATIONS(32, uint32_t, WORD_LOAD, WORD_STORE, WORD_RMW, WORD_CAS)
OPERATIONS(64, uint64_t, WORD_LOAD, WORD_STORE, WORD_RMW, WORD_CAS)

/* 16 bytes: cmpxchg16b, as libatomic does, and in loops of it. */
typedef unsigned __int128 quad;

static __attribute__((target("cx16"), noinline)) quad quad_cas(volatile quad *p, quad expected, quad v)
{
	return __sync_val_compare_and_swap(p, expected, v);
}

enum quad_op {
	quad_exchange,
	quad_fetch_add,
	quad_fetch_sub,
	quad_fetch_and,
	quad_fetch_or,
	quad_fetch_xor,
	quad_fetch_nand
};

static quad quad_apply(enum quad_op op, quad was, quad v)
{
	switch (op) {
	case quad_fetch_add:
		return was + v;
	case quad_fetch_sub:
		return was - v;
	case quad_fetch_and:
		return was & v;
	case quad_fetch_or:
		return was | v;
	case quad_fetch_xor:
		return was ^ v;
	case quad_fetch_nand:
		return ~(was & v);
	case quad_exchange:
		break;
	}
	return v;
}

static quad quad_rmw(enum quad_op op, volatile quad *p, quad v)
{
	quad was = 0, seen;

	while ((seen = quad_cas(p, was, quad_apply(op, was, v))) != was)
		was = seen;
	return was;
}

#define QUAD_LOAD(bits, p) quad_cas((volatile quad *)(uintptr_t)(p), 0, 0)
#define QUAD_STORE(bits, p, v) quad_rmw(quad_exchange, p, v)
#define QUAD_RMW(bits, name, p, v) quad_rmw(quad_##name, p, v)
#define QUAD_CAS(bits, p, expected, v) quad_cas(p, expected, v)
OPERATIONS(128, quad, QUAD_LOAD, QUAD_STORE, QUAD_RMW, QUAD_CAS)

/*
 * libatomic's functions: Clang calls those for 16 bytes, both compilers those for any size. What does not fit a machine
 * word is done under libatomic's mutexes, which are recorded.
 */
#define LIBATOMIC(name, of)                                                                                            \
	__asm__(".globl __atomic_" #name "\n\t.type __atomic_" #name ", @function\n\t"                                 \
	        ".set __atomic_" #name ", __tsan_atomic128_" #of)
LIBATOMIC(load_16, load);
LIBATOMIC(store_16, store);
LIBATOMIC(exchange_16, exchange);
LIBATOMIC(compare_exchange_16, compare_exchange_strong);
LIBATOMIC(fetch_add_16, fetch_add);
LIBATOMIC(fetch_sub_16, fetch_sub);
LIBATOMIC(fetch_and_16, fetch_and);
LIBATOMIC(fetch_or_16, fetch_or);
LIBATOMIC(fetch_xor_16, fetch_xor);
LIBATOMIC(fetch_nand_16, fetch_nand);

/* The compiler has functions of these names, of other types. */
#define ANY_SIZE(type, name, parameters)                                                                               \
	RT_NEXT(type, __atomic_##name, parameters);                                                                    \
	RT_EXPORT type any_##name parameters __asm__("__atomic_" #name);                                               \
	type any_##name parameters

static bool is_aligned(const volatile void *p, size_t size)
{
	return size && size <= sizeof(quad) && !(size & (size - 1)) && (uintptr_t)p % size == 0;
}

/* True of 16 bytes, which libatomic would do by the functions above. */
static bool is_quad(const volatile void *p, size_t size)
{
	return size == sizeof(quad) && is_aligned(p, size);
}

static quad quad_at(const void *p)
{
	quad v;
	__builtin_memcpy(&v, p, sizeof v);
	return v;
}

/* The slot, locked, if the operation is done on one word and is recorded. */
static struct rt_slot *lock_any(unsigned op, const volatile void *p, size_t size, uintptr_t pc)
{
	return is_aligned(p, size) && !rt_watched ? lock_stripe(op, p, (unsigned)size, pc) : NULL;
}

static void unlock_any(struct rt_slot *s, unsigned op, const volatile void *p, size_t size, int order,
                       const void *value, uintptr_t pc)
{
	uint64_t v = 0;
	__builtin_memcpy(&v, value, size < sizeof v ? size : sizeof v);
	unlock_stripe(s, op, p, pc, (unsigned)size, order, v);
	if (s && op != RT_OP_ATOMIC_STORE)
		saw(p, v, pc);
}

ANY_SIZE(void, load, (size_t size, void *p, void *to, int order))
{
	struct rt_slot *s = lock_any(RT_OP_ATOMIC_LOAD, p, size, RT_CALLER);
	if (is_quad(p, size))
		__builtin_memcpy(to, &(quad){QUAD_LOAD(128, p)}, sizeof(quad));
	else
		RT_REAL(__atomic_load)(size, p, to, order);
	unlock_any(s, RT_OP_ATOMIC_LOAD, p, size, order, to, RT_CALLER);
}
ANY_SIZE(void, store, (size_t size, void *p, const void *from, int order))
{
	struct rt_slot *s = lock_any(RT_OP_ATOMIC_STORE, p, size, RT_CALLER);
	if (is_quad(p, size))
		QUAD_STORE(128, p, quad_at(from));
	else
		RT_REAL(__atomic_store)(size, p, from, order);
	unlock_any(s, RT_OP_ATOMIC_STORE, p, size, order, from, RT_CALLER);
}
ANY_SIZE(void, exchange, (size_t size, void *p, const void *from, void *to, int order))
{
	struct rt_slot *s = lock_any(RT_OP_ATOMIC_RMW, p, size, RT_CALLER);
	if (is_quad(p, size))
		__builtin_memcpy(to, &(quad){QUAD_STORE(128, p, quad_at(from))}, sizeof(quad));
	else
		RT_REAL(__atomic_exchange)(size, p, from, to, order);
	unlock_any(s, RT_OP_ATOMIC_RMW, p, size, order, to, RT_CALLER);
}
ANY_SIZE(bool, compare_exchange, (size_t size, void *p, void *expected, const void *from, int order, int failure))
{
	struct rt_slot *s = lock_any(RT_OP_ATOMIC_CAS, p, size, RT_CALLER);
	bool done;
	if (is_quad(p, size)) {
		quad wanted = quad_at(expected), seen = QUAD_CAS(128, p, wanted, quad_at(from));
		done = seen == wanted;
		__builtin_memcpy(expected, &seen, sizeof seen);
	} else {
		done = RT_REAL(__atomic_compare_exchange)(size, p, expected, from, order, failure);
	}
	unlock_any(s, done ? RT_OP_ATOMIC_CAS : RT_OP_ATOMIC_CAS_FAIL, p, size, done ? order : failure, expected,
	           RT_CALLER);
	return done;
}

int rt_atomic_drop(int *count, uintptr_t pc)
{
	struct rt_slot *s = lock_stripe(RT_OP_ATOMIC_RMW, count, sizeof *count, pc);
	int was = __atomic_fetch_sub(count, 1, __ATOMIC_SEQ_CST);
	unlock_stripe(s, RT_OP_ATOMIC_RMW, count, pc, sizeof *count, __ATOMIC_RELEASE, (uint32_t)was);
	return was;
}

/* What the library does by itself, said in an event: a step as any, so that a plan meets each event. */
static void step_inside(unsigned op, void *p, unsigned size, uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(op, rt_place((uintptr_t)p), size, pc, 0, false);
}

void rt_atomic_will_store(void *p, unsigned size, uintptr_t pc)
{
	step_inside(RT_OP_ATOMIC_STORE, p, size, pc);
	rt_sync(rt_self, RT_OP_ATOMIC_STORE, (uintptr_t)p, 0, pc, rt_record_aux(size, __ATOMIC_RELEASE, 0));
}

void rt_atomic_acquired(void *p, unsigned size, uintptr_t pc)
{
	step_inside(RT_OP_ATOMIC_LOAD, p, size, pc);
	rt_sync(rt_self, RT_OP_ATOMIC_LOAD, (uintptr_t)p, 0, pc, rt_record_aux(size, __ATOMIC_ACQUIRE, 0));
}

RT_DEFINE(void, __tsan_atomic_thread_fence, (int order))
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_FENCE, 0, 0, RT_CALLER, 0, false);
	struct rt_slot *s = rt_self;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	rt_sync(s, RT_OP_FENCE, 0, 0, RT_CALLER, rt_record_aux(0, (unsigned)order, 0));
	if (RT_UNLIKELY(rt_children.share) && acquires(order))
		rt_children_heard(RT_CALLER);
}

/* Orders a thread against its own handlers only, not against other threads. */
RT_DEFINE(void, __tsan_atomic_signal_fence, (int order))
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
