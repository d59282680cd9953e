/* Loading a trace in two passes; see model.h and loader.h. */
#include "lib/trace/model.h"
#include "lib/trace/ownership.h"

#include "lib/base/assert.h"
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/trace/loader.h"
#include "lib/trace/machine.h"
#include "tracefmt/ahead.h"

#define BIT(op) (UINT64_C(1) << RT_OP_##op)
#define IGNORES (BIT(IGNORE_BEGIN) | BIT(IGNORE_END))
/* Of operations without a trait, those that determine which wait a thread is in. */
#define WAITS (BIT(BLOCK) | BIT(UNBLOCK) | BIT(ONCE_BEGIN) | BIT(END) | BIT(LONGJMP) | BIT(LOST))
/* Others that are kept. */
#define OTHERS                                                                                                         \
	(BIT(FENCE) | BIT(SEM_INIT) | BIT(ONCE_END) | BIT(HB_BEFORE) | BIT(HB_AFTER) | BIT(REGION_BEGIN) |             \
	 BIT(REGION_END))
/* What may be kept of what pass one reads, accesses aside. */
#define COUNTED (rt_ops_with(RT_ON_OBJECT | RT_WAITS) | WAITS | OTHERS | BIT(FORK) | BIT(ALLOC))
#define PASS_ONE                                                                                                       \
	(rt_ops_with(RT_READS | RT_WRITES | RT_RENEWS | RT_ON_OBJECT | RT_WAITS) | IGNORES | WAITS | OTHERS |          \
	 BIT(FORK) | BIT(BENIGN) | BIT(ALIAS))
/* Pass two skips these operations; REGIONS_FUNCTIONS and callers need the code events among them. */
#define CODE (BIT(ENTER) | BIT(LEAVE) | BIT(SETJMP) | BIT(LONGJMP))
#define PASS_TWO                                                                                                       \
	~(CODE | BIT(END) | BIT(TLS) | BIT(FREE) | BIT(DETACH) | BIT(MODULE_LOAD) | BIT(MODULE_UNLOAD) | BIT(BENIGN) | \
	  BIT(LOST) | BIT(FAULT) | BIT(SHARED))

/* And these if events are missing. */
#define LOSSES (BIT(LOST) | BIT(END) | BIT(DETACH) | BIT(TLS))

enum { BATCH = 1024, GRANULE = 8 };

_Static_assert(RT_OP_COUNT <= 64, "selection masks have 64 bits");

/* The event's site, with the callers that its position depends on. */
static struct model_site site_of(struct loader *l, const struct rt_event *e, uint32_t cells, uint8_t flags)
{
	const struct loader_thread *t = &l->threads[e->thread];
	struct model_site site = {.pc = e->pc,
	                          .cells = cells,
	                          .op = e->op,
	                          .order = e->order,
	                          .flags = (uint8_t)((e->flags & ~RT_F_VALUE) | flags)};
	if (!l->callers || !t->frame_count)
		return site;
	const struct activation *frame = &t->frames[t->frame_count - 1];
	bool own = own_code_has(&l->own, e->pc);
	site.caller = own ? 0 : frame->caller;
	if (rt_op_has(e->op, RT_TAKES))
		site.outer = own ? frame->caller : frame->outer;
	return site;
}

uint32_t loader_push(struct loader *l, const struct rt_event *e, uint32_t object, uint32_t cells, uint8_t flags,
                     bool begins)
{
	struct model *m = l->m;
	struct loader_thread *t = &l->threads[e->thread];
	uint32_t region = l->regions == REGIONS_FUNCTIONS ? loader_region(l, e->thread) : t->region;
	if (e->number > UINT32_MAX ||
	    !vec_reserve(&m->events, &l->event_capacity, (uint64_t)m->event_count + 2, sizeof *m->events)) {
		l->failed = true;
		return MODEL_NONE;
	}
	if (begins || t->stale) {
		if (!vec_reserve(&m->segments, &l->segment_capacity, (uint64_t)m->segment_count + 1,
		                 sizeof *m->segments)) {
			l->failed = true;
			return MODEL_NONE;
		}
		t->segment = m->segment_count;
		m->segments[m->segment_count++] = (struct model_segment){e->thread, t->pos, t->lockset, region};
		t->stale = false;
	}
	struct model_site site = site_of(l, e, cells, flags);
	m->events[m->event_count] = (struct model_event){.number = (uint32_t)e->number,
	                                                 .segment = t->segment,
	                                                 .object = object,
	                                                 .site = intern_site(&l->intern, &site),
	                                                 .pos = t->pos++};
	t->last = m->event_count;
	return m->event_count++;
}

void loader_arg(struct loader *l, uint32_t event, uint32_t value)
{
	struct model *m = l->m;
	if (event == MODEL_NONE)
		return;
	if (!vec_reserve(&m->args, &l->arg_capacity, (uint64_t)m->arg_count + 1, sizeof *m->args)) {
		l->failed = true;
		return;
	}
	m->args[m->arg_count++] = (struct model_arg){event, value};
}

static inline bool ignored(const struct loader_thread *t, unsigned op)
{
	return (t->ignored[0] && rt_op_reads(op)) || (t->ignored[1] && rt_op_writes(op));
}

/* Number of bytes that e, a renewal, renews. The rest of a heap block's last granule belongs to no one else. */
static inline uint64_t renewed(const struct rt_event *e)
{
	bool pads = e->op == RT_OP_ALLOC && e->addr % GRANULE == 0 && e->arg <= UINT64_MAX - GRANULE;
	return pads ? (e->arg + GRANULE - 1) / GRANULE * GRANULE : e->arg;
}

/* Counts loads in a row that pass two leaves out. It may leave out more: only what the thread does right behind one
 * another, with no write by any atomic operation in between, is counted here. */
static inline void count_spin(struct loader *l, struct spin *s, const struct rt_event *e)
{
	l->writes += rt_op_is_atomic(e->op) && rt_op_writes(e->op);
	if (e->op != RT_OP_ATOMIC_LOAD) {
		s->addr = 0;
	} else if (s->addr == e->addr && s->pc == e->pc && s->writes == l->writes) {
		l->spins += ++s->times > 2;
	} else {
		*s = (struct spin){e->addr, e->pc, l->writes, 1};
	}
}

/* True if the access is of an object that keeps the ownership rule. */
static inline bool is_left_out(const struct loader *l, const struct rt_event *e)
{
	return l->ownership && rt_op_is_access(e->op) && e->op != RT_OP_FENCE && !rt_op_is_atomic(e->op) &&
	       !(e->flags & RT_F_OBJECT) && !ownership_fails(l->ownership, e->addr, e->arg);
}

/* Positions depend on callers where library code has events, and where a lock is acquired under another. */
static inline void look_for_callers(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	if (rt_op_has(e->op, RT_TAKES))
		l->callers |= t->locks++ > 0;
	else if (rt_op_has(e->op, RT_RELEASES) && t->locks)
		t->locks--;
	l->callers |= !own_code_has(&l->own, e->pc);
}

static inline void pass_one(struct loader *l, const struct rt_event *e)
{
	struct loader_thread *t = &l->threads[e->thread];
	if (!t->seen) {
		t->seen = true;
		l->roots += !t->forked;
	}
	if (is_left_out(l, e)) {
		t->accesses_local |= e->addr - t->local < t->local_size;
		return;
	}
	if (l->m->program && !l->callers)
		look_for_callers(l, t, e);
	l->atomics += rt_op_is_atomic(e->op) && rt_op_is_access(e->op);
	count_spin(l, &t->spin, e);
	/* A call on an object is no access. */
	l->alloc_uses.number = rt_op_is_access(e->op) ? e->number : 0;
	l->alloc_uses.addr = e->addr;
	if (rt_op_is_access(e->op)) {
		t->accesses_local |= e->addr - t->local < t->local_size;
		if (e->flags & RT_F_FREE)
			l->failed |= !reused_add(&l->reused, e->addr, e->arg, true);
		if (!ignored(t, e->op))
			shadow_touch(&l->shadow, e->addr, e->arg, e->thread, rt_op_writes(e->op));
		return;
	}
	l->counted += COUNTED >> e->op & 1;
	blocked_event(l, e);
	if (rt_op_group(e->op) == RT_GROUP_SEMAPHORE && !t->ignored[2])
		semaphores_event(l, e);
	switch (e->op) {
	case RT_OP_FORK:
		l->shadow.forked = true;
		if (e->addr <= SHADOW_THREADS_MAX && (t = loader_thread(l, (uint32_t)e->addr)))
			t->forked = true;
		break;
	case RT_OP_IGNORE_BEGIN:
	case RT_OP_IGNORE_END:
		loader_ignore(t, e);
		break;
	case RT_OP_HB_AFTER:
		if (e->arg) {
			t->local = e->addr;
			t->local_size = e->arg;
		}
		break;
	case RT_OP_BENIGN:
		loader_benign(l, e->addr, e->arg);
		break;
	case RT_OP_LOST:
		l->lossy = true;
		break;
	case RT_OP_BEGIN:
	case RT_OP_ALLOC:
	case RT_OP_MAP:
	case RT_OP_UNMAP:
	case RT_OP_NEW_MEMORY:
		if (e->op == RT_OP_ALLOC)
			l->failed |= !reused_add(&l->reused, e->addr, e->arg, false);
		if (e->op == RT_OP_ALLOC && l->shadow.forked && !t->ignored[1])
			alloc_uses_alloc(l, e, renewed(e));
		else
			shadow_renew(&l->shadow, e->addr, renewed(e));
		break;
	default:
		if (e->flags & RT_F_OBJECT)
			loader_touch_object(l, e);
	}
}

static inline void pass_two(struct loader *l, const struct rt_event *e)
{
	if (l->gaps && (e->gap || !((BIT(READ) | BIT(WRITE)) >> e->op & 1)))
		loader_gap(l, e);
	if (l->threads[e->thread].forked_again)
		loader_forked_again(l, e);
	if (l->lossy && losses_need(e->op))
		l->failed |= !losses_add(&l->m->losses, e);
	if (is_left_out(l, e))
		return;
	if (rt_op_is_access(e->op)) {
		uint32_t from = l->m->event_count;
		if (!ignored(&l->threads[e->thread], e->op))
			loader_access(l, e);
		if (e->flags & RT_F_FREE && l->alloc_uses.use_count)
			alloc_uses_former(l, e, from);
		if (e->flags & RT_F_OBJECT && rt_op_writes(e->op))
			loader_new_objects(l, e->addr, 1);
		return;
	}
	switch (e->op) {
	case RT_OP_IGNORE_BEGIN:
	case RT_OP_IGNORE_END:
		loader_ignore(&l->threads[e->thread], e);
		break;
	case RT_OP_BEGIN:
	case RT_OP_ALLOC:
	case RT_OP_MAP:
	case RT_OP_UNMAP:
	case RT_OP_NEW_MEMORY:
		loader_renew(l, e->addr, renewed(e));
		loader_new_objects(l, e->addr, e->arg);
		if (l->alloc_uses.use_count)
			alloc_uses_former(l, e, l->m->event_count);
		if (e->op == RT_OP_ALLOC && l->alloc_uses.use_count)
			alloc_uses_keep_alloc(l, e);
		break;
	case RT_OP_TRY_FAILED:
		loader_try(l, e);
		break;
	case RT_OP_HB_BEFORE:
	case RT_OP_HB_AFTER:
		if (!e->arg || (e->thread < l->end_count && l->ends[e->thread].accesses_local))
			loader_sync(l, e);
		break;
	default:
		if (e->flags & RT_F_OBJECT && !ignored(&l->threads[e->thread], RT_OP_ATOMIC_LOAD))
			loader_use_object(l, e);
		loader_sync(l, e);
	}
}

static enum rt_status no_memory(const struct loader *l, struct rt_error *err)
{
	if (l && l->intern.held > INTERN_HELD_MAX)
		return rt_error_set(err, RT_EMEMORY,
		                    "too many locks are held at once: all sets of locks together have more than %d",
		                    INTERN_HELD_MAX);
	if (l && l->excess)
		return rt_error_set(err, RT_EMEMORY, "%s", l->excess);
	return rt_error_set(err, RT_EMEMORY, "no memory to load the trace: too many events or too much memory touched");
}

static enum rt_status admit(const struct loader *l, const struct model_options *options, const struct model_size *size,
                            struct rt_error *err)
{
	return options->admit ? options->admit(options->admit_arg, rt_trace_info(l->trace), size, err) : RT_OK;
}

/* Asks whether to go on, of what a pass knows so far. */
static enum rt_status admit_so_far(const struct loader *l, bool first, const struct model_options *options,
                                   struct rt_error *err)
{
	struct model_size size = l->m->size;
	if (first)
		size =
		    (struct model_size){.events = l->counted, .syncs = l->counted, .bytes = shadow_bytes(&l->shadow)};
	else
		size.bytes += loader_cell_bytes(l);
	return admit(l, options, &size, err);
}

/* An access is of the memory that is mapped where it is, piece by piece. */
static void pass_accesses(struct loader *l, void (*pass)(struct loader *, const struct rt_event *),
                          const struct rt_event *e)
{
	struct rt_event piece = *e, rest;
	while (rt_aliases_split(&l->aliases, &piece, &rest)) {
		pass(l, &piece);
		piece = rest;
	}
	pass(l, &piece);
}

/* Hands events to a pass. */
static enum rt_status pass_events(struct loader *l, void (*pass)(struct loader *, const struct rt_event *),
                                  struct rt_event *events, size_t n, struct rt_error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (events[i].thread >= l->thread_count && !loader_thread(l, events[i].thread))
			return l->failed ? no_memory(l, err)
			                 : rt_error_set(err, RT_EINPUT, "more threads than %d", SHADOW_THREADS_MAX);
		loader_contract(l, &events[i]);
		if (l->machine && pass == pass_one)
			l->failed |= !machine_look(l->machine, &events[i]);
		else if (l->machine)
			l->failed |= !machine_mend(l->machine, &events[i]);
		if (events[i].op == RT_OP_ALIAS)
			l->failed |= !rt_aliases_event(&l->aliases, &events[i]);
		else if (rt_aliases_apply(&l->aliases, &events[i]))
			pass_accesses(l, pass, &events[i]);
		else
			pass(l, &events[i]);
	}
	return l->failed || l->intern.failed || l->shadow.failed ? no_memory(l, err) : RT_OK;
}

static enum rt_status run_pass(struct loader *l, uint64_t select,
                               void (*pass)(struct loader *, const struct rt_event *), struct rt_event *batch,
                               const struct model_options *options, struct rt_error *err)
{
	enum { ASK = 1024 }; /* batches */
	l->aliases.count = 0;
	rt_trace_select(l->trace, select);
	enum rt_status status = rt_trace_rewind(l->trace, err);
	struct rt_ahead *ahead = !status && options->ahead ? rt_ahead_start(l->trace) : NULL;
	for (unsigned batches = 1; !status; batches++) {
		struct rt_event *events = batch;
		size_t n;
		status =
		    ahead ? rt_ahead_read(ahead, &events, &n, err) : rt_trace_read(l->trace, batch, BATCH, &n, err);
		if (!status && n && batches % ASK == 0)
			status = admit_so_far(l, pass == pass_one, options, err);
		if (status || !n)
			break;
		status = pass_events(l, pass, events, n, err);
	}
	rt_ahead_stop(ahead);
	return status;
}

static inline bool is_plain(enum rt_op op)
{
	return op == RT_OP_READ || op == RT_OP_WRITE;
}

/* Positions of each thread's and each cell's events. */
static bool make_room(struct loader *l)
{
	struct model *m = l->m;
	m->thread_count = l->thread_count;
	m->threads = calloc((size_t)m->thread_count + 1, sizeof *m->threads);
	uint32_t capacity = 0;
	if (!m->threads || !vec_open(&m->thread_events, &capacity, (uint64_t)m->event_count + 1, 4))
		return false;
	uint32_t first = 0;
	for (uint32_t i = 0; i < m->thread_count; i++) {
		const struct loader_thread *t = &l->threads[i];
		struct thread_end none = {0}, end = i < l->end_count ? l->ends[i] : none;
		m->threads[i] = (struct model_thread){
		    &m->thread_events[first], t->pos, t->fork, t->join, MODEL_NONE, t->call, end.ended, end.lost};
		first += t->pos;
	}
	uint64_t total = 0;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		m->cells[c].first = (uint32_t)total;
		total += m->cells[c].count;
		m->cells[c].count = 0;
	}
	return total < MODEL_NONE - 1 && vec_open(&m->cell_events, &capacity, total + 1, 4);
}

/* Locks that a thread other than their holder has released, and that were not taken since. */
static void mark_strays(struct loader *l)
{
	for (uint32_t i = 0; i < l->thread_count; i++)
		for (uint32_t k = 0; k < l->threads[i].held_count; k++)
			if (l->threads[i].held[k].stray)
				l->m->objects[l->threads[i].held[k].object].stray = true;
}

static bool loader_index(struct loader *l)
{
	mark_strays(l);
	struct model *m = l->m;
	uint32_t capacity = 0;
	if (!make_room(l) || !vec_open(&m->sync, &capacity, (uint64_t)m->event_count + 1, sizeof *m->sync) ||
	    !vec_open(&m->turns, &capacity, (uint64_t)m->event_count + 1, sizeof *m->turns))
		return false;
	uint32_t thread = MODEL_NONE;
	for (uint32_t i = 0; i < m->event_count; i++) {
		const struct model_event *e = &m->events[i];
		const struct model_site *site = &m->sites[e->site];
		if (m->segments[e->segment].thread != thread)
			m->turns[m->turn_count++] = (struct model_turn){i, m->segments[e->segment].thread};
		thread = m->segments[e->segment].thread;
		const uint32_t *events = m->threads[thread].events;
		m->thread_events[events - m->thread_events + e->pos] = i;
		for (uint32_t c = e->object; c < e->object + site->cells; c++)
			m->cell_events[m->cells[c].first + m->cells[c].count++] = i;
		if (is_plain(site->op))
			continue;
		if (site->op == RT_OP_BLOCK)
			m->threads[thread].block = i;
		m->ops |= UINT64_C(1) << site->op;
		m->sync[m->sync_count++] = i;
	}
	return true;
}

/* Reserves room for all events, if a file of this size can have as many; otherwise the arrays grow. */
static void open_events(struct loader *l)
{
	enum { EVENTS_A_BYTE = 64 };
	const struct rt_trace_info *info = rt_trace_info(l->trace);
	uint64_t kept = l->m->size.events,
	         most = kept / EVENTS_A_BYTE > info->file_bytes ? info->file_bytes * EVENTS_A_BYTE : kept;
	vec_open(&l->m->events, &l->event_capacity, most + 16, sizeof *l->m->events);
	vec_open(&l->m->segments, &l->segment_capacity, most / 2 + 16, sizeof *l->m->segments);
	vec_open(&l->m->regions, &l->region_capacity, most / 4 + 16, sizeof *l->m->regions);
}

/* Counts the reads that see another thread's write, one that sees several threads' for each. False without memory. */
static bool count_receives(struct model *m, uint32_t threads)
{
	uint32_t *writers = calloc((size_t)m->cell_count + 1, sizeof *writers); /* by cell: thread + 1 */
	uint32_t *readers = calloc((size_t)threads + 1, sizeof *readers);       /* by that: the last to see it */
	bool ok = writers && readers;
	for (uint32_t i = 0; ok && i < m->event_count; i++) {
		const struct model_event *e = &m->events[i];
		const struct model_site *site = &m->sites[e->site];
		uint32_t own = m->segments[e->segment].thread + 1;
		for (uint32_t c = e->object; rt_op_is_access(site->op) && c < e->object + site->cells; c++) {
			bool seen = rt_op_reads(site->op) && writers[c] && writers[c] != own;
			m->size.receives += seen && readers[writers[c]] != i + 1;
			if (seen)
				readers[writers[c]] = i + 1;
			if (rt_op_writes(site->op))
				writers[c] = own;
		}
	}
	free(writers);
	free(readers);
	return ok;
}

/* The sizes that pass two tells. */
static bool count_all(struct loader *l)
{
	struct model *m = l->m;
	m->size.cells = m->cell_count;
	m->size.values = m->value_count;
	m->size.syncs = 0;
	for (uint32_t i = 0; i < m->event_count; i++)
		m->size.syncs += !is_plain(m->sites[m->events[i].site].op);
	for (uint32_t c = 0; c < m->cell_count; c++)
		m->size.entries += m->cells[c].count;
	return count_receives(m, l->thread_count);
}

static enum rt_status load(struct loader *l, const struct model_options *options, struct rt_event *batch,
                           struct rt_error *err)
{
	uint32_t threads = rt_trace_info(l->trace)->thread_count;
	if (!shadow_init(&l->shadow) || !intern_init(&l->intern, l->m) || (threads && !loader_thread(l, threads - 1)))
		return no_memory(l, err);
	alloc_uses_init(l);
	if (options->objects) {
		struct model_granularity *g = &l->m->granularity;
		rt_trace_select(l->trace, RT_SELECT_ALL);
		enum rt_status owned = ownership_create(l->trace, &l->ownership, err);
		if (owned)
			return owned;
		ownership_counts(l->ownership, &g->objects, &g->shared, &g->refined);
	}
	enum rt_status status = run_pass(l, PASS_ONE, pass_one, batch, options, err);
	if (status)
		return status;
	reused_settle(&l->reused);
	l->early = l->roots > 1;
	size_t hidden;
	rt_trace_hidden_atomics(l->trace, &hidden);
	l->all_reads |= l->lossy || hidden;
	l->m->size.bytes = shadow_bytes(&l->shadow);
	if (!blocked_keep(l))
		return no_memory(l, err);
	loader_release_threads(l);
	if ((threads && !loader_thread(l, threads - 1)) || !loader_cut(l) || !alloc_uses_sort(l))
		return no_memory(l, err);
	struct model_size *size = &l->m->size;
	uint64_t accesses = l->all ? rt_trace_info(l->trace)->events : l->shadow.accesses;
	l->spins = l->spins > l->wanted_count ? l->spins - l->wanted_count : 0;
	accesses = accesses > l->spins ? accesses - l->spins : 0;
	uint64_t atomics = l->atomics - l->spins;
	size->events = l->counted + accesses;
	size->syncs = l->counted + (atomics < accesses ? atomics : accesses);
	if ((status = admit(l, options, size, err)))
		return status;
	open_events(l);
	bool code = l->regions == REGIONS_FUNCTIONS || l->callers || l->contract.of_caller;
	uint64_t more = (code ? CODE : 0) | (l->lossy ? LOSSES : 0) | (l->gaps ? BIT(END) : 0);
	status = run_pass(l, PASS_TWO | more, pass_two, batch, options, err);
	if (status)
		return status;
	losses_sort(&l->m->losses);
	size->bytes += loader_cell_bytes(l);
	if (!alloc_uses_settle(l) || !loader_compact(l))
		return no_memory(l, err);
	if (!count_all(l))
		return no_memory(l, err);
	if ((status = admit(l, options, size, err)))
		return status;
	if (!loader_index(l) || !loader_count_values(l) || !loader_updates(l) || !loader_guards(l))
		return no_memory(l, err);
	alloc_uses_finish(l);
	rt_assert(!model_broken(l->m));
	return RT_OK;
}

static enum rt_status load_once(struct rt_trace *trace, const struct model_options *options, struct handed *handed,
                                struct model **out, struct rt_error *err)
{
	struct loader *l = calloc(1, sizeof *l);
	struct rt_event *batch = malloc(BATCH * sizeof *batch);
	struct model *m = calloc(1, sizeof *m);
	struct machine machine = {.trace = trace};
	enum rt_status status;
	*out = NULL;
	if (!l || !batch || !m || !loader_objects_init(l)) {
		status = no_memory(l, err);
	} else {
		m->trace = trace;
		m->program = rt_trace_info(trace)->model == RT_MODEL_C11;
		l->trace = trace;
		l->own.trace = trace;
		l->m = m;
		l->regions = options->regions;
		m->part = options->part;
		l->all = options->all_cells;
		l->all_reads = options->all_reads;
		/* With values repeats see and leave the same, but for some that Valgrind recorded. */
		l->gaps = !rt_trace_info(trace)->values || rt_trace_info(trace)->binary;
		l->wanted = options->wanted;
		l->wanted_count = options->wanted_count;
		l->handed = handed;
		l->machine = rt_trace_info(trace)->binary ? &machine : NULL;
		status = load(l, options, batch, err);
		rt_trace_select(trace, RT_SELECT_ALL);
		shadow_release(&l->shadow);
		intern_release(&l->intern);
		loader_release_threads(l);
		free_all(l->now, l->touch, l->written, l->benign, l->ends);
		rt_aliases_release(&l->aliases);
		loader_objects_release(l);
		loader_contract_release(l);
		semaphores_release(l);
		alloc_uses_release(l);
		reused_release(&l->reused);
		ownership_free(l->ownership);
	}
	machine_release(&machine);
	free(batch);
	free(l);
	if (status)
		model_free(m);
	else
		*out = m;
	return status;
}

enum rt_status model_load(struct rt_trace *trace, const struct model_options *options, struct model **out,
                          struct rt_error *err)
{
	enum { TRIES = 4 };
	struct handed handed = {.entries = NULL};
	enum rt_status status = load_once(trace, options, &handed, out, err);
	/* Another load may find more of them; the last load's model is used as it is. */
	for (int i = 1; !status && handed.grew && i < TRIES; i++) {
		model_free(*out);
		handed.grew = false;
		status = load_once(trace, options, &handed, out, err);
	}
	handed_release(&handed);
	return status;
}
