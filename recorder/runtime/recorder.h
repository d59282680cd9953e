/*
 * Inside the recorded program: what hooks and interposers use. Nothing here allocates, locks or calls the kernel,
 * except where it says so. Hooks may run before the recorder has started, in signal handlers, in a forked child and
 * after the collector has died; then they write to nowhere (the dead slot).
 */
#ifndef RECORDER_RUNTIME_RECORDER_H
#define RECORDER_RUNTIME_RECORDER_H

#include "recorder/channel.h"

#include <stdbool.h>
#include <stddef.h>

#ifndef __x86_64__
#error "the recorder is written for x86-64"
#endif

#define RT_EXPORT __attribute__((visibility("default")))
#define RT_CALLER ((uintptr_t)__builtin_return_address(0) - 1) /* in the call, so that look-ups hit its line */
#define RT_PC RT_CALLER
#define RT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * This thread's slot; never NULL: threads that are not recorded have the dead slot, whose cur == limit always, so that
 * every append takes the slow path, which drops the record.
 */
extern __thread struct rt_slot *rt_self;

/* One record: a plain event without a stamp of its own. aux: rt_record_aux(). Counts as one ordinal. */
void rt_emit(unsigned op, uint64_t operand, uintptr_t pc, unsigned aux);
/* A range access: READ or WRITE of size bytes; nothing if size is 0. Goes through the repeat filter. */
void rt_emit_range(unsigned op, const void *addr, size_t size, uintptr_t pc);
/* The same of a string with its end, as long as it is now; nothing if it is NULL. */
void rt_emit_string(unsigned op, const char *s, uintptr_t pc);
void rt_emit_wide(unsigned op, const wchar_t *s, uintptr_t pc);
/*
 * A synchronisation event. It takes its exact stamp now, so it is called while the lock is held (acquire: after;
 * release: before the real release). Begins a new epoch of the repeat filter. flags: RT_F_*.
 */
void rt_emit_sync(unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc, unsigned flags);
/*
 * free() of a heap block of size bytes, before the real call: a WRITE (RT_F_FREE) of its beginning, so that uses of the
 * block that are not ordered with this are seen, and FREE, both at one exact stamp.
 */
void rt_emit_free(uint64_t block, size_t size, uintptr_t pc);
#define RT_FREED_MAX 4096 /* bytes of a block's beginning that are written; so also for realloc */
/* A call on a synchronisation object, which also reads its memory: rt_emit_sync. */
static inline void rt_emit_use(unsigned op, const volatile void *object, uint64_t arg, uintptr_t pc, unsigned flags)
{
	rt_emit_sync(op, (uintptr_t)object, arg, pc, flags | RT_F_OBJECT);
}
/*
 * Accesses that go with what is called, not with the program's own code; they are not recorded where those are not
 * (rt_sync_only). A WRITE with an exact stamp; init (after the real call) or destroy (before it) of a synchronisation
 * object, which writes its memory; a call on one that is no synchronisation event itself, or an access behind one.
 */
void rt_emit_write(uintptr_t p, size_t size, uintptr_t pc, unsigned flags);
void rt_emit_object(const volatile void *object, uintptr_t pc);
void rt_emit_object_read(const volatile void *object, uintptr_t pc);
/* This thread ends, as another one has cancelled it, if one has: what it does now comes after that. */
void rt_cancel_seen(uintptr_t pc);
/* Evaluates `call`, of this type, by which the thread may be cancelled. For files that are built with -fexceptions. */
#define RT_CANCELABLE(type, caller, call)                                                                              \
	({                                                                                                             \
		struct rt_cancelable rt_cancelable                                                                     \
		    __attribute__((cleanup(rt_cancelable_left), unused)) = {(caller), false};                          \
		type rt_cancelable_result = (call);                                                                    \
		rt_cancelable.returned = true;                                                                         \
		rt_cancelable_result;                                                                                  \
	})
struct rt_cancelable {
	uintptr_t pc;
	bool returned;
};
static inline void rt_cancelable_left(const struct rt_cancelable *c)
{
	if (!c->returned)
		rt_cancel_seen(c->pc);
}
void rt_testcancel(uintptr_t pc); /* pthread_testcancel */
/* A time mark around a call that may block (sleep, read, ...): also begins a new epoch of the repeat filter. */
void rt_emit_time(void);

/*
 * True if this thread is being recorded, or may be later (cheap). Interposers use it to skip work that only serves the
 * record.
 */
bool rt_recording(void);
/* True if it is being recorded now: for what only describes accesses. */
bool rt_appending(void);

/*
 * Interposing: RT_REAL(name) is the next definition (dlsym RTLD_NEXT, resolved once when the recorder starts or on
 * first use; never allocates through our own malloc). Usage:
 *
 *   RT_INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t *m))
 *   {
 *           int result = RT_REAL(pthread_mutex_lock)(m);
 *           ...
 *   }
 *
 * It has a second name, by which functions of the program that replace ThreadSanitizer's call it.
 */
struct rt_real_entry {
	void **slot;
	const char *name;
};
/* Declares, as what compilers call is in no header, and defines a function that programs call. */
#define RT_DEFINE(type, name, parameters)                                                                              \
	RT_EXPORT type name parameters;                                                                                \
	RT_EXPORT type name parameters
#define RT_INTERPOSE(type, name, parameters)                                                                           \
	__asm__(".globl __interceptor_" #name "\n\t.type __interceptor_" #name ", @function\n\t"                       \
	        ".set __interceptor_" #name ", " #name);                                                               \
	RT_NEXT(type, name, parameters);                                                                               \
	RT_DEFINE(type, name, parameters)
/* For RT_REAL(name) in a file that does not interpose it. */
#define RT_NEXT(type, name, parameters)                                                                                \
	typedef type(*rt_real_type_##name) parameters;                                                                 \
	static rt_real_type_##name rt_real_##name;                                                                     \
	static struct rt_real_entry rt_real_entry_##name                                                               \
	    __attribute__((section("rt_reals"), used)) = {(void **)(void *)&rt_real_##name, #name}
#define RT_REAL(name) ((rt_real_type_##name)rt_real((void **)(void *)&rt_real_##name, #name))
void *rt_find(void **slot, const char *name); /* NULL: it is in no library */
void *rt_resolve(void **slot, const char *name);
static inline void *rt_real(void **slot, const char *name)
{
	void *f = __atomic_load_n(slot, __ATOMIC_RELAXED);
	return f ? f : rt_resolve(slot, name);
}

/*
 * Files whose state a fork or the end of a thread concerns are called by way of a section table, as the real functions
 * are found, so that the runtime names none of them. RT_CALL_AT(moment, function): in no order that may be relied on.
 */
enum rt_moment {
	RT_AT_START,     /* the recording starts, in a program that was executed; by its main thread */
	RT_AT_FORK,      /* a process is about to be made, by a fork or otherwise */
	RT_AT_CHILD,     /* in a forked child: of all threads only this one is left; nothing may allocate or lock */
	RT_AT_THREAD_END /* this thread's last event is about to be written */
};
struct rt_callback {
	enum rt_moment moment;
	void (*function)(void);
};
#define RT_CALL_AT(when, name)                                                                                         \
	static const struct rt_callback rt_callback_##name                                                             \
	    __attribute__((section("rt_callbacks"), used)) = {.moment = (when), .function = (name)}
void rt_call_at(enum rt_moment moment);

/*
 * Happens-before by signals (signal.c): before one is sent, or may be from now on (its handler was installed, a timer
 * set); after one was taken; after a look at what is pending, and after a child has ended.
 */
void rt_signal_sent(int sig, uintptr_t pc);
void rt_timer_set(uintptr_t pc);
void rt_signal_received(int sig, uintptr_t pc);
void rt_signals_seen(uintptr_t pc);
bool rt_signal_restarts(int sig); /* true if a call that a handler of the signal interrupts goes on behind it */

/*
 * Happens-before through other processes (children.c), while there are some that this one has made: before one may hear
 * of what this thread did; after one may have told what it heard. see: memory that they will share; heard_at: by an
 * atomic operation that has read the value.
 */
void rt_children_told(uintptr_t pc);
void rt_children_heard(uintptr_t pc);
/* The same by a file, as SYS_newfstatat finds it, if a child may have changed it, or it is missing. */
void rt_children_heard_by(int folder, const char *path, int flags, uintptr_t pc);
void rt_children_ended(uintptr_t pc); /* after one has ended */
void rt_children_see(const void *p, size_t size);
void rt_children_heard_at(const volatile void *p, uint64_t value, uint64_t writes, uintptr_t pc);

/* Thread lifecycle (thread.c): used by pthread_create, C11 threads and libgomp's threads alike. */
struct rt_private; /* what a parent hands to its child */
/* The C library is making a thread for this one: what it frees is its own. */
extern __thread bool rt_creates_thread;

/* Makes the dead slot this thread's: in a forked child, or when the collector has died. */
void rt_stop_recording(void);
/* The collector should read the memory map now (module loaded or about to be unloaded); waits for it, bounded. */
void rt_request_map(void);

#endif
