/* Critical sections and their conflicts; see sections.h. */
#include "lib/relation/sections.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

/* The sections that a thread is in, oldest first. */
struct open_sections {
	uint32_t *items;
	uint32_t count, capacity;
};

static bool open_push(struct open_sections *o, uint32_t section)
{
	if (!vec_reserve(&o->items, &o->capacity, (uint64_t)o->count + 1, sizeof *o->items))
		return false;
	o->items[o->count++] = section;
	return true;
}

/* Removes the thread's section of the lock and returns it; MODEL_NONE if there is none. */
static uint32_t open_take(struct open_sections *o, const struct section *all, uint32_t lock)
{
	for (uint32_t i = o->count; i-- > 0;) {
		uint32_t section = o->items[i];
		if (all[section].lock != lock)
			continue;
		o->count--;
		memmove(&o->items[i], &o->items[i + 1], (o->count - i) * sizeof *o->items);
		return section;
	}
	return MODEL_NONE;
}

static void open_release(struct open_sections *threads, uint32_t count)
{
	for (uint32_t t = 0; threads && t < count; t++)
		free(threads[t].items);
	free(threads);
}

/* Finds the sections in trace order. */
static bool find(struct sections *s, const struct model *m, struct open_sections *open)
{
	uint32_t capacity = 0;
	for (uint32_t i = 0; i < m->sync_count; i++) {
		uint32_t e = m->sync[i], thread = model_thread_of(m, e), lock = model_lock_released(m, e);
		if (lock != MODEL_NONE) {
			uint32_t section = open_take(&open[thread], s->items, lock);
			if (section != MODEL_NONE)
				s->items[section].release = e;
		}
		lock = model_lock_taken(m, e);
		if (lock == MODEL_NONE)
			continue;
		if (!vec_reserve(&s->items, &capacity, (uint64_t)s->count + 1, sizeof *s->items) ||
		    !open_push(&open[thread], s->count))
			return false;
		s->items[s->count++] = (struct section){
		    .acquire = e,
		    .release = MODEL_NONE,
		    .lock = lock,
		    .thread = thread,
		    .place = s->place_first[lock + 1]++, /* counts; sort() turns them into positions */
		    .shared = model_op(m, e) == RT_OP_ACQUIRE_SHARED,
		};
	}
	return true;
}

static int by_thread(const void *a, const void *b)
{
	const struct section_group *x = a, *y = b;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* A counting sort by lock (`by_place`), then groups by thread within each lock. */
static bool sort(struct sections *s, const struct model *m)
{
	for (uint32_t o = 0; o < m->object_count; o++)
		s->place_first[o + 1] += s->place_first[o];
	s->by_place = malloc(((size_t)s->count + 1) * sizeof *s->by_place);
	s->sorted = malloc(((size_t)s->count + 1) * sizeof *s->sorted);
	s->groups = malloc(((size_t)s->count + 1) * sizeof *s->groups);
	uint32_t *group_of = malloc(((size_t)m->thread_count + 1) * sizeof *group_of);
	if (!s->by_place || !s->sorted || !s->groups || !group_of) {
		free(group_of);
		return false;
	}
	memset(group_of, 0xff, ((size_t)m->thread_count + 1) * sizeof *group_of);
	for (uint32_t i = 0; i < s->count; i++)
		s->by_place[s->place_first[s->items[i].lock] + s->items[i].place] = i;
	for (uint32_t o = 0; o < m->object_count; o++) {
		uint32_t first = s->place_first[o], end = s->place_first[o + 1], at = first;
		s->lock_first[o] = s->group_count;
		for (uint32_t i = first; i < end; i++) {
			uint32_t thread = s->items[s->by_place[i]].thread;
			if (group_of[thread] == MODEL_NONE) {
				group_of[thread] = s->group_count;
				s->groups[s->group_count++] = (struct section_group){o, thread, 0, 0};
			}
			s->groups[group_of[thread]].count++;
		}
		if (s->group_count > s->lock_first[o])
			qsort(&s->groups[s->lock_first[o]], s->group_count - s->lock_first[o], sizeof *s->groups,
			      by_thread);
		for (uint32_t g = s->lock_first[o]; g < s->group_count; g++) {
			group_of[s->groups[g].thread] = g;
			s->groups[g].first = at;
			at += s->groups[g].count;
			s->groups[g].count = 0;
		}
		for (uint32_t i = first; i < end; i++) {
			struct section_group *g = &s->groups[group_of[s->items[s->by_place[i]].thread]];
			s->sorted[g->first + g->count++] = s->by_place[i];
		}
		for (uint32_t g = s->lock_first[o]; g < s->group_count; g++)
			group_of[s->groups[g].thread] = MODEL_NONE;
	}
	s->lock_first[m->object_count] = s->group_count;
	free(group_of);
	return true;
}

/* Which locks are taken by one thread after the other, and which threads have taken one several times in a row. */
static bool find_turns(struct sections *s, const struct model *m)
{
	s->run = malloc(((size_t)s->count + 1) * sizeof *s->run);
	s->in_turn = malloc(((size_t)m->object_count + 1) * sizeof *s->in_turn);
	for (uint32_t o = 0; s->run && s->in_turn && o < m->object_count; o++) {
		uint32_t count = s->place_first[o + 1] - s->place_first[o];
		const uint32_t *history = s->by_place + s->place_first[o];
		s->in_turn[o] = true;
		for (uint32_t place = 0; place < count; place++) {
			const struct section *at = &s->items[history[place]];
			const struct section *before = place ? &s->items[history[place - 1]] : NULL;
			s->run[s->place_first[o] + place] =
			    before && before->thread == at->thread ? s->run[s->place_first[o] + place - 1] : place;
			s->in_turn[o] &= !at->shared && (!before || before->release < at->acquire);
		}
	}
	return s->run && s->in_turn;
}

uint32_t sections_newest_before(const struct sections *s, const struct model *m, const struct clocks *clocks,
                                uint32_t clock, const struct section *mine, uint32_t from)
{
	const uint32_t *history = s->by_place + s->place_first[mine->lock], *run = s->run + s->place_first[mine->lock];
	uint32_t newest = MODEL_NONE, step = 1, end = mine->place;
	/* In growing steps, as the last one is often near, then by halves. */
	for (bool growing = true; from < end;) {
		uint32_t left = end - from, at = from + (growing ? step < left ? step : left : (left + 1) / 2) - 1;
		uint32_t next = at + 1;
		if (s->items[history[at]].thread == mine->thread)
			at = run[at] > from ? run[at] - 1 : MODEL_NONE;
		const struct section *other = at == MODEL_NONE ? NULL : &s->items[history[at]];
		if (!other || clock_get(clocks, clock, other->thread) > m->events[other->acquire].pos) {
			newest = other ? history[at] : newest;
			from = next;
			step *= 2;
		} else {
			end = at;
			growing = false;
		}
	}
	return newest;
}

bool sections_init(struct sections *s, const struct model *m)
{
	*s = (struct sections){0};
	struct open_sections *open = calloc((size_t)m->thread_count + 1, sizeof *open);
	s->lock_first = calloc((size_t)m->object_count + 2, sizeof *s->lock_first);
	s->place_first = calloc((size_t)m->object_count + 2, sizeof *s->place_first);
	bool ok = open && s->lock_first && s->place_first && find(s, m, open) && sort(s, m) && find_turns(s, m);
	open_release(open, m->thread_count);
	if (!ok)
		sections_release(s);
	return ok;
}

void sections_release(struct sections *s)
{
	free_all(s->items, s->sorted, s->groups, s->lock_first, s->by_place, s->place_first, s->run, s->in_turn);
	*s = (struct sections){0};
}

/*
 * Conflicts. For each lock, cell and kind of access: the sections that made such an access, the newest first, one for
 * each thread. Two exclusive sections are enough: they are totally ordered, and an event ordered after another thread's
 * newest one is ordered after its older ones too. Readers' sections are not, so those of all threads are kept.
 */
enum { ACCESS_READ, ACCESS_WRITE, ACCESS_KINDS };

struct recent {
	uint32_t section, next; /* index + 1 in recents; 0: the end */
};

struct accessed {
	uint32_t lock, cell;
	uint32_t lists[ACCESS_KINDS][2]; /* [1]: readers' sections */
};

/* An access within some section. */
struct logged {
	uint32_t cell, kind;
};
struct log {
	struct logged *items;
	uint32_t count, capacity;
	uint32_t *begins; /* by place in the open sections: where the section's accesses begin */
	uint32_t begins_capacity;
};

/* The last entry of a cell in a log: its thread, and its position in the log. */
struct mark {
	uint32_t thread, at, round;
};

struct section_walk {
	const struct model *m;
	const struct sections *s;
	struct open_sections *open;
	struct log *logs;
	uint32_t *rounds; /* by thread: number of times its log was emptied; marks of older rounds are void */
	struct mark *marks[ACCESS_KINDS]; /* by cell */
	struct recent *recents;
	uint32_t recent_count, recent_capacity;
	struct accessed *table; /* open addressing; lock MODEL_NONE: free */
	uint32_t used, mask;
	uint32_t next; /* section that the next acquire opens */
};

static uint32_t hash(uint32_t lock, uint32_t cell)
{
	uint64_t h = ((uint64_t)lock << 32 | cell) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)((h ^ h >> 29) >> 16);
}

static struct accessed *lookup(const struct section_walk *w, uint32_t lock, uint32_t cell)
{
	uint32_t at = hash(lock, cell) & w->mask;
	while (w->table[at].lock != MODEL_NONE && (w->table[at].lock != lock || w->table[at].cell != cell))
		at = (at + 1) & w->mask;
	return &w->table[at];
}

static bool rehash(struct section_walk *w, uint32_t capacity)
{
	struct accessed *old = w->table;
	uint32_t old_capacity = old ? w->mask + 1 : 0;
	w->table = malloc(capacity * sizeof *w->table);
	if (!w->table) {
		w->table = old;
		return false;
	}
	w->mask = capacity - 1;
	memset(w->table, 0xff, capacity * sizeof *w->table); /* every lock is MODEL_NONE */
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i].lock != MODEL_NONE)
			*lookup(w, old[i].lock, old[i].cell) = old[i];
	free(old);
	return true;
}

void section_walk_free(struct section_walk *w)
{
	if (!w)
		return;
	open_release(w->open, w->m->thread_count);
	for (uint32_t t = 0; w->logs && t < w->m->thread_count; t++) {
		free(w->logs[t].items);
		free(w->logs[t].begins);
	}
	free_all(w->logs, w->rounds, w->marks[ACCESS_READ], w->marks[ACCESS_WRITE], w->recents, w->table, w);
}

struct section_walk *section_walk_create(const struct model *m, const struct sections *s)
{
	struct section_walk *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->m = m;
	w->s = s;
	w->open = calloc((size_t)m->thread_count + 1, sizeof *w->open);
	w->logs = calloc((size_t)m->thread_count + 1, sizeof *w->logs);
	w->rounds = malloc(((size_t)m->thread_count + 1) * sizeof *w->rounds);
	for (int k = 0; k < ACCESS_KINDS; k++)
		w->marks[k] = calloc((size_t)m->cell_count + 1, sizeof *w->marks[k]);
	if (!w->open || !w->logs || !w->rounds || !w->marks[0] || !w->marks[1] || !rehash(w, 1024)) {
		section_walk_free(w);
		return NULL;
	}
	for (uint32_t t = 0; t < m->thread_count; t++)
		w->rounds[t] = 1;
	return w;
}

/* The node of the list that this thread's new entry replaces, with the one before it; 0: a new node. */
static uint32_t node_for(const struct section_walk *w, uint32_t list, const struct section *mine, uint32_t *before)
{
	uint32_t length = 0;
	*before = 0;
	for (uint32_t node = list; node; node = w->recents[node - 1].next) {
		length++;
		if (w->s->items[w->recents[node - 1].section].thread == mine->thread || (!mine->shared && length == 2))
			return node;
		*before = node;
	}
	return 0;
}

/* Records that the section made such an access: moves it to the front of the list. */
static bool note(struct section_walk *w, uint32_t section, const struct logged *l)
{
	const struct section *mine = &w->s->items[section];
	if (w->used * 2 > w->mask && !rehash(w, (w->mask + 1) * 2))
		return false;
	struct accessed *a = lookup(w, mine->lock, l->cell);
	if (a->lock == MODEL_NONE) {
		*a = (struct accessed){.lock = mine->lock, .cell = l->cell};
		w->used++;
	}
	uint32_t *head = &a->lists[l->kind][mine->shared], before, node = node_for(w, *head, mine, &before);
	if (!node) {
		if (!vec_reserve(&w->recents, &w->recent_capacity, (uint64_t)w->recent_count + 1, sizeof *w->recents))
			return false;
		node = ++w->recent_count;
	} else if (before) {
		w->recents[before - 1].next = w->recents[node - 1].next;
	} else {
		*head = w->recents[node - 1].next;
	}
	w->recents[node - 1] = (struct recent){section, *head};
	*head = node;
	return true;
}

/* Calls conflict for the newest sections of other threads on a list. */
static void tell(const struct section_walk *w, uint32_t list, uint32_t section,
                 void (*conflict)(void *arg, uint32_t mine, uint32_t earlier), void *arg)
{
	const struct section *mine = &w->s->items[section];
	for (uint32_t node = list; node; node = w->recents[node - 1].next) {
		uint32_t earlier = w->recents[node - 1].section;
		if (w->s->items[earlier].thread == mine->thread)
			continue;
		conflict(arg, section, earlier);
		if (!w->s->items[earlier].shared)
			return; /* the older ones are before it */
	}
}

static void conflicts_of(const struct section_walk *w, uint32_t section, uint32_t cell, bool writes,
                         void (*conflict)(void *arg, uint32_t mine, uint32_t earlier), void *arg)
{
	const struct section *mine = &w->s->items[section];
	const struct accessed *a = lookup(w, mine->lock, cell);
	if (a->lock == MODEL_NONE)
		return;
	for (int shared = 0; shared < (mine->shared ? 1 : 2); shared++) {
		tell(w, a->lists[ACCESS_WRITE][shared], section, conflict, arg);
		if (writes)
			tell(w, a->lists[ACCESS_READ][shared], section, conflict, arg);
	}
}

/* Logs an access of a cell, unless the newest open section has logged it (then the older ones have, too). */
static bool log_access(struct section_walk *w, uint32_t thread, uint32_t cell, uint32_t kind)
{
	struct log *log = &w->logs[thread];
	struct mark *mark = &w->marks[kind][cell];
	if (mark->thread == thread && mark->round == w->rounds[thread] &&
	    mark->at >= log->begins[w->open[thread].count - 1])
		return true;
	if (!vec_reserve(&log->items, &log->capacity, (uint64_t)log->count + 1, sizeof *log->items))
		return false;
	*mark = (struct mark){thread, log->count, w->rounds[thread]};
	log->items[log->count++] = (struct logged){cell, kind};
	return true;
}

static bool walk_access(struct section_walk *w, uint32_t e,
                        void (*conflict)(void *arg, uint32_t mine, uint32_t earlier), void *arg)
{
	const struct model_event *event = &w->m->events[e];
	const struct model_site *site = &w->m->sites[event->site];
	uint32_t thread = model_thread_of(w->m, e);
	const struct open_sections *open = &w->open[thread];
	bool writes = rt_op_writes(site->op), ok = true;
	for (uint32_t cell = event->object; open->count && cell < event->object + site->cells && ok; cell++) {
		for (uint32_t i = 0; i < open->count; i++)
			conflicts_of(w, open->items[i], cell, writes, conflict, arg);
		if (rt_op_reads(site->op))
			ok = log_access(w, thread, cell, ACCESS_READ);
		if (writes && ok)
			ok = log_access(w, thread, cell, ACCESS_WRITE);
	}
	return ok;
}

static bool walk_acquire(struct section_walk *w, uint32_t e, uint32_t *section)
{
	uint32_t thread = model_thread_of(w->m, e);
	struct open_sections *open = &w->open[thread];
	struct log *log = &w->logs[thread];
	*section = w->next++;
	if (!open->count) {
		log->count = 0;
		w->rounds[thread]++;
	}
	if (!open_push(open, *section) ||
	    !vec_reserve(&log->begins, &log->begins_capacity, open->count, sizeof *log->begins))
		return false;
	log->begins[open->count - 1] = log->count;
	return true;
}

static bool walk_release(struct section_walk *w, uint32_t e, uint32_t lock, uint32_t *section)
{
	uint32_t thread = model_thread_of(w->m, e), place = 0;
	struct open_sections *open = &w->open[thread];
	struct log *log = &w->logs[thread];
	while (place < open->count && w->s->items[open->items[place]].lock != lock)
		place++;
	*section = open_take(open, w->s->items, lock);
	if (*section == MODEL_NONE)
		return true;
	for (uint32_t i = log->begins[place]; i < log->count; i++)
		if (!note(w, *section, &log->items[i]))
			return false;
	memmove(&log->begins[place], &log->begins[place + 1], (open->count - place) * sizeof *log->begins);
	return true;
}

bool section_walk_step(struct section_walk *w, uint32_t e, uint32_t *section,
                       void (*conflict)(void *arg, uint32_t mine, uint32_t earlier), void *arg)
{
	*section = MODEL_NONE;
	if (rt_op_is_access(model_op(w->m, e)))
		return walk_access(w, e, conflict, arg);
	if (model_lock_taken(w->m, e) != MODEL_NONE)
		return walk_acquire(w, e, section);
	uint32_t lock = model_lock_released(w->m, e);
	return lock == MODEL_NONE || walk_release(w, e, lock, section);
}
