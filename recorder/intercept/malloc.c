/*
 * The heap. ALLOC is stamped after the block was got, FREE before it is given back, because another thread may be
 * handed the same block at once. For the same reason realloc is FREE then ALLOC, then a WRITE of what it keeps. C++'s
 * operators are interposed to know where they were called: the real ones run and come here through malloc and free, so
 * that replaced ones still work. Those of an allocator that has its own do not.
 *
 * Looking up the real functions may itself allocate: such blocks come from a small static arena and are never reused.
 */
#include "recorder/intercept/sync.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>

/* Caller of the outermost operator new or delete that this thread is in (they call each other); 0 if in none. */
static __thread uintptr_t operator_pc;
static __thread uintptr_t operator_block; /* the block of which the operators that it is in have told; 0: none */
static __thread bool resolving;

#define ALLOC_PC (operator_pc ? operator_pc : RT_PC)

/* The arena. Each block has its size in front. */
#define ARENA_BYTES 65536
static _Alignas(16) char arena[ARENA_BYTES];
static _Atomic size_t arena_used;

static bool in_arena(const void *p)
{
	return (uintptr_t)p >= (uintptr_t)arena && (uintptr_t)p < (uintptr_t)arena + ARENA_BYTES;
}

static size_t *arena_size(void *p)
{
	return (size_t *)p - 2;
}

/* Zeroed memory; NULL if there is none. */
static void *arena_alloc(size_t size)
{
	if (size > ARENA_BYTES)
		return NULL;
	size_t need = ((size + 15) & ~(size_t)15) + 16;
	size_t at = atomic_fetch_add_explicit(&arena_used, need, memory_order_relaxed);
	if (at > ARENA_BYTES - need)
		return NULL;
	char *p = arena + at + 16;
	*arena_size(p) = size;
	return p;
}

/* True if the real function is known, or can be looked up now. If not, the call came from within the look-up. */
static bool real_ready(void **slot, const char *name)
{
	if (__atomic_load_n(slot, __ATOMIC_RELAXED))
		return true;
	if (resolving)
		return false;
	resolving = true;
	void *f = rt_resolve(slot, name);
	resolving = false;
	return f != NULL;
}
#define READY(name) real_ready((void **)(void *)&rt_real_##name, #name)

RT_INTERPOSE(size_t, malloc_usable_size, (void *p))
{
	return in_arena(p) ? *arena_size(p) : RT_REAL(malloc_usable_size)(p);
}

/* tcmalloc's own look calls operator new: what this thread gives out meanwhile is the allocator's. */
static __thread bool looking;

static size_t usable_size(void *p)
{
	if (!READY(malloc_usable_size))
		return 0;
	looking = true;
	size_t size = RT_REAL(malloc_usable_size)(p);
	looking = false;
	return size;
}

/*
 * Thread-local variables of a module that was loaded later are in blocks which the dynamic linker allocates in the
 * thread, at the first use. They are freed when the thread has ended, by another one that creates or joins threads. How
 * the C library knows of that end is not seen: the ends of such threads are one object, whose address is this one's.
 */
static _Atomic bool locals_ended; /* some such thread has ended */
static __thread bool has_locals;

static bool is_linker(uintptr_t pc)
{
	return pc - rt_linker.begin < rt_linker.size;
}

static void locals_end(void)
{
	if (!has_locals || !rt_recording())
		return;
	atomic_store_explicit(&locals_ended, true, memory_order_relaxed);
	rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)&locals_ended, 0, 0, 0);
}
RT_CALL_AT(RT_AT_THREAD_END, locals_end);

/* To be called before what is freed may be such a block. */
static void locals_freed(uintptr_t pc)
{
	if (RT_UNLIKELY(atomic_load_explicit(&locals_ended, memory_order_relaxed)) &&
	    (rt_creates_thread || is_linker(pc)))
		rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)&locals_ended, 0, pc, 0);
}

/*
 * A free writes all that the block can hold, so what malloc gave beyond size is new memory too: else the free of the
 * block's next life would seem to meet that of its last.
 */
static void say_alloc(void *p, size_t size, uintptr_t pc)
{
	if (!p || !rt_recording())
		return;
	has_locals |= is_linker(pc);
	if (operator_pc)
		operator_block = (uintptr_t)p;
	rt_emit_sync(RT_OP_ALLOC, (uintptr_t)p, size, pc, 0);
	size_t whole = (size + 7) & ~(size_t)7, usable = usable_size(p);
	if (usable > whole)
		rt_emit_sync(RT_OP_NEW_MEMORY, (uintptr_t)p + whole, usable - whole, pc, 0);
}

static void say_free(void *p, size_t size, uintptr_t pc)
{
	locals_freed(pc);
	rt_emit_free((uintptr_t)p, size, pc);
}

RT_INTERPOSE(void *, malloc, (size_t size))
{
	if (RT_UNLIKELY(!READY(malloc)))
		return arena_alloc(size);
	void *p = RT_REAL(malloc)(size);
	say_alloc(p, size, ALLOC_PC);
	return p;
}

void *rt_malloc_at(size_t size, uintptr_t pc)
{
	if (RT_UNLIKELY(!READY(malloc)))
		return arena_alloc(size);
	void *p = RT_REAL(malloc)(size);
	say_alloc(p, size, pc);
	return p;
}

void *rt_malloc_unseen(size_t size)
{
	return READY(malloc) ? RT_REAL(malloc)(size) : NULL;
}

/*
 * The program's own code, if it is instrumented. Libraries, the C library too, may hand on by means that are not seen
 * what calloc has zeroed for them.
 */
static uintptr_t program_code;
static size_t program_size;

static int find_program(struct dl_phdr_info *program, size_t size, void *pc)
{
	uintptr_t begin = rt_module_code(program, (uintptr_t)pc, &size);

	if (begin) {
		program_code = begin;
		program_size = size;
	}
	return 1; /* libraries come behind it */
}

void rt_code_begins(uintptr_t pc)
{
	if (!program_size)
		dl_iterate_phdr(find_program, (void *)pc);
}

RT_INTERPOSE(void *, calloc, (size_t count, size_t size))
{
	if (RT_UNLIKELY(!READY(calloc)))
		return size && count > ARENA_BYTES / size ? NULL : arena_alloc(count * size);
	void *p = RT_REAL(calloc)(count, size);
	uintptr_t pc = ALLOC_PC;
	say_alloc(p, count * size, pc);
	if (p && pc - program_code < program_size)
		rt_emit_range(RT_OP_WRITE, p, count * size, pc); /* zeros */
	return p;
}

RT_INTERPOSE(void, free, (void *p))
{
	if (!p || RT_UNLIKELY(in_arena(p)))
		return;
	if (RT_UNLIKELY(!READY(free)))
		return;
	if (rt_recording() && (uintptr_t)p != operator_block)
		say_free(p, usable_size(p), ALLOC_PC);
	RT_REAL(free)(p);
}

void rt_free_unseen(void *p)
{
	RT_REAL(free)(p);
}

RT_DEFINE(void, cfree, (void *p))
{
	free(p);
}

static void *move_from_arena(void *p, size_t size)
{
	size_t old = *arena_size(p);
	char *q = malloc(size);
	for (size_t i = 0; q && i < old && i < size; i++)
		q[i] = ((char *)p)[i];
	return q;
}

RT_INTERPOSE(void *, realloc, (void *p, size_t size));
/*
 * The block that comes out is a new one even where it has the old one's address, and realloc writes what it keeps. So a
 * use of it, or of the old block, that is not ordered with this call is seen, wherever the pointer came from.
 */
static void say_kept(void *q, size_t old, size_t size, uintptr_t pc)
{
	size_t kept = old < size ? old : size;

	rt_emit_range(RT_OP_WRITE, q, kept < RT_FREED_MAX ? kept : RT_FREED_MAX, pc);
}

static void *say_realloc(void *p, size_t size, uintptr_t pc)
{
	if (!p || size > PTRDIFF_MAX) { /* the latter fails, and the block is not touched */
		void *q = RT_REAL(realloc)(p, size);
		if (!p)
			say_alloc(q, size, pc);
		return q;
	}
	bool said = rt_recording();
	size_t old = said ? usable_size(p) : 0;
	if (said)
		say_free(p, old, pc);
	void *q = RT_REAL(realloc)(p, size);
	if (q) {
		say_alloc(q, size, pc);
		if (said)
			say_kept(q, old, size, pc);
	} else if (said && size > 0) { /* failed: the old block lives on */
		say_alloc(p, old, pc);
	}
	return q;
}

RT_DEFINE(void *, realloc, (void *p, size_t size))
{
	if (p && RT_UNLIKELY(in_arena(p)))
		return move_from_arena(p, size);
	if (RT_UNLIKELY(!READY(realloc)))
		return p ? NULL : arena_alloc(size);
	return say_realloc(p, size, ALLOC_PC);
}

RT_DEFINE(void *, reallocarray, (void *p, size_t count, size_t size))
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (p && RT_UNLIKELY(in_arena(p)))
		return move_from_arena(p, bytes);
	if (RT_UNLIKELY(!READY(realloc)))
		return p ? NULL : arena_alloc(bytes);
	return say_realloc(p, bytes, ALLOC_PC);
}

RT_INTERPOSE(int, posix_memalign, (void **result, size_t alignment, size_t size))
{
	int status = RT_REAL(posix_memalign)(result, alignment, size);
	if (status == 0)
		say_alloc(*result, size, ALLOC_PC);
	return status;
}

RT_INTERPOSE(void *, aligned_alloc, (size_t alignment, size_t size))
{
	void *p = RT_REAL(aligned_alloc)(alignment, size);
	say_alloc(p, size, ALLOC_PC);
	return p;
}

RT_INTERPOSE(void *, memalign, (size_t alignment, size_t size))
{
	void *p = RT_REAL(memalign)(alignment, size);
	say_alloc(p, size, ALLOC_PC);
	return p;
}
__asm__(".globl __libc_memalign\n\t.type __libc_memalign, @function\n\t.set __libc_memalign, memalign");

RT_INTERPOSE(void *, valloc, (size_t size))
{
	void *p = RT_REAL(valloc)(size);
	say_alloc(p, size, ALLOC_PC);
	return p;
}

RT_INTERPOSE(void *, pvalloc, (size_t size))
{
	void *p = RT_REAL(pvalloc)(size);
	say_alloc(p, size, ALLOC_PC);
	return p;
}

/* C++. The names are the mangled operators: m is size_t, t nothrow, a an alignment. */
static void leave_operator(uintptr_t *outer)
{
	operator_pc = *outer;
	operator_block = 0;
}
uintptr_t rt_heap_called_from(uintptr_t pc)
{
	uintptr_t outer = operator_pc;
	if (!outer)
		operator_pc = pc;
	return outer;
}

void rt_heap_called(uintptr_t outer)
{
	operator_pc = outer;
}

#define IN_OPERATOR                                                                                                    \
	uintptr_t outer __attribute__((cleanup(leave_operator))) = operator_pc;                                        \
	if (!outer)                                                                                                    \
	operator_pc = RT_PC

/*
 * An allocator that has operators of its own (jemalloc, mimalloc, tcmalloc) does not come here through malloc and free:
 * of what such an operator gives or takes back, the operator itself tells.
 */
static bool is_allocators(void *operator)
{
	static _Atomic int known; /* 1: it is not, 2: it is */
	int is = atomic_load_explicit(&known, memory_order_relaxed);
	if (is)
		return is == 2;
	Dl_info its, malloc_s;
	bool same = READY(malloc) && dladdr(operator, & its) && dladdr((void *)RT_REAL(malloc), &malloc_s) &&
	            its.dli_fbase == malloc_s.dli_fbase;
	atomic_store_explicit(&known, 1 + same, memory_order_relaxed);
	return same;
}

static void *given(void *operator, void * p, size_t size)
{
	if (RT_UNLIKELY(is_allocators(operator)) && !looking && (uintptr_t)p != operator_block)
		say_alloc(p, size, operator_pc);
	return p;
}

static void taken_back(void *operator, void * p)
{
	if (!is_allocators(operator) || looking || !p || in_arena(p) || (uintptr_t)p == operator_block ||
	    !rt_recording())
		return;
	say_free(p, usable_size(p), operator_pc);
	operator_block = (uintptr_t)p;
}

/* The real operator; NULL: a program with the C++ library linked statically has none, as the linker found ours first.
 */
static void *find(void **slot, const char *name)
{
	static _Atomic bool none;
	void *f = __atomic_load_n(slot, __ATOMIC_RELAXED);
	if (f || atomic_load_explicit(&none, memory_order_relaxed))
		return f;
	f = rt_find(slot, name);
	if (!f)
		atomic_store_explicit(&none, true, memory_order_relaxed);
	return f;
}

/* What operator new does then. It cannot throw from here. */
static void *new_block(size_t size, size_t alignment, bool throws)
{
	void *p =
	    alignment ? aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1)) : malloc(size ? size : 1);
	if (p || !throws)
		return p;
	rt_say("racetrace: operator new: out of memory");
	abort();
}

#define NEW(name, parameters, arguments, ...)                                                                          \
	RT_INTERPOSE(void *, name, parameters)                                                                         \
	{                                                                                                              \
		rt_real_type_##name real = (rt_real_type_##name)find((void **)(void *)&rt_real_##name, #name);         \
		IN_OPERATOR;                                                                                           \
		return real ? given((void *)real, real arguments, size) : new_block(size, __VA_ARGS__);                \
	}
#define DELETE(name, parameters, arguments)                                                                            \
	RT_INTERPOSE(void, name, parameters)                                                                           \
	{                                                                                                              \
		rt_real_type_##name real = (rt_real_type_##name)find((void **)(void *)&rt_real_##name, #name);         \
		IN_OPERATOR;                                                                                           \
		if (!real)                                                                                             \
			free(p);                                                                                       \
		else {                                                                                                 \
			taken_back((void *)real, p);                                                                   \
			real arguments;                                                                                \
		}                                                                                                      \
	}

NEW(_Znwm, (size_t size), (size), 0, true)
NEW(_Znam, (size_t size), (size), 0, true)
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow), 0, false)
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow), 0, false)
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment), alignment, true)
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment), alignment, true)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow),
    (size, alignment, nothrow), alignment, false)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow),
    (size, alignment, nothrow), alignment, false)
DELETE(_ZdlPv, (void *p), (p))
DELETE(_ZdaPv, (void *p), (p))
DELETE(_ZdlPvm, (void *p, size_t size), (p, size))
DELETE(_ZdaPvm, (void *p, size_t size), (p, size))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *nothrow), (p, nothrow))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *nothrow), (p, nothrow))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t alignment), (p, alignment))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t alignment), (p, alignment))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t size, size_t alignment), (p, size, alignment))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t size, size_t alignment), (p, size, alignment))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t alignment, const void *nothrow), (p, alignment, nothrow))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t alignment, const void *nothrow), (p, alignment, nothrow))
