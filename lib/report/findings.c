/*
 * Joining anomalies; see findings.h. Each anomaly has a few keys, and those that share one belong together:
 *  - a race: its variable and the functions of its two user places; its variable and the function that lacks the lock
 * which the other side holds; where one place races with many, its variable and that place;
 *  - an atomicity violation or ASV: that of a race among its events, if there is one; else the variable and the places
 *    of the thread whose region it is, or the two functions;
 *  - a deadlock or hang: its places.
 * What containers keep has no name of its own: of accesses that both are in a library's code the places alone count.
 */
#include "lib/report/findings.h"

#include "lib/base/hash.h"
#include "lib/report/baseline.h"
#include "lib/report/digest.h"
#include "lib/report/follows.h"
#include "lib/report/suppress.h"
#include "lib/trace/snippet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3 }; /* one place against this many others is one cause */

enum key_kind {
	KEY_PAIR,
	KEY_LACKS,
	KEY_ONE,
	KEY_DEGREE,
	KEY_PARTNER,
	KEY_REGION,
	KEY_FUNCTIONS,
	KEY_UNIT,
	KEY_PLACES,
	KEY_STABLE
};

struct key {
	uint64_t key;
	size_t entry;   /* the first that had it */
	uint32_t count; /* KEY_DEGREE: distinct partners; KEY_STABLE: findings */
	UT_hash_handle hh;
};

/* What joining needs of an entry. */
struct member {
	uint64_t identity; /* of the variable */
	uint64_t places[ANOMALY_EVENTS_MAX], functions[ANOMALY_EVENTS_MAX];
	size_t group; /* an entry of the same finding; itself: it stands for the group */
	struct guard guard;
	uint32_t cell; /* where its accesses meet; MODEL_NONE: nowhere */
	enum finding_level level;
};

struct joining {
	const struct report *r;
	const struct model *m;
	struct member *members;
	struct guards *guards;
	struct snippets *snippets;
	struct key *keys;
	bool no_memory;
};

/* Keys */

static uint64_t key_of(enum key_kind kind, const uint64_t *parts, size_t n)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_number(&state, kind);
	for (size_t i = 0; i < n; i++)
		digest_number(&state, parts[i]);
	return XXH3_64bits_digest(&state);
}

/* The key's entry, made if there is none; *is_new tells. NULL without memory. */
static struct key *key_get(struct joining *j, uint64_t key, size_t entry, bool *is_new)
{
	struct key *k;
	HASH_FIND(hh, j->keys, &key, sizeof key, k);
	*is_new = !k;
	if (k)
		return k;
	if ((k = calloc(1, sizeof *k))) {
		k->key = key;
		k->entry = entry;
		HASH_ADD(hh, j->keys, key, sizeof k->key, k);
		if (HASH_ADDED(k))
			return k;
	}
	free(k);
	j->no_memory = true;
	return NULL;
}

static size_t group_of(struct joining *j, size_t i)
{
	while (j->members[i].group != i)
		i = j->members[i].group = j->members[j->members[i].group].group;
	return i;
}

/* The lower entry, which is the stronger one of its kind, stands for both. */
static void join(struct joining *j, size_t a, size_t b)
{
	a = group_of(j, a);
	b = group_of(j, b);
	if (a < b)
		j->members[b].group = a;
	else
		j->members[a].group = b;
}

static void join_by(struct joining *j, size_t i, enum key_kind kind, const uint64_t *parts, size_t n)
{
	bool is_new;
	struct key *k = key_get(j, key_of(kind, parts, n), i, &is_new);
	if (k && !is_new)
		join(j, i, k->entry);
}

/* The variable, as the source has it: its name, or where its block was allocated. */
static uint64_t identity_of(const struct report *r, const struct anomaly *a)
{
	struct subject s;
	char name[SUBJECT_NAME_MAX];
	if (!subject_of(r, a, &s))
		return 0;
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_text(&state, s.kind);
	const struct description *alloc = s.block.alloc ? description_of(r->descriptions, s.block.alloc) : NULL;
	if (alloc) {
		struct place place = place_of_stack(r, alloc->stack, alloc->stack_count);
		uint64_t key = place_key(&place);
		digest_number(&state, key);
	} else if (!strcmp(s.kind, "global")) {
		subject_stable_name(s.name, name);
		digest_text(&state, name);
	} else if (!strcmp(s.kind, "tls")) {
		digest_text(&state, s.name);
	}
	return XXH3_64bits_digest(&state);
}

static bool is_access_race(const struct anomaly *a)
{
	return a->kind == ANOMALY_RACE && a->event_count == 2;
}

/* The side of a race that lacks a lock which the other holds: the guard or, where there is none, any. 2: neither. */
static uint32_t lacking_side(const struct joining *j, const struct anomaly *a, const struct guard *guard,
                             uint32_t *lock)
{
	bool held[2];
	for (uint32_t s = 0; s < 2; s++) {
		const struct model_lockset *set = &j->m->locksets[model_lockset_of(j->m, a->events[s])];
		held[s] = guard->lock == MODEL_NONE ? set->count > 0 : guard_is_held(j->m, a->events[s], guard->lock);
		if (held[s])
			*lock = guard->lock == MODEL_NONE ? set->locks[set->count - 1].object : guard->lock;
	}
	return held[0] == held[1] ? 2 : held[0];
}

static void prepare(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	struct member *member = &j->members[i];
	bool inside = true;
	member->group = i;
	member->guard.lock = MODEL_NONE;
	member->level = finding_level_of(j->r, j->guards, a);
	for (uint32_t e = 0; e < a->event_count; e++) {
		struct place place = place_of(j->r, a->events[e]);
		member->places[e] = place_key(&place);
		member->functions[e] = place_function_key(&place);
		inside = inside && place.callee;
	}
	member->identity = inside ? 0 : identity_of(j->r, a);
	member->cell = subject_cell(j->m, a);
	if (member->cell != MODEL_NONE)
		member->guard = guard_of(j->guards, member->cell);
}

/* A number of the global structure or the block that the anomaly's variable is a member of; 0: it is of none. lock: a
 * block counts only if it holds this lock, too, as a block of a pool may be many objects. */
static uint64_t object_of(const struct joining *j, const struct anomaly *a, uint32_t lock)
{
	struct subject s;
	XXH3_state_t state;
	uint64_t addr = j->m->objects[lock].addr;
	if (!subject_of(j->r, a, &s))
		return 0;
	if (s.block.alloc)
		return addr >= s.block.address && addr - s.block.address < s.block.size ? s.block.address : 0;
	if (strcmp(s.kind, "global") != 0 || !s.name[strcspn(s.name, ".")])
		return 0;
	s.name[strcspn(s.name, ".[")] = '\0';
	XXH3_64bits_reset(&state);
	digest_text(&state, s.name);
	return XXH3_64bits_digest(&state);
}

static void join_race(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	struct member *member = &j->members[i];
	uint64_t pair[3] = {member->identity, member->functions[0], member->functions[1]};
	uint32_t lock = MODEL_NONE;
	digest_sort(pair + 1, 2);
	join_by(j, i, KEY_PAIR, pair, 3);
	uint32_t side = lacking_side(j, a, &member->guard, &lock);
	if (side < 2) {
		uint64_t parts[3] = {member->identity, lock, member->functions[side]};
		join_by(j, i, KEY_LACKS, parts, 3);
		/* An object's lock that one function forgets: whichever of its members show it. */
		uint64_t object[4] = {object_of(j, a, lock), lock, member->functions[side], member->functions[!side]};
		if (object[0])
			join_by(j, i, KEY_LACKS, object, 4);
	}
}

/* Counts the distinct places that each place of a race has as its other side. */
static void count_partners(struct joining *j, size_t i)
{
	const struct member *member = &j->members[i];
	for (int s = 0; s < 2; s++) {
		uint64_t parts[3] = {member->identity, member->places[s], member->places[!s]};
		bool is_new;
		struct key *degree;
		if (!key_get(j, key_of(KEY_PARTNER, parts, 3), i, &is_new) || !is_new)
			continue;
		if ((degree = key_get(j, key_of(KEY_DEGREE, parts, 2), i, &is_new)))
			degree->count++;
	}
}

static void join_many(struct joining *j, size_t i)
{
	const struct member *member = &j->members[i];
	uint32_t degrees[2] = {0};
	bool is_new;
	for (int s = 0; s < 2; s++) {
		uint64_t parts[2] = {member->identity, member->places[s]};
		struct key *degree = key_get(j, key_of(KEY_DEGREE, parts, 2), i, &is_new);
		degrees[s] = degree ? degree->count : 0;
	}
	int side = degrees[1] > degrees[0];
	uint64_t parts[2] = {member->identity, member->places[side]};
	if (degrees[side] >= MANY)
		join_by(j, i, KEY_ONE, parts, 2);
}

/* Joins a sequence with a race between two of its events. False: there is none. */
static bool join_with_race(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct member *member = &j->members[i];
	for (uint32_t x = 0; x < a->event_count; x++)
		for (uint32_t y = x + 1; y < a->event_count; y++) {
			uint64_t pair[3] = {member->identity, member->functions[x], member->functions[y]};
			struct key *k;
			digest_sort(pair + 1, 2);
			uint64_t key = key_of(KEY_PAIR, pair, 3);
			HASH_FIND(hh, j->keys, &key, sizeof key, k);
			if (k && model_thread_of(j->m, a->events[x]) != model_thread_of(j->m, a->events[y])) {
				join(j, i, k->entry);
				return true;
			}
		}
	return false;
}

/* The same number as identity_of, for a cell of a global variable; 0: it is none. */
static uint64_t identity_of_cell(const struct joining *j, uint32_t cell)
{
	struct rt_variable variable;
	char name[SUBJECT_NAME_MAX];
	XXH3_state_t state;
	if (cell >= j->m->cell_count || !rt_trace_variable(j->r->analysis->trace, j->m->cells[cell].addr, &variable))
		return 0;
	subject_stable_name(variable.name, name);
	XXH3_64bits_reset(&state);
	digest_text(&state, "global");
	digest_text(&state, name);
	return XXH3_64bits_digest(&state);
}

/*
 * One call's work that one other function cuts is one cause, whichever of its variables show it: an ASV joins what has
 * one of its two variables.
 */
static void join_unit(struct joining *j, size_t i, uint32_t local)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct member *member = &j->members[i];
	uint32_t first = MODEL_NONE, last = MODEL_NONE;
	uint64_t parts[ANOMALY_EVENTS_MAX + 2];
	size_t n = 0;
	for (uint32_t e = 0; e < a->event_count; e++)
		if (model_thread_of(j->m, a->events[e]) == local) {
			first = first == MODEL_NONE ? a->events[e] : first;
			last = a->events[e];
		} else {
			parts[2 + n++] = member->functions[e];
		}
	struct place caller = place_of_both(j->r, first, last);
	if (!caller.frame)
		return;
	n = digest_distinct(parts + 2, n);
	parts[1] = place_function_key(&caller);
	for (uint32_t e = 0; e < a->event_count; e++)
		if ((parts[0] = identity_of_cell(j, j->m->events[a->events[e]].object)))
			join_by(j, i, KEY_UNIT, parts, n + 2);
}

static void join_sequence(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct member *member = &j->members[i];
	uint64_t parts[ANOMALY_EVENTS_MAX + 1] = {member->identity};
	size_t n = 0;
	if (join_with_race(j, i))
		return;
	uint32_t local = level_region_thread(j->m, a);
	if (a->kind != ANOMALY_PATTERN)
		join_unit(j, i, local);
	for (uint32_t e = 0; e < a->event_count; e++) {
		if (a->kind == ANOMALY_ASV) {
			parts[1 + n++] = member->functions[e];
		} else if (a->kind == ANOMALY_PATTERN || model_thread_of(j->m, a->events[e]) == local) {
			parts[1 + n++] = member->places[e];
		}
	}
	n = digest_distinct(parts + 1, n);
	if (a->kind == ANOMALY_ASV)
		join_by(j, i, KEY_FUNCTIONS, parts + 1, n);
	else
		join_by(j, i, KEY_REGION, parts, n + 1);
}

static void join_places(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	uint64_t parts[ANOMALY_EVENTS_MAX + 1] = {(uint64_t)a->kind};
	memcpy(parts + 1, j->members[i].places, a->event_count * sizeof *parts);
	join_by(j, i, KEY_PLACES, parts, 1 + digest_distinct(parts + 1, a->event_count));
}

static void join_all(struct joining *j)
{
	size_t n = j->r->count;
	for (size_t i = 0; i < n; i++)
		prepare(j, i);
	for (size_t i = 0; i < n && !j->no_memory; i++)
		if (is_access_race(j->r->entries[i].anomaly)) {
			join_race(j, i);
			count_partners(j, i);
		}
	for (size_t i = 0; i < n && !j->no_memory; i++) {
		const struct anomaly *a = j->r->entries[i].anomaly;
		if (is_access_race(a))
			join_many(j, i);
		else if (a->kind == ANOMALY_DEADLOCK || a->kind == ANOMALY_HANG)
			join_places(j, i);
		else
			join_sequence(j, i);
	}
}

static void release_keys(struct joining *j)
{
	struct key *k, *next;
	HASH_ITER(hh, j->keys, k, next)
	{
		HASH_DELETE(hh, j->keys, k);
		free(k);
	}
}

/* Findings */

static void add_place(const struct joining *j, struct finding *f, uint32_t e)
{
	struct place place = place_of(j->r, e);
	uint64_t key = place_key(&place);
	for (size_t i = 0; i < f->place_count; i++)
		if (place_key(&f->places[i].place) == key)
			return;
	f->place_total++;
	if (f->place_count < FINDING_PLACES_MAX)
		f->places[f->place_count++] = (struct finding_place){.place = place,
		                                                     .op = model_op(j->m, e),
		                                                     .e = e,
		                                                     .guarded = f->guard.lock != MODEL_NONE &&
		                                                                guard_is_held(j->m, e, f->guard.lock)};
}

/* The lock's name, as an event knows it that holds it. */
static void name_guard(const struct joining *j, struct finding *f)
{
	uint64_t addr = j->m->objects[f->guard.lock].addr;
	const struct memory_block *block = NULL;
	for (size_t i = 0; i < f->entry_count && !block; i++) {
		const struct anomaly *a = j->r->entries[f->entries[i]].anomaly;
		for (uint32_t k = 0; k < a->event_count && !block; k++) {
			const struct description *d = report_event(j->r, a->events[k]);
			for (size_t l = 0; d && l < d->lock_count && !block; l++)
				if (d->locks[l].addr == addr)
					block = &d->locks[l].block;
		}
	}
	subject_object_name(j->r, addr, block, f->guard_name);
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
	char name[SUBJECT_NAME_MAX] = "";
	const struct description *alloc = NULL;
	bool about = subject_of(r, a, &s);
	if (about && !strcmp(s.kind, "global"))
		subject_stable_name(s.name, name);
	else if (about && s.block.alloc)
		alloc = description_of(r->descriptions, s.block.alloc);
	if (alloc) {
		struct place place = place_of_stack(r, alloc->stack, alloc->stack_count);
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
	return key_of(KEY_STABLE, keys, 2 + digest_distinct(keys + 2, a->event_count));
}

/* Of findings that agree in all that, each has its number among them, in the order of the report. */
static void print_fingerprints(struct joining *j, struct findings *out)
{
	for (size_t i = 0; i < out->count && !j->no_memory; i++) {
		struct finding *f = &out->items[i];
		bool is_new;
		struct key *k = key_get(j, stable_key(j, f), f->entries[0], &is_new);
		if (k)
			snprintf(f->fingerprint, sizeof f->fingerprint, "%016" PRIx64,
			         key_of(KEY_STABLE, (uint64_t[]){k->key, k->count++}, 2));
	}
}

/*
 * Memory without a name of its own (a heap block's, what a lambda or an OpenMP region shares) is known by what the
 * source line of a write assigns to.
 */
static void name_written(const struct joining *j, struct finding *f)
{
	const struct anomaly *a = j->r->entries[f->entries[0]].anomaly;
	struct subject s;
	if (!subject_of(j->r, a, &s) || !strcmp(s.kind, "global") || !strcmp(s.kind, "tls"))
		return;
	for (uint32_t i = 0; i < a->event_count && !f->written[0]; i++) {
		struct place place = place_of(j->r, a->events[i]);
		if (!rt_op_writes(model_op(j->m, a->events[i])) || place.callee || !place.frame || !place.frame->file)
			continue;
		char *line = snippet_whole(j->snippets, place.frame->file, place.frame->line);
		if (line)
			expression_assigned(line, place.frame->column, f->written);
		free(line);
	}
}

static void fill(struct joining *j, struct finding *f)
{
	f->guard.lock = MODEL_NONE;
	f->level = j->members[f->entries[0]].level;
	f->verdict = j->r->entries[f->entries[0]].anomaly->verdict;
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = j->r->entries[f->entries[i]].anomaly;
		const struct guard *guard = &j->members[f->entries[i]].guard;
		f->kinds |= UINT32_C(1) << a->kind;
		if (guard->lock != MODEL_NONE && guard->held > (f->guard.lock == MODEL_NONE ? 0 : f->guard.held))
			f->guard = *guard;
	}
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = j->r->entries[f->entries[i]].anomaly;
		for (uint32_t k = 0; k < a->event_count; k++)
			add_place(j, f, a->events[k]);
	}
	if (f->guard.lock != MODEL_NONE)
		name_guard(j, f);
	name_written(j, f);
	const struct anomaly *first = j->r->entries[f->entries[0]].anomaly;
	uint32_t cell = j->members[f->entries[0]].cell;
	if (cell != MODEL_NONE)
		j->no_memory |= !uses_of(j->m, j->guards->por, cell, first->events, first->event_count, &f->uses);
}

/* The highest level first, then the strongest verdict, then the most likely harm. */
static int compare_members(const void *a, const void *b, void *joining)
{
	const struct joining *j = joining;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct report_entry *x = &j->r->entries[i], *y = &j->r->entries[k];
	if (j->members[i].level != j->members[k].level)
		return j->members[i].level > j->members[k].level ? -1 : 1;
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
		out->count += counts[group_of(j, i)]++ == 0;
	out->items = ok ? calloc(out->count + 1, sizeof *out->items) : NULL;
	ok = ok && out->items;
	size_t next = 0;
	for (size_t i = 0; ok && i < n; i++) {
		if (group_of(j, i) != i)
			continue;
		finding[i] = next;
		out->items[next++].entries = out->members + used;
		used += counts[i];
	}
	for (size_t i = 0; ok && i < n; i++) {
		struct finding *f = &out->items[finding[group_of(j, i)]];
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
	struct snippets snippets = {.trace = r->analysis->trace, .root = r->source_root};
	struct joining j = {.r = r,
	                    .snippets = &snippets,
	                    .m = r->analysis->model,
	                    .guards = &r->guards,
	                    .members = calloc(r->count + 1, sizeof *j.members)};
	struct findings *f = calloc(1, sizeof *f);
	j.no_memory = !j.members || !f;
	if (!j.no_memory)
		join_all(&j);
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
	release_keys(&j);
	snippets_release(&snippets);
	j.no_memory |= snippets.no_memory;
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
