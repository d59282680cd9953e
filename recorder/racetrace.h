/*
 * racetrace.h: what a program may tell racetrace of itself.
 *
 * Header only: each call does nothing, at the price of one test, unless the program is being recorded. Nothing has to
 * be linked. The recorder understands ThreadSanitizer's own interface (sanitizer/tsan_interface.h) and the Annotate*
 * functions as well; this header is for what these cannot say, and for programs that do not have them.
 */
#ifndef RACETRACE_H
#define RACETRACE_H

#include <stddef.h>
#if !defined __PIC__ && !defined __PIE__
#include <dlfcn.h>
#pragma weak dlsym
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's entry points; there while it records. */
#define RACETRACE_HOOK(name, parameters) extern void racetrace_hook_##name parameters __attribute__((weak));
RACETRACE_HOOK(happens_before, (const volatile void *object))
RACETRACE_HOOK(happens_after, (const volatile void *object))
RACETRACE_HOOK(region_begin, (void))
RACETRACE_HOOK(region_end, (void))
RACETRACE_HOOK(ignore_begin, (unsigned what))
RACETRACE_HOOK(ignore_end, (unsigned what))
RACETRACE_HOOK(benign, (const volatile void *p, size_t size))
RACETRACE_HOOK(new_memory, (const volatile void *p, size_t size))
RACETRACE_HOOK(thread_name, (const char *name))
RACETRACE_HOOK(acquired, (const volatile void *lock, int shared))
RACETRACE_HOOK(released, (const volatile void *lock))
#undef RACETRACE_HOOK

#if defined __PIC__ || defined __PIE__
#define RACETRACE_CALL(name, arguments)                                                                                \
	do {                                                                                                           \
		if (racetrace_hook_##name)                                                                             \
			racetrace_hook_##name arguments;                                                               \
	} while (0)
#else
/* The linker of a program at a fixed address makes weak references nothing for good: looked up once instead. */
#define RACETRACE_CALL(name, arguments)                                                                                \
	do {                                                                                                           \
		static void *racetrace_found = &racetrace_found;                                                       \
		void *racetrace_f = __atomic_load_n(&racetrace_found, __ATOMIC_RELAXED);                               \
		if (racetrace_f == (void *)&racetrace_found) {                                                         \
			racetrace_f = dlsym ? dlsym(NULL, "racetrace_hook_" #name) : NULL;                             \
			__atomic_store_n(&racetrace_found, racetrace_f, __ATOMIC_RELAXED);                             \
		}                                                                                                      \
		if (racetrace_f)                                                                                       \
			((__typeof__(&racetrace_hook_##name))racetrace_f) arguments;                                   \
	} while (0)
#endif
/* Always part of the caller, so that events are where they are written. */
#define RACETRACE_INLINE static inline __attribute__((always_inline, unused)) void

/*
 * Order of one's own: what comes before happens_before(object) in its thread comes before what follows any later
 * happens_after(object) in any thread. The object is any address that the two agree on.
 */
RACETRACE_INLINE racetrace_happens_before(const volatile void *object)
{
	RACETRACE_CALL(happens_before, (object));
}
RACETRACE_INLINE racetrace_happens_after(const volatile void *object)
{
	RACETRACE_CALL(happens_after, (object));
}

/* A stretch of this thread that is meant to be atomic, whatever locks it takes. Nests; only the outermost counts. */
RACETRACE_INLINE racetrace_region_begin(void)
{
	RACETRACE_CALL(region_begin, ());
}
RACETRACE_INLINE racetrace_region_end(void)
{
	RACETRACE_CALL(region_end, ());
}

/* Leaves this thread's accesses, or its synchronisation, out until the end with the same value. Nests. */
enum racetrace_what {
	RACETRACE_READS = 1,
	RACETRACE_WRITES = 2,
	RACETRACE_ACCESSES = RACETRACE_READS | RACETRACE_WRITES,
	RACETRACE_SYNC = 4
};
RACETRACE_INLINE racetrace_ignore_begin(unsigned what)
{
	RACETRACE_CALL(ignore_begin, (what));
}
RACETRACE_INLINE racetrace_ignore_end(unsigned what)
{
	RACETRACE_CALL(ignore_end, (what));
}

/* Races on these bytes are known and harmless. */
RACETRACE_INLINE racetrace_benign(const volatile void *p, size_t size)
{
	RACETRACE_CALL(benign, (p, size));
}

/* These bytes are handed out anew (by an arena, a pool): what was done with them before has nothing to do with it. */
RACETRACE_INLINE racetrace_new_memory(const volatile void *p, size_t size)
{
	RACETRACE_CALL(new_memory, (p, size));
}

/* Names this thread in reports: 15 characters. */
RACETRACE_INLINE racetrace_thread_name(const char *name)
{
	RACETRACE_CALL(thread_name, (name));
}

/*
 * A lock of one's own: right after it was taken, and right before it is let go. shared: by one reader among others.
 * Only the outermost levels of a recursive one.
 */
RACETRACE_INLINE racetrace_acquired(const volatile void *lock, int shared)
{
	RACETRACE_CALL(acquired, (lock, shared));
}
RACETRACE_INLINE racetrace_released(const volatile void *lock)
{
	RACETRACE_CALL(released, (lock));
}

#undef RACETRACE_CALL
#undef RACETRACE_INLINE

#ifdef __cplusplus
}
#endif

#endif
