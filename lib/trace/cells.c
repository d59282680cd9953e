/*
 * Cells. The shadow memory numbers the pieces between the cuts by address; each time that memory becomes new
 * (allocated, freed, mapped, declared new) and had been used, its pieces get new cells: generations. The cells of one
 * access are consecutive; an access across a border of generations becomes several events.
 *
 * Whether a generation was shared and written is known only at its end, so after pass two the events of those that were
 * not are taken out again (loader_compact).
 */
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

enum { TOUCH_SHARED = 1, TOUCH_WRITTEN = 2, TOUCH_OBJECT = 4, TOUCH_OWNER_SHIFT = 3 };
/* Pieces of all accesses together: at most the larger of the first and the second times the events. */
enum { ENTRIES_MAX = 1 << 25, ENTRIES_AN_EVENT = 64 };
#define TOUCH_LIVE(w) (((w)&3) == 3)

static void add_cell(void *arg, uint64_t addr, uint32_t size)
{
	struct loader *l = arg;
	struct model *m = l->m;
	if (!vec_reserve(&m->cells, &l->cell_capacity, (uint64_t)m->cell_count + 1, sizeof *m->cells) ||
	    !vec_reserve(&l->touch, &l->touch_capacity, (uint64_t)m->cell_count + 1, sizeof *l->touch) ||
	    !vec_reserve(&l->written, &l->written_capacity, (uint64_t)m->cell_count + 1, sizeof *l->written)) {
		l->failed = true;
		return;
	}
	m->cells[m->cell_count] = (struct model_cell){addr, size, 0, 0, MODEL_NONE, false};
	l->written[m->cell_count] = 0;
	l->touch[m->cell_count++] = 0;
}

uint64_t loader_cell_bytes(const struct loader *l)
{
	const uint64_t a_cell = sizeof *l->m->cells + sizeof *l->touch + sizeof *l->written;
	return (uint64_t)l->m->cell_count * a_cell + (l->now ? (uint64_t)l->shadow_cell_count * sizeof *l->now : 0);
}

static bool need_now(struct loader *l)
{
	if (l->now)
		return true;
	l->now = malloc(((size_t)l->shadow_cell_count + 1) * sizeof *l->now);
	for (uint32_t i = 0; l->now && i < l->shadow_cell_count; i++)
		l->now[i] = i;
	l->failed |= !l->now;
	return l->now;
}

void loader_benign(struct loader *l, uint64_t addr, uint64_t size)
{
	if (!vec_reserve(&l->benign, &l->benign_capacity, (uint64_t)l->benign_count + 1, sizeof *l->benign)) {
		l->failed = true;
		return;
	}
	l->benign[l->benign_count++] = (struct span){addr, addr + (size ? size : 1)};
}

bool loader_cut(struct loader *l)
{
	enum shadow_which which = l->all ? SHADOW_ALL : l->early ? SHADOW_EARLY : SHADOW_LATER;
	l->shadow_cell_count = shadow_cut(&l->shadow, which, add_cell, l);
	if (l->failed || l->shadow_cell_count == UINT32_MAX)
		return false;
	for (uint32_t b = 0; b < l->benign_count; b++) {
		uint32_t first, last;
		if (!shadow_cells(&l->shadow, l->benign[b].addr, l->benign[b].end - l->benign[b].addr, &first, &last))
			continue;
		if (!need_now(l))
			return false;
		for (uint32_t i = first; i <= last; i++)
			l->now[i] = MODEL_NONE;
	}
	return true;
}

/* True if the event may make later events of its thread wait for other threads. It then begins a segment. */
static bool may_acquire(const struct rt_event *e)
{
	enum { RELAXED = 0, RELEASE = 3 };
	return rt_op_is_atomic(e->op) && e->op != RT_OP_ATOMIC_STORE && e->order != RELAXED && e->order != RELEASE;
}

static void keep_value(struct loader *l, const struct rt_event *e, uint32_t event)
{
	struct model *m = l->m;
	struct model_values *v = &m->values;
	if (!e->arg || e->arg > sizeof e->value || (e->arg == sizeof e->value && reused_has(&l->reused, e->value)))
		return;
	if (!vec_reserve(&v->bits, &l->value_capacity, (uint64_t)m->value_count + 1, sizeof *v->bits) ||
	    !vec_extend(&v->has, &l->valued_capacity, (uint64_t)event / MODEL_VALUES_GROUP + 1, sizeof *v->has)) {
		l->failed = true;
		return;
	}
	v->has[event / MODEL_VALUES_GROUP] |= UINT64_C(1) << event % MODEL_VALUES_GROUP;
	v->bits[m->value_count++] = e->value >> 8 * (m->cells[m->events[event].object].addr - e->addr);
}

bool loader_count_values(struct loader *l)
{
	struct model *m = l->m;
	struct model_values *v = &m->values;
	uint32_t groups = m->event_count / MODEL_VALUES_GROUP + 1, count = 0;
	if (!m->value_count)
		return true;
	v->before = malloc(groups * sizeof *v->before);
	if (!v->before || !vec_extend(&v->has, &l->valued_capacity, groups, sizeof *v->has))
		return false;
	for (uint32_t i = 0; i < groups; i++) {
		v->before[i] = count;
		count += (uint32_t)__builtin_popcountll(v->has[i]);
	}
	return true;
}

/*
 * True if the access is a read that repeats the thread's last kept event: at the same place of the code, and it sees
 * the same write. Of such a row (a spin) the first two are kept. An anomaly of any of them is one of these: the events
 * of other threads cannot depend on a read. This is what is left of the "weaker than" relation (Choi et al., PLDI 2002)
 * for verdicts that a schedule proves. If the thread has other events in between, an early access may have no schedule
 * where a later one has. Those events would then see other writes. Nor is it so where what is no event may order some
 * reads of a row and not the others (all_reads).
 */
static bool repeats(const struct loader *l, const struct rt_event *e, uint32_t first, uint32_t last)
{
	const struct model *m = l->m;
	const struct loader_thread *t = &l->threads[e->thread];
	bool may = e->op == RT_OP_ATOMIC_LOAD || (e->op == RT_OP_READ && !l->all_reads);
	if (!may || !t->pos || t->stale || l->regions == REGIONS_FUNCTIONS || e->number >= l->alloc_uses.next_use)
		return false;
	const struct model_event *before = &m->events[t->last];
	const struct model_site *site = &m->sites[before->site];
	if (site->op != e->op || site->pc != e->pc || site->order != e->order || before->object != first ||
	    site->cells != last - first + 1 || ((site->flags ^ e->flags) & ~(RT_F_VALUE | MODEL_F_CUT)))
		return false;
	for (uint32_t c = first; c <= last; c++)
		if (l->written[c] > t->last)
			return false;
	return !(e->flags & RT_F_VALUE) || t->value == e->value;
}

/* True if the event is kept as one of a row, too. */
static bool is_wanted(const struct loader *l, const struct rt_event *e)
{
	for (uint32_t i = 0; i < l->wanted_count; i++)
		if (l->wanted[i].thread == e->thread && l->wanted[i].ordinal == e->ordinal)
			return true;
	return false;
}

/* True if the second of a row can represent the ones after it. Eraser's states distinguish a cell's reads until another
 * thread has accessed it. */
static bool represents_row(const struct loader *l, const struct rt_event *e, uint32_t first, uint32_t last)
{
	for (uint32_t c = first; c <= last && e->op == RT_OP_READ; c++)
		if (!(l->touch[c] & TOUCH_SHARED))
			return false;
	return true;
}

/* True if some bytes of the access have no cell. */
static bool is_cut(const struct loader *l, const struct rt_event *e, uint32_t first, uint32_t last)
{
	uint64_t bytes = 0;
	for (uint32_t c = first; c <= last; c++)
		bytes += l->m->cells[c].size;
	return bytes != e->arg;
}

static void keep(struct loader *l, const struct rt_event *e, uint32_t first, uint32_t last)
{
	struct loader_thread *t = &l->threads[e->thread];
	bool again = repeats(l, e, first, last);
	if (again && t->spun == t->last && !is_wanted(l, e)) {
		l->m->dropped++;
		return;
	}
	uint8_t cut = is_cut(l, e, first, last) ? MODEL_F_CUT : 0;
	uint32_t event = loader_push(l, e, first, last - first + 1, cut, may_acquire(e));
	if (event == MODEL_NONE)
		return;
	t->spun = again && represents_row(l, e, first, last) ? event : MODEL_NONE;
	t->value = e->flags & RT_F_VALUE ? e->value : 0;
	if (e->number >= l->alloc_uses.next_use)
		alloc_uses_keep_use(l, e, event);
	if (e->flags & RT_F_VALUE)
		keep_value(l, e, event);
	uint32_t lockset = l->m->segments[l->threads[e->thread].segment].lockset;
	uint32_t mark = rt_op_writes(e->op) ? TOUCH_WRITTEN : 0;
	l->entries += last - first + 1;
	if (l->entries > ENTRIES_MAX && l->entries / ENTRIES_AN_EVENT > e->number) {
		l->excess = "the accesses overlap in too many ways: cut at one another's ends they have more than 33 "
		            "million pieces";
		l->failed = true;
		return;
	}
	for (uint32_t c = first; c <= last; c++) {
		uint32_t owner = l->touch[c] >> TOUCH_OWNER_SHIFT;
		if (!owner)
			l->touch[c] = (e->thread + 1) << TOUCH_OWNER_SHIFT | mark;
		else
			l->touch[c] |= mark | (owner != e->thread + 1 ? (uint32_t)TOUCH_SHARED : 0);
		l->touch[c] |= l->all ? TOUCH_SHARED | TOUCH_WRITTEN : 0;
		if (mark)
			l->written[c] = event + 1;
		if (mark && l->touch[c] & TOUCH_OBJECT)
			loader_object_written(l, c);
		struct model_cell *cell = &l->m->cells[c];
		cell->lockset = !cell->count || cell->lockset == lockset ? lockset : MODEL_NONE;
		cell->count++;
	}
}

void loader_object_cell(struct loader *l, uint32_t cell)
{
	l->touch[cell] |= TOUCH_OBJECT;
}

void loader_access(struct loader *l, const struct rt_event *e)
{
	uint32_t first, last;
	if (!shadow_cells(&l->shadow, e->addr, e->arg, &first, &last)) {
		l->m->dropped++;
		return;
	}
	if (!l->now) {
		keep(l, e, first, last);
		return;
	}
	while (first <= last) {
		uint32_t run = first;
		while (run < last && l->now[run] != MODEL_NONE && l->now[run + 1] == l->now[run] + 1)
			run++;
		if (l->now[first] != MODEL_NONE)
			keep(l, e, l->now[first], l->now[run]);
		first = run + 1;
	}
}

void loader_renew(struct loader *l, uint64_t addr, uint64_t size)
{
	uint32_t first, last;
	struct model *m = l->m;
	if (!shadow_cells(&l->shadow, addr, size, &first, &last))
		return;
	bool used = false;
	for (uint32_t i = first; i <= last && !used; i++) {
		uint32_t cell = l->now ? l->now[i] : i;
		used = cell != MODEL_NONE && m->cells[cell].count;
		if (cell != MODEL_NONE)
			m->cells[cell].renewed |= !used;
	}
	if (!used || !need_now(l))
		return;
	if ((uint64_t)m->cell_count + (last - first) + 1 >= MODEL_NONE) {
		l->failed = true;
		return;
	}
	for (uint32_t i = first; i <= last && !l->failed; i++)
		if (l->now[i] != MODEL_NONE) {
			struct model_cell was = m->cells[l->now[i]];
			l->now[i] = m->cell_count;
			add_cell(l, was.addr, was.size);
			if (!l->failed)
				m->cells[m->cell_count - 1].renewed = true;
		}
}

uint32_t loader_first_thread(const struct loader *l, uint32_t cell)
{
	return (l->touch[cell] >> TOUCH_OWNER_SHIFT) - 1;
}

/* Shrinks an access to its live cells (from the first to the last), and notes if not all are; false if none is. Marks
 * those in between. value: the access's; NULL if it has none. */
static bool trim(struct loader *l, struct model_event *e, uint64_t *value)
{
	struct model_site site = l->m->sites[e->site];
	uint32_t first = e->object, last = first + site.cells - 1;
	bool cut = false;
	for (uint32_t c = first; c <= last; c++)
		cut |= !TOUCH_LIVE(l->touch[c]);
	while (first <= last && !TOUCH_LIVE(l->touch[first]))
		first++;
	if (first > last)
		return false;
	while (!TOUCH_LIVE(l->touch[last]))
		last--;
	if (!cut)
		return true;
	site.flags |= MODEL_F_CUT;
	site.cells = last - first + 1;
	if (value)
		*value >>= 8 * (l->m->cells[first].addr - l->m->cells[e->object].addr);
	e->object = first;
	e->site = intern_site(&l->intern, &site);
	return true;
}

/* Gives each event its new place in its thread. Dead events get the place of the next live one and no site. */
static uint32_t place(struct loader *l)
{
	struct model *m = l->m;
	const struct alloc_uses *b = &l->alloc_uses;
	uint32_t live = 0, held = 0, values = 0;
	for (uint32_t i = 0; i < l->thread_count; i++)
		l->threads[i].pos = 0;
	for (uint32_t i = 0; i < m->event_count; i++) {
		struct model_event *e = &m->events[i];
		struct model_segment *s = &m->segments[e->segment];
		uint64_t *value = values < m->value_count && model_has_value(m, i) ? &m->values.bits[values++] : NULL;
		bool dead = e->site == MODEL_NONE || (rt_op_is_access(m->sites[e->site].op) && !trim(l, e, value));
		while (held < b->held_count && b->held[held].from < i)
			held++;
		dead &= held == b->held_count || b->held[held].from != i;
		e->pos = l->threads[s->thread].pos;
		if (dead) {
			e->site = MODEL_NONE;
			m->dropped++;
			continue;
		}
		/* A segment begins with its first live event. */
		if (s->first == MODEL_NONE)
			s->first = e->pos;
		l->threads[s->thread].pos++;
		live++;
	}
	return live;
}

static void place_regions(struct model *m)
{
	for (uint32_t i = 0; i < m->region_count; i++) {
		struct model_region *r = &m->regions[i];
		r->first = r->first < m->event_count ? m->events[r->first].pos : 0;
		if (r->last == MODEL_NONE)
			continue;
		const struct model_event *e = r->last < m->event_count ? &m->events[r->last] : NULL;
		r->last = !e ? 0 : e->site != MODEL_NONE ? e->pos : e->pos ? e->pos - 1 : 0;
	}
}

/* Numbers the cells that are kept: live ones, those between two live ones of one access, and those of held events. */
static void renumber_cells(struct loader *l)
{
	struct model *m = l->m;
	for (uint32_t c = 0; c < m->cell_count; c++)
		l->touch[c] = TOUCH_LIVE(l->touch[c]);
	for (uint32_t i = 0; i < m->event_count; i++) {
		const struct model_event *e = &m->events[i];
		if (e->site != MODEL_NONE && rt_op_is_access(m->sites[e->site].op))
			for (uint32_t c = 1; c + 1 < m->sites[e->site].cells; c++)
				l->touch[e->object + c] = 1;
	}
	for (uint32_t i = 0; i < l->alloc_uses.held_count; i++) {
		const struct model_event *e = &m->events[l->alloc_uses.held[i].from];
		for (uint32_t c = 0; c < m->sites[e->site].cells; c++)
			l->touch[e->object + c] = 1;
	}
	uint32_t stay = 0;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		if (l->touch[c]) {
			m->cells[stay] = m->cells[c];
			m->cells[stay].count = 0;
		}
		stay += l->touch[c];
		l->touch[c] = stay - 1;
	}
	m->cell_count = stay;
}

/* True if the event had a value; it is marked as having none. */
static bool take_value(struct model *m, uint32_t e)
{
	bool has = model_has_value(m, e);
	m->values.has[e / MODEL_VALUES_GROUP] &= ~(UINT64_C(1) << e % MODEL_VALUES_GROUP);
	return has;
}

static void move_events(struct loader *l, uint32_t live)
{
	struct model *m = l->m;
	uint32_t to = 0, arg = 0, value = 0, values = 0, held = 0;
	for (uint32_t i = 0; i < m->event_count; i++) {
		struct model_event e = m->events[i];
		bool valued = value < m->value_count && take_value(m, i);
		value += valued;
		if (e.site == MODEL_NONE)
			continue;
		const struct model_site *site = &m->sites[e.site];
		if (rt_op_is_access(site->op)) {
			e.object = l->touch[e.object];
			for (uint32_t c = 0; c < site->cells; c++)
				m->cells[e.object + c].count++;
		}
		while (arg < m->arg_count && m->args[arg].event < i)
			arg++;
		if (arg < m->arg_count && m->args[arg].event == i)
			m->args[arg].event = to;
		if (valued) {
			m->values.has[to / MODEL_VALUES_GROUP] |= UINT64_C(1) << to % MODEL_VALUES_GROUP;
			m->values.bits[values++] = m->values.bits[value - 1];
		}
		struct alloc_uses *b = &l->alloc_uses;
		while (held < b->held_count && b->held[held].from < i)
			held++;
		if (held < b->held_count && b->held[held].from == i)
			b->held[held].to = to;
		if (site->op == RT_OP_ALLOC)
			alloc_uses_move_alloc(l, i, to);
		if (site->op == RT_OP_FORK && l->threads[e.object].fork == i)
			l->threads[e.object].fork = to;
		if (site->op == RT_OP_JOIN && l->threads[e.object].join == i)
			l->threads[e.object].join = to;
		m->events[to++] = e;
	}
	m->event_count = live;
	m->value_count = values;
}

/* True if every event is alive and every cell with events turned out shared and written. */
static bool all_live(const struct loader *l)
{
	if (l->thinned)
		return false;
	for (uint32_t c = 0; c < l->m->cell_count; c++)
		if (l->m->cells[c].count && !TOUCH_LIVE(l->touch[c]))
			return false;
	return true;
}

bool loader_compact(struct loader *l)
{
	struct model *m = l->m;
	if (all_live(l)) {
		place_regions(m);
		return true;
	}
	for (uint32_t i = 0; i < m->segment_count; i++)
		m->segments[i].first = MODEL_NONE;
	uint32_t live = place(l);
	place_regions(m);
	renumber_cells(l);
	move_events(l, live);
	return !l->failed && !l->intern.failed;
}
