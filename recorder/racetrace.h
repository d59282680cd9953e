/*
 * racetrace.h: annotations for programs that racetrace records.
 *
 * Header only, nothing to link. While the program is not being recorded a call does nothing, at the cost of one test.
 * The recorder understands ThreadSanitizer's own interface (sanitizer/tsan_interface.h) and the Annotate* functions as
 * well. This header is for what these cannot express, and for programs that do not have them.
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

/* The recorder's entry points; defined only while it records. */
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
/* In a program at a fixed address the linker resolves weak references to NULL: they are looked up once instead. */
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
/* Always inlined, so that an event has its caller's position. */
#define RACETRACE_INLINE static inline __attribute__((always_inline, unused)) void

/*
 * An order that the program makes itself. What comes before happens_before(object) in its thread is ordered before what
 * follows any later happens_after(object) in any thread. The object is any address that both use.
 */
RACETRACE_INLINE racetrace_happens_before(const volatile void *object)
{
	RACETRACE_CALL(happens_before, (object));
}
RACETRACE_INLINE racetrace_happens_after(const volatile void *object)
{
	RACETRACE_CALL(happens_after, (object));
}

/* A region of this thread that is meant to be atomic, whatever locks it takes. Nests; only the outermost counts. */
RACETRACE_INLINE racetrace_region_begin(void)
{
	RACETRACE_CALL(region_begin, ());
}
RACETRACE_INLINE racetrace_region_end(void)
{
	RACETRACE_CALL(region_end, ());
}

/* Ignores this thread's accesses, or its synchronisation, until the end with the same value. Nests. */
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

/* These bytes are allocated again (by an arena, a pool): earlier accesses of them are unrelated. */
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
 * A lock that the program implements itself: call these right after it was acquired, and right before it is released.
 * shared: by a reader. Only the outermost levels of a recursive lock.
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
