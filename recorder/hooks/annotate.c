/*
 * Annotations of programs: the public interface of ThreadSanitizer (sanitizer/tsan_interface.h) and the Annotate*
 * family. Functions without a meaning in a trace exist and do nothing.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"

#define NOTHING(name, parameters)                                                                                      \
	RT_DEFINE(void, name, parameters)                                                                              \
	{                                                                                                              \
	}
#define ZERO(type, name, parameters)                                                                                   \
	RT_DEFINE(type, name, parameters)                                                                              \
	{                                                                                                              \
		return 0;                                                                                              \
	}

enum { READS = 1, WRITES = 2, SYNC = 4 }; /* kinds of events that IGNORE_BEGIN and IGNORE_END ignore */

static void say(unsigned op, const volatile void *object, uint64_t arg, uintptr_t pc)
{
	rt_emit_sync(op, (uintptr_t)object, arg, pc, 0);
}

RT_DEFINE(void, __tsan_acquire, (void *p))
{
	say(RT_OP_HB_AFTER, p, 0, RT_CALLER);
}
RT_DEFINE(void, __tsan_release, (void *p))
{
	say(RT_OP_HB_BEFORE, p, 0, RT_CALLER);
}
RT_DEFINE(void, __tsan_ignore_thread_begin, (void))
{
	say(RT_OP_IGNORE_BEGIN, NULL, READS | WRITES, RT_CALLER);
}
RT_DEFINE(void, __tsan_ignore_thread_end, (void))
{
	say(RT_OP_IGNORE_END, NULL, READS | WRITES, RT_CALLER);
}

/*
 * Locks that the program implements itself. The lock's own code between pre and post is ignored, synchronisation
 * included. A divert (the lock calls foreign code) suspends that.
 */
enum {
	MUTEX_READ_LOCK = 1 << 3,
	MUTEX_TRY_LOCK = 1 << 4,
	MUTEX_TRY_LOCK_FAILED = 1 << 5,
};

static void inside(bool begin, uintptr_t pc)
{
	say(begin ? RT_OP_IGNORE_BEGIN : RT_OP_IGNORE_END, NULL, READS | WRITES | SYNC, pc);
}

NOTHING(__tsan_mutex_create, (void *m __attribute__((unused)), unsigned flags __attribute__((unused))))
NOTHING(__tsan_mutex_destroy, (void *m __attribute__((unused)), unsigned flags __attribute__((unused))))
RT_DEFINE(void, __tsan_mutex_pre_lock, (void *m, unsigned flags))
{
	(void)m, (void)flags;
	inside(true, RT_CALLER);
}
RT_DEFINE(void, __tsan_mutex_post_lock, (void *m, unsigned flags, int recursion))
{
	(void)recursion;
	inside(false, RT_CALLER);
	if ((flags & MUTEX_TRY_LOCK_FAILED) == 0 && rt_held_enter(m))
		rt_emit_sync(flags & MUTEX_READ_LOCK ? RT_OP_ACQUIRE_SHARED : RT_OP_ACQUIRE, (uintptr_t)m, 0, RT_CALLER,
		             flags & MUTEX_TRY_LOCK ? RT_F_TIMED : 0);
}
/* Number of levels that were released, for post_lock: one, as every level is unlocked separately. */
RT_DEFINE(int, __tsan_mutex_pre_unlock, (void *m, unsigned flags))
{
	(void)flags;
	if (rt_held_leave(m))
		say(RT_OP_RELEASE, m, 0, RT_CALLER);
	inside(true, RT_CALLER);
	return 1;
}
RT_DEFINE(void, __tsan_mutex_post_unlock, (void *m, unsigned flags))
{
	(void)m, (void)flags;
	inside(false, RT_CALLER);
}
RT_DEFINE(void, __tsan_mutex_pre_signal, (void *m, unsigned flags))
{
	(void)m, (void)flags;
	inside(true, RT_CALLER);
}
RT_DEFINE(void, __tsan_mutex_post_signal, (void *m, unsigned flags))
{
	(void)m, (void)flags;
	inside(false, RT_CALLER);
}
RT_DEFINE(void, __tsan_mutex_pre_divert, (void *m, unsigned flags))
{
	(void)m, (void)flags;
	inside(false, RT_CALLER);
}
RT_DEFINE(void, __tsan_mutex_post_divert, (void *m, unsigned flags))
{
	(void)m, (void)flags;
	inside(true, RT_CALLER);
}

/*
 * Fibers: each is a thread of the trace with its own slot. A switch orders the events before it in the one fiber before
 * those after it in the other, unless bit 0 of flags is set.
 */
RT_DEFINE(void *, __tsan_get_current_fiber, (void))
{
	return rt_self;
}
RT_DEFINE(void *, __tsan_create_fiber, (unsigned flags))
{
	struct rt_slot *self = rt_self, *s = rt_recording() ? rt_slot_take() : NULL;

	(void)flags;
	if (!s)
		return &rt_dead;
	rt_slot_announce(s, 0, RT_CALLER);
	rt_busy_begin();
	rt_slot_open(s);
	rt_self = s;
	say(RT_OP_BEGIN, NULL, 0, RT_CALLER);
	rt_self = self;
	rt_busy_end();
	return s;
}
RT_DEFINE(void, __tsan_destroy_fiber, (void *fiber))
{
	struct rt_slot *self = rt_self, *s = fiber;

	if (s == &rt_dead || s == self || !rt_recording())
		return;
	rt_busy_begin();
	rt_self = s;
	say(RT_OP_END, NULL, 0, RT_CALLER);
	rt_self = self;
	rt_slot_end(s);
	rt_busy_end();
}
RT_DEFINE(void, __tsan_switch_to_fiber, (void *fiber, unsigned flags))
{
	if (!rt_channel)
		return;
	if (!(flags & 1))
		say(RT_OP_HB_BEFORE, fiber, 0, RT_CALLER);
	rt_self = fiber;
	if (!(flags & 1))
		say(RT_OP_HB_AFTER, fiber, 0, RT_CALLER);
}
RT_DEFINE(void, __tsan_set_fiber_name, (void *fiber, const char *name))
{
	struct rt_slot *s = fiber;

	if (s != &rt_dead)
		rt_slot_label(s, name);
}

/* Accesses of a library's objects, told by address only. */
RT_DEFINE(void *, __tsan_external_register_tag, (const char *type))
{
	static unsigned tags;

	(void)type;
	return (void *)(uintptr_t)(__atomic_add_fetch(&tags, 1, __ATOMIC_RELAXED) + 1);
}
NOTHING(__tsan_external_register_header,
        (void *tag __attribute__((unused)), const char *header __attribute__((unused))))
NOTHING(__tsan_external_assign_tag, (void *p __attribute__((unused)), void *tag __attribute__((unused))))
RT_DEFINE(void, __tsan_external_read, (void *p, void *pc, void *tag))
{
	(void)tag;
	rt_emit_range(RT_OP_READ, p, 1, (uintptr_t)pc - 1);
}
RT_DEFINE(void, __tsan_external_write, (void *p, void *pc, void *tag))
{
	(void)tag;
	rt_emit_range(RT_OP_WRITE, p, 1, (uintptr_t)pc - 1);
}

/* Annotate*(file, line, ...): the pc gives the position already. */
#define ANNOTATE(name, ...)                                                                                            \
	RT_DEFINE(void, name,                                                                                          \
	          (const char *file __attribute__((unused)), int line __attribute__((unused)), ##__VA_ARGS__))

ANNOTATE(AnnotateHappensBefore, void *p)
{
	say(RT_OP_HB_BEFORE, p, 0, RT_CALLER);
}
ANNOTATE(AnnotateHappensAfter, void *p)
{
	say(RT_OP_HB_AFTER, p, 0, RT_CALLER);
}
ANNOTATE(WTFAnnotateHappensBefore, void *p)
{
	say(RT_OP_HB_BEFORE, p, 0, RT_CALLER);
}
ANNOTATE(WTFAnnotateHappensAfter, void *p)
{
	say(RT_OP_HB_AFTER, p, 0, RT_CALLER);
}
ANNOTATE(AnnotateRWLockAcquired, void *m, uintptr_t exclusive)
{
	say(exclusive ? RT_OP_ACQUIRE : RT_OP_ACQUIRE_SHARED, m, 0, RT_CALLER);
}
ANNOTATE(AnnotateRWLockReleased, void *m, uintptr_t exclusive)
{
	(void)exclusive;
	say(RT_OP_RELEASE, m, 0, RT_CALLER);
}
ANNOTATE(AnnotateIgnoreReadsBegin)
{
	say(RT_OP_IGNORE_BEGIN, NULL, READS, RT_CALLER);
}
ANNOTATE(AnnotateIgnoreReadsEnd)
{
	say(RT_OP_IGNORE_END, NULL, READS, RT_CALLER);
}
ANNOTATE(AnnotateIgnoreWritesBegin)
{
	say(RT_OP_IGNORE_BEGIN, NULL, WRITES, RT_CALLER);
}
ANNOTATE(AnnotateIgnoreWritesEnd)
{
	say(RT_OP_IGNORE_END, NULL, WRITES, RT_CALLER);
}
ANNOTATE(AnnotateIgnoreSyncBegin)
{
	say(RT_OP_IGNORE_BEGIN, NULL, SYNC, RT_CALLER);
}
ANNOTATE(AnnotateIgnoreSyncEnd)
{
	say(RT_OP_IGNORE_END, NULL, SYNC, RT_CALLER);
}
ANNOTATE(AnnotateBenignRaceSized, void *p, uintptr_t size, const char *why)
{
	(void)why;
	say(RT_OP_BENIGN, p, size, RT_CALLER);
}
ANNOTATE(WTFAnnotateBenignRaceSized, void *p, uintptr_t size, const char *why)
{
	(void)why;
	say(RT_OP_BENIGN, p, size, RT_CALLER);
}
ANNOTATE(AnnotateBenignRace, void *p, const char *why)
{
	(void)why;
	say(RT_OP_BENIGN, p, 1, RT_CALLER);
}
ANNOTATE(AnnotateNewMemory, void *p, uintptr_t size)
{
	say(RT_OP_NEW_MEMORY, p, size, RT_CALLER);
}
ANNOTATE(AnnotateThreadName, const char *name)
{
	if (rt_recording())
		__tsan_set_fiber_name(rt_self, name);
}

#define ANNOTATE_NOTHING(name, ...)                                                                                    \
	ANNOTATE(name, ##__VA_ARGS__)                                                                                  \
	{                                                                                                              \
	}
#define UNUSED __attribute__((unused))
ANNOTATE_NOTHING(AnnotateCondVarSignal, void *c UNUSED)
ANNOTATE_NOTHING(AnnotateCondVarSignalAll, void *c UNUSED)
ANNOTATE_NOTHING(AnnotateCondVarWait, void *c UNUSED, void *m UNUSED)
ANNOTATE_NOTHING(AnnotateMutexIsNotPHB, void *m UNUSED)
ANNOTATE_NOTHING(AnnotateMutexIsUsedAsCondVar, void *m UNUSED)
ANNOTATE_NOTHING(AnnotateRWLockCreate, void *m UNUSED)
ANNOTATE_NOTHING(AnnotateRWLockCreateStatic, void *m UNUSED)
ANNOTATE_NOTHING(AnnotateRWLockDestroy, void *m UNUSED)
ANNOTATE_NOTHING(AnnotatePCQCreate, void *q UNUSED)
ANNOTATE_NOTHING(AnnotatePCQDestroy, void *q UNUSED)
ANNOTATE_NOTHING(AnnotatePCQGet, void *q UNUSED)
ANNOTATE_NOTHING(AnnotatePCQPut, void *q UNUSED)
ANNOTATE_NOTHING(AnnotatePublishMemoryRange, void *p UNUSED, uintptr_t size UNUSED)
ANNOTATE_NOTHING(AnnotateUnpublishMemoryRange, void *p UNUSED, uintptr_t size UNUSED)
ANNOTATE_NOTHING(AnnotateMemoryIsInitialized, void *p UNUSED, uintptr_t size UNUSED)
ANNOTATE_NOTHING(AnnotateMemoryIsUninitialized, void *p UNUSED, uintptr_t size UNUSED)
ANNOTATE_NOTHING(AnnotateEnableRaceDetection, int on UNUSED)
ANNOTATE_NOTHING(AnnotateExpectRace, void *p UNUSED, const char *why UNUSED)
ANNOTATE_NOTHING(AnnotateFlushExpectedRaces)
ANNOTATE_NOTHING(AnnotateFlushState)
ANNOTATE_NOTHING(AnnotateNoOp, void *p UNUSED)
ANNOTATE_NOTHING(AnnotateTraceMemory, void *p UNUSED)
ZERO(int, RunningOnValgrind, (void))
RT_DEFINE(double, ValgrindSlowdown, (void))
{
	return 10; /* as in ThreadSanitizer: programs scale their time limits by it */
}
