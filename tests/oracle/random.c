/* Random traces: threads that take turns at random, each doing at random what it could do there. */
#include "tests/oracle/oracle.h"

#include <string.h>

enum { LOCKS = 0x100, CONDITION = 0x200, BARRIER = 0x300, SEMAPHORE = 0x403, ONCE = 0x500, MARK = 0x600, PARTIES = 2 };
enum { LOCK_COUNT = 3, VARIABLE_COUNT = 3, POSITIONS = 6, BINARY = 0x704, BINARY_COUNT = 2 };

struct actor {
	bool started, forked, ended, joined;
	char held[LOCK_COUNT];  /* 'w', 'r' or 0; 'x': it was handed over, which the thread does not know */
	bool stray[LOCK_COUNT]; /* another thread has released what this one holds */
	int waits_with;         /* lock to take again + 1; 0: does not wait */
	bool woken, timed;
	int round; /* of the barrier it arrived at + 1; 0: none */
};

struct simulation {
	struct oracle_trace *t;
	uint64_t random;
	unsigned features;
	struct actor actors[ORACLE_THREADS];
	int arrived;                                   /* at the barrier, ever */
	int value;                                     /* of the semaphore */
	int binary[BINARY_COUNT], taker[BINARY_COUNT]; /* value; the thread that took it last */
	int once;                                      /* 0: not begun; 1 + thread: it runs it; -1: done */
};

static unsigned below(struct simulation *s, unsigned n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (unsigned)(s->random >> 33) % n;
}

static void emit(struct simulation *s, int thread, unsigned op, uint64_t addr, uint64_t arg)
{
	struct oracle_trace *t = s->t;
	t->events[t->count] = (struct rt_event){.number = (uint64_t)t->count + 1,
	                                        .addr = addr,
	                                        .arg = arg,
	                                        .pc = 1 + below(s, POSITIONS),
	                                        .thread = (uint32_t)thread,
	                                        .op = (uint8_t)op};
	t->count++;
}

static bool lock_free(const struct simulation *s, int lock, bool shared)
{
	for (int i = 0; i < s->t->threads; i++)
		if ((s->actors[i].held[lock] == 'w' || (s->actors[i].held[lock] == 'r' && !shared)) &&
		    !s->actors[i].stray[lock])
			return false;
	return true;
}

/* The thread takes the lock: what other threads have released of it is over. */
static void take(struct simulation *s, int thread, int lock, bool shared)
{
	for (int i = 0; i < s->t->threads; i++) {
		struct actor *a = &s->actors[i];
		if (a->stray[lock] && !(shared && a->held[lock] == 'r')) {
			a->held[lock] = 'x';
			a->stray[lock] = false;
		}
	}
	s->actors[thread].held[lock] = shared ? 'r' : 'w';
}

/* The thread releases the lock, whichever thread holds it. */
static void let_go(struct simulation *s, int thread, int lock)
{
	struct actor *a = &s->actors[thread];
	bool own = a->held[lock] == 'w' || a->held[lock] == 'r';
	a->held[lock] = 0;
	if (own)
		a->stray[lock] = false;
	for (int i = 0; i < s->t->threads && !own; i++) {
		struct actor *o = &s->actors[i];
		if ((o->held[lock] == 'w' || o->held[lock] == 'r') && !o->stray[lock]) {
			o->stray[lock] = true;
			return;
		}
	}
}

static void do_access(struct simulation *s, int thread)
{
	uint64_t addr = ORACLE_MEMORY + 8 * below(s, VARIABLE_COUNT), size = 8;
	if (s->features & ORACLE_HALF_ACCESSES && below(s, 2)) {
		size = 4;
		addr += 4 * below(s, 2);
	}
	if (!(s->features & ORACLE_ATOMICS) || below(s, 3) == 0) {
		emit(s, thread, below(s, 2) ? RT_OP_READ : RT_OP_WRITE, addr, size);
		return;
	}
	static const uint8_t ops[] = {RT_OP_ATOMIC_LOAD, RT_OP_ATOMIC_STORE,    RT_OP_ATOMIC_RMW,
	                              RT_OP_ATOMIC_CAS,  RT_OP_ATOMIC_CAS_FAIL, RT_OP_FENCE};
	static const uint8_t load[] = {0, 2, 5, 1}, store[] = {0, 3, 5, 3}, both[] = {0, 2, 3, 4},
	                     fence[] = {2, 3, 4, 5};
	unsigned op = ops[below(s, 6)];
	const uint8_t *choice = op == RT_OP_FENCE          ? fence
	                        : op == RT_OP_ATOMIC_STORE ? store
	                        : rt_op_writes(op)         ? both
	                                                   : load;
	emit(s, thread, op, op == RT_OP_FENCE ? 0 : addr, op == RT_OP_FENCE ? 0 : size);
	s->t->events[s->t->count - 1].order = choice[below(s, 4)];
}

static void do_lock(struct simulation *s, int thread)
{
	struct actor *a = &s->actors[thread];
	int lock = (int)below(s, LOCK_COUNT);
	bool strays = s->features & ORACLE_STRAYS;
	if ((a->held[lock] && !(a->stray[lock] && below(s, 2))) || (strays && below(s, 3) == 0)) {
		let_go(s, thread, lock);
		emit(s, thread, RT_OP_RELEASE, LOCKS + (uint64_t)lock, 0);
		return;
	}
	bool shared = s->features & ORACLE_READERS && below(s, 2) && !a->held[lock];
	if (!lock_free(s, lock, shared))
		return;
	take(s, thread, lock, shared);
	emit(s, thread, shared ? RT_OP_ACQUIRE_SHARED : RT_OP_ACQUIRE, LOCKS + (uint64_t)lock, 0);
}

static void do_fork_or_join(struct simulation *s, int thread)
{
	int other = (int)below(s, (unsigned)s->t->threads);
	struct actor *o = &s->actors[other];
	if (!o->forked && other) {
		o->forked = o->started = true;
		emit(s, thread, RT_OP_FORK, (uint64_t)other, 0);
	} else if (other != thread && o->forked && !o->joined && !o->waits_with && !o->round &&
	           !memchr(o->held, 'w', LOCK_COUNT) && !memchr(o->held, 'r', LOCK_COUNT) && s->once != other + 1) {
		o->ended = o->joined = true;
		emit(s, thread, RT_OP_JOIN, (uint64_t)other, 0);
		s->t->events[s->t->count - 1].flags = s->t->count % 4 ? 0 : RT_F_TIMED; /* it may give up */
	}
}

static void do_condition(struct simulation *s, int thread)
{
	struct actor *a = &s->actors[thread];
	int lock = (int)below(s, LOCK_COUNT);
	for (int i = 0; i < LOCK_COUNT && a->held[lock] != 'w'; i++)
		lock = (lock + 1) % LOCK_COUNT;
	if ((a->held[lock] == 'w' || a->held[lock] == 'x') && below(s, 3)) {
		a->held[lock] = 0;
		a->stray[lock] = false;
		a->waits_with = lock + 1;
		a->woken = false;
		a->timed = below(s, 3) == 0;
		emit(s, thread, RT_OP_WAIT_BEGIN, CONDITION, LOCKS + (uint64_t)lock);
		return;
	}
	bool all = below(s, 3) == 0;
	emit(s, thread, all ? RT_OP_BROADCAST : RT_OP_SIGNAL, CONDITION, 0);
	int from = (int)below(s, (unsigned)s->t->threads);
	for (int i = 0; i < s->t->threads; i++) {
		struct actor *o = &s->actors[(from + i) % s->t->threads];
		if (o->waits_with && !o->woken) {
			o->woken = true;
			if (!all)
				break;
		}
	}
}

static void end_wait(struct simulation *s, int thread)
{
	struct actor *a = &s->actors[thread];
	int lock = a->waits_with - 1;
	if (!(a->woken || a->timed || below(s, 12) == 0) || !lock_free(s, lock, false))
		return;
	take(s, thread, lock, false);
	a->waits_with = 0;
	emit(s, thread, RT_OP_WAIT_END, CONDITION, LOCKS + (uint64_t)lock);
	s->t->events[s->t->count - 1].flags = a->timed ? RT_F_TIMED : 0;
}

static void do_once(struct simulation *s, int thread)
{
	if (s->once == 0) {
		s->once = thread + 1;
		emit(s, thread, RT_OP_ONCE_BEGIN, ONCE, 0);
	} else if (s->once == thread + 1) {
		s->once = -1;
		emit(s, thread, RT_OP_ONCE_END, ONCE, 0);
	} else if (s->once == -1) {
		emit(s, thread, RT_OP_ONCE_SEEN, ONCE, 0);
	}
}

static void do_barrier(struct simulation *s, int thread)
{
	s->actors[thread].round = 1 + s->arrived++ / PARTIES;
	emit(s, thread, RT_OP_BARRIER_ARRIVE, BARRIER, PARTIES);
}

/* In dense traces one thread posts and another one waits. */
static void do_semaphore(struct simulation *s, int thread)
{
	bool dense = s->features & ORACLE_DENSE;
	if (dense && thread > 1)
		return;
	if (dense ? thread == 1 : below(s, 2)) {
		s->value++;
		emit(s, thread, RT_OP_SEM_POST, SEMAPHORE, 0);
	} else if (s->value) {
		s->value--;
		emit(s, thread, RT_OP_SEM_WAIT, SEMAPHORE, 0);
	}
}

/* Mostly the thread that took it posts. */
static void do_binary(struct simulation *s, int thread)
{
	int i = (int)below(s, BINARY_COUNT);
	uint64_t semaphore = BINARY + (uint64_t)i;
	if (s->binary[i] > 0 && below(s, 64)) {
		s->binary[i]--;
		s->taker[i] = thread;
		emit(s, thread, RT_OP_SEM_WAIT, semaphore, 0);
		s->t->events[s->t->count - 1].flags = below(s, 8) ? 0 : RT_F_TIMED;
	} else if (s->taker[i] == thread || below(s, 32) == 0) {
		s->binary[i]++;
		emit(s, thread, RT_OP_SEM_POST, semaphore, 0);
	}
}

static void do_annotation(struct simulation *s, int thread)
{
	emit(s, thread, below(s, 2) ? RT_OP_HB_BEFORE : RT_OP_HB_AFTER, MARK, 0);
}

static void step(struct simulation *s, int thread)
{
	struct actor *a = &s->actors[thread];
	if (!a->started || a->ended)
		return;
	if (a->waits_with) {
		end_wait(s, thread);
		return;
	}
	if (a->round) {
		if (s->arrived >= a->round * PARTIES) {
			a->round = 0;
			emit(s, thread, RT_OP_BARRIER_LEAVE, BARRIER, 0);
		}
		return;
	}
	static const struct {
		unsigned needs;
		void (*act)(struct simulation *, int);
	} actions[] = {
	    {ORACLE_LOCKS | ORACLE_READERS | ORACLE_CONDITIONS, do_lock},
	    {ORACLE_FORKS, do_fork_or_join},
	    {ORACLE_CONDITIONS, do_condition},
	    {ORACLE_BARRIERS, do_barrier},
	    {ORACLE_SEMAPHORES, do_semaphore},
	    {ORACLE_ONCES, do_once},
	    {ORACLE_ANNOTATIONS, do_annotation},
	};
	unsigned count = sizeof actions / sizeof *actions, choice = below(s, 2 * count);
	if (s->features & ORACLE_BINARY && (s->features & ORACLE_DENSE ? below(s, 4) > 0 : below(s, 3) == 0)) {
		do_binary(s, thread);
		return;
	}
	if (s->features & ORACLE_DENSE && below(s, 4))
		choice %= count;
	for (unsigned i = 0; choice < count && i < count; i++) {
		unsigned k = (choice + i) % count;
		if (s->features & actions[k].needs) {
			actions[k].act(s, thread);
			return;
		}
	}
	do_access(s, thread);
}

/* Gives most accesses their values; few different ones, so that many are the same. */
static void give_values(struct simulation *s)
{
	uint32_t memory[ORACLE_HALVES];
	s->t->zeroed = below(s, 2);
	for (int half = 0; half < ORACLE_HALVES; half++)
		memory[half] = s->t->zeroed ? 0 : below(s, 2);
	for (int i = 0; i < s->t->count; i++) {
		struct rt_event *e = &s->t->events[i];
		unsigned halves = oracle_halves(e), first = (unsigned)(e->addr - ORACLE_MEMORY) / 4;
		uint32_t written = below(s, 3);
		for (int half = 0; half < ORACLE_HALVES; half++) {
			if (!(halves >> half & 1))
				continue;
			if (rt_op_writes(e->op) && !rt_op_reads(e->op))
				memory[half] = written;
			e->value |= (uint64_t)memory[half] << 32 * ((unsigned)half - first);
			if (rt_op_writes(e->op))
				memory[half] = written;
		}
		e->flags |= halves && below(s, 8) ? RT_F_VALUE : 0;
	}
}

void oracle_random(struct oracle_trace *t, uint64_t seed, unsigned features, int length)
{
	struct simulation s = {.t = t, .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, .features = features};
	memset(t, 0, sizeof *t);
	t->threads = 2 + (int)below(&s, ORACLE_THREADS - 1);
	for (int i = 0; i < t->threads; i++)
		s.actors[i].started = i == 0 || !(features & ORACLE_FORKS);
	if (features & ORACLE_SEMAPHORES) {
		s.value = (int)below(&s, 2);
		emit(&s, 0, RT_OP_SEM_INIT, SEMAPHORE, (uint64_t)s.value);
	}
	for (int i = 0; features & ORACLE_BINARY && i < BINARY_COUNT; i++) {
		s.binary[i] = 1;
		s.taker[i] = -1;
		emit(&s, 0, RT_OP_SEM_INIT, BINARY + (uint64_t)i, 1);
	}
	for (int tries = 0; t->count < length && tries < 1000; tries++)
		step(&s, (int)below(&s, (unsigned)t->threads));
	if (features & ORACLE_VALUES)
		give_values(&s);
	oracle_mark_holds(t);
}
