/* Orders by transitive closure of edges, each found by looking through the whole trace. */
#include "tests/oracle/oracle.h"

#include <string.h>

unsigned oracle_halves(const struct rt_event *e)
{
	if (!rt_op_is_access(e->op))
		return 0;
	unsigned first = (unsigned)(e->addr - ORACLE_MEMORY) / 4;
	return (e->arg == 8 ? 3u : 1u) << first;
}

bool oracle_conflict(const struct oracle_trace *t, int i, int j)
{
	const struct rt_event *a = &t->events[i], *b = &t->events[j];
	return a->thread != b->thread && (oracle_halves(a) & oracle_halves(b)) &&
	       (rt_op_writes(a->op) || rt_op_writes(b->op)) && !(rt_op_is_atomic(a->op) && rt_op_is_atomic(b->op));
}

int oracle_last_write(const struct oracle_trace *t, int half, int i)
{
	while (--i >= 0)
		if (rt_op_writes(t->events[i].op) && oracle_halves(&t->events[i]) >> half & 1)
			return i;
	return -1;
}

/* What event e's value says of a half: the value that it read, of an event that only writes the one that it wrote. */
static bool recorded(const struct rt_event *e, int half, uint32_t *value)
{
	unsigned first = (unsigned)(e->addr - ORACLE_MEMORY) / 4;
	if (!(e->flags & RT_F_VALUE) || !(oracle_halves(e) >> half & 1))
		return false;
	*value = (uint32_t)(e->value >> 32 * ((unsigned)half - first));
	return true;
}

/* The value that a write left: its own, or the one that some thread read there. */
static bool left_value(const struct oracle_trace *t, int half, int w, uint32_t *value)
{
	if (w >= 0 && !rt_op_reads(t->events[w].op) && recorded(&t->events[w], half, value))
		return true;
	for (int i = w + 1; i < t->count; i++)
		if (rt_op_reads(t->events[i].op) && oracle_last_write(t, half, i) == w &&
		    recorded(&t->events[i], half, value))
			return true;
	*value = 0;
	return w < 0 && t->zeroed;
}

bool oracle_same_value(const struct oracle_trace *t, int half, int w1, int w2)
{
	uint32_t v1, v2;
	return left_value(t, half, w1, &v1) && left_value(t, half, w2, &v2) && v1 == v2;
}

/* A hold that has not ended yet: its acquire, and the first release of it by another thread, -1: none. */
struct hold {
	int acquire, stray;
};

static bool is_hold(const struct oracle_trace *t, const struct hold *h, uint64_t lock, uint32_t thread)
{
	if (h->acquire < 0)
		return false;
	const struct rt_event *e = &t->events[h->acquire];
	return oracle_lock(e) == lock && e->thread == thread;
}

/* Event i takes a lock: the holds of it that this excludes and that another thread has released are handed over. */
static void hand_over(struct oracle_trace *t, struct hold *holds, int i)
{
	for (int h = 0; h < i; h++) {
		if (holds[h].acquire < 0 || holds[h].stray < 0 ||
		    oracle_lock(&t->events[h]) != oracle_lock(&t->events[i]) ||
		    oracle_both_read(&t->events[h], &t->events[i]))
			continue;
		t->events[h].reserved = ORACLE_HOLD_HANDED;
		t->events[holds[h].stray].reserved = ORACLE_HOLD_GIVES;
		holds[h].acquire = -1;
	}
}

/* Event i releases a lock: its thread's hold ends. If it has none, another thread's may have been released. */
static void end_hold(struct oracle_trace *t, struct hold *holds, int i)
{
	uint64_t lock = oracle_lock(&t->events[i]);
	for (int h = 0; h < i; h++)
		if (is_hold(t, &holds[h], lock, t->events[i].thread)) {
			holds[h].acquire = -1;
			return;
		}
	t->events[i].reserved = ORACLE_HOLD_NONE;
	for (uint32_t thread = 0; t->events[i].op == RT_OP_RELEASE && thread < (uint32_t)t->threads; thread++)
		for (int h = 0; h < i; h++)
			if (is_hold(t, &holds[h], lock, thread) && holds[h].stray < 0) {
				holds[h].stray = i;
				return;
			}
}

static bool on_semaphore(const struct rt_event *e)
{
	return e->op == RT_OP_SEM_INIT || e->op == RT_OP_SEM_WAIT || e->op == RT_OP_SEM_POST;
}

/* Is the semaphore of this address a lock? */
static bool is_binary(const struct oracle_trace *t, uint64_t addr)
{
	int last = -1; /* the event on it before */
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *e = &t->events[i], *before = last < 0 ? NULL : &t->events[last];
		if (!on_semaphore(e) || e->addr != addr)
			continue;
		bool held = before && before->op == RT_OP_SEM_WAIT;
		if (e->op == RT_OP_SEM_POST ? !held || before->thread != e->thread : held)
			return false;
		if (e->op == RT_OP_SEM_INIT ? e->arg != 1 : !before)
			return false;
		last = i;
	}
	return true;
}

void oracle_mark_holds(struct oracle_trace *t)
{
	struct hold holds[ORACLE_EVENTS]; /* by place of the acquire */
	for (int i = 0; i < t->count; i++) {
		bool semaphore = on_semaphore(&t->events[i]);
		holds[i] = (struct hold){-1, -1};
		t->events[i].reserved = ORACLE_HOLD_OWN;
		if (semaphore && !is_binary(t, t->events[i].addr))
			t->events[i].reserved = ORACLE_HOLD_NONE;
		if (semaphore)
			continue;
		if (oracle_acquires(&t->events[i])) {
			hand_over(t, holds, i);
			holds[i].acquire = i;
		} else if (oracle_releases(&t->events[i])) {
			end_hold(t, holds, i);
		}
	}
}

/* The acquire that a release ends. */
static bool releases_shared(const struct oracle_trace *t, int i)
{
	for (int j = i - 1; j >= 0; j--)
		if (t->events[j].thread == t->events[i].thread && oracle_holds(&t->events[j]) &&
		    oracle_lock(&t->events[j]) == oracle_lock(&t->events[i]))
			return t->events[j].op == RT_OP_ACQUIRE_SHARED;
	return false;
}

void oracle_lock_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *from = &t->events[i];
		bool handed = oracle_acquires(from) && from->reserved == ORACLE_HOLD_HANDED;
		bool shared = handed ? from->op == RT_OP_ACQUIRE_SHARED : releases_shared(t, i);
		for (int j = i + 1; j < t->count; j++)
			if ((handed || oracle_releases(from)) && oracle_acquires(&t->events[j]) &&
			    oracle_lock(from) == oracle_lock(&t->events[j]) &&
			    !(shared && t->events[j].op == RT_OP_ACQUIRE_SHARED))
				edges[i][j] = true;
	}
}

/* What keeps the place of a hold that was handed over: the releases before it, the acquires after what ended it. */
static void handed_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++) {
			const struct rt_event *from = &t->events[i], *to = &t->events[j];
			if (!oracle_acquires(to) || oracle_lock(to) != oracle_lock(from))
				continue;
			edges[i][j] |= from->op == RT_OP_RELEASE && from->reserved == ORACLE_HOLD_GIVES;
			edges[i][j] |= oracle_releases(from) && to->reserved == ORACLE_HOLD_HANDED;
		}
}

void oracle_thread_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			edges[i][j] |= t->events[i].thread == t->events[j].thread;
}

static void plain_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++) {
			const struct rt_event *a = &t->events[i], *b = &t->events[j];
			edges[i][j] |= a->op == RT_OP_FORK && a->addr == b->thread;
			edges[i][j] |= b->op == RT_OP_JOIN && b->addr == a->thread;
			edges[i][j] |= a->op == RT_OP_FORK && b->op == RT_OP_JOIN && a->addr == b->addr;
			edges[i][j] |= a->addr == b->addr && a->op == RT_OP_ONCE_END && b->op == RT_OP_ONCE_SEEN;
			edges[i][j] |= a->addr == b->addr && a->op == RT_OP_HB_BEFORE && b->op == RT_OP_HB_AFTER;
		}
}

int oracle_wait_begin(const struct oracle_trace *t, int i)
{
	uint32_t thread = t->events[i].thread;
	while (--i >= 0)
		if (t->events[i].op == RT_OP_WAIT_BEGIN && t->events[i].thread == thread)
			return i;
	return -1;
}

/* Signals to the longest waiting, but never to one that ended before, or to a timed one. */
static void condition_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	int end_of[ORACLE_EVENTS], signal_of[ORACLE_EVENTS];
	for (int i = 0; i < t->count; i++) {
		signal_of[i] = -1;
		end_of[i] = t->count;
		for (int j = t->count - 1; j > i; j--)
			if (t->events[j].op == RT_OP_WAIT_END && t->events[j].thread == t->events[i].thread)
				end_of[i] = j;
	}
	for (int s = 0; s < t->count; s++) {
		unsigned op = t->events[s].op;
		for (int w = 0; w < s && (op == RT_OP_SIGNAL || op == RT_OP_BROADCAST); w++) {
			bool timed = end_of[w] < t->count && t->events[end_of[w]].flags & RT_F_TIMED;
			if (t->events[w].op != RT_OP_WAIT_BEGIN || t->events[w].addr != t->events[s].addr ||
			    end_of[w] < s || timed || signal_of[w] >= 0)
				continue;
			signal_of[w] = s;
			if (op == RT_OP_SIGNAL)
				break;
		}
		if (op != RT_OP_WAIT_END)
			continue;
		int mine = -1;
		for (int w = 0; w < s; w++)
			if (t->events[w].op == RT_OP_WAIT_BEGIN && end_of[w] == s)
				mine = w;
		if (mine < 0 || t->events[s].flags & RT_F_TIMED)
			continue;
		for (int w = 0; w < s && signal_of[mine] < 0; w++)
			if (t->events[w].op == RT_OP_WAIT_BEGIN && t->events[w].addr == t->events[s].addr &&
			    end_of[w] > s && signal_of[w] > mine) {
				signal_of[mine] = signal_of[w];
				signal_of[w] = -1;
			}
		if (signal_of[mine] >= 0)
			edges[signal_of[mine]][s] = true;
	}
}

uint64_t oracle_parties(const struct oracle_trace *t)
{
	for (int i = 0; i < t->count; i++)
		if (t->events[i].op == RT_OP_BARRIER_ARRIVE)
			return t->events[i].arg;
	return 0;
}

static void barrier_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	int round[ORACLE_EVENTS], arrived = 0;
	for (int i = 0; i < t->count; i++)
		if (t->events[i].op == RT_OP_BARRIER_ARRIVE)
			round[i] = arrived++ / (int)t->events[i].arg;
	for (int j = 0; j < t->count; j++) {
		if (t->events[j].op != RT_OP_BARRIER_LEAVE)
			continue;
		int mine = j;
		while (t->events[mine].op != RT_OP_BARRIER_ARRIVE || t->events[mine].thread != t->events[j].thread)
			mine--;
		for (int i = 0; i < j; i++)
			if (t->events[i].op == RT_OP_BARRIER_ARRIVE && round[i] == round[mine])
				edges[i][j] = true;
	}
}

/* Within a thread they are its own order. */
static void semaphore_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	for (int j = 0; j < t->count; j++) {
		bool post = t->events[j].op == RT_OP_SEM_POST;
		if (t->events[j].op != RT_OP_SEM_WAIT && !post)
			continue;
		int need = 1, initial = 0;
		for (int i = 0; i < j; i++) {
			bool other = t->events[i].thread != t->events[j].thread;
			if (t->events[i].addr != t->events[j].addr)
				continue;
			need += t->events[i].op == RT_OP_SEM_WAIT;
			if (t->events[i].op == RT_OP_SEM_INIT) {
				initial = (int)t->events[i].arg;
				edges[i][j] |= other;
			}
		}
		need -= initial;
		/* A lock's waits and posts exclude one another, and that is all. */
		bool counts = !post && !oracle_acquires(&t->events[j]);
		for (int i = 0; i < j && need > 0 && counts; i++)
			if (t->events[i].op == RT_OP_SEM_POST && t->events[i].addr == t->events[j].addr && --need == 0)
				edges[i][j] |= t->events[i].thread != t->events[j].thread;
	}
}

static bool acquires(const struct rt_event *e)
{
	return e->op != RT_OP_ATOMIC_STORE && (e->order == 1 || e->order == 2 || e->order == 4 || e->order == 5);
}
static bool releases(const struct rt_event *e)
{
	return e->op != RT_OP_ATOMIC_LOAD && e->op != RT_OP_ATOMIC_CAS_FAIL && e->order >= 3;
}

/* What a release sequence headed by write w, or by a fence before it, comes from: marks sources before `to`. */
static void from_head(const struct oracle_trace *t, int w, int to, oracle_pairs edges)
{
	if (releases(&t->events[w]))
		edges[w][to] = true;
	for (int f = 0; f < w; f++)
		if (t->events[f].op == RT_OP_FENCE && t->events[f].thread == t->events[w].thread &&
		    releases(&t->events[f]))
			edges[f][to] = true;
}

/* Heads of the release sequences that the write which event i reads (in one half) belongs to. */
static void sequence_edges(const struct oracle_trace *t, int half, int i, int to, oracle_pairs edges)
{
	int read = oracle_last_write(t, half, i);
	for (int head = read; head >= 0; head = oracle_last_write(t, half, head)) {
		if (!rt_op_is_atomic(t->events[head].op))
			return;
		bool goes_on = true;
		for (int w = read; w > head && goes_on; w = oracle_last_write(t, half, w))
			goes_on = rt_op_reads(t->events[w].op) || t->events[w].thread == t->events[head].thread;
		if (goes_on)
			from_head(t, head, to, edges);
	}
}

static void atomic_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *e = &t->events[i];
		if (!rt_op_is_atomic(e->op) || !rt_op_reads(e->op))
			continue;
		for (int half = 0; half < ORACLE_HALVES; half++) {
			if (!(oracle_halves(e) >> half & 1))
				continue;
			if (acquires(e)) {
				sequence_edges(t, half, i, i, edges);
				continue;
			}
			for (int f = i + 1; f < t->count; f++)
				if (t->events[f].op == RT_OP_FENCE && t->events[f].thread == e->thread &&
				    acquires(&t->events[f]))
					sequence_edges(t, half, i, f, edges);
		}
	}
}

void oracle_por_edges(const struct oracle_trace *t, oracle_pairs edges)
{
	plain_edges(t, edges);
	handed_edges(t, edges);
	condition_edges(t, edges);
	barrier_edges(t, edges);
	semaphore_edges(t, edges);
	atomic_edges(t, edges);
}

static void close_over(oracle_pairs before, int n)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			for (int j = 0; before[i][k] && j < n; j++)
				before[i][j] |= before[k][j];
}

/* The event that precedes e in its thread, or the fork of the thread; -1: none. */
static int predecessor(const struct oracle_trace *t, int e)
{
	for (int i = e - 1; i >= 0; i--)
		if (t->events[i].thread == t->events[e].thread)
			return i;
	for (int i = e - 1; i >= 0; i--)
		if (t->events[i].op == RT_OP_FORK && t->events[i].addr == t->events[e].thread)
			return i;
	return -1;
}

/* Is i before (or at) e, e being -1: before everything? */
static bool reaches(oracle_pairs before, int i, int e)
{
	return e >= 0 && (i == e || before[i][e]);
}

/* Locks of a thread at event i: bit l, and bit 16 + l when held as a reader. All of a trace differ in l. */
static unsigned locks_at(const struct oracle_trace *t, int i)
{
	unsigned held = 0;
	for (int j = 0; j < i; j++) {
		const struct rt_event *e = &t->events[j];
		if (e->thread != t->events[i].thread || !(oracle_holds(e) || oracle_releases(e)))
			continue;
		unsigned bits = 0x10001u << oracle_lock(e) % 16;
		held &= ~bits;
		if (oracle_holds(e))
			held |= e->op == RT_OP_ACQUIRE_SHARED ? bits : bits & 0xffff;
	}
	return held;
}

static bool common_lock(unsigned a, unsigned b)
{
	return a & b & 0xffff & ~((a & b) >> 16);
}

void oracle_run(const struct oracle_trace *t, struct oracle *out)
{
	static oracle_pairs direct, por, hb, shb;
	memset(direct, 0, sizeof direct);
	oracle_por_edges(t, direct);
	memcpy(por, direct, sizeof por);
	oracle_thread_edges(t, por);
	memcpy(hb, por, sizeof hb);
	oracle_lock_edges(t, hb);
	memcpy(shb, hb, sizeof shb);
	for (int i = 0; i < t->count; i++)
		for (int half = 0; half < ORACLE_HALVES; half++)
			if (rt_op_reads(t->events[i].op) && oracle_halves(&t->events[i]) >> half & 1) {
				int w = oracle_last_write(t, half, i);
				if (w >= 0)
					shb[w][i] = true;
			}
	close_over(por, t->count);
	close_over(hb, t->count);
	close_over(shb, t->count);
	memset(out, 0, sizeof *out);
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++) {
			if (!oracle_conflict(t, i, j))
				continue;
			int before = predecessor(t, j);
			/* An atomic need not read what it read: its own edges do not count where it is to be moved. */
			bool ordered = rt_op_is_atomic(t->events[j].op) ? reaches(por, i, before) : por[i][j];
			out->hybrid[i][j] = !ordered && !common_lock(locks_at(t, i), locks_at(t, j));
			out->hb[i][j] = !hb[i][j];
			out->shb[i][j] = !hb[i][j] && !reaches(shb, i, before);
		}
	oracle_causal(t, direct, hb, false, out->cp);
	oracle_causal(t, direct, hb, true, out->wcp);
	oracle_reorder(t, true, out->syncp);
	oracle_reorder(t, false, out->predictable);
}

bool oracle_ordered(const struct oracle_trace *t, int e1, int e2, bool locks, oracle_edge_counts *counts,
                    const void *arg)
{
	static oracle_pairs hb, with_locks, before;
	memset(hb, 0, sizeof hb);
	oracle_por_edges(t, hb);
	oracle_thread_edges(t, hb);
	memcpy(with_locks, hb, sizeof hb);
	oracle_lock_edges(t, with_locks);
	if (locks)
		memcpy(hb, with_locks, sizeof hb);
	memcpy(before, hb, sizeof before);
	close_over(with_locks, t->count);
	for (int i = 0; i < t->count; i++)
		for (int half = 0; half < ORACLE_HALVES; half++) {
			bool reads = rt_op_reads(t->events[i].op) && oracle_halves(&t->events[i]) >> half & 1;
			int w = reads ? oracle_last_write(t, half, i) : -1;
			if (w >= 0 && !with_locks[w][i] && counts(t, w, i, arg))
				before[w][i] = true;
		}
	close_over(hb, t->count);
	close_over(before, t->count);
	return hb[e1][e2] || reaches(before, e1, predecessor(t, e2));
}
