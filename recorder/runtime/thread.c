/*
 * Threads: creation, end, join. Their slots: slot.c.
 *
 * A new thread waits until its parent has put FORK into the trace, which happens only when the thread could be made: so
 * nothing is said of threads that could not. END is emitted by the last round of key destructors.
 */
#include "recorder/runtime/blocking.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/sandbox.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <threads.h>
#include <time.h>

static pthread_key_t end_key;
static bool end_key_made;

/* The last of the rounds in which key destructors run. */
static void end_thread(void *rounds)
{
	struct rt_slot *s = rt_thread.own;

	if ((uintptr_t)rounds > 1) {
		pthread_setspecific(end_key, (void *)((uintptr_t)rounds - 1));
		return;
	}
	if (!s || (!s->limit && !rt_idle))
		return;
	rt_busy_begin();
	if (rt_controlled) /* the slot, which is the turns' too, is another thread's as soon as it has ended */
		rt_turn_comes(0, 0, 0);
	rt_self = s;
	rt_call_at(RT_AT_THREAD_END);
	rt_emit_sync(RT_OP_END, 0, 0, 0, 0);
	rt_self = &rt_dead;
	rt_thread.own = NULL;
	if (s->limit || rt_idle)
		rt_slot_end(s);
	if (rt_controlled)
		rt_turn_end();
	rt_busy_end();
}

/* Those of the library: ours are recorded. */
RT_NEXT(int, pthread_getattr_np, (pthread_t thread, pthread_attr_t *to));
RT_NEXT(int, pthread_attr_getstack, (const pthread_attr_t *from, void **stack, size_t *size));
RT_NEXT(int, pthread_attr_destroy, (pthread_attr_t * attributes));
static void find_stack(void)
{
	pthread_attr_t attributes;

	/* The library asks which processors the thread may use, too, and of the main thread reads where its memory is.
	 */
	if (rt_guarded && (!rt_thread.made || !RT_SANDBOX_ALLOWS(SYS_sched_getaffinity)))
		return;
	if (RT_REAL(pthread_getattr_np)(rt_pthread_self(), &attributes) != 0)
		return;
	RT_REAL(pthread_attr_getstack)(&attributes, &rt_thread.stack, &rt_thread.stack_size);
	RT_REAL(pthread_attr_destroy)(&attributes);
}

/* Bytes of thread-local memory below the thread pointer: what the modules that came with the program have there. */
static size_t tls_size;

static int measure_tls(struct dl_phdr_info *module, size_t size, void *unused)
{
	/* Of modules that are loaded later, it is where it was allocated. */
	enum { STATIC_MAX = 1 << 20 };
	uintptr_t begin = (uintptr_t)module->dlpi_tls_data, end = (uintptr_t)rt_pthread_self();

	(void)size, (void)unused;
	if (begin && begin < end && end - begin < STATIC_MAX && end - begin > tls_size)
		tls_size = end - begin;
	return 0;
}

/* In the new thread, while its events still go nowhere. */
static void begin_thread(struct rt_slot *s, uintptr_t pc)
{
	if (!rt_thread.stack) /* a forked child's is that of the thread that forked */
		find_stack();
	if (end_key_made)
		pthread_setspecific(end_key, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
	rt_slot_open(s);
	rt_thread.own = s;
	rt_thread.index = s->thread;
	rt_thread.known = true;
	rt_self = s;
	if (rt_watched)
		rt_watch_thread();
	if (RT_UNLIKELY(rt_idle) && !s->limit)
		return;
	rt_emit_sync(RT_OP_BEGIN, (uintptr_t)rt_thread.stack, rt_thread.stack_size, pc, 0);
	if (tls_size)
		rt_emit_sync(RT_OP_TLS, (uintptr_t)rt_pthread_self() - tls_size, tls_size, pc, 0);
}

bool rt_thread_renew_stack(uintptr_t frame, uintptr_t pc)
{
	uintptr_t stack = (uintptr_t)rt_thread.stack;

	if (!stack || frame <= stack || frame - stack > rt_thread.stack_size)
		return false;
	rt_emit_sync(RT_OP_NEW_MEMORY, stack, frame - stack, pc, 0);
	return true;
}

uintptr_t rt_thread_local(size_t *size)
{
	*size = tls_size;
	return (uintptr_t)rt_pthread_self() - tls_size;
}

static int is_elsewhere(struct dl_phdr_info *module, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (unsigned i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_TLS)
			return (uintptr_t)module->dlpi_tls_data - ((uintptr_t)rt_pthread_self() - tls_size) >= tls_size;
	return 0;
}

bool rt_thread_local_is_all(void)
{
	return !dl_iterate_phdr(is_elsewhere, NULL);
}

void rt_thread_forked(void)
{
	rt_thread.stripe = NULL;
	rt_thread.lost = 0;
	rt_thread.known = false;
	rt_sandbox_forked();
}

void rt_thread_start(bool forked)
{
	struct rt_slot *s = rt_slot_take();

	if (!s)
		return;
	if (!end_key_made)
		end_key_made = pthread_key_create(&end_key, end_thread) == 0;
	if (!tls_size)
		dl_iterate_phdr(measure_tls, NULL);
	s->thread = atomic_fetch_add(&rt_channel->thread_count, 1);
	s->parent = 0;
	s->child_number = 0;
	rt_private_of(s)->name = 0;
	atomic_store(&s->state, RT_SLOT_LIVE);
	begin_thread(s, 0);
	for (unsigned i = 0; forked && s->limit && i < rt_thread.held_count; i++) {
		const struct rt_held *h = &rt_thread.held[i];

		rt_sync(s, h->shared ? RT_OP_ACQUIRE_SHARED : RT_OP_ACQUIRE, h->lock, 0, h->pc, 0);
	}
}

void rt_thread_adopt(uintptr_t pc)
{
	struct rt_slot *s;

	if (!rt_channel || atomic_load(&rt_channel->collector_gone) || rt_thread.own)
		return;
	s = rt_slot_take();
	if (!s) {
		atomic_fetch_add(&rt_channel->unseen, 1);
		rt_turn_foreign();
		return;
	}
	rt_slot_announce(s, 0, pc);
	if (rt_controlled) {
		rt_turn_created(s);
		rt_turn_begin(s, pc);
	}
	begin_thread(s, pc);
}

void rt_thread_begin_late(void)
{
	struct rt_slot *s = rt_thread.late;

	rt_thread.late = NULL;
	if (s)
		begin_thread(s, rt_thread.late_pc);
}

static void begin(struct rt_slot *s, uintptr_t pc)
{
	if (!rt_controlled || rt_turn_begin(s, pc)) {
		begin_thread(s, pc);
		return;
	}
	rt_thread.late = s;
	rt_thread.late_pc = pc;
}

/* Until the thread on the other side has set a word. */
static void await_word(uint32_t *word)
{
	for (int spin = 0; spin < 100; spin++) {
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE))
			return;
		RT_PAUSE();
	}
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		rt_futex_wait(word, 0, 1000);
}
static void set_word(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	rt_futex_wake(word, 1);
}

/* In the new thread, which runs the routine. A handler of a signal that it is sent meanwhile runs behind BEGIN. */
static void start_recorded(struct rt_private *b, uintptr_t routine)
{
	rt_busy_begin();
	rt_thread.sandbox = b->sandbox;
	rt_thread.timeless = b->timeless;
	rt_thread.made = true;
	set_word(&b->here);
	await_word(&b->go);
	rt_thread.awaited = false;
	rt_pause_us(rt_vary_us(b->slot, RT_VARY_CHILD));
	begin(b->slot, routine + 1);
	rt_busy_end();
}

static void *run(void *arg)
{
	struct rt_private *b = arg;
	void *(*routine)(void *) = b->start;
	void *argument = b->argument;

	start_recorded(b, (uintptr_t)routine);
	return RT_CANCELABLE(void *, (uintptr_t)routine + 1, routine(argument));
}

static int run_c11(void *arg)
{
	struct rt_private *b = arg;
	int (*routine)(void *) = b->start_c11;
	void *argument = b->argument;

	start_recorded(b, (uintptr_t)routine);
	return RT_CANCELABLE(int, (uintptr_t)routine + 1, routine(argument));
}

static uint32_t unannounced; /* number of threads that are being made */

/*
 * A slot for a thread to be; NULL: make it without recording it. That is said before it is made, because what it does
 * comes after.
 */
static struct rt_private *prepare_child(uintptr_t pc)
{
	struct rt_slot *s;

	if (!rt_recording())
		return NULL;
	if (rt_controlled)
		rt_turn_step(RT_OP_FORK, 0, 0, pc, 0, false);
	s = rt_slot_take();
	if (!s) {
		rt_emit_sync(RT_OP_LOST, RT_LOST_THREAD, 1, pc, 0);
		rt_turn_foreign();
		return NULL;
	}
	rt_private_of(s)->go = rt_private_of(s)->here = 0;
	rt_private_of(s)->sandbox = rt_thread.sandbox;
	rt_private_of(s)->timeless = rt_thread.timeless;
	__atomic_add_fetch(&unannounced, 1, __ATOMIC_RELAXED);
	return rt_private_of(s);
}

/* False: the program is told what a system without room for another thread tells it. */
static bool has_room(void)
{
	static uint32_t said;

	if (!rt_watched || rt_watch_room())
		return true;
	if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		rt_say("racetrace: more threads at once than Valgrind has room for: they cannot be created");
	return false;
}

bool rt_thread_unannounced(void)
{
	enum { MILLISECONDS = 1000 }; /* its maker may be stopped, or wait for what the handler does */
	const struct rt_thread *t = &rt_thread;

	for (int i = 0; !t->made && !__atomic_load_n(&t->known, __ATOMIC_ACQUIRE); i++) {
		uint32_t n = __atomic_load_n(&unannounced, __ATOMIC_ACQUIRE);
		if (n == 0 || i == MILLISECONDS)
			return n != 0;
		rt_futex_wait(&unannounced, n, 1);
	}
	return false;
}

static void announce_child(struct rt_private *b, bool made, const pthread_t *thread, uintptr_t pc)
{
	if (made) {
		struct rt_thread *child = rt_thread_of(*thread);

		child->index = rt_slot_announce(b->slot, 0, pc);
		child->awaited = true;
		__atomic_store_n(&child->known, true, __ATOMIC_RELEASE);
		if (rt_controlled) {
			rt_thread.creates = true;
			await_word(&b->here); /* so that it does not depend on the moment which signals it gets where */
			rt_thread.creates = false;
			rt_turn_created(b->slot);
		}
		unsigned pause = rt_vary_us(b->slot, RT_VARY_PARENT); /* from then on the slot may be another's */
		set_word(&b->go);
		rt_pause_us(pause);
	} else {
		atomic_store(&b->slot->state, RT_SLOT_FREE);
	}
	__atomic_sub_fetch(&unannounced, 1, __ATOMIC_RELEASE);
}

__thread bool rt_creates_thread;

RT_INTERPOSE(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg))
{
	if (!has_room())
		return EAGAIN;
	rt_emit_range(RT_OP_WRITE, thread, sizeof *thread, RT_CALLER); /* before it runs */
	struct rt_private *b = prepare_child(RT_CALLER);
	int result;

	if (!b)
		return RT_REAL(pthread_create)(thread, attr, start, arg);
	b->start = start;
	b->argument = arg;
	rt_creates_thread = true;
	result = RT_REAL(pthread_create)(thread, attr, run, b);
	rt_creates_thread = false;
	announce_child(b, result == 0, thread, RT_CALLER);
	return result;
}

RT_INTERPOSE(int, thrd_create, (thrd_t * thread, thrd_start_t start, void *arg))
{
	if (!has_room())
		return thrd_error;
	rt_emit_range(RT_OP_WRITE, thread, sizeof *thread, RT_CALLER); /* before it runs */
	struct rt_private *b = prepare_child(RT_CALLER);
	int result;

	if (!b)
		return RT_REAL(thrd_create)(thread, start, arg);
	b->start_c11 = start;
	b->argument = arg;
	rt_creates_thread = true;
	result = RT_REAL(thrd_create)(thread, run_c11, b);
	rt_creates_thread = false;
	announce_child(b, result == thrd_success, thread, RT_CALLER);
	return result;
}

/* The thread's index, looked up before a join or detach: afterwards its memory may be reused. */
struct target {
	uint32_t index;
	bool known;
};
static struct target target_of(pthread_t thread)
{
	struct target w = {0, false};

	if (thread && rt_recording()) {
		struct rt_thread *t = rt_thread_of(thread);

		w.index = t->index;
		w.known = t->known;
	}
	return w;
}

static int joined(int result, struct target w, uintptr_t pc, unsigned flags)
{
	if (result == 0 && w.known)
		rt_emit_sync(RT_OP_JOIN, w.index, 0, pc, flags);
	else if (result == 0)
		rt_emit_sync(RT_OP_LOST, RT_LOST_THREAD, 0, pc, 0);
	return result;
}

static uintptr_t waited_for(struct target w)
{
	return w.known ? w.index : RT_BLOCKING_UNKNOWN;
}
/* By turns: the thread has ended when this returns 0, and what follows does not wait. */
static int await_end(struct target w, unsigned flags, struct rt_until until, uintptr_t pc)
{
	struct rt_blocking b __attribute__((cleanup(rt_blocking_left))) = {
	    .op = RT_OP_JOIN, .object = w.index, .pc = pc, .flags = flags};
	bool again = true;

	rt_turn_step(RT_OP_JOIN, w.index, 0, pc, flags, true);
	while (again && rt_turn_lives(w.index))
		again = rt_blocking_turns(&b, until);
	return rt_blocking_result(&b, b.timeout ? ETIMEDOUT : 0);
}

#define JOIN(flags, until, call)                                                                                       \
	({                                                                                                             \
		int rt_join = 0;                                                                                       \
		if (RT_UNLIKELY(rt_controlled) && w.known && rt_turn_mine())                                           \
			rt_join = await_end(w, flags, until, RT_CALLER) ?: (call);                                     \
		else                                                                                                   \
			rt_join = RT_BLOCKING(RT_OP_JOIN, waited_for(w), flags, RT_CALLER, call);                      \
		rt_join;                                                                                               \
	})

RT_INTERPOSE(int, pthread_join, (pthread_t thread, void **value))
{
	struct target w = target_of(thread);

	return joined(JOIN(0, RT_FOREVER, RT_REAL(pthread_join)(thread, value)), w, RT_CALLER, 0);
}

RT_INTERPOSE(int, pthread_tryjoin_np, (pthread_t thread, void **value))
{
	struct target w = target_of(thread);

	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_JOIN, waited_for(w), 0, RT_CALLER, RT_F_TIMED, false);
	int result = RT_REAL(pthread_tryjoin_np)(thread, value);
	if (result == EBUSY)
		rt_try_failed(RT_OP_JOIN, (void *)waited_for(w), RT_CALLER);
	return joined(result, w, RT_CALLER, RT_F_TIMED);
}

RT_INTERPOSE(int, pthread_timedjoin_np, (pthread_t thread, void **value, const struct timespec *until))
{
	struct target w = target_of(thread);

	return joined(
	    JOIN(RT_F_TIMED, RT_UNTIL(CLOCK_REALTIME, until), RT_REAL(pthread_timedjoin_np)(thread, value, until)), w,
	    RT_CALLER, RT_F_TIMED);
}

RT_INTERPOSE(int, pthread_clockjoin_np, (pthread_t thread, void **value, clockid_t clock, const struct timespec *until))
{
	struct target w = target_of(thread);

	return joined(
	    JOIN(RT_F_TIMED, RT_UNTIL(clock, until), RT_REAL(pthread_clockjoin_np)(thread, value, clock, until)), w,
	    RT_CALLER, RT_F_TIMED);
}

RT_INTERPOSE(int, thrd_join, (thrd_t thread, int *value))
{
	struct target w = target_of(thread);

	return joined(JOIN(0, RT_FOREVER, RT_REAL(thrd_join)(thread, value)), w, RT_CALLER, 0);
}

static int detached(int result, struct target w, uintptr_t pc)
{
	if (result == 0 && w.known)
		rt_emit_sync(RT_OP_DETACH, w.index, 0, pc, 0);
	return result;
}

RT_INTERPOSE(int, pthread_detach, (pthread_t thread))
{
	struct target w = target_of(thread);

	return detached(RT_REAL(pthread_detach)(thread), w, RT_CALLER);
}

RT_INTERPOSE(int, thrd_detach, (thrd_t thread))
{
	struct target w = target_of(thread);

	return detached(RT_REAL(thrd_detach)(thread), w, RT_CALLER);
}

RT_INTERPOSE(int, pthread_setname_np, (pthread_t thread, const char *name))
{
	struct target w = target_of(thread);
	int result = RT_REAL(pthread_setname_np)(thread, name);
	struct rt_slot *s = w.known ? rt_thread_of(thread)->own : NULL;

	if (result == 0 && s)
		rt_slot_label(s, name);
	return result;
}
