/* The findings of a report, made of the anomalies that are joined; see findings.h. */
#include "lib/report/findings.h"

#include "lib/report/baseline.h"
#include "lib/report/declaration.h"
#include "lib/report/digest.h"
#include "lib/report/finding_variable.h"
#include "lib/report/follows.h"
#include "lib/report/joining.h"
#include "lib/report/suppress.h"
#include "lib/report/waiting.h"
#include "lib/trace/snippet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a place that reads and writes, the write stands for both. */
static void add_place(const struct joining *j, struct finding *f, uint32_t e)
{
	struct finding_place added = {.place = place_of(j->r, e),
	                              .op = model_op(j->m, e),
	                              .e = e,
	                              .guarded = f->guard.lock != MODEL_NONE && guard_is_held(j->m, e, f->guard.lock)};
	uint64_t key = place_key(&added.place);
	size_t i = 0;
	while (i < f->place_count && place_key(&f->places[i].place) != key)
		i++;
	if (i < f->place_count) {
		struct finding_place *known = &f->places[i];
		bool same = model_thread_of(j->m, known->e) == model_thread_of(j->m, e);
		bool reads = known->reads || (same && (!rt_op_writes(known->op) || !rt_op_writes(added.op)));
		if (rt_op_writes(added.op) && !rt_op_writes(known->op))
			*known = added;
		known->reads = reads;
		return;
	}
	f->place_total++;
	if (f->place_count < FINDING_PLACES_MAX)
		f->places[f->place_count++] = added;
}

/* The lock, as an event of the finding knows it that holds it; NULL: none does. */
static const struct held_lock *held_in(const struct joining *j, const struct finding *f, uint64_t addr)
{
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = j->r->entries[f->entries[i]].anomaly;
		for (uint32_t k = 0; k < a->event_count; k++) {
			const struct description *d = report_event(j->r, a->events[k]);
			for (size_t l = 0; d && l < d->lock_count; l++)
				if (d->locks[l].addr == addr)
					return &d->locks[l];
		}
	}
	return NULL;
}

static void name_guard(const struct joining *j, struct finding *f)
{
	uint64_t addr = j->m->objects[f->guard.lock].addr;
	const struct held_lock *held = held_in(j, f, addr);
	subject_object_name(j->r, addr, held ? &held->block : NULL, f->guard_name);
	snprintf(f->guard_written, sizeof f->guard_written, "%s", f->guard_name);
	snprintf(f->guard_words, sizeof f->guard_words, "%s", f->guard_name);
	if (held)
		declaration_held(j->r, held, f->guard_written, f->guard_words);
}

/* True if both are members of one object, by their names: "Account::m" beside "Account::balance", "pool.lock" beside
 * "pool.list.head". */
static bool is_beside(const char *lock, const char *variable)
{
	const char *dot = strrchr(lock, '.'), *type = strstr(lock, "::");
	size_t n = dot ? (size_t)(dot + 1 - lock) : type && !strstr(type + 2, "::") ? (size_t)(type + 2 - lock) : 0;
	return n && !strncmp(lock, variable, n);
}

/*
 * True if the lock may be meant to guard the variable. Then it is held at the write e, or is a member of the same
 * object, or half of the accesses hold it, by two threads if there are more, or there are too few to tell. Any other
 * one that a reader happens to hold says nothing.
 */
static bool may_be_guard(const struct joining *j, const struct finding *f, uint32_t e, uint32_t lock, const char *name)
{
	enum { FEW = 10 };
	uint32_t n = 0, cell = j->members[f->entries[0]].cell;
	uint64_t of = 0;
	struct subject s;
	const struct anomaly *a = j->r->entries[f->entries[0]].anomaly;
	if (rt_op_writes(model_op(j->m, e)) || is_beside(name, f->member) ||
	    (!f->member[0] && subject_of(j->r, a, &s) && !strcmp(s.kind, "global") && strchr(s.name, '.') &&
	     is_beside(name, s.name)))
		return true;
	const struct guard_count *counts = cell == MODEL_NONE ? NULL : guard_counts(j->guards, cell, &n, &of);
	for (uint32_t i = 0; i < n && of >= FEW; i++)
		if (counts[i].lock == lock)
			return counts[i].held * 2 >= of && (counts[i].shared || f->uses.threads <= 2);
	return of < FEW;
}

/* The lock of a set that has this address; MODEL_NONE: none has. */
static uint32_t lock_at(const struct model *m, uint32_t lockset, uint64_t addr)
{
	const struct model_lockset *set = &m->locksets[lockset];
	for (uint32_t i = 0; i < set->count; i++)
		if (m->objects[set->locks[i].object].addr == addr)
			return set->locks[i].object;
	return MODEL_NONE;
}

/* Of a race, the side that lacks the guard or, where there is none, the other side's innermost lock. */
static void find_lacking(const struct joining *j, struct finding *f)
{
	const struct anomaly *a = j->r->entries[f->entries[0]].anomaly;
	f->lacking = 2;
	if (a->kind != ANOMALY_RACE || a->event_count != 2)
		return;
	if (f->guard.lock != MODEL_NONE) {
		bool held[2] = {guard_is_held(j->m, a->events[0], f->guard.lock),
		                guard_is_held(j->m, a->events[1], f->guard.lock)};
		snprintf(f->lacked, sizeof f->lacked, "%s", f->guard_words);
		if (held[0] != held[1]) {
			f->lacking = held[0];
			return;
		}
	}
	for (uint32_t s = 0; s < 2; s++) {
		const struct description *own = report_event(j->r, a->events[s]),
		                         *other = report_event(j->r, a->events[!s]);
		if (!own || !other || own->lock_count || !other->lock_count)
			continue;
		const struct held_lock *innermost = &other->locks[other->lock_count - 1];
		uint32_t lock = lock_at(j->m, model_lockset_of(j->m, a->events[!s]), innermost->addr);
		char written[SUBJECT_NAME_MAX], words[SUBJECT_NAME_MAX];
		declaration_held(j->r, innermost, written, words);
		if (lock == MODEL_NONE || !may_be_guard(j, f, a->events[!s], lock, words))
			continue;
		snprintf(f->lacked, sizeof f->lacked, "%s", words);
		f->lacking = s;
		return;
	}
}

/* Of a deadlock of locks on a stack or the heap: what the lines of its first thread acquire. */
static void name_cycle(const struct joining *j, struct finding *f)
{
	const struct anomaly *a = j->r->entries[f->entries[0]].anomaly;
	const struct description *d = report_event(j->r, a->events[0]);
	struct rt_variable variable;
	if (a->kind != ANOMALY_DEADLOCK || a->event_count != 2 || !d || waiting_op(d) ||
	    rt_trace_object_name(j->r->analysis->trace, d->event.addr) ||
	    rt_trace_variable(j->r->analysis->trace, d->event.addr, &variable))
		return;
	/* Of the locks that it holds, the one that the other thread waits for. */
	const struct description *other = report_event(j->r, a->events[1]);
	const struct held_lock *held = NULL;
	for (size_t i = 0; other && i < d->lock_count; i++)
		if (d->locks[i].addr == (other->event.op == RT_OP_WAIT_END ? other->event.arg : other->event.addr))
			held = &d->locks[i];
	const struct description *taken = held ? place_taken(j->r, held) : NULL;
	char member[2][EXPRESSION_MAX];
	if (!held || !place_locked(j->r, d, f->wanted) || !place_locked(j->r, taken, f->held)) {
		f->wanted[0] = f->held[0] = '\0';
		return;
	}
	if (!declaration_of_lock(j->r, d, f->wanted, member[0]) ||
	    !declaration_of_lock(j->r, taken, f->held, member[1]))
		return;
	if (!strcmp(member[0], member[1])) { /* two of one kind are told apart by what they are reached by */
		memcpy(f->member, member[0], sizeof f->member);
	} else {
		memcpy(f->wanted, member[0], sizeof f->wanted);
		memcpy(f->held, member[1], sizeof f->held);
	}
}

/* A user place as the next build has it: without its line. */
static uint64_t stable_place(const struct place *place)
{
	XXH3_state_t state;
	const struct rt_frame *frame = place->frame;
	XXH3_64bits_reset(&state);
	digest_text(&state, frame && frame->file ? subject_basename(frame->file) : NULL);
	digest_text(&state, frame ? frame->function : NULL);
	digest_text(&state, frame ? frame->text : NULL);
	return XXH3_64bits_digest(&state);
}

/* The same of a variable: a global's name, or the function that allocates its block. */
static uint64_t stable_variable(const struct report *r, const struct anomaly *a)
{
	struct subject s;
	char name[SUBJECT_NAME_MAX];
	const struct description *alloc = NULL;
	subject_lasting_name(r, a, name);
	if (!name[0] && subject_of(r, a, &s) && s.block.alloc)
		alloc = description_of(r->descriptions, s.block.alloc);
	if (alloc) {
		struct place place = place_of_allocation(r, alloc);
		return stable_place(&place);
	}
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_text(&state, name);
	return XXH3_64bits_digest(&state);
}

/*
 * By kind, variable and functions: lines do not count, so that it stays the same when lines are added above. What
 * containers keep has no name.
 */
static uint64_t stable_key(const struct joining *j, const struct finding *f)
{
	size_t first = f->entries[0];
	const struct anomaly *a = j->r->entries[first].anomaly;
	uint64_t keys[ANOMALY_EVENTS_MAX + 2];
	for (uint32_t i = 0; i < a->event_count; i++) {
		struct place place = place_of(j->r, a->events[i]);
		keys[2 + i] = stable_place(&place);
	}
	keys[0] = (uint64_t)a->kind;
	keys[1] = j->members[first].identity ? stable_variable(j->r, a) : 0;
	return joining_stable_key(keys, 2 + digest_distinct(keys + 2, a->event_count));
}

static uint64_t line_of(const struct place *place)
{
	enum { FILE_SHIFT = 32 };
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	if (!place->frame || !place->frame->file)
		return place->pc;
	digest_text(&state, subject_basename(place->frame->file));
	return XXH3_64bits_digest(&state) << FILE_SHIFT | place->frame->line;
}

static int compare_lines(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	if ((uint32_t)x != (uint32_t)y)
		return (uint32_t)x < (uint32_t)y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Returns the number of lines. */
static uint32_t find_lines(const struct joining *j, const struct anomaly *a, uint64_t lines[FINDING_LINES_MAX])
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < a->event_count && n < FINDING_LINES_MAX; i++) {
		struct place place = place_of(j->r, a->events[i]);
		lines[n++] = line_of(&place);
	}
	qsort(lines, n, sizeof *lines, compare_lines);
	return n;
}

static void find_shown(const struct joining *j, const struct finding *f, struct finding_identity *id)
{
	for (size_t i = 0; i < f->entry_count && id->shown_count < FINDING_SHOWN_MAX; i++) {
		const struct report_entry *e = &j->r->entries[f->entries[i]];
		uint64_t lines[FINDING_LINES_MAX], key;
		uint32_t n = find_lines(j, e->anomaly, lines), at = id->shown_count;
		XXH3_state_t state;
		XXH3_64bits_reset(&state);
		digest_text(&state, e->fingerprint);
		for (uint32_t k = 0; k < n; k++)
			digest_number(&state, lines[k]);
		key = XXH3_64bits_digest(&state);
		for (; at > 0 && id->shown[at - 1] > key; at--)
			id->shown[at] = id->shown[at - 1];
		id->shown[at] = key;
		id->shown_count++;
	}
}

static void identify(const struct joining *j, struct finding *f)
{
	const struct anomaly *a = j->r->entries[f->entries[0]].anomaly;
	struct finding_identity *id = &f->identity;
	id->stable = stable_key(j, f);
	id->line_count = find_lines(j, a, id->lines);
	find_shown(j, f, id);
}

static bool show_same(const struct finding_identity *a, const struct finding_identity *b)
{
	for (uint32_t i = 0, k = 0; i < a->shown_count && k < b->shown_count;)
		if (a->shown[i] == b->shown[k])
			return true;
		else if (a->shown[i] < b->shown[k])
			i++;
		else
			k++;
	return false;
}

bool finding_identities_match(const struct finding_identity *a, const struct finding_identity *b)
{
	for (uint32_t i = 0; i < a->line_count && a->stable == b->stable; i++)
		for (uint32_t k = 0; k < b->line_count; k++)
			if (a->lines[i] == b->lines[k])
				return true;
	return (a->stable == b->stable && !a->line_count && !b->line_count) || show_same(a, b);
}

int finding_identities_compare(const struct finding_identity *a, const struct finding_identity *b)
{
	for (uint32_t i = 0; i < a->line_count && i < b->line_count; i++) {
		int order = compare_lines(&a->lines[i], &b->lines[i]);
		if (order)
			return order;
	}
	return a->line_count < b->line_count ? -1 : a->line_count > b->line_count;
}

void finding_fingerprint(const struct finding_identity *identity, uint32_t number, char fingerprint[17])
{
	snprintf(fingerprint, 17, "%016" PRIx64, joining_stable_key((uint64_t[]){identity->stable, number}, 2));
}

static int compare_identities(const void *a, const void *b, void *arg)
{
	const size_t *x = a, *y = b;
	const struct finding *items = arg;
	int order = finding_identities_compare(&items[*x].identity, &items[*y].identity);
	return order ? order : *x < *y ? -1 : *x > *y;
}

/* Of findings that agree in all that is stable, each has its number among them, by lines: a verdict does not count. */
static void print_fingerprints(struct joining *j, struct findings *out)
{
	size_t *order = calloc(out->count + 1, sizeof *order);
	if (!order)
		j->no_memory = true;
	for (size_t i = 0; order && i < out->count; i++) {
		identify(j, &out->items[i]);
		order[i] = i;
	}
	if (order)
		qsort_r(order, out->count, sizeof *order, compare_identities, out->items);
	for (size_t i = 0; order && i < out->count && !j->no_memory; i++) {
		struct finding *f = &out->items[order[i]];
		uint32_t before;
		if (joining_count(j, f->identity.stable, f->entries[0], &before))
			finding_fingerprint(&f->identity, before, f->fingerprint);
	}
	free(order);
}

/*
 * True if the event of the finding's i-th anomaly is at the memory of its race: an ASV that is joined to that has
 * another variable, too. What no anomaly was asked about is that.
 */
static bool is_about(const struct joining *j, const struct finding *f, size_t i, uint32_t e)
{
	const struct anomaly *a = j->r->entries[f->entries[i]].anomaly, *first = j->r->entries[f->entries[0]].anomaly;
	const struct description *d[2] = {NULL, report_event(j->r, e)};
	uint64_t addr[2] = {0, d[1] ? d[1]->event.addr : 0}, made[2];
	const struct memory_place *m[2];
	uint32_t met;
	if (a->kind == ANOMALY_RACE || first->kind != ANOMALY_RACE || !subject_meeting(j->m, first, &met, &addr[0]) ||
	    j->m->events[e].object == subject_cell(j->m, a))
		return true;
	d[0] = report_event(j->r, met);
	for (int k = 0; k < 2; k++) {
		m[k] = d[k] && rt_op_is_access(d[k]->event.op) ? description_place(d[k], addr[k]) : NULL;
		const struct description *alloc = m[k] ? description_of(j->r->descriptions, m[k]->block.alloc) : NULL;
		struct place place = alloc ? place_of_allocation(j->r, alloc) : (struct place){.pc = 0};
		made[k] = alloc ? place_key(&place) : 0;
	}
	return m[0] && m[1] && m[0]->kind == m[1]->kind && made[0] == made[1];
}

static void fill(struct joining *j, struct finding *f)
{
	const struct anomaly *first = j->r->entries[f->entries[0]].anomaly;
	f->guard.lock = MODEL_NONE;
	f->level = j->members[f->entries[0]].level;
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = j->r->entries[f->entries[i]].anomaly;
		bool counts = j->members[f->entries[i]].level == f->level && a->verdict > f->verdict;
		f->verdict = counts ? a->verdict : f->verdict;
		const struct guard *guard = &j->members[f->entries[i]].guard;
		f->kinds |= UINT32_C(1) << a->kind;
		if (guard->lock != MODEL_NONE && guard->held > (f->guard.lock == MODEL_NONE ? 0 : f->guard.held))
			f->guard = *guard;
	}
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = j->r->entries[f->entries[i]].anomaly;
		for (uint32_t k = 0; k < a->event_count; k++)
			if (is_about(j, f, i, a->events[k]))
				add_place(j, f, a->events[k]);
	}
	if (f->guard.lock != MODEL_NONE)
		name_guard(j, f);
	name_cycle(j, f);
	uint32_t cell = j->members[f->entries[0]].cell;
	if (cell != MODEL_NONE)
		j->no_memory |= !uses_of(j->m, j->guards->por, cell, first->events, first->event_count, &f->uses);
	finding_name_variable(j, f);
	find_lacking(j, f);
}

static bool is_sure_race(const struct anomaly *a)
{
	return a->kind == ANOMALY_RACE && a->verdict >= VERDICT_PROVED && !a->follows;
}

/* The highest level first, then what is sure of a race, as it is the simpler thing to say and to mend than what else
 * the lack of a lock allows; then the strongest verdict, then the most likely harm. */
static int compare_members(const void *a, const void *b, void *joining)
{
	const struct joining *j = joining;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct report_entry *x = &j->r->entries[i], *y = &j->r->entries[k];
	if (j->members[i].level != j->members[k].level)
		return j->members[i].level > j->members[k].level ? -1 : 1;
	if (is_sure_race(x->anomaly) != is_sure_race(y->anomaly))
		return is_sure_race(x->anomaly) ? -1 : 1;
	if (x->anomaly->verdict != y->anomaly->verdict)
		return x->anomaly->verdict > y->anomaly->verdict ? -1 : 1;
	if (x->anomaly->follows != y->anomaly->follows)
		return x->anomaly->follows ? 1 : -1;
	return (x > y) - (x < y);
}

static int compare_findings(const void *a, const void *b, void *entries)
{
	const struct finding *x = a, *y = b;
	const struct report_entry *p = (struct report_entry *)entries + x->entries[0];
	const struct report_entry *q = (struct report_entry *)entries + y->entries[0];
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	if (p->anomaly->follows != q->anomaly->follows)
		return p->anomaly->follows ? 1 : -1;
	if (p->rank.value < q->rank.value || p->rank.value > q->rank.value)
		return p->rank.value > q->rank.value ? -1 : 1;
	return (p > q) - (p < q);
}

/* Lays out the groups' members one after the other. False without memory. */
static bool lay_out(struct joining *j, struct findings *out)
{
	size_t n = j->r->count, used = 0;
	size_t *counts = calloc(n + 1, sizeof *counts), *finding = calloc(n + 1, sizeof *finding);
	out->members = calloc(n + 1, sizeof *out->members);
	bool ok = counts && finding && out->members;
	for (size_t i = 0; ok && i < n; i++)
		out->count += counts[joining_group(j, i)]++ == 0;
	out->items = ok ? calloc(out->count + 1, sizeof *out->items) : NULL;
	ok = ok && out->items;
	size_t next = 0;
	for (size_t i = 0; ok && i < n; i++) {
		if (joining_group(j, i) != i)
			continue;
		finding[i] = next;
		out->items[next++].entries = out->members + used;
		used += counts[i];
	}
	for (size_t i = 0; ok && i < n; i++) {
		struct finding *f = &out->items[finding[joining_group(j, i)]];
		out->members[(size_t)(f->entries - out->members) + f->entry_count++] = i;
	}
	free(counts);
	free(finding);
	return ok;
}

/* The entry that a cause is listed as; r->count: none. *known remembers it, plus one. */
static size_t entry_of_cause(const struct report *r, const char *id, size_t *known)
{
	for (size_t k = 0; !*known && k < r->count; k++)
		if (!strcmp(r->entries[k].id, id))
			*known = k + 1;
	if (!*known)
		*known = r->count + 1;
	return *known - 1;
}

/* Of a finding all of whose races follow from others: the finding of the first cause. False without memory. */
static bool find_causes(const struct report *r, struct findings *out)
{
	size_t *of = calloc(r->count + 1, sizeof *of);
	size_t *known = calloc((size_t)r->analysis->causes.count + 1, sizeof *known);
	bool ok = of && known;
	for (size_t i = 0; ok && i < out->count; i++)
		for (size_t k = 0; k < out->items[i].entry_count; k++)
			of[out->items[i].entries[k]] = i;
	for (size_t i = 0; ok && i < out->count; i++) {
		const struct anomaly *a = r->entries[out->items[i].entries[0]].anomaly;
		const char *under = a->follows ? follows_under(r, a) : "";
		if (!*under)
			continue;
		size_t cause = (size_t)(under - r->cause_ids[0]) / sizeof r->cause_ids[0];
		size_t entry = entry_of_cause(r, under, &known[cause]);
		if (entry < r->count && of[entry] != i)
			out->items[i].follows = &out->items[of[entry]];
	}
	free(of);
	free(known);
	return ok;
}

enum rt_status findings_create(struct report *r, struct findings **out, struct rt_error *err)
{
	struct joining j = {
	    .r = r, .m = r->analysis->model, .guards = &r->guards, .members = calloc(r->count + 1, sizeof *j.members)};
	struct findings *f = calloc(1, sizeof *f);
	j.no_memory = !j.members || !f;
	if (!j.no_memory)
		joining_run(&j);
	if (!j.no_memory)
		j.no_memory = !lay_out(&j, f);
	for (size_t i = 0; !j.no_memory && i < f->count; i++) {
		qsort_r(f->members + (f->items[i].entries - f->members), f->items[i].entry_count, sizeof *f->members,
		        compare_members, &j);
		fill(&j, &f->items[i]);
	}
	if (!j.no_memory) {
		qsort_r(f->items, f->count, sizeof *f->items, compare_findings, r->entries);
		j.no_memory = !find_causes(r, f);
		print_fingerprints(&j, f);
	}
	for (size_t i = 0; !j.no_memory && i < f->count; i++) {
		snprintf(f->items[i].id, sizeof f->items[i].id, "F%zu", i + 1);
		struct finding *item = &f->items[i];
		item->suppressed = r->suppressions && suppressions_match(r->suppressions, r, item);
		item->known = item->suppressed || (r->baseline && baseline_has(r->baseline, item->fingerprint));
		f->suppressed += item->suppressed;
		f->known += item->known && !item->suppressed;
		f->levels[item->level] += !item->known;
	}
	joining_release(&j);
	j.no_memory |= r->sources->no_memory;
	free(j.members);
	if (j.no_memory) {
		findings_free(f);
		return rt_error_set(err, RT_EMEMORY, "no memory for the findings");
	}
	*out = f;
	return RT_OK;
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	free(f->items);
	free(f->members);
	free(f);
}

bool finding_is_under(const struct finding *f)
{
	return f->follows && f->follows->level > LEVEL_NOTE && !f->follows->known && !f->follows->follows;
}

size_t findings_count(const struct findings *f, size_t levels[LEVELS])
{
	size_t under = 0;
	memcpy(levels, f->levels, sizeof f->levels);
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *item = &f->items[i];
		if (item->level == LEVEL_NOTE || item->known || !finding_is_under(item))
			continue;
		levels[item->level]--;
		under++;
	}
	return under;
}
