/*
 * A model of C11's threads and POSIX's objects: one run, or all interleavings. Memory is sequentially consistent, and
 * happens-before is kept in vector clocks whose entries are places in the threads. Shares nothing with the analysis.
 */
#include "tests/differ/program.h"

#include <stdlib.h>
#include <string.h>

typedef uint8_t vector[THREADS];
enum status { UNBORN, RUNS, WAITS, SIGNALED, ENDED };
/* Made of bytes, so that states are compared as such. */
struct state {
	uint8_t pc[THREADS], status[THREADS], reg[THREADS], owner[MUTEXES], depth[MUTEXES], writer, readers;
	uint8_t semaphore[SEMAPHORES], arrived, once, pipe[PIPES], atomic[ATOMICS], flag[FLAGS];
	uint8_t accessed[THREADS][OPS];
	vector clock[THREADS], fence[THREADS], relaxed[THREADS]; /* relaxed: what an acquire fence would make visible */
	vector mutex_clock[MUTEXES], write_clock, read_clock, semaphore_clock[SEMAPHORES], barrier_clock, once_clock;
	vector pipe_clock[PIPES], atomic_clock[ATOMICS];
};

int op_line(const struct program *p, const struct op *o)
{
	return o->kind == ONCE ? p->once_line : o->line;
}

static void join(vector a, const vector b)
{
	for (int i = 0; i < THREADS; i++)
		if (a[i] < b[i])
			a[i] = b[i];
}

static const struct op *next_op(const struct program *p, const struct state *s, int t)
{
	if (s->status[t] == UNBORN || s->status[t] == ENDED || s->status[t] == WAITS)
		return NULL;
	return &p->ops[t][s->pc[t]];
}

static bool mutex_free(const struct state *s, int mutex, int t)
{
	return !s->owner[mutex] || (mutex == RECURSIVE && s->owner[mutex] == t + 1);
}

static bool enabled(const struct program *p, const struct state *s, int t)
{
	const struct op *o = next_op(p, s, t);
	if (!o)
		return false;
	switch ((int)o->kind) {
	case LOCK:
		return mutex_free(s, o->a, t);
	case WAIT_END:
		return s->status[t] == SIGNALED && !s->owner[0];
	case RDLOCK:
		return !s->writer;
	case WRLOCK:
		return !s->writer && !s->readers;
	case SEM_WAIT:
		return s->semaphore[o->a] > 0;
	case LEAVE:
		return s->arrived == p->parties;
	case POLL_ATOMIC:
		return s->atomic[o->a] != 0;
	case POLL_FLAG:
		return s->flag[o->a] != 0;
	case PIPE_READ:
		return s->pipe[o->a] > 0;
	case JOIN:
		return s->status[o->a] == ENDED;
	default:
		return true;
	}
}

struct access {
	struct span span;
	bool write, atomic;
};

static int accesses(const struct program *p, const struct op *o, struct access out[2])
{
	out[0] = (struct access){o->memory, true, false};
	out[1] = (struct access){o->from, false, false};
	switch ((int)o->kind) {
	case READ:
	case POLL_FLAG:
	case READ_FLAG:
		out[0].write = false;
		return 1;
	case WRITE:
	case MEMSET:
	case STRCPY:
	case FREE:
	case SET_FLAG:
		return 1;
	case MEMCPY:
		return 2;
	case LOAD:
	case POLL_ATOMIC:
		out[0].write = false;
		out[0].atomic = true;
		return 1;
	case STORE:
	case ADD:
	case EXCHANGE:
	case COMPARE:
		out[0].atomic = true;
		return 1;
	case ONCE:
		out[0].span = p->once;
		return 1;
	default:
		return 0;
	}
}

static bool conflict(const struct program *p, const struct op *o1, const struct op *o2)
{
	struct access a[2], b[2];
	int n = accesses(p, o1, a), m = accesses(p, o2, b);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++) {
			const struct span *x = &a[i].span, *y = &b[j].span;
			if (x->area == y->area && x->offset < y->offset + y->size && y->offset < x->offset + x->size &&
			    (a[i].write || b[j].write) && !(a[i].atomic && b[j].atomic))
				return true;
		}
	return false;
}

/* C11 5.1.2.4, 7.17.3 and 7.17.4. */
static void load(struct state *s, int t, int atomic, int order)
{
	bool acquires = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
	join(acquires ? s->clock[t] : s->relaxed[t], s->atomic_clock[atomic]);
}

static void store(struct state *s, int t, int atomic, int order, bool continues)
{
	bool releases = order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
	if (!continues)
		memset(s->atomic_clock[atomic], 0, THREADS);
	join(s->atomic_clock[atomic], releases ? s->clock[t] : s->fence[t]);
}

static void fence(struct state *s, int t, int order)
{
	if (order != __ATOMIC_RELEASE)
		join(s->clock[t], s->relaxed[t]);
	if (order != __ATOMIC_ACQUIRE)
		memcpy(s->fence[t], s->clock[t], THREADS);
}

/* True if the operation accessed its memory. */
static bool execute_atomic(struct state *s, int t, const struct op *o)
{
	uint8_t *value = &s->atomic[o->a], seen = *value;
	bool fails = o->kind == COMPARE && seen != 0;
	if (o->kind != STORE)
		load(s, t, o->a, fails ? o->fail_order : o->order);
	if (o->kind != LOAD && o->kind != POLL_ATOMIC && !fails) {
		store(s, t, o->a, o->order, o->kind != STORE);
		*value = (uint8_t)(o->kind == ADD ? seen + 1 : o->b);
	}
	if (o->kind != STORE && o->kind != POLL_ATOMIC)
		s->reg[t] = o->kind == COMPARE ? !fails : seen;
	return !fails;
}

/* What is a thread's own business follows at once. */
static void settle(const struct program *p, struct state *s, int t)
{
	while (s->pc[t] < p->count[t]) {
		const struct op *o = &p->ops[t][s->pc[t]];
		if (o->kind != IF && o->kind != END_IF)
			return;
		s->pc[t] = (uint8_t)(o->kind == IF && s->reg[t] != o->a ? o->b : s->pc[t] + 1);
	}
	s->status[t] = ENDED;
}

static void acquire(struct state *s, int t, int mutex)
{
	s->owner[mutex] = (uint8_t)(t + 1);
	s->depth[mutex]++;
	join(s->clock[t], s->mutex_clock[mutex]);
}

static void release(struct state *s, int t, int mutex)
{
	if (--s->depth[mutex])
		return;
	s->owner[mutex] = 0;
	join(s->mutex_clock[mutex], s->clock[t]);
}

static void release_rwlock(struct state *s, int t)
{
	join(s->writer ? s->write_clock : s->read_clock, s->clock[t]);
	s->writer = 0;
	s->readers &= (uint8_t) ~(1 << t);
}

static void signal_one(const struct program *p, struct state *s, int t)
{
	for (int u = 0; u < p->threads; u++)
		if (s->status[u] == WAITS) {
			s->status[u] = SIGNALED;
			join(s->clock[u], s->clock[t]);
			return;
		}
}

/* True if the operation accessed its memory. */
static bool execute_op(const struct program *p, struct state *s, int t, const struct op *o)
{
	uint8_t *clock = s->clock[t];
	switch ((int)o->kind) {
	case LOCK:
		acquire(s, t, o->a);
		break;
	case TRY:
		s->reg[t] = !mutex_free(s, o->a, t);
		if (!s->reg[t])
			acquire(s, t, o->a);
		break;
	case UNLOCK:
		release(s, t, o->a);
		break;
	case RDLOCK:
		s->readers |= (uint8_t)(1 << t);
		join(clock, s->write_clock);
		break;
	case WRLOCK:
		s->writer = (uint8_t)(t + 1);
		join(clock, s->write_clock);
		join(clock, s->read_clock);
		break;
	case RWUNLOCK:
		release_rwlock(s, t);
		break;
	case POST:
		s->semaphore[o->a]++;
		join(s->semaphore_clock[o->a], clock);
		break;
	case SEM_WAIT:
		s->semaphore[o->a]--;
		join(clock, s->semaphore_clock[o->a]);
		break;
	case ARRIVE:
		s->arrived++;
		join(s->barrier_clock, clock);
		break;
	case LEAVE:
		join(clock, s->barrier_clock);
		break;
	case ONCE:
		if (s->once) {
			join(clock, s->once_clock);
			return false;
		}
		s->once = 1;
		join(s->once_clock, clock);
		break;
	case LOAD:
	case STORE:
	case ADD:
	case COMPARE:
	case EXCHANGE:
	case POLL_ATOMIC:
		return execute_atomic(s, t, o);
	case FENCE:
		fence(s, t, o->order);
		break;
	case SET_FLAG:
		s->flag[o->a] = 1;
		break;
	case READ_FLAG:
		s->reg[t] = s->flag[o->a];
		break;
	case SIGNAL:
		signal_one(p, s, t);
		break;
	case WAIT_BEGIN:
		s->status[t] = WAITS;
		release(s, t, 0);
		break;
	case WAIT_END:
		s->status[t] = RUNS;
		acquire(s, t, 0);
		break;
	case PIPE_WRITE:
		s->pipe[o->a]++;
		join(s->pipe_clock[o->a], clock);
		break;
	case PIPE_READ:
		s->pipe[o->a]--;
		join(clock, s->pipe_clock[o->a]);
		break;
	case CREATE:
		s->status[o->a] = RUNS;
		memcpy(s->clock[o->a], clock, THREADS);
		settle(p, s, o->a);
		break;
	case JOIN:
		join(clock, s->clock[o->a]);
		break;
	default:
		break;
	}
	return true;
}

static void execute(const struct program *p, struct state *s, int t, pairs races)
{
	int i = s->pc[t];
	const struct op *o = &p->ops[t][i];
	s->clock[t][t] = (uint8_t)(i + 1);
	if (execute_op(p, s, t, o)) {
		for (int u = 0; u < p->threads; u++)
			for (int j = 0; u != t && j < p->count[u]; j++)
				if (s->accessed[u][j] && s->clock[t][u] < j + 1 && conflict(p, o, &p->ops[u][j]))
					races[t][i][u][j] = races[u][j][t][i] = true;
		s->accessed[t][i] = 1;
	}
	s->pc[t]++;
	if (s->status[t] != WAITS)
		settle(p, s, t);
}

static void begin(const struct program *p, struct state *s)
{
	memset(s, 0, sizeof *s);
	s->status[0] = RUNS;
	settle(p, s, 0);
}

/* Threads that hold what thread t waits for, as a mask. */
static unsigned waits_for(const struct program *p, const struct state *s, int t)
{
	const struct op *o = next_op(p, s, t);
	unsigned holders = 0;
	if (!o)
		return 0;
	if (o->kind == LOCK && !mutex_free(s, o->a, t))
		holders = 1u << (s->owner[o->a] - 1);
	if (o->kind == WAIT_END && s->owner[0])
		holders = 1u << (s->owner[0] - 1);
	if ((o->kind == RDLOCK || o->kind == WRLOCK) && s->writer)
		holders = 1u << (s->writer - 1);
	if (o->kind == WRLOCK)
		holders |= s->readers;
	return holders;
}

/* Adds the rings that go on from thread t to start, by way of threads after that. */
static void add_cycles(const struct program *p, const struct state *s, int start, int t, unsigned path,
                       struct cycles *c)
{
	unsigned next = waits_for(p, s, t);
	for (int u = start; u < p->threads; u++) {
		if (!(next >> u & 1))
			continue;
		if (u != start) {
			if (!(path >> u & 1))
				add_cycles(p, s, start, u, path | 1u << u, c);
			continue;
		}
		int lines[THREADS] = {0}, n = 0, i = 0;
		for (int v = 0; v < p->threads; v++)
			if (path >> v & 1)
				lines[n++] = p->ops[v][s->pc[v]].line;
		while (i < c->count && memcmp(c->lines[i], lines, sizeof lines) != 0)
			i++;
		if (i == c->count && i < CYCLES)
			memcpy(c->lines[c->count++], lines, sizeof lines);
	}
}

static void find_cycles(const struct program *p, const struct state *s, struct cycles *c)
{
	for (int t = 0; t < p->threads; t++)
		add_cycles(p, s, t, t, 1u << t, c);
}

/* States that were visited, by hash. */
enum { SEEN = 1 << 20, STATES = 400000 };
static uint64_t seen[SEEN];
static int states;

static bool is_new(const struct state *s)
{
	uint64_t h = 0x9e3779b97f4a7c15u;
	const uint8_t *bytes = (const uint8_t *)s;
	for (size_t i = 0; i < sizeof *s; i++) {
		h = (h ^ bytes[i]) * 0x100000001b3u;
		h ^= h >> 29;
	}
	h |= 1;
	size_t at = h % SEEN;
	while (seen[at] && seen[at] != h)
		at = (at + 1) % SEEN;
	bool fresh = !seen[at];
	seen[at] = h;
	return fresh;
}

static bool visit(const struct program *p, const struct state *from, pairs races, struct cycles *cycles)
{
	struct state s = *from;
	for (bool more = true; more;) {
		more = false;
		for (int t = 0; t < p->threads; t++)
			while (enabled(p, &s, t) && next_op(p, &s, t)->kind <= FREE) {
				execute(p, &s, t, races);
				more = true;
			}
	}
	if (!is_new(&s))
		return true;
	if (++states > STATES)
		return false;
	find_cycles(p, &s, cycles);
	for (int t = 0; t < p->threads; t++) {
		struct state next = s;
		if (!enabled(p, &s, t))
			continue;
		execute(p, &next, t, races);
		if (!visit(p, &next, races, cycles))
			return false;
	}
	return true;
}

bool model_all(const struct program *p, pairs races, struct cycles *cycles)
{
	struct state s;
	memset(seen, 0, sizeof seen);
	memset(races, 0, sizeof(pairs));
	states = cycles->count = 0;
	begin(p, &s);
	return visit(p, &s, races, cycles);
}

/*
 * A thread whose turn may come, -1: none. Runs of one thread are likely; one that was signaled takes its mutex at once,
 * as it does in the real program.
 */
static int choose(const struct program *p, const struct state *s, int last)
{
	int can[THREADS], n = 0;
	for (int t = 0; t < p->threads; t++) {
		if (!enabled(p, s, t))
			continue;
		if (next_op(p, s, t)->kind == WAIT_END)
			return t;
		can[n++] = t;
	}
	if (!n)
		return -1;
	return enabled(p, s, last) && chance(50) ? last : can[below(n)];
}

bool model_run(const struct program *p, bool stuck, int order[STEPS], int *length, pairs races, bool blocked[STEPS],
               struct cycles *cycles)
{
	struct state s;
	bool ended = true;
	memset(races, 0, sizeof(pairs));
	memset(blocked, 0, STEPS);
	*length = cycles->count = 0;
	begin(p, &s);
	for (int t = choose(p, &s, 0); t >= 0; t = choose(p, &s, t)) {
		order[(*length)++] = next_op(p, &s, t)->id;
		execute(p, &s, t, races);
	}
	for (int t = 0; t < p->threads; t++) {
		const struct op *o = next_op(p, &s, t);
		ended = ended && (s.status[t] == UNBORN || s.status[t] == ENDED);
		if (o && o->kind != WAIT_END && o->kind != LEAVE)
			blocked[o->id] = true;
	}
	find_cycles(p, &s, cycles);
	return ended != stuck;
}
