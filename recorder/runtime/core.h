/*
 * Shared by the recorder's own files, beyond recorder.h: the thread's private state, the busy section, the append
 * primitives and the clock.
 */
#ifndef RECORDER_RUNTIME_CORE_H
#define RECORDER_RUNTIME_CORE_H

#include "recorder/runtime/filter.h"
#include "recorder/runtime/recorder.h"
#include "recorder/watch.h"

#include <pthread.h>
#include <signal.h>

#define RT_PAUSE() __builtin_ia32_pause()

/* A write whose value is not known yet; value.c. */
struct rt_pending {
	struct rt_record *record; /* room for its VALUE, its event behind it; NULL: left out so far, as a repeat */
	uint64_t w0, w1, before;  /* its record; what was there before it, if it was left out */
	unsigned size;            /* 0: none is pending */
	bool read;                /* a read has come behind it */
};

/* What a parent hands to its child; also the private (unshared) memory that belongs to a slot. */
struct rt_private {
	struct rt_slot *slot;
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *argument;
	uint32_t go;                      /* futex word: 1 when FORK is in the trace */
	uint32_t here;                    /* futex word: 1 when its thread is where signals wait for its first event */
	uint32_t children, tasks;         /* number of threads, and of OpenMP's tasks, that its thread has created */
	uint64_t name;                    /* hash of its thread's name */
	const struct rt_sandbox *sandbox; /* of the creating thread, like: */
	bool timeless;
	uint64_t epoch;        /* of the filter, at the last block */
	uint32_t epoch_blocks; /* blocks since it began */
	bool large_used;       /* the large part of the filter is not all zeros */
	bool large_open;       /* the filter is the large one, from then on */
	struct rt_pending pending;
	struct rt_seen *seen;               /* repeat filter where values are recorded, in place of the large one */
	uint32_t seen_mask;                 /* how much of it is in use */
	bool seen_grew;                     /* all of it was */
	uint64_t value_epoch, value_filter; /* of it; slot->filter_epoch at the last record */
	_Alignas(64) struct rt_filter filter[RT_FILTER_SMALL];
};

#define RT_KEPT_MAX 4u  /* signals that wait in the recorder, of a thread that a tool watches */
#define RT_HELD_MAX 64u /* most locks of a thread that are tracked; a forked child does not hold further ones */

/* Thread-local, at a fixed offset from the thread pointer: see rt_thread_of(). */
struct rt_thread {
	unsigned busy;                    /* > 0: a handler must wait, see signal.c */
	unsigned deferred;                /* a handler waits */
	uint64_t mask;                    /* signal mask to restore then */
	unsigned kept_count;              /* of kept: signals to send again then; see keep() in signal.c */
	unsigned char *stripe;            /* lock held around an atomic operation */
	struct rt_slot *own;              /* the slot of the thread itself (rt_self may be a fiber's) */
	struct rt_slot *aside;            /* slot put aside while a handler's events are dropped and counted */
	uint64_t lost;                    /* number of lost events */
	const struct rt_sandbox *sandbox; /* its seccomp filters; sandbox.c */
	uint32_t index;                   /* number in the trace, if known */
	bool known;
	bool asynchronous, uncancelable; /* as pthread_setcanceltype and -state have it; cancel.c */
	bool canceled;                   /* pthread_cancel was called for it, by any thread */
	bool whole;                      /* what it has done in the recorder is done, and recorded */
	bool timeless;                   /* must not look at any clock */
	bool made;                       /* created by pthread_create or thrd_create */
	bool awaited;                    /* its creation is in the trace, but it is not in start_recorded yet */
	bool creates;                    /* waits for a thread that it has created to come to start_recorded */
	unsigned char peek;              /* how memory is read; value.c */
	int handled;                     /* the signal whose handler has returned last */
	uint64_t value;                  /* read by, or stored by, the atomic operation under way */
	unsigned atomics;                /* number of its recorded atomic operations */
	uintptr_t on[8];                 /* addresses of the last ones */
	bool forking;                    /* in a call that forks, which may return in the child */
	bool in_turn;                    /* in the scheduler: its own work is no step */
	int32_t patience;                /* plain accesses until the scheduler looks at the thread again */
	struct rt_watch_stop stop;       /* what the Valgrind tool stopped the thread before */
	struct rt_task *task;            /* NULL: takes no turns; see turn.h */
	struct rt_slot *late;            /* its slot, if it has not begun in it; */
	uintptr_t late_pc;               /* from there */
	void *stack;                     /* its lower end, and size: known when BEGIN was written */
	size_t stack_size;
	siginfo_t kept[RT_KEPT_MAX];
	unsigned held_count;
	bool held_unsure;             /* it held more */
	bool joining;                 /* it is about to join a session; idle.c */
	unsigned ignores[8], regions; /* where the program is idle: IGNORE_BEGIN by its argument, and open regions */
	struct rt_held {
		uintptr_t lock, pc;
		bool shared;
	} held[RT_HELD_MAX]; /* for a forked child or a session, in which it holds them from the beginning */
};
extern __thread struct rt_thread rt_thread;

extern struct rt_channel *rt_channel; /* NULL: not recording */
extern struct rt_tree *rt_tree;       /* NULL: never recorded */
extern struct rt_slot rt_dead;
extern bool rt_tsc;
extern bool rt_not_plain; /* rt_sync_only, rt_values or rt_watched */
extern bool rt_sync_only; /* no plain accesses, of which only those of the C library would be seen */

/*
 * Private memory of the recorder's: address space alone, which no limit on data and no strict accounting of memory
 * counts, until it is opened; then zeros. where: NULL, or what is replaced. NULL, false: there is none.
 */
void *rt_memory_reserve(void *where, size_t size);
extern uint64_t rt_memory_reserved; /* bytes of address space that the recorder has in this process */
bool rt_memory_open(const void *from, size_t size);

/*
 * The program was started idle: collectors come and go; idle.c. False: RACETRACE does not say so. The same in a forked
 * child, in place of its parent's channel.
 */
extern bool rt_idle;
extern const _Atomic uint32_t *rt_session; /* the channel's session; elsewhere 0 */
bool rt_idle_start(const char *word);
bool rt_idle_again(void *where);
/* Of a slot without room: joins the session under way. True if the slot has room now. */
bool rt_idle_join(struct rt_slot *slot);
/* The same for a new thread, which says its beginning itself. */
void rt_idle_open(struct rt_slot *slot);
/* Gives the slot room up to the limit, unless its session is over. */
void rt_idle_room(struct rt_slot *slot, struct rt_record *limit);
/* The collector of the slot's session is gone. */
void rt_idle_left(struct rt_slot *slot);
/* An event of this thread, recorded or not: what the next session has to know of it. */
void rt_idle_note(unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc, bool recorded);
/* After an operation that was not recorded: if a session has begun meanwhile, the trace says so. */
void rt_idle_missed(uintptr_t pc);
/* Before a descriptor, or a range of them, is closed: the channel's stays open. */
void rt_idle_closes(int fd);
void rt_idle_close_range(unsigned *first, unsigned *last, int flags);
/* True if the slot's session is under way. */
static inline bool rt_in_session(struct rt_slot *slot)
{
	uint32_t session = atomic_load(&rt_channel->session);
	return session && session == atomic_load(&slot->session);
}
/* True of an idle program that nobody records. */
static inline bool rt_is_idle(const struct rt_channel *c)
{
	return RT_UNLIKELY(rt_idle) && c && !atomic_load(&c->session);
}

/* A Valgrind tool records what the program does to memory, and appends to the same rings; valgrind.c. */
extern bool rt_watched;
/* Each append takes the slow way: the slot's limit is kept at cur. */
extern bool rt_stepwise;
bool rt_watch_is_there(void); /* the process runs under the tool */
void rt_watch_thread(void);   /* this thread is recorded from now on */
bool rt_watch_room(void);     /* another thread can be made */
/* As the functions without rt_, which the recorder interposes (exec.c). */
int rt_execve(const char *path, char *const argv[], char *const environment[]);
int rt_execveat(int folder, const char *path, char *const argv[], char *const environment[], int flags);
/* Makes what is executed next run under the tool as well, if the tool can record the file. NULL: it does not. */
enum rt_watch_file rt_watch_next(const char *file);

/* Values; value.c. All but rt_settle are called where rt_values is set, by a busy thread. */
extern bool rt_values;
extern bool rt_values_caught;                     /* faults while reading memory come to signal.c */
#define RT_VALUE_AUX ((uint64_t)RT_F_VALUE << 56) /* in word 1 of a record */
#define RT_SIGNAL_BIT(sig) (UINT64_C(1) << ((sig)-1))
/* Before a record with this operation. Finds the value of the pending write. */
void rt_value_begin(struct rt_slot *slot, unsigned op);
/*
 * Before anything by which another thread may come after this one's accesses, other than its record: the same. op: the
 * hook it is called in, if that is of an access.
 */
void rt_settle(struct rt_slot *slot, unsigned op);
/* The position of the thread's last hook, if it was that of a write whose store may not have taken place yet; else 0.
 */
uintptr_t rt_pending_write(struct rt_slot *slot);
/* Called once a block, as the other filter's growing. */
void rt_value_grow(struct rt_private *of);
/* rt_value_begin; then appends the record, if it is an access whose value can be recorded, or leaves it out. False: it
 * is none. */
bool rt_value_append(struct rt_slot *slot, uint64_t w0, uint64_t w1);
/* rt_emit_range where values are recorded: without one. */
void rt_value_range(unsigned op, uintptr_t from, size_t size, uintptr_t pc);
/* A handler interrupts the thread, which may not have done what its last hooks stand for: they have no values. */
void rt_value_discard(struct rt_slot *slot);
enum rt_put { RT_PUT_PLAIN, RT_PUT_VALUE, RT_PUT_PENDING };
/* Appends a record, behind its VALUE or room for that, which is returned. NULL: there was no room for them. */
struct rt_record *rt_put(struct rt_slot *slot, uint64_t w0, uint64_t w1, enum rt_put how, uint64_t value);
void rt_value_start(void); /* catches faults */
/* The thread blocks other signals than before, or may. */
static inline void rt_mask_changed(void)
{
	rt_thread.peek = 0;
}
/* Reads 1, 2, 4 or 8 bytes; false if that faults. append.S. */
bool rt_peek(uintptr_t at, unsigned size, uint64_t *value);

/* End of the block at hand. */
static inline struct rt_record *rt_block_end(const struct rt_slot *slot)
{
	if (RT_UNLIKELY(rt_idle) && slot->cur) /* its limit may become NULL at any time */
		return rt_slot_block_end(slot);
	if (!rt_stepwise || !slot->limit)
		return slot->limit;
	return rt_slot_block_end(slot);
}

/* Slots and threads */
struct rt_private *rt_private_of(struct rt_slot *slot);
/* Makes the slot's private memory usable. False without memory. */
bool rt_private_open(struct rt_slot *slot);
/* The slot's large filter, of RT_FILTER_LARGE entries; NULL without memory. */
struct rt_filter *rt_large_filter(struct rt_slot *slot);
struct rt_slot *rt_slot_take(void);        /* NULL: none is free, or the collector is gone */
struct rt_slot *rt_slot_take_free(void);   /* the same, without waiting for one, or a word */
void rt_slot_open(struct rt_slot *slot);   /* writes the first block's time; by the thread that will use it */
uint64_t rt_publish(struct rt_slot *slot); /* pads the block, publishes it; returns how many are published */
void rt_slot_end(struct rt_slot *slot);    /* to be drained */
void rt_slot_label(struct rt_slot *slot, const char *name); /* names its thread in the trace */
/*
 * Numbers the new thread, emits FORK; returns its number in the trace. number: among its parent's children, by which it
 * is named; 0: the next. Tasks of OpenMP (tracefmt/child.h) do not count among others, nor does an adopted thread,
 * whose creation was not seen: no parent has a million.
 */
#define RT_CHILD_ADOPTED 1000000u
uint32_t rt_slot_announce(struct rt_slot *slot, uint32_t number, uintptr_t pc);
/*
 * Of a thread that runs a signal's handler before it has begun: waits until its maker has announced it. True if that
 * lasts too long.
 */
bool rt_thread_unannounced(void);
/* The thread's stack below the frame is other memory from now on. False, and nothing is said: it is not known. */
bool rt_thread_renew_stack(uintptr_t frame, uintptr_t pc);
/* Lower end and size of the thread's thread-local memory, as modules have it that came with the program. */
uintptr_t rt_thread_local(size_t *size);
/* False if there may be more of it: modules that came later have it anywhere. */
bool rt_thread_local_is_all(void);
#define RT_RED_ZONE 128u           /* bytes below a frame that a function uses */
void rt_thread_start(bool forked); /* the main thread's slot; a forked child's holds what its thread held */
void rt_thread_begin_late(
    void); /* writes the first events of a thread that ran outside of control since its creation */
void rt_thread_adopt(uintptr_t pc); /* records this thread, whose creation was not seen, from now on */

/* Append one record; EXT and event with a given time; EXT and event with an exact stamp. x0: EXT's word 0. */
void rt_append(uint64_t w0, uint64_t w1, struct rt_slot *slot);
void rt_append2(uint64_t w0, uint64_t w1, struct rt_slot *slot, uint64_t x0, uint64_t x1);
void rt_append_sync(uint64_t w0, uint64_t w1, struct rt_slot *slot, uint64_t x0, uint64_t now, void *clock);
void rt_append_slow(uint64_t w0, uint64_t w1, struct rt_slot *slot);
void rt_append2_slow(uint64_t w0, uint64_t w1, struct rt_slot *slot, uint64_t x0, uint64_t x1);
void rt_append_sync_slow(uint64_t w0, uint64_t w1, struct rt_slot *slot, uint64_t x0, uint64_t now, void *clock);
/* Room for n records (at most 4) in this block, so that what follows does not wait. May wait now. */
void rt_reserve(struct rt_slot *slot, unsigned n);
/* From here on the memory at `at` is known by another address (that is `at` itself: it is its own). */
void rt_emit_alias(uintptr_t at, size_t size, uintptr_t known, uintptr_t pc);
/* The same of what was so at a stamp, which is not below the slot's last one. */
void rt_tell_alias(struct rt_slot *slot, uintptr_t at, size_t size, uintptr_t known, uint64_t stamp);
/* rt_emit_sync with a whole aux. */
void rt_sync(struct rt_slot *slot, unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc, unsigned aux);

/*
 * Code of libraries whose calls access no memory of the program's: libgomp, which orders what it does with its own by
 * means that are not seen, and libgcc, which reads tables to unwind stacks.
 */
enum rt_inner { RT_INNER_LIBGOMP, RT_INNER_LIBGCC, RT_INNERS };
extern struct rt_code {
	uintptr_t begin, size;
} rt_inner[RT_INNERS];
static inline bool rt_is_inner(uintptr_t pc)
{
	return pc - rt_inner[RT_INNER_LIBGOMP].begin < rt_inner[RT_INNER_LIBGOMP].size ||
	       pc - rt_inner[RT_INNER_LIBGCC].begin < rt_inner[RT_INNER_LIBGCC].size;
}

/* Starts a new epoch of the repeat filter. */
void rt_filter_clear(struct rt_slot *slot);
static inline void rt_new_epoch(struct rt_slot *slot)
{
	slot->filter_epoch += RT_FILTER_EPOCH;
	slot->filter_mask = RT_FILTER_SMALL - 1;
	if (RT_UNLIKELY(slot->filter_epoch == 0))
		rt_filter_clear(slot);
}

/*
 * The address by which what synchronises at p is known, as a part of a file may be mapped at two. A mapping is added
 * with the part of the file that it shows, and forgotten when it, or a part of it, ends. It has moved from `from`,
 * where it had old_size bytes; with old_size 0 it is there once more, perhaps without a file. While the kernel moves
 * it, others may map where it was: meanwhile it is RT_PLACE_MOVING further on. rt_place_elsewhere: true if other
 * addresses show a part of the memory, or have.
 */
#define RT_PLACE_MOVING UINT64_C(0x800000000000)
extern bool rt_place_twice; /* something is */
uintptr_t rt_place_first(uintptr_t p);
static inline uintptr_t rt_place(uintptr_t p)
{
	return RT_UNLIKELY(__atomic_load_n(&rt_place_twice, __ATOMIC_RELAXED)) ? rt_place_first(p) : p;
}
void rt_place_add(void *p, size_t size, uint64_t device, uint64_t inode, uint64_t offset, uintptr_t pc);
void rt_place_moved(uintptr_t p, size_t size, uintptr_t from, size_t old_size, uintptr_t pc);
void rt_place_forget(uintptr_t p, size_t size, uintptr_t pc);
bool rt_place_elsewhere(uintptr_t p, size_t size);
/* What has several addresses when a recording begins, at this stamp; 0: now, in this thread's slot. */
void rt_place_tell(struct rt_slot *slot, uint64_t stamp);

/* Coarse time: ticks of about 16 to 64 ns. */
uint64_t rt_now_slow(void);
uint64_t rt_milliseconds(void);       /* without a system call */
void rt_time_start(void);             /* before any other */
bool rt_privates_map(uint32_t slots); /* the memory that goes with the slots: zeros. False: there is none */
void rt_announce(bool forked);        /* the channel is there: begins to record */
void rt_time_by_turns(bool is);       /* the clock is logical: threads take turns */
void rt_time_forbidden(void); /* the thread would be killed for reading the time stamp counter, and its children too */
static inline uint64_t rt_now(void)
{
	if (rt_tsc)
		return __builtin_ia32_rdtsc() >> 6;
	return rt_now_slow();
}
static inline uint64_t rt_plain_stamp(struct rt_slot *slot)
{
	uint64_t now = rt_now();

	if (now > slot->last_stamp)
		slot->last_stamp = now;
	return slot->last_stamp;
}

/*
 * While a thread is busy, its handlers of asynchronous signals wait: the trampoline in signal.c puts the signal back
 * and blocks it, rt_busy_end lets it come. Nests.
 */
void rt_signal_undefer(void);
void rt_signal_defer_cancel(void); /* the thread is cancelled when it is not busy any more */
void rt_cancel_again(void);
void rt_leave_windows(void *context); /* of a thread that a signal interrupted; see append.S */
void rt_emit_lost(void);
static inline void rt_busy_begin(void)
{
	rt_thread.busy++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
static inline void rt_busy_end(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (--rt_thread.busy == 0) {
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (RT_UNLIKELY(rt_thread.deferred))
			rt_signal_undefer();
	}
}

/* --vary: varies when new threads start. */
void rt_vary_name(struct rt_private *child, uint64_t parent, uint32_t child_number);
enum rt_vary { RT_VARY_NONE, RT_VARY_PARENT, RT_VARY_CHILD, RT_VARY_CHOICES };
unsigned rt_vary_us(const struct rt_slot *child, enum rt_vary side); /* time that this side waits */
void rt_pause_us(unsigned microseconds);                             /* not at all for 0 */

void rt_fork_start(void); /* once, at start */
/* Around a call that forks. pid: what it returned, 0 in the child. */
void rt_fork_begin(void);
void rt_fork_end(pid_t pid);
/* Called before syscall(number, a); true if that creates a process, and rt_fork_end must follow. */
bool rt_clone_begins(long number, const long a[6], uintptr_t pc);
/*
 * This process takes a channel of its own, in place of the one that is mapped at `where`, and its thread is the main
 * thread there. Async-signal-safe. False: it is not recorded.
 */
bool rt_tree_join(void *where);
/* In a forked child: of all threads only this one is left. */
void rt_thread_forked(void);
/* Operations inside the C++ library: an atomic decrement that releases, and returns the old value; an atomic store
 * of the program's that is executed after this; and a load, executed before. */
int rt_atomic_drop(int *count, uintptr_t pc);
void rt_atomic_will_store(void *p, unsigned size, uintptr_t pc);
void rt_atomic_acquired(void *p, unsigned size, uintptr_t pc);

/* True if the bytes can be read. False also where a sandbox does not let that be known. Leaves errno alone. */
bool rt_readable(const void *p, size_t size);
/* System calls that leave errno alone. */
long rt_futex_wait(const void *word, uint32_t value, unsigned milliseconds);
void rt_futex_wake(const void *word, int count);
void rt_ring_bell(void); /* if the collector sleeps */
/* False if the collector is gone or was silent for too long. Called repeatedly, with a pause between. */
bool rt_collector_alive(void);
void rt_say(const char *message); /* one line on standard error as it was at the start */

/* pthread_self(), which is the thread pointer, and which the recorder interposes. */
static inline pthread_t rt_pthread_self(void)
{
	pthread_t self;
	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
}

/* Another thread's private state: pthread_t is the thread pointer, and ours is at a fixed distance from it. */
static inline struct rt_thread *rt_thread_of(pthread_t thread)
{
	return (struct rt_thread *)(void *)((char *)thread + ((char *)&rt_thread - (char *)rt_pthread_self()));
}

#endif
