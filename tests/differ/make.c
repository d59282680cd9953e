/* Random programs: what threads do is drawn from a few features at a time, in few places, so that accesses meet. */
#include "tests/differ/program.h"

#include <string.h>

static uint64_t random_state;
static int nesting,
    bytes; /* of the program at hand: percent of sections in sections; bytes that most accesses are in */

int below(int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (int)((random_state >> 33) % (uint64_t)n);
}

bool chance(int percent)
{
	return below(100) < percent;
}

void set_seed(uint64_t seed)
{
	random_state = (seed + 1) * 0x9e3779b97f4a7c15u;
	for (int i = 0; i < 10; i++)
		below(2);
}

/* What does not fit overwrites the last operation; such a program is dropped. */
static struct op *add(struct program *p, int t, enum kind kind, int a)
{
	if (p->count[t] < OPS)
		p->count[t]++;
	struct op *o = &p->ops[t][p->count[t] - 1];
	*o = (struct op){.kind = kind, .a = a};
	return o;
}

static void add_data(struct program *p, int t)
{
	int size = 1 << below(4), offset = below(bytes / size) * size;
	enum area area = chance(70) ? GLOBAL : p->features & F_FREE && chance(50) ? FREED : HEAP;
	struct op *o = add(p, t, chance(45) ? READ : WRITE, 0);
	if (p->features & F_MIXED && chance(25)) {
		o->kind = READ;
		o->memory = (struct span){ATOMIC, 4 * below(ATOMICS), 4};
		return;
	}
	if (p->features & F_RANGE && chance(40)) {
		static const enum kind ranges[] = {MEMSET, MEMCPY, STRCPY};
		o->kind = ranges[below(3)];
		size = 1 + below(12);
		offset = below(12);
		o->from = (struct span){area == GLOBAL ? HEAP : GLOBAL, below(12), size};
	}
	/* The first bytes of a freed block are the allocator's. */
	o->memory = (struct span){area, offset + (area == FREED ? 32 : 0), size};
}

/* Has what comes until end_if() executed only if the register has the value. Returns the place for end_if(). */
static int add_if(struct program *p, int t, int value)
{
	add(p, t, IF, value);
	return p->count[t] - 1;
}

static void end_if(struct program *p, int t, int at)
{
	p->ops[t][at].b = p->count[t];
	add(p, t, END_IF, 0);
}

static void add_try(struct program *p, int t, int mutex)
{
	add(p, t, TRY, mutex);
	int at = add_if(p, t, 0);
	add_data(p, t);
	add(p, t, UNLOCK, mutex);
	end_if(p, t, at);
}

/* A critical section, maybe with others inside. held: mutexes that the thread holds, and the rwlock behind them. */
static void add_section(struct program *p, int t, int depth, unsigned held)
{
	int lock = p->features & F_MUTEX ? below(MUTEXES + (p->features & F_RWLOCK ? 2 : 0)) : MUTEXES;
	if (lock > MUTEXES)
		lock = MUTEXES;
	if (held >> lock & 1 && lock != RECURSIVE) {
		add_data(p, t);
		return;
	}
	/* A condition's mutex is still held for a moment where a scripted wait has begun. */
	if (lock < SPIN && p->features & F_TRY && !(lock == 0 && p->features & F_CONDITION) && chance(40)) {
		add_try(p, t, lock);
		return;
	}
	if (lock == MUTEXES)
		add(p, t, chance(50) ? RDLOCK : WRLOCK, 0);
	else
		add(p, t, LOCK, lock)->b = 0;
	for (int n = 1 + below(2); n--;)
		if (depth < 2 && chance(nesting) && p->count[t] + 12 < OPS)
			add_section(p, t, depth + 1, held | 1u << lock);
		else
			add_data(p, t);
	add(p, t, lock == MUTEXES ? RWUNLOCK : UNLOCK, lock == MUTEXES ? 0 : lock);
}

static int load_order(void)
{
	static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE, __ATOMIC_SEQ_CST};
	return orders[below(4)];
}

static int store_order(void)
{
	static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_RELEASE, __ATOMIC_RELEASE, __ATOMIC_SEQ_CST};
	return orders[below(4)];
}

static int update_order(void)
{
	static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_RELAXED, __ATOMIC_ACQUIRE,
	                             __ATOMIC_RELEASE, __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST};
	return orders[below(6)];
}

static struct op *add_atomic(struct program *p, int t, enum kind kind, int order, int value)
{
	struct op *o = add(p, t, kind, below(ATOMICS));
	o->memory = (struct span){ATOMIC, 4 * o->a, 4};
	o->order = order;
	o->b = value;
	return o;
}

static void add_atomics(struct program *p, int t)
{
	static const int fences[] = {__ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST};
	static const enum kind kinds[] = {STORE, STORE, ADD, COMPARE, EXCHANGE, LOAD};
	enum kind kind = kinds[below(6)];
	if (p->features & F_FENCE && chance(40))
		add(p, t, FENCE, 0)->order = fences[below(4)];
	int order = kind == STORE ? store_order() : kind == LOAD ? load_order() : update_order();
	struct op *o = add_atomic(p, t, kind, order, kind == STORE ? 1 + below(2) : 1);
	bool strong = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
	o->fail_order = strong && chance(50) ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
	if (kind == STORE || chance(40))
		return;
	if (p->features & F_FENCE && chance(40))
		add(p, t, FENCE, 0)->order = __ATOMIC_ACQUIRE;
	int at = add_if(p, t, 1);
	add_data(p, t);
	end_if(p, t, at);
}

static void add_flag(struct program *p, int t, enum kind kind, int flag)
{
	add(p, t, kind, flag)->memory = (struct span){FLAG, 4 * flag, 4};
}

static void add_wait(struct program *p, int t)
{
	add(p, t, LOCK, 0);
	add_flag(p, t, READ_FLAG, 1);
	int at = add_if(p, t, 0);
	add(p, t, WAIT_BEGIN, 0);
	add(p, t, WAIT_END, 0);
	add_flag(p, t, READ_FLAG, 1);
	end_if(p, t, at);
	add_data(p, t);
	add(p, t, UNLOCK, 0);
}

static void add_signal(struct program *p, int t)
{
	bool holding = chance(70);
	add(p, t, LOCK, 0);
	add_flag(p, t, SET_FLAG, 1);
	if (!holding)
		add(p, t, UNLOCK, 0);
	add(p, t, SIGNAL, 0);
	if (holding)
		add(p, t, UNLOCK, 0);
}

static void add_unit(struct program *p, int t)
{
	unsigned feature = 1u << below(FEATURES);
	if (p->features & F_MUTEX && chance(nesting))
		feature = F_MUTEX;
	if (!(p->features & feature) || chance(15))
		add_data(p, t);
	else if (feature & (F_MUTEX | F_TRY | F_RWLOCK))
		add_section(p, t, 0, 0);
	else if (feature & (F_ATOMIC | F_FENCE | F_MIXED))
		add_atomics(p, t);
	else if (feature == F_SEMAPHORE)
		add(p, t, chance(55) ? POST : SEM_WAIT, below(SEMAPHORES));
	else if (feature == F_PIPE)
		add(p, t, chance(55) ? PIPE_WRITE : PIPE_READ, below(PIPES));
	else if (feature == F_ONCE)
		add(p, t, ONCE, 0);
	else
		add_data(p, t);
}

/* Threads that have a part of their own; 0: none. */
struct parts {
	int waits, signals, polls, sets, frees, polls_atomic;
	unsigned barrier;
};

static void add_parts(struct program *p, int t, const struct parts *parts)
{
	if (parts->barrier >> t & 1) {
		add(p, t, ARRIVE, 0);
		add(p, t, LEAVE, 0);
		p->parties++;
	}
	if (t == parts->waits)
		add_wait(p, t);
	if (t == parts->signals)
		add_signal(p, t);
	if (t == parts->sets)
		add_flag(p, t, SET_FLAG, 0);
	if (t == parts->polls && chance(50))
		add_flag(p, t, POLL_FLAG, 0);
	else if (t == parts->polls) {
		add_flag(p, t, READ_FLAG, 0);
		int at = add_if(p, t, 1);
		add_data(p, t);
		end_if(p, t, at);
	}
	if (t == parts->polls_atomic)
		add_atomic(p, t, POLL_ATOMIC, load_order(), 0);
	if (t == parts->frees)
		add(p, t, FREE, 0)->memory = (struct span){FREED, 0, 64};
}

static void make_thread(struct program *p, int t, const int parents[THREADS], const struct parts *parts)
{
	int units = (t ? 2 : 1) + below(3), special = below(units), next = t + 1;
	for (int i = 0; i < units; i++) {
		for (; next < p->threads && chance(60); next++)
			if (parents[next] == t)
				add(p, t, CREATE, next);
		add_unit(p, t);
		if (t && i == special)
			add_parts(p, t, parts);
	}
	for (; next < p->threads; next++)
		if (parents[next] == t)
			add(p, t, CREATE, next);
	for (int child = t + 1; child < p->threads; child++)
		if (parents[child] == t && chance(80))
			add(p, t, JOIN, child);
	if (chance(50))
		add_data(p, t);
}

bool program_make(struct program *p)
{
	memset(p, 0, sizeof *p);
	for (int n = 2 + below(3); n--;)
		p->features |= 1u << below(FEATURES);
	if (p->features & F_TRY || chance(45))
		p->features |= F_MUTEX;
	if (p->features & (F_FENCE | F_MIXED))
		p->features |= F_ATOMIC;
	p->threads = 3 + below(3);
	p->once = (struct span){GLOBAL, 4 * below(2), 4};
	nesting = chance(50) ? 60 : 20;
	bytes = chance(50) ? 8 : 16;
	int workers = p->threads - 1, parents[THREADS] = {0}, one = below(workers), other = (one + 1) % workers;
	struct parts parts = {0};
	for (int t = 2; t < p->threads; t++)
		parents[t] = p->features & F_TREE && chance(50) ? 1 + below(t - 1) : 0;
	if (p->features & F_CONDITION)
		parts.waits = 1 + one, parts.signals = 1 + other;
	if (p->features & F_FLAG)
		parts.polls = 1 + other, parts.sets = 1 + one;
	if (p->features & F_FREE)
		parts.frees = 1 + below(workers);
	if (p->features & F_ATOMIC && chance(40))
		parts.polls_atomic = 1 + below(workers);
	if (p->features & F_BARRIER)
		parts.barrier = (unsigned)(1 + below(15)) << 1;
	for (int t = 0; t < p->threads; t++)
		make_thread(p, t, parents, &parts);
	for (int t = 0; t < p->threads; t++)
		if (p->count[t] == OPS)
			return false;
	return true;
}
