/*
 * OpenMP's tasks, as GCC compiles them; see omp.c.
 *
 * A task begins after it was made. Its end comes before the taskwait of its parent, the end of its task group, the next
 * barrier of its team and the siblings that depend on it. Its function and its arguments are wrapped.
 *
 * Which thread runs a task is libgomp's choice, and orders nothing. So a task is a thread of the trace of its own,
 * created where the task is made. It runs on a stack that is others' before and after: what is there is new each time.
 *
 * But what a thread does is ordered, and a task may rely on that. With what is local to the thread (thread-local
 * variables, or what it finds by the thread's number), no other thread's task can meet it. So a task that does is
 * bound: it comes after what its thread did before, and before what the thread does later. A task that is not deferred
 * (`if`, `final`) is part of its parent. So is one that goes beyond a limit of the thread that runs it, which orders it
 * more than the standard does.
 */
#include "recorder/intercept/omp.h"

#include <threads.h>
#include <unistd.h>

#define FLAG_FINAL 2u
#define FLAG_DEPEND 8u
#define FLAG_DETACH (1u << 13)
#define FLAG_IF (1u << 10) /* of taskloops */
#define FLAG_NOGROUP (1u << 11)

/* How a task depends on an address. Of one address, exclusive ones come in any order, one at a time. */
enum depends { DEPENDS_OUT, DEPENDS_IN, DEPENDS_EXCLUSIVE, DEPENDS_KINDS };
struct dependence {
	uintptr_t address;
	enum depends how;
};

/* Number of tasks that are threads: in all, and of those made at one place. And of those at once, a share of all. */
enum { THREADS_MAX = 1024, PLACE_MAX = 64, PLACES = 512, SHARE = 2 };
static _Atomic uint32_t threads_made, threads_now;
static _Atomic uint32_t made_at[PLACES]; /* by a hash of the place */

/*
 * What is put before the program's arguments of a task; libgomp copies it with them. The first three words are where
 * libgomp puts the event of a detached task and the bounds of a taskloop, and looks for reductions.
 */
struct task {
	uintptr_t head[3];
	void (*body)(void *);
	void (*copy)(void *, void *); /* the program's, or NULL: bytes */
	void *data;                   /* while being made: the program's arguments */
	size_t size, offset;          /* of the arguments; where they are, from here */
	size_t heads;                 /* how many words of head are the arguments', too */
	uintptr_t pc;
	struct region *region;
	struct rt_slot *slot; /* NULL: it belongs to the thread that runs it */
	unsigned phase;
	bool included; /* it is part of its parent */
	bool final;
	uint64_t object; /* it was made */
	uint64_t parent; /* where siblings' dependences are told from others' */
	uint64_t children, group;
	void *const *depend; /* while being made */
	size_t depends;      /* how many follow */
	struct dependence dependence[];
};

static uint64_t group_of(const struct context *c)
{
	if (c->groups == 0)
		return 0;
	return c->group[(c->groups < GROUPS ? c->groups : GROUPS) - 1];
}

/* Dependences */

/*
 * The two forms of libgomp's list: numbers of all and of those that write; or 0, numbers of all, of those that write,
 * that exclude each other and that read. The rest are objects (depobj): an address and how it is depended on.
 */
static size_t depend_count(void *const *list)
{
	return (uintptr_t)list[list[0] ? 0 : 1];
}

static struct dependence depend_at(void *const *list, size_t i)
{
	enum { LIST_IN = 1, LIST_EXCLUSIVE = 4 };
	bool old = list[0] != NULL;
	size_t out = (uintptr_t)list[old ? 1 : 2], exclusive = old ? 0 : (uintptr_t)list[3];
	size_t in = old ? depend_count(list) - out : (uintptr_t)list[4];
	void *const *item = list + (old ? 2 : 5) + i;

	if (i < out)
		return (struct dependence){(uintptr_t)*item, DEPENDS_OUT};
	if (i < out + exclusive)
		return (struct dependence){(uintptr_t)*item, DEPENDS_EXCLUSIVE};
	if (i < out + exclusive + in)
		return (struct dependence){(uintptr_t)*item, DEPENDS_IN};
	const uintptr_t *object = *item;
	return (struct dependence){object[0], object[1] == LIST_IN          ? DEPENDS_IN
	                                      : object[1] == LIST_EXCLUSIVE ? DEPENDS_EXCLUSIVE
	                                                                    : DEPENDS_OUT};
}

/* What comes from a parent's tasks that depend on the address in this way. */
static uint64_t depend_object(uint64_t parent, uint64_t address, enum depends how)
{
	return rt_object_hashed(RT_OBJECT_DEPENDENCE,
	                        rt_object_mix(rt_object_mix(parent) + (address * DEPENDS_KINDS + how)));
}

static void depend_after(uint64_t parent, struct dependence d, uintptr_t pc)
{
	for (enum depends how = DEPENDS_OUT; how < DEPENDS_KINDS; how++)
		if (how != d.how || how == DEPENDS_OUT)
			after(depend_object(parent, d.address, how), pc);
}

/* Siblings that exclude each other hold a lock. */
static uint64_t depend_lock(uint64_t parent, struct dependence d)
{
	return depend_object(parent, d.address, DEPENDS_KINDS);
}

/* True if an earlier dependence of the task is the same one, whose lock it holds already. */
static bool depends_already(const struct task *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (t->dependence[k].address == t->dependence[i].address && t->dependence[k].how == DEPENDS_EXCLUSIVE)
			return true;
	return false;
}

static void depends_begin(const struct task *t)
{
	if (t->depends)
		rt_omp_fulfilled(t->pc);
	for (size_t i = 0; i < t->depends; i++)
		depend_after(t->parent, t->dependence[i], t->pc);
	for (size_t i = 0; i < t->depends; i++)
		if (t->dependence[i].how == DEPENDS_EXCLUSIVE && !depends_already(t, i))
			rt_emit_sync(RT_OP_ACQUIRE, depend_lock(t->parent, t->dependence[i]), t->dependence[i].address,
			             t->pc, 0);
}

static void depends_end(const struct task *t)
{
	for (size_t i = t->depends; i > 0; i--)
		if (t->dependence[i - 1].how == DEPENDS_EXCLUSIVE && !depends_already(t, i - 1))
			rt_emit_sync(RT_OP_RELEASE, depend_lock(t->parent, t->dependence[i - 1]), 0, t->pc, 0);
	for (size_t i = 0; i < t->depends; i++)
		before(depend_object(t->parent, t->dependence[i].address, t->dependence[i].how), t->pc);
}

/* Threads of the trace */

static bool may_be_thread(const struct task *t)
{
	_Atomic uint32_t *at = &made_at[rt_object_mix(t->pc) % PLACES];

	if (t->included || !rt_recording() ||
	    atomic_load_explicit(&threads_now, memory_order_relaxed) >= rt_channel->slot_count / SHARE ||
	    atomic_load_explicit(&threads_made, memory_order_relaxed) >= THREADS_MAX ||
	    atomic_load_explicit(at, memory_order_relaxed) >= PLACE_MAX || !rt_thread_local_is_all())
		return false;
	atomic_fetch_add_explicit(at, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&threads_made, 1, memory_order_relaxed);
	return true;
}

/* By the thread that makes the task. */
static void make_thread(struct task *t)
{
	t->slot = !may_be_thread(t) ? NULL : rt_controlled ? rt_slot_take() : rt_slot_take_free();
	if (!t->slot)
		return;
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_FORK, 0, 0, t->pc, 0, false);
	atomic_fetch_add_explicit(&threads_now, 1, memory_order_relaxed);
	rt_slot_label(t->slot, "task");
	rt_slot_announce(t->slot, RT_CHILD_TASK + ++rt_private_of(rt_self)->tasks, t->pc);
}

/* What orders the memory of the thread that runs the task is no step of the task: that may be any thread. */
static void hand_on(uint64_t local, size_t size, uintptr_t pc)
{
	bool in_turn = rt_thread.in_turn;

	rt_busy_begin();
	rt_thread.in_turn = true;
	rt_emit_sync(RT_OP_HB_BEFORE, local, size, pc, 0);
	rt_thread.in_turn = in_turn;
	rt_busy_end();
}

/* Returns the slot that the running thread comes back to; NULL: the task stays in it. */
static struct rt_slot *enter_thread(const struct task *t, uintptr_t frame)
{
	struct rt_slot *self = rt_self;
	size_t size;
	uintptr_t local = rt_thread_local(&size);

	if (!t->slot)
		return NULL;
	bool enters = rt_recording() && rt_thread_renew_stack(frame, t->pc);
	if (enters)
		hand_on(local, 0, t->pc);
	rt_busy_begin();
	rt_slot_open(t->slot);
	rt_self = t->slot;
	rt_emit_sync(RT_OP_BEGIN, 0, 0, (uintptr_t)t->body + 1, 0);
	if (enters && size) {
		rt_emit_sync(RT_OP_TLS, local, size, t->pc, 0);
		rt_emit_sync(RT_OP_HB_AFTER, local, size, t->pc, 0);
	}
	if (!enters) {
		rt_emit_sync(RT_OP_END, 0, 0, 0, 0);
		rt_self = self;
		rt_slot_end(t->slot);
	}
	rt_busy_end();
	return enters ? self : NULL;
}

/* The task uses what is its thread's. */
static void bind(uintptr_t pc)
{
	struct context *c = rt_omp_current;
	size_t size;

	while (c && !c->is_thread)
		c = c->outer;
	if (!c || c->bound)
		return;
	c->bound = true;
	after(rt_thread_local(&size), pc);
}

static void leave_thread(const struct task *t, struct rt_slot *back, bool bound, uintptr_t frame)
{
	size_t size;
	uintptr_t local = rt_thread_local(&size);

	if (t->slot)
		atomic_fetch_sub_explicit(&threads_now, 1, memory_order_relaxed);
	if (!back)
		return;
	rt_busy_begin();
	if (bound || size)
		hand_on(local, bound ? 0 : size, t->pc);
	rt_emit_sync(RT_OP_END, 0, 0, 0, 0);
	rt_self = back;
	if (t->slot->limit || rt_idle)
		rt_slot_end(t->slot);
	rt_busy_end();
	rt_thread_renew_stack(frame, t->pc);
	after(local, t->pc);
}

static void tasks_forked(void)
{
	atomic_store_explicit(&threads_now, 0, memory_order_relaxed);
}
RT_CALL_AT(RT_AT_CHILD, tasks_forked);

/* Tasks */

/* By turns: the thread that runs the task roams meanwhile, and the task, as a thread, has its turns. */
static struct rt_task *take_turns(const struct task *t)
{
	if (!RT_UNLIKELY(rt_controlled) || !t->slot)
		return NULL;
	roam(t->pc);
	return rt_turn_task_begins(t->slot, rt_omp_team_size() == 1, t->pc);
}

static void run_task(void *argument)
{
	struct task *t = argument;
	struct context c = {.region = t->region,
	                    .outer = rt_omp_current,
	                    .phase = t->phase,
	                    .final = t->final,
	                    .group = {t->group},
	                    .groups = t->group ? 1 : 0};
	uintptr_t *data = (uintptr_t *)(void *)((char *)t + t->offset);
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0) - RT_RED_ZONE;

	bool roams = RT_UNLIKELY(rt_controlled) && rt_turn_is_roaming();
	struct rt_task *runner = take_turns(t);
	come(t->pc);
	c.children = rt_omp_objects(1);
	for (size_t i = 0; i < t->heads; i++)
		data[i] = t->head[i];
	struct rt_slot *back = enter_thread(t, frame);
	if (runner && !back) { /* the task stays in the thread that runs it, and its slot may be another's soon */
		rt_turn_task_ends(runner);
		runner = NULL;
		come(t->pc);
	}
	c.is_thread = back;
	rt_emit(RT_OP_ENTER, 0, t->pc, 0);
	after(t->object, t->pc);
	depends_begin(t);
	rt_omp_current = &c;
	t->body(data);
	rt_omp_current = c.outer;
	depends_end(t);
	before(t->children, t->pc);
	if (t->group)
		before(t->group, t->pc);
	before(phase_object(t->region, t->phase), t->pc);
	rt_emit(RT_OP_LEAVE, 0, 0, 0);
	leave_thread(t, back, c.bound, frame);
	if (runner)
		rt_turn_task_ends(runner);
	if (roams)
		roam(t->pc);
	else
		come(t->pc);
}

static void copy_words(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
}

/* libgomp calls it where it would copy the arguments, in the thread that makes the task. */
static void copy_task(void *to, void *from)
{
	struct task *t = to, *source = from;
	char *data = (char *)to + source->offset;
	bool roams = RT_UNLIKELY(rt_controlled) && rt_turn_is_roaming();

	if (roams)
		come(source->pc);
	copy_words(t, source, sizeof *t);
	for (size_t i = 0; i < t->depends; i++)
		t->dependence[i] = depend_at(t->depend, i);
	for (size_t i = 0; i < t->heads; i++)
		((uintptr_t *)t->data)[i] = t->head[i];
	if (t->copy)
		t->copy(data, t->data);
	else
		copy_words(data, t->data, t->size);
	make_thread(t);
	before(t->object, t->pc);
	if (roams)
		roam(t->pc);
}

/* Fills in what is handed to libgomp; returns the size of its arguments, and raises their alignment. */
static long make_task(struct task *t, long size, long *align, unsigned flags, void *const *depend)
{
	const struct context *c = rt_omp_current;
	size_t at = sizeof *t;

	if (*align < (long)_Alignof(struct task))
		*align = (long)_Alignof(struct task);
	t->size = (size_t)size;
	if ((flags & FLAG_DEPEND) && depend) {
		t->depend = depend;
		t->depends = depend_count(depend);
		at += t->depends * sizeof *t->dependence;
	}
	t->offset = (at + (size_t)*align - 1) / (size_t)*align * (size_t)*align;
	t->object = rt_omp_objects(1);
	t->region = c->region;
	t->phase = c->phase;
	t->included |= c->final;
	t->final = c->final || flags & FLAG_FINAL;
	t->parent = t->children = c->children;
	t->group = group_of(c);
	for (size_t i = 0; i < t->heads; i++)
		t->head[i] = ((uintptr_t *)t->data)[i];
	atomic_store_explicit(&t->region->tasks, true, memory_order_relaxed);
	return (long)t->offset + size;
}

static size_t heads(long size, size_t most)
{
	size_t n = (size_t)size / sizeof(uintptr_t);

	return n < most ? n : most;
}

RT_INTERPOSE(void, GOMP_task,
             (void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool deferred,
              unsigned flags, void **depend, int priority, void *detach))
{
	struct task t = {.body = fn,
	                 .copy = copy,
	                 .data = data,
	                 .pc = RT_PC,
	                 .included = !deferred,
	                 .heads = data ? heads(size, 1) : 0};

	if (!rt_omp_current || !rt_recording()) {
		RT_REAL(GOMP_task)(fn, data, copy, size, align, deferred, flags, depend, priority, detach);
		return;
	}
	size = make_task(&t, size, &align, flags, depend);
	if (flags & FLAG_DETACH)
		atomic_store_explicit(&rt_omp_detached, true, memory_order_relaxed);
	bool waits = !deferred && flags & FLAG_DEPEND;
	if (waits)
		go_in(RT_PC);
	else
		wakes();
	RT_REAL(GOMP_task)(run_task, &t, copy_task, size, align, deferred, flags, depend, priority, detach);
	if (waits)
		come(RT_PC);
}

static void group_begin(struct context *c)
{
	if (c->groups < GROUPS)
		c->group[c->groups] = rt_omp_objects(1);
	c->groups++;
}
static void group_end(struct context *c, uintptr_t pc)
{
	after(group_of(c), pc);
	rt_omp_fulfilled(pc);
	c->groups--;
}

#define TASKLOOP(name, type)                                                                                           \
	RT_INTERPOSE(void, name,                                                                                       \
	             (void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,             \
	              unsigned flags, unsigned long tasks, int priority, type start, type end, type step))             \
	{                                                                                                              \
		struct task t = {.body = fn,                                                                           \
		                 .copy = copy,                                                                         \
		                 .data = data,                                                                         \
		                 .pc = RT_PC,                                                                          \
		                 .included = !(flags & FLAG_IF),                                                       \
		                 .heads = heads(size, 3)};                                                             \
		struct context *c = rt_omp_current;                                                                    \
		if (!c || !rt_recording()) {                                                                           \
			RT_REAL(name)(fn, data, copy, size, align, flags, tasks, priority, start, end, step);          \
			return;                                                                                        \
		}                                                                                                      \
		if (!(flags & FLAG_NOGROUP))                                                                           \
			group_begin(c);                                                                                \
		size = make_task(&t, size, &align, flags & ~FLAG_DEPEND, NULL);                                        \
		go_in(RT_PC);                                                                                          \
		RT_REAL(name)(run_task, &t, copy_task, size, align, flags, tasks, priority, start, end, step);         \
		come(RT_PC);                                                                                           \
		if (!(flags & FLAG_NOGROUP))                                                                           \
			group_end(c, RT_PC);                                                                           \
	}
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

RT_INTERPOSE(void, GOMP_taskwait, (void))
{
	go_in(RT_PC);
	RT_REAL(GOMP_taskwait)();
	come(RT_PC);
	if (rt_omp_current) {
		after(rt_omp_current->children, RT_PC);
		rt_omp_fulfilled(RT_PC);
	}
}
RT_INTERPOSE(void, GOMP_taskwait_depend, (void **depend))
{
	go_in(RT_PC);
	RT_REAL(GOMP_taskwait_depend)(depend);
	come(RT_PC);
	for (size_t i = 0; rt_omp_current && i < depend_count(depend); i++)
		depend_after(rt_omp_current->children, depend_at(depend, i), RT_PC);
	rt_omp_fulfilled(RT_PC);
}

RT_INTERPOSE(void, GOMP_taskgroup_start, (void))
{
	if (rt_omp_current)
		group_begin(rt_omp_current);
	RT_REAL(GOMP_taskgroup_start)();
}
RT_INTERPOSE(void, GOMP_taskgroup_end, (void))
{
	go_in(RT_PC);
	RT_REAL(GOMP_taskgroup_end)();
	come(RT_PC);
	if (rt_omp_current && rt_omp_current->groups)
		group_end(rt_omp_current, RT_PC);
}

/* Ways to what is a thread's. */
#define BINDS(type, name, parameters, arguments)                                                                       \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		bind(RT_PC);                                                                                           \
		return RT_REAL(name) arguments;                                                                        \
	}
BINDS(int, omp_get_thread_num, (void), ())
BINDS(int32_t, omp_get_thread_num_, (void), ())
BINDS(pthread_t, thrd_current, (void), ())
BINDS(void *, pthread_getspecific, (pthread_key_t key), (key))
BINDS(void *, tss_get, (tss_t key), (key))
BINDS(pid_t, gettid, (void), ())
RT_INTERPOSE(pthread_t, pthread_self, (void))
{
	bind(RT_PC);
	return rt_pthread_self();
}
/* A thread's tasks add to one copy. */
RT_INTERPOSE(void, GOMP_task_reduction_remap, (size_t count, size_t originals, void **pointers))
{
	bind(RT_PC);
	RT_REAL(GOMP_task_reduction_remap)(count, originals, pointers);
}

_Atomic bool rt_omp_detached;

/* The task that waits for the event ends now. Which one is not known here, nor need the thread be one of OpenMP's. */
#define FULFILLS(name, type)                                                                                           \
	RT_INTERPOSE(void, name, (type e))                                                                             \
	{                                                                                                              \
		before((uintptr_t)&rt_omp_detached, RT_PC);                                                            \
		wakes();                                                                                               \
		RT_REAL(name)(e);                                                                                      \
	}
FULFILLS(omp_fulfill_event, uintptr_t)
FULFILLS(omp_fulfill_event_, uintptr_t *)

/*
 * Regions for a target, which is the host if there is no device: such a region is called in this thread, unless it is
 * `nowait`. Then it would be a task that cannot be told from the code of the thread that runs it, so it is made to run
 * at once, as it may. What it depends on is waited for before.
 */
#define FLAG_NOWAIT 1u

static unsigned run_at_once(unsigned flags, void **depend, uintptr_t pc)
{
	if (!rt_omp_current || !rt_recording())
		return flags;
	if (depend) {
		go_in(pc);
		RT_REAL(GOMP_taskwait_depend)(depend);
		come(pc);
		for (size_t i = 0; i < depend_count(depend); i++)
			depend_after(rt_omp_current->children, depend_at(depend, i), pc);
	}
	return flags & ~FLAG_NOWAIT;
}

RT_INTERPOSE(void, GOMP_target_ext,
             (int device, void (*fn)(void *), size_t count, void **addresses, size_t *sizes, unsigned short *kinds,
              unsigned flags, void **depend, void **args))
{
	flags = run_at_once(flags, depend, RT_PC);
	RT_REAL(GOMP_target_ext)(device, fn, count, addresses, sizes, kinds, flags, depend, args);
}
RT_INTERPOSE(void, GOMP_target_update_ext,
             (int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds, unsigned flags,
              void **depend))
{
	flags = run_at_once(flags, depend, RT_PC);
	RT_REAL(GOMP_target_update_ext)(device, count, addresses, sizes, kinds, flags, depend);
}
RT_INTERPOSE(void, GOMP_target_enter_exit_data,
             (int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds, unsigned flags,
              void **depend))
{
	flags = run_at_once(flags, depend, RT_PC);
	RT_REAL(GOMP_target_enter_exit_data)(device, count, addresses, sizes, kinds, flags, depend);
}
