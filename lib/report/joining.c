/*
 * Joining anomalies; see joining.h. Each anomaly has a few keys, and those that share one belong together:
 *  - a race: its variable and the functions of its two user places; its variable and the function that lacks the lock
 *    which the other side holds; where one place races with many, or reads what one thread alone writes, its variable
 *    and that place; where a function that takes no lock races with its own caller, as one that returns a static buffer
 *    does, its variable and that function; where a use races with a free, the line that frees, which may free what the
 *    object owns, too, and the function of the use; its two lines and the member, wherever the object was allocated;
 *  - an atomicity violation or ASV: that of a race among its events, if there is one; else the variable and the places
 *    of the thread whose region it is, or the two functions;
 *  - a deadlock or hang: its places.
 * What containers keep has no name of its own: of accesses that both are in a library's code the places alone count.
 */
#include "lib/report/joining.h"

#include "lib/base/name.h"
#include "lib/report/digest.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 3 }; /* one place against this many others is one cause */

static struct joining_key *key_get(struct joining *j, uint64_t key, size_t entry, bool *is_new)
{
	struct joining_key *k = joining_key_get(&j->keys, key, entry, is_new);
	j->no_memory |= !k;
	return k;
}

size_t joining_group(struct joining *j, size_t i)
{
	while (j->members[i].group != i)
		i = j->members[i].group = j->members[j->members[i].group].group;
	return i;
}

/* The lower entry, which is the stronger one of its kind, stands for both. */
static void join(struct joining *j, size_t a, size_t b)
{
	a = joining_group(j, a);
	b = joining_group(j, b);
	if (a < b)
		j->members[b].group = a;
	else
		j->members[a].group = b;
}

static void join_by(struct joining *j, size_t i, enum joining_kind kind, const uint64_t *parts, size_t n)
{
	bool is_new;
	struct joining_key *k = key_get(j, joining_key_of(kind, parts, n), i, &is_new);
	if (k && !is_new)
		join(j, i, k->entry);
}

static uint64_t identity_of_global(const char *variable)
{
	char name[SUBJECT_NAME_MAX];
	XXH3_state_t state;
	subject_stable_name(variable, name);
	XXH3_64bits_reset(&state);
	digest_text(&state, "global");
	digest_text(&state, name);
	return XXH3_64bits_digest(&state);
}

bool joining_written(const struct joining *j, const struct anomaly *a, char name[EXPRESSION_MAX])
{
	bool known = false;
	for (uint32_t i = 0; i < a->event_count && !known; i++) {
		struct place place = place_of(j->r, a->events[i]);
		char *line = rt_op_writes(model_op(j->m, a->events[i])) ? place_line(j->r, &place) : NULL;
		known = line && (expression_assigned(line, place_column(&place), name) ||
		                 expression_macro(line, place_column(&place), name));
		free(line);
	}
	return known;
}

/* Keeps the member or variable that an expression ends with: "size" of "it->size" and of "all.size[2]". */
static const char *keep_last(char name[EXPRESSION_MAX])
{
	size_t end = strlen(name);
	while (end && name[end - 1] == ']') {
		int depth = 0;
		do {
			end--;
			depth += name[end] == ']' ? 1 : name[end] == '[' ? -1 : 0;
		} while (end && depth);
	}
	name[end] = '\0';
	while (end && is_in_name(name[end - 1]))
		end--;
	return memmove(name, name + end, strlen(name + end) + 1);
}

/* True if it names a member: "it->size", "size" in a class; no element of what a pointer points to. */
static bool is_member(const char *name)
{
	return *name != '*' && (strstr(name, "->") || strchr(name, '.') || !strchr(name, '['));
}

static bool frees(const struct joining *j, const struct anomaly *a)
{
	for (uint32_t i = 0; i < a->event_count; i++)
		if (j->m->sites[j->m->events[a->events[i]].site].flags & RT_F_FREE)
			return true;
	return false;
}

/* The member that the lines of an anomaly's accesses name; false: none does, they name different ones, or one frees
 * all of them. */
static bool member_of(const struct joining *j, const struct anomaly *a, char member[EXPRESSION_MAX])
{
	char name[EXPRESSION_MAX];
	bool known = false;
	for (uint32_t i = 0; i < a->event_count && !frees(j, a); i++) {
		struct place place = place_of(j->r, a->events[i]);
		char *line = place_line(j->r, &place);
		uint32_t column = place_column(&place);
		bool has = line && column &&
		           (expression_assigned(line, column, name) || expression_member(line, column, name) ||
		            expression_macro(line, column, name) ||
		            (rt_op_is_atomic(model_op(j->m, a->events[i])) && expression_atomic(line, name)));
		free(line);
		if (!has || !is_member(name))
			continue;
		keep_last(name);
		if (known && strcmp(name, member) != 0)
			return false;
		memcpy(member, name, sizeof name);
		known = true;
	}
	return known;
}

/* An anomaly's places, or their functions, in either order. */
static void digest_places(const struct joining *j, const struct anomaly *a, bool lines, XXH3_state_t *state)
{
	uint64_t keys[ANOMALY_EVENTS_MAX];
	for (uint32_t i = 0; i < a->event_count; i++) {
		struct place place = place_of(j->r, a->events[i]);
		keys[i] = lines ? place_key(&place) : place_function_key(&place);
	}
	digest_sort(keys, a->event_count);
	for (uint32_t i = 0; i < a->event_count; i++)
		digest_number(state, keys[i]);
}

/* The variable, as the source has it: its name, where its block was allocated and the member of it, or what is written
 * to it on a stack. *member: a number of that member, if it is known. */
static uint64_t identity_of(const struct joining *j, const struct anomaly *a, uint64_t *member)
{
	const struct report *r = j->r;
	struct subject s;
	char name[EXPRESSION_MAX];
	if (!subject_of(r, a, &s))
		return 0;
	if (!strcmp(s.kind, "global") && !subject_is_common(&s))
		return identity_of_global(s.name);
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_text(&state, s.kind);
	const struct description *alloc = s.block.alloc ? description_of(r->descriptions, s.block.alloc) : NULL;
	if (alloc) {
		struct place place = place_of_allocation(r, alloc);
		uint64_t key = place_key(&place);
		digest_number(&state, key);
		if (member_of(j, a, name)) {
			digest_text(&state, name);
			*member = XXH3_64bits(name, strlen(name));
		}
	} else if (!strcmp(s.kind, "tls")) {
		digest_text(&state, s.name);
	} else if (s.shared) {
		digest_text(&state, s.name);
		digest_number(&state, s.line);
	} else if (!strcmp(s.kind, "stack") || subject_is_common(&s)) {
		bool known = joining_written(j, a, name);
		if (!known || *name == '*') /* what a pointer points to may be any function's variable */
			digest_places(j, a, !known, &state);
		digest_text(&state, known ? keep_last(name) : "");
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
	struct joining_member *member = &j->members[i];
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
	member->identity = inside ? 0 : identity_of(j, a, &member->member);
	member->cell = subject_cell(j->m, a);
	if (member->cell != MODEL_NONE)
		member->guard = guard_of(j->guards, member->cell);
}

/* A number of the global variable as a whole: "rings" of "rings[0].slots[2].id". False: it has no members. */
static bool whole_of(struct subject *s, uint64_t *whole)
{
	size_t n = strcspn(s->name, ".[");
	if (strcmp(s->kind, "global") != 0 || !strchr(s->name, '.'))
		return false;
	s->name[n] = '\0';
	*whole = identity_of_global(s->name);
	return true;
}

/* A number of the global structure or the block that the anomaly's variable is a member of; 0: it is of none. lock: a
 * block counts only if it holds this lock, too, as a block of a pool may be many objects. */
static uint64_t object_of(const struct joining *j, const struct anomaly *a, uint32_t lock)
{
	struct subject s;
	uint64_t addr = j->m->objects[lock].addr, whole;
	if (!subject_of(j->r, a, &s))
		return 0;
	if (s.block.alloc)
		return addr >= s.block.address && addr - s.block.address < s.block.size ? s.block.address : 0;
	return whole_of(&s, &whole) ? whole : 0;
}

/* What copies a global structure accesses its members at one place of the line: they are one variable there. */
static void join_copied(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	uint64_t parts[3];
	struct subject s;
	if (!subject_of(j->r, a, &s) || !whole_of(&s, &parts[0]))
		return;
	for (int e = 0; e < 2; e++) {
		struct place place = place_of(j->r, a->events[e]);
		if (!place.frame || !place.frame->column)
			return;
		parts[1 + e] = j->members[i].places[e] + place.frame->column;
	}
	digest_sort(parts + 1, 2);
	join_by(j, i, KEY_COPIED, parts, 3);
}

static void join_freed(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct joining_member *member = &j->members[i];
	for (int s = 0; s < 2; s++) {
		uint64_t parts[2] = {member->places[s], member->functions[!s]};
		if (j->m->sites[j->m->events[a->events[s]].site].flags & RT_F_FREE)
			join_by(j, i, KEY_FREED, parts, 2);
	}
}

/* Joins a race of a function with its own caller with those of the function with itself. */
static void join_caller(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct joining_member *member = &j->members[i];
	for (int s = 0; s < 2 && member->identity; s++) {
		uint64_t pair[3] = {member->identity, member->functions[s], member->functions[s]};
		if (j->m->locksets[model_lockset_of(j->m, a->events[s])].count)
			continue;
		struct place caller = place_caller(j->r, a->events[s]);
		if (caller.frame && place_function_key(&caller) == member->functions[!s])
			join_by(j, i, KEY_PAIR, pair, 3);
	}
}

/* True if one thread alone writes the cell, from the moment that it is shared. */
static bool has_one_writer(const struct model *m, uint32_t of)
{
	enum { LOOK = 65536 };
	const struct model_cell *cell = &m->cells[of];
	uint32_t first = MODEL_NONE, writer = MODEL_NONE;
	bool shared = false;
	for (uint32_t i = 0; i < cell->count && i < LOOK; i++) {
		uint32_t e = m->cell_events[cell->first + i], thread = model_thread_of(m, e);
		first = first == MODEL_NONE ? thread : first;
		shared |= thread != first;
		if (!shared || !rt_op_writes(model_op(m, e)))
			continue;
		if (writer != MODEL_NONE && writer != thread)
			return false;
		writer = thread;
	}
	return cell->count <= LOOK;
}

/* Of what one thread alone writes, a line that reads it without any lock is one cause, wherever that thread writes. */
static void join_owned(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct joining_member *member = &j->members[i];
	for (int s = 0; s < 2 && member->identity && member->cell != MODEL_NONE; s++) {
		uint64_t parts[2] = {member->identity, member->places[s]};
		if (!rt_op_writes(model_op(j->m, a->events[s])) &&
		    !j->m->locksets[model_lockset_of(j->m, a->events[s])].count && has_one_writer(j->m, member->cell))
			join_by(j, i, KEY_OWNED, parts, 2);
	}
}

/* A line that lacks the lock beside what it accesses, in an object of the heap: one cause in all objects of
 * the type, wherever they were allocated. What both lie apart tells the members without their names. */
static void join_type(struct joining *j, size_t i, uint32_t side, uint32_t lock)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	struct subject s;
	uint64_t addr = j->m->objects[lock].addr;
	uint32_t e;
	uint64_t met, parts[2];
	if (model_lockset_of(j->m, a->events[side]) != 0 || frees(j, a) || !subject_of(j->r, a, &s) || !s.block.alloc ||
	    addr - s.block.address >= s.block.size || !subject_meeting(j->m, a, &e, &met))
		return;
	parts[0] = j->members[i].places[side];
	parts[1] = met - addr;
	join_by(j, i, KEY_LACKS, parts, 2);
}

static void join_race(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	struct joining_member *member = &j->members[i];
	uint64_t pair[3] = {member->identity, member->functions[0], member->functions[1]};
	uint32_t lock = MODEL_NONE;
	digest_sort(pair + 1, 2);
	join_by(j, i, KEY_PAIR, pair, 3);
	/* The same memory is one variable, whether or not a line names the member. */
	pair[0] = member->cell;
	if (member->identity && member->cell != MODEL_NONE && !frees(j, a))
		join_by(j, i, KEY_CELL, pair, 3);
	/* Two lines that race on one member do so wherever the object was allocated. */
	uint64_t lines[3] = {member->member, member->places[0], member->places[1]};
	digest_sort(lines + 1, 2);
	if (member->member)
		join_by(j, i, KEY_LINES, lines, 3);
	join_copied(j, i);
	join_freed(j, i);
	join_owned(j, i);
	uint32_t side = lacking_side(j, a, &member->guard, &lock);
	if (side < 2) {
		uint64_t parts[3] = {member->identity, lock, member->functions[side]};
		join_by(j, i, KEY_LACKS, parts, 3);
		/* Bits of one byte have several names. */
		parts[0] = member->cell;
		if (member->cell != MODEL_NONE && !frees(j, a))
			join_by(j, i, KEY_LACKS, parts, 3);
		join_type(j, i, side, lock);
		/* An object's lock that one function forgets: whichever of its members show it. */
		uint64_t object[4] = {object_of(j, a, lock), lock, member->functions[side], member->functions[!side]};
		if (object[0] && !frees(j, a))
			join_by(j, i, KEY_LACKS, object, 4);
	} else {
		join_caller(j, i);
	}
}

/* Counts the distinct places that each place of a race has as its other side. */
static void count_partners(struct joining *j, size_t i)
{
	const struct joining_member *member = &j->members[i];
	for (int s = 0; s < 2; s++) {
		uint64_t parts[3] = {member->identity, member->places[s], member->places[!s]};
		bool is_new;
		struct joining_key *degree;
		if (!key_get(j, joining_key_of(KEY_PARTNER, parts, 3), i, &is_new) || !is_new)
			continue;
		if ((degree = key_get(j, joining_key_of(KEY_DEGREE, parts, 2), i, &is_new)))
			degree->count++;
	}
}

static void join_many(struct joining *j, size_t i)
{
	const struct joining_member *member = &j->members[i];
	uint32_t degrees[2] = {0};
	bool is_new;
	for (int s = 0; s < 2; s++) {
		uint64_t parts[2] = {member->identity, member->places[s]};
		struct joining_key *degree = key_get(j, joining_key_of(KEY_DEGREE, parts, 2), i, &is_new);
		degrees[s] = degree ? degree->count : 0;
	}
	int side = degrees[1] > degrees[0];
	uint64_t parts[2] = {member->identity, member->places[side]};
	if (degrees[side] >= MANY)
		join_by(j, i, KEY_ONE, parts, 2);
}

/* Of a cell of a global variable; 0: it is of none. */
static uint64_t identity_of_cell(const struct joining *j, uint32_t cell)
{
	struct rt_variable variable;
	if (cell >= j->m->cell_count || !rt_trace_variable(j->r->analysis->trace, j->m->cells[cell].addr, &variable))
		return 0;
	return identity_of_global(variable.name);
}

/* The variable that two events of an anomaly share; of an ASV it may be either of its two. */
static uint64_t identity_of_pair(const struct joining *j, size_t i, uint32_t x, uint32_t y)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	uint32_t cell = j->m->events[a->events[x]].object;
	uint64_t identity = 0;
	if (a->kind == ANOMALY_ASV && cell == j->m->events[a->events[y]].object)
		identity = identity_of_cell(j, cell);
	return identity ? identity : j->members[i].identity;
}

/* Joins a sequence with a race between two of its events. False: there is none. */
static bool join_with_race(struct joining *j, size_t i)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct joining_member *member = &j->members[i];
	for (uint32_t x = 0; x < a->event_count; x++)
		for (uint32_t y = x + 1; y < a->event_count; y++) {
			uint64_t pair[3] = {identity_of_pair(j, i, x, y), member->functions[x], member->functions[y]};
			digest_sort(pair + 1, 2);
			struct joining_key *k = joining_key_find(&j->keys, joining_key_of(KEY_PAIR, pair, 3));
			if (k && model_thread_of(j->m, a->events[x]) != model_thread_of(j->m, a->events[y])) {
				join(j, i, k->entry);
				return true;
			}
		}
	return false;
}

/*
 * One call's work that one other function cuts is one cause, whichever of its variables show it: an ASV joins what has
 * one of its two variables.
 */
static void join_unit(struct joining *j, size_t i, uint32_t local)
{
	const struct anomaly *a = j->r->entries[i].anomaly;
	const struct joining_member *member = &j->members[i];
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
	const struct joining_member *member = &j->members[i];
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

void joining_run(struct joining *j)
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

void joining_release(struct joining *j)
{
	joining_keys_release(&j->keys);
}

uint64_t joining_stable_key(const uint64_t *parts, size_t n)
{
	return joining_key_of(KEY_STABLE, parts, n);
}

bool joining_count(struct joining *j, uint64_t key, size_t entry, uint32_t *before)
{
	bool is_new;
	struct joining_key *k = key_get(j, key, entry, &is_new);
	*before = k ? k->count++ : 0;
	return k;
}
