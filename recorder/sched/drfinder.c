/*
 * DrFinder: "Effective and Precise Dynamic Detection of Hidden Races for Java Programs" (Cai and Cao 2015), algorithms
 * 1 to 3. A thread that is about to take a lock waits if another one is in a function that, in an earlier run, took a
 * lock of the same kind. That one is escorted until it has taken one. So the order of two critical sections is the
 * other way round than it was, and races that it hid are seen. Each run finds the relations of functions and locks
 * anew.
 *
 * Four slips of the paper's algorithm 3 are mended here. Line 17 sets allowedLK, and must clear it. Line 33 takes any
 * thread, and must take one that waits for a lock. Line 43 has the lock of the escorted thread, which may wait for
 * none, and must have that of the waiting one. Line 55 asks for what line 53 has removed, and must come before it. A
 * function that takes locks of several kinds at one place does so on behalf of its callers, and stands for none: C has
 * such functions where Java has a keyword.
 */
#include "recorder/sched/sched.h"

#include "recorder/runtime/mix.h"

/* Functions of a stack; steps for which a thread is escorted at most; choices in a row that others are kept from. */
enum { DEPTH = 12, LONG = 20000, KEPT_MAX = 64 };

/* ---- Sets ---- */

enum { ROOM = 1 << 17, FULL = ROOM / 4 * 3 };
struct set {
	struct entry {
		uint64_t key, value; /* key 0: none */
	} * entries;
	unsigned used;
};
static RT_OF_RUN struct set known;    /* pairs of a function and a kind, from earlier runs */
static RT_OF_RUN struct set types;    /* of locks, from earlier runs, by kind */
static RT_OF_RUN struct set elements; /* bytes of those of a block, from earlier runs, by the place of its allocation */
static RT_OF_RUN struct set found;    /* pairs in this run */
static RT_OF_RUN struct set places;   /* the kind of lock that was taken first at a pc */
static RT_OF_RUN struct set others;   /* functions that take locks on behalf of their callers */

static uint64_t mix(uint64_t a, uint64_t b)
{
	return rt_mix(a ^ rt_mix(b)) | 1;
}

static struct entry *look_up(const struct set *s, uint64_t key)
{
	struct entry *e = &s->entries[key % ROOM];

	while (e->key && e->key != key)
		e = e + 1 < s->entries + ROOM ? e + 1 : s->entries;
	return e;
}

static bool has(const struct set *s, uint64_t key)
{
	return look_up(s, key)->key;
}

/* True if it was not there. */
static bool add(struct set *s, uint64_t key, uint64_t value)
{
	struct entry *e = look_up(s, key);

	if (e->key || s->used >= FULL)
		return false;
	s->used++;
	*e = (struct entry){key, value};
	return true;
}

/* ---- Relations ---- */

/* The same of all elements of a block, where the block's type is known. */
static uint64_t own_kind(const struct rt_lock *l)
{
	uint64_t element = l->kind == RT_LOCK_HEAP ? look_up(&elements, mix(l->at, 0))->value : 0;

	return mix(mix(l->kind, l->at), element ? l->offset % element : l->offset);
}

/* The kind as far as one place in a function tells kinds apart: locks of one block, or one array, are of one kind. */
static uint64_t kind_at_place(const struct rt_lock *l)
{
	return mix(mix(l->kind, l->at), l->kind == RT_LOCK_HEAP ? 0 : l->offset);
}

/* A number for the kind of the lock; 0: unknown. */
static uint64_t kind_of(const struct rt_lock *l)
{
	uint64_t own = own_kind(l), type = look_up(&types, own)->value;

	return l->kind == RT_LOCK_UNKNOWN ? 0 : type ? mix(type, 0) : own;
}

/* Those of earlier runs whose modules are there. */
static void learn(void)
{
	const struct rt_may_trigger *r = rt_aims_relations(rt_sched_aims);

	for (uint32_t i = 0; i < rt_sched_aims->relation_count; i++) {
		uint64_t function = rt_sched_module(r[i].function_module), at = rt_sched_module(r[i].lock_module);
		struct rt_lock lock = r[i].lock;

		if (!function || (lock.kind != RT_LOCK_UNKNOWN && !at))
			continue;
		function += r[i].function;
		lock.at += at;
		if (lock.kind == RT_LOCK_UNKNOWN) {
			add(&others, mix(function, 0), 0);
			continue;
		}
		if (lock.kind == RT_LOCK_HEAP && lock.block)
			add(&elements, mix(lock.at, 0), lock.block);
		if (lock.type)
			add(&types, own_kind(&lock), lock.type);
		add(&known, mix(function, kind_of(&lock)), 0);
	}
}

static void report(uintptr_t function, const struct rt_lock *lock)
{
	struct rt_control *c = rt_sched_result();
	uint64_t n = atomic_load_explicit(&c->relation_count, memory_order_relaxed);

	if (n < RT_RELATIONS_MAX)
		c->relations[n] = (struct rt_may_trigger){.function = function, .lock = *lock};
	atomic_store_explicit(&c->relation_count, n + 1, memory_order_release);
}

/* The functions that the thread is in, from the innermost one that stands for itself. */
static unsigned innermost(const struct rt_task *t)
{
	unsigned n = 0;

	while (rt_sched_call(t, n) && has(&others, mix(rt_sched_call(t, n), 0)))
		n++;
	return n;
}

static void relate(uintptr_t function, const struct rt_lock *lock)
{
	if (add(&found, mix(function, own_kind(lock)), 0))
		report(function, lock);
}

/* Algorithm 1, lines 12 to 17: the thread is about to take the lock. */
static void collect(const struct rt_task *t, const struct rt_lock *lock)
{
	const struct rt_lock none = {0};
	unsigned depth = rt_sched_aims->depth ? rt_sched_aims->depth : DEPTH, first, n;

	if (lock->kind == RT_LOCK_UNKNOWN)
		return;
	struct entry *e = look_up(&places, mix(t->next.pc, 0));
	if (!e->key)
		add(&places, mix(t->next.pc, 0), kind_at_place(lock));
	else if (e->value != kind_at_place(lock) && rt_sched_call(t, 0) && add(&others, mix(rt_sched_call(t, 0), 0), 0))
		report(rt_sched_call(t, 0), &none);
	first = innermost(t);
	for (n = first; n < first + depth && rt_sched_call(t, n); n++)
		relate(rt_sched_call(t, n), lock);
	if (n < first + depth && t->start)
		relate(t->start, lock);
}

/* Algorithm 3, lines 21 to 27: the thread may take a lock of this kind in the function it is in. */
static bool may_trigger(const struct rt_task *t, uint64_t kind)
{
	uintptr_t function = t->next.op == RT_OP_BEGIN ? t->start : rt_sched_call(t, innermost(t));

	if (t->state == RT_READY && rt_step_acquires(&t->next)) {
		struct rt_lock lock = rt_sched_lock_kind(t->next.object);

		if (kind_of(&lock) == kind)
			return true;
	}
	return function && has(&known, mix(function, kind));
}

/* ---- The strategy ---- */

/* Indices of threads + 1; 0: none. The waiter goes on when the other has acquired. */
static RT_OF_RUN uint32_t escorted, waiter;
static RT_OF_RUN uint64_t expected; /* kind of the lock that the escorted thread is to take */
static RT_OF_RUN uint64_t taking;   /* the step of it that does; 0: not yet */
static RT_OF_RUN uint64_t since;    /* step */

static bool init(const struct rt_control *control)
{
	struct set *const sets[] = {&known, &types, &elements, &found, &places, &others};

	(void)control;
	escorted = waiter = 0;
	for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
		*sets[i] = (struct set){rt_sched_memory(ROOM * sizeof(struct entry)), 0};
		if (!sets[i]->entries)
			return false;
	}
	learn();
	return true;
}

static bool is(const struct rt_task *t, uint32_t thread)
{
	return thread == t->thread + 1;
}

/* It is about to take a lock, and was not told to go on. */
static bool is_suspended(const struct rt_task *t)
{
	return rt_step_acquires(&t->next) && t->since != t->next.count;
}

static struct rt_task *allow(struct rt_task *t)
{
	t->since = t->next.count;
	return t;
}

/* The escorted thread goes on; will it take the lock that it is to? */
static struct rt_task *escort(struct rt_task *t)
{
	if (rt_step_acquires(&t->next)) {
		struct rt_lock lock = rt_sched_lock_kind(t->next.object);

		if (kind_of(&lock) == expected)
			taking = t->next.count;
	}
	return t;
}

static bool goes_on(struct rt_task *current)
{
	if (rt_step_acquires(&current->next) && current->rank != current->next.count) {
		struct rt_lock lock = rt_sched_lock_kind(current->next.object);

		current->rank = current->next.count;
		collect(current, &lock);
	}
	if (is(current, escorted)) {
		if (taking && current->next.count > taking) { /* it has it */
			escorted = 0;
			return false;
		}
		escort(current);
		return true;
	}
	return !is_suspended(current) && !(waiter && !escorted) && !rt_sched_hesitates();
}

static struct rt_task *among(struct rt_task *const *enabled, unsigned n, uint32_t thread)
{
	for (unsigned i = 0; i < n; i++)
		if (is(enabled[i], thread))
			return enabled[i];
	return NULL;
}

/* True if it can go on without others. */
static bool is_able(const struct rt_task *t)
{
	return t->state == RT_READY || t->state == RT_OUTSIDE || (t->state == RT_BLOCKED && t->wakes);
}

/* Algorithm 3, lines 34 to 47: another thread that is to take such a lock before t does. False: there is none. */
static bool find_escort(const struct rt_task *t)
{
	struct rt_lock lock = rt_sched_lock_kind(t->next.object);
	uint64_t kind = kind_of(&lock);
	unsigned count = 0;

	for (const struct rt_task *other = rt_sched.first; kind && other; other = other->after)
		if (other != t && is_able(other) && may_trigger(other, kind) && rt_sched_random() % ++count == 0)
			escorted = other->thread + 1;
	if (!count)
		return false;
	waiter = t->thread + 1;
	expected = kind;
	taking = 0;
	since = rt_sched_steps();
	rt_sched_result()->postponed++;
	return true;
}

/* It has ended, or goes on and on, and did not take such a lock. */
static bool is_in_vain(void)
{
	if (!rt_sched_task(escorted - 1))
		return true;
	if (rt_sched_steps() - since <= LONG)
		return false;
	rt_sched_result()->livelocks++;
	return true;
}

/* The escorted thread goes on, or one that does not take a lock. Where none can: NULL if one will, else one of those
 * that wait. */
static struct rt_task *go_escorted(struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *t = among(enabled, n, escorted);

	if (t)
		return escort(t);
	if ((t = rt_sched_any_that(enabled, n, is_suspended, false)) || rt_sched_awaits_sleeper())
		return t;
	escorted = waiter = 0;
	rt_sched_result()->thrashed++;
	return allow(rt_sched_any_that(enabled, n, is_suspended, true));
}

/*
 * One that is about to take no lock, and was kept from going on for long; NULL: none was. Such a thread may be enabled
 * at those moments alone at which another is about to take a lock, as at the end of a wait for a condition.
 */
static struct rt_task *one_kept(struct rt_task *const *enabled, unsigned n)
{
	static RT_OF_RUN unsigned kept;
	bool any = false;

	for (unsigned i = 0; i < n; i++)
		any |= !is_suspended(enabled[i]);
	kept = any ? kept + 1 : 0;
	if (kept <= KEPT_MAX)
		return NULL;
	kept = 0;
	return rt_sched_any_that(enabled, n, is_suspended, false);
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *t;

	(void)current;
	if (escorted && is_in_vain())
		escorted = 0;
	if (escorted)
		return go_escorted(enabled, n);
	t = among(enabled, n, waiter);
	waiter = 0;
	if (t)
		return allow(t);
	if (!(t = one_kept(enabled, n)))
		t = rt_sched_any_that(enabled, n, is_suspended, true);
	if (!t)
		return rt_sched_any(enabled, n);
	if (!is_suspended(t))
		return t;
	return find_escort(t) ? go_escorted(enabled, n) : allow(t);
}

const struct rt_strategy rt_strategy_drfinder = {.name = "drfinder",
                                                 .is_told = true,
                                                 .init = init,
                                                 .goes_on = goes_on,
                                                 .choose = choose,
                                                 .wakes = rt_sched_wakes_any,
                                                 .modules_changed = learn};
