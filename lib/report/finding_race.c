/* Sentences of data races; see finding_parts.h. */
#include "lib/base/text.h"
#include "lib/report/declaration.h"
#include "lib/report/deed.h"
#include "lib/report/finding_parts.h"
#include "lib/report/follows.h"
#include "lib/trace/own_code.h"

#include <stdio.h>
#include <string.h>

/* A finding's first anomaly, and what its sentences go by. */
struct race {
	const struct report *r;
	const struct finding *f;
	const struct anomaly *a;
	struct finding_place p[2];
	enum deed_life life[2];
	bool of_life;                  /* what is wrong is that one side ends, or begins, the object's life */
	bool members;                  /* the two name different members */
	bool apart;                    /* and so do all others that race there */
	char names[2][EXPRESSION_MAX]; /* these */
	bool of_region;                /* the variable is one that the threads of an OpenMP region share */
	bool locked;                   /* each side holds a lock */
	bool are_readers;              /* both hold one lock, as readers, which exclude no other reader */
	bool is_lost;                  /* both hold a lock of one address, which is not one lock held throughout */
	char common[SUBJECT_NAME_MAX]; /* that one's name */
};

static void find_common(struct race *x)
{
	const struct description *d[2] = {report_event(x->r, x->a->events[0]), report_event(x->r, x->a->events[1])};
	x->locked = d[0] && d[1] && d[0]->lock_count && d[1]->lock_count;
	for (size_t i = 0; x->locked && i < d[0]->lock_count; i++)
		for (size_t k = 0; k < d[1]->lock_count && !x->are_readers; k++)
			if (d[0]->locks[i].addr == d[1]->locks[k].addr) {
				char written[SUBJECT_NAME_MAX];
				declaration_held(x->r, &d[0]->locks[i], written, x->common);
				x->are_readers = d[0]->locks[i].shared && d[1]->locks[k].shared;
				x->is_lost = !x->are_readers;
			}
}

/* True if the variable has a name of its own, and is no library's object: a library's function that is inlined in the
 * line, or is given it by reference, reads or writes it, and is not called for it. */
static bool is_plain(const struct subject *s)
{
	char name[SUBJECT_NAME_MAX];
	snprintf(name, sizeof name, "%s", s->name);
	subject_cut_reserved(name);
	return (!strcmp(s->kind, "global") || s->shared) && s->size && !strcmp(s->name, name);
}

/* True if no two of the finding's races are of one member: what shares bytes with another one is not shared itself. */
static bool are_apart(const struct report *r, const struct finding *f)
{
	char names[2][EXPRESSION_MAX];
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = r->entries[f->entries[i]].anomaly;
		if (a->kind != ANOMALY_RACE || !deed_names_members(r, a, names))
			return false;
	}
	return true;
}

static void race_of(const struct report *r, const struct finding *f, struct race *x)
{
	struct subject s;
	*x = (struct race){.r = r, .f = f, .a = finding_first(r, f)};
	bool known = subject_of(r, x->a, &s), plain = known && is_plain(&s);
	x->of_region = known && s.shared;
	for (int i = 0; i < 2; i++) {
		x->p[i] = finding_place_at(r, f, x->a->events[i]);
		x->life[i] = deed_life(r, x->a->events[i]);
		if (plain)
			x->p[i].place.callee = NULL;
	}
	/* A container frees its own memory: what is wrong is the call that lacks the lock. */
	bool container = f->lacking < 2 && x->p[0].place.callee && x->p[1].place.callee;
	x->of_life = (x->life[0] || x->life[1]) && !container;
	x->members = deed_names_members(r, x->a, x->names);
	x->apart = x->members && are_apart(r, f);
	find_common(x);
}

/* The side that ends, or begins, what the other may use; the first if both do. */
static uint32_t ending_side(const struct race *x)
{
	return x->life[1] && !x->life[0];
}

/* A function that a signal's handler is, or calls, is said to be that. */
static void say_actor(const struct race *x, struct text *t, uint32_t side)
{
	char signal[DESCRIPTION_SIGNAL_MAX];
	say_function(t, &x->p[side]);
	description_signal(report_event(x->r, x->p[side].e), signal);
	if (signal[0])
		say(t, " (in a handler of %s)", signal);
}

static bool is_same_function(const struct race *x)
{
	return finding_is_same_function(&x->p[0], &x->p[1]);
}

/* That of the side beside the one that was named. */
static void say_other_actor(const struct race *x, struct text *t, uint32_t side)
{
	if (is_same_function(x))
		say(t, "another thread in ");
	say_actor(x, t, side);
}

/* The object whose function is called, by its own name or by what the line calls it. False: it is not known. */
static bool receiver_of(const struct race *x, const struct place *place, char name[SUBJECT_NAME_MAX])
{
	struct subject s;
	char written[EXPRESSION_MAX];
	if (subject_of(x->r, x->a, &s) && (!strcmp(s.kind, "global") || s.shared)) {
		snprintf(name, SUBJECT_NAME_MAX, "%s", s.name);
		subject_cut_reserved(name);
		if (strcmp(s.name, name) != 0)
			return true;
	}
	if (!place_called_for(x->r, place, written))
		return false;
	bool member = x->f->member[0] && !strcmp(written, x->f->written);
	snprintf(name, SUBJECT_NAME_MAX, "%s", member ? x->f->member : written);
	return true;
}

/* " calls `std::map<>::find` on `rows`" or " reads `x`"; again: of what was named: " reads it". */
static void say_deed(const struct race *x, struct text *t, uint32_t side, bool again)
{
	const struct finding_place *p = &x->p[side];
	struct place callee = {.frame = p->place.callee};
	char name[PLACE_FUNCTION_MAX], of[SUBJECT_NAME_MAX];
	if (callee.frame) {
		place_function(&callee, name);
		say(t, " calls `%s`", name);
		if (!again && receiver_of(x, &p->place, of))
			say(t, " on `%s`", of);
		return;
	}
	say(t, " %s ", finding_does(x->r, p));
	if (x->members)
		say(t, again ? "`%s` in the same bytes" : "`%s`", x->names[side]);
	else if (again && (!x->p[!side].place.callee || receiver_of(x, &x->p[!side].place, of)))
		say(t, "it");
	else
		say_variable(x->r, t, x->f);
}

/* Memory is used, and nothing orders its allocation before that. */
static void title_allocation(const struct race *x, struct text *t)
{
	say_actor(x, t, 1);
	say(t, " uses ");
	say_variable(x->r, t, x->f);
	say(t, ", and nothing orders its allocation by ");
	say_actor(x, t, 0);
	say(t, " before that");
}

/* One side makes, destroys, closes or frees what the other may use, or both do. */
static void title_life(const struct race *x, struct text *t)
{
	bool both = x->life[0] && x->life[1];
	uint32_t last = ending_side(x);
	say_actor(x, t, last);
	say(t, " %s ", finding_does(x->r, &x->p[last]));
	say_variable(x->r, t, x->f);
	say(t, both ? ", and " : " while ");
	say_other_actor(x, t, !last);
	if (both)
		say(t, " %s it, too", finding_does(x->r, &x->p[!last]));
	else
		say(t, x->life[last] == LIFE_BEGINS ? " may already use it" : " may still use it");
}

/* One side lacks a lock that the other holds. */
static void title_lacking(const struct race *x, struct text *t)
{
	uint32_t side = x->f->lacking;
	char variable[SUBJECT_NAME_MAX], lock[SUBJECT_NAME_MAX];
	struct text of[2] = {{variable, sizeof variable}, {lock, sizeof lock}};
	say_variable(x->r, &of[0], x->f);
	say_lock(&of[1], x->f->lacked);
	/* A lock and a variable that are known by what contains them have one name. */
	bool named = x->f->lacked[0] && strcmp(variable, lock) != 0;
	say_actor(x, t, side);
	say_deed(x, t, side, false);
	say(t, " without %s", named ? lock : "the lock");
	say(t, named ? ", which " : " that ");
	if (is_same_function(x)) {
		say(t, "it holds");
		say_place(t, &x->p[!side].place);
	} else {
		say_actor(x, t, !side);
		say(t, " holds");
	}
	say(t, " while it");
	say_deed(x, t, !side, true);
}

/* Nothing keeps the two sides apart. */
static void title_plain(const struct race *x, struct text *t)
{
	uint32_t writer = !rt_op_writes(x->p[0].op);
	say_actor(x, t, writer);
	say_deed(x, t, writer, false);
	say(t, " while ");
	say_other_actor(x, t, !writer);
	say_deed(x, t, !writer, true);
	if (x->are_readers) {
		say(t, ", and both hold ");
		say_lock(t, x->common);
		say(t, " only as readers");
	} else if (x->is_lost) {
		say(t, ", though both hold ");
		say_lock(t, x->common);
	} else {
		say(t, x->locked                ? ", under different locks"
		       : report_is_hidden(x->a) ? ", and no lock guards both"
		                                : ", and nothing orders them");
	}
}

/* True if the race has the shape of double-checked initialisation. A function of a library that looks into an object,
 * and not whether there is one, is no such check. */
static bool is_double_checked(const struct race *x)
{
	static const char *const checks[] = {"::operator bool", "::has_value", "::get", "::operator==", "::operator!="};
	uint32_t reader = rt_op_writes(x->p[0].op);
	struct place callee = {.frame = x->p[reader].place.callee};
	char name[PLACE_FUNCTION_MAX];
	bool is = x->r->entries[x->f->entries[0]].rank.double_checked;
	if (!is || !callee.frame)
		return is;
	place_function(&callee, name);
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
		if (rt_text_ends_in(name, strlen(name), checks[i]))
			return true;
	return false;
}

void race_title(const struct report *r, const struct finding *f, struct text *t)
{
	struct race x;
	race_of(r, f, &x);
	if (is_double_checked(&x))
		say(t, "double-checked initialisation: ");
	if (x.p[0].op == RT_OP_ALLOC)
		title_allocation(&x, t);
	else if (x.of_life)
		title_life(&x, t);
	else if (f->lacking < 2 && !x.are_readers)
		title_lacking(&x, t);
	else
		title_plain(&x, t);
}

/* True if the program itself asks for the atomic operation: not a library within one of its functions. */
static bool is_own_atomic(const struct report *r, uint32_t e)
{
	static const char *const types[] = {"std::atomic", "std::__atomic_"};
	struct place place = place_of(r, e), callee = {.frame = place.callee};
	char name[PLACE_FUNCTION_MAX];
	if (!place.callee)
		return place.frame && !frame_is_library(place.frame);
	place_function(&callee, name);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strncmp(name, types[i], strlen(types[i])))
			return true;
	return false;
}

/* The relaxed atomic of the program's own that alone orders the race's events; NULL: none does. */
static const struct cause *relaxed_cause(const struct race *x)
{
	for (uint32_t i = 0; i < x->a->cause_count; i++) {
		const struct cause *cause = follows_cause(x->r, x->a, i);
		if (cause->anomaly == MODEL_NONE && is_own_atomic(x->r, cause->write))
			return cause;
	}
	return NULL;
}

static bool is_in_handler(const struct race *x)
{
	const struct description *d[2] = {report_event(x->r, x->a->events[0]), report_event(x->r, x->a->events[1])};
	return (d[0] && d[0]->signal) || (d[1] && d[1]->signal);
}

/* True if a thread writes a variable of its own stack while another one only reads it: it was given the address, where
 * a copy of the value may be what is meant. */
static bool is_handed_out(const struct race *x)
{
	uint32_t writer = !rt_op_writes(x->p[0].op), e;
	uint64_t addr;
	const struct description *d = NULL;
	if (subject_meeting(x->r->analysis->model, x->a, &e, &addr))
		d = report_event(x->r, e);
	const struct memory_place *place = d ? description_place(d, addr) : NULL;
	return place && place->kind == RT_MEMORY_STACK && !rt_op_writes(x->p[!writer].op) &&
	       place->owner == model_thread_of(x->r->analysis->model, x->a->events[writer]);
}

/* What mends a race: the first of these that applies. */
enum mend {
	MEND_HAND_OVER,
	MEND_LIFE,
	MEND_VTABLE,
	MEND_PROFILE,
	MEND_ONCE,
	MEND_MEMBERS,
	MEND_HANDLER,
	MEND_RESULT,
	MEND_LOST,
	MEND_RELAXED,
	MEND_FLAG,
	MEND_READERS,
	MEND_LACKING,
	MEND_ATOMIC,
	MEND_LOCKS,
	MEND_REGION,
	MEND_CALLS,
	MEND_COPY,
	MEND_ANY
};

static enum mend mend_of(const struct race *x)
{
	const struct report *r = x->r;
	const struct finding *f = x->f;
	if (x->p[0].op == RT_OP_ALLOC)
		return MEND_HAND_OVER;
	if (x->of_life)
		return MEND_LIFE;
	if (deed_is_vtable(r, x->a))
		return MEND_VTABLE;
	if (deed_is_profile(r, x->a))
		return MEND_PROFILE;
	if (is_double_checked(x))
		return MEND_ONCE;
	if (x->apart && f->lacking == 2)
		return MEND_MEMBERS;
	if (is_in_handler(x))
		return MEND_HANDLER;
	if (f->called[0])
		return MEND_RESULT;
	if (x->is_lost)
		return MEND_LOST;
	if (relaxed_cause(x))
		return MEND_RELAXED;
	if (deed_waits(r, f, x->a->events[0]) || deed_waits(r, f, x->a->events[1]))
		return MEND_FLAG;
	if (x->are_readers)
		return MEND_READERS;
	if (f->lacking < 2)
		return MEND_LACKING;
	if (rt_op_is_atomic(x->p[0].op) != rt_op_is_atomic(x->p[1].op))
		return MEND_ATOMIC;
	if (x->locked)
		return MEND_LOCKS;
	if (x->of_region)
		return MEND_REGION;
	/* What a library's function accesses is not the program's to make atomic. */
	if (x->p[0].place.callee || x->p[1].place.callee)
		return MEND_CALLS;
	return is_handed_out(x) ? MEND_COPY : MEND_ANY;
}

static const char make_once[] = "make it atomic: load it with acquire for the check without the lock, store it with "
                                "release once all it stands for is initialised; or initialise it once (pthread_once, "
                                "a static variable of C++)";
static const char make_live[] =
    "let other threads use the object only after its constructor and before its destructor: "
    "hand it over when it is made, join them or count references before it is destroyed";
static const char hold_one[] = "hold one lock at both places; in between this one is released by another thread, or is "
                               "no longer the same lock (destroyed, or its memory freed)";
static const char make_free[] =
    "make it atomic and free of locks (a handler may not wait for one), or block the signal "
    "where others use it";
static const char make_private[] = "give each thread its own (`private`, or declare it within the region), make it a "
                                   "`reduction`, or guard it (`atomic`, `critical`)";
/* Those that name nothing of the race. */
static const char *const mends[] = {
    [MEND_HAND_OVER] = "hand the pointer over by release and acquire, or under a lock",
    [MEND_VTABLE] = make_live,
    [MEND_PROFILE] = "a counter of the compiler's, not of the program: build with -fprofile-update=atomic",
    [MEND_ONCE] = make_once,
    [MEND_MEMBERS] = "guard both by one lock, or give each bytes of its own (`: 0` between bit-fields)",
    [MEND_HANDLER] = make_free,
    [MEND_FLAG] = "make it atomic: store it with release, load it with acquire; or wait by a condition variable",
    [MEND_LOST] = hold_one,
    [MEND_LOCKS] = "hold one common lock at both places",
    [MEND_REGION] = make_private,
    [MEND_CALLS] = "guard both by one lock",
    [MEND_COPY] = "give the other thread a copy of the value, or guard it by one lock at both places",
    [MEND_ANY] = "guard it by one lock at both places, or make both accesses atomic",
};

static void fix_life(const struct race *x, struct text *t)
{
	enum deed_life life = x->life[ending_side(x)];
	const char *verb = deed_lives[life].mended;
	bool both = x->life[0] && x->life[1];
	if (both && (life == LIFE_FREES || life == LIFE_CLOSES))
		say(t, "%s it in one place only, after the last use happened before", verb);
	else if (both)
		say(t, "initialise it once before other threads can use it, and %s it once after all have", verb);
	else if (life == LIFE_BEGINS)
		say(t, "initialise it before another thread can use it: before that thread is created, or statically");
	else
		say(t, "%s it only after the last use happened before: join the thread, or count references", verb);
}

static void fix_readers(const struct race *x, struct text *t)
{
	bool one_place = place_key(&x->p[0].place) == place_key(&x->p[1].place);
	say(t, "hold ");
	say_lock(t, x->common);
	say(t, " as a writer");
	for (uint32_t s = 0, n = 0; s < 2; s++)
		if (rt_op_writes(x->p[s].op) && !(n && one_place)) {
			say(t, n++ ? " and" : "");
			say_place(t, &x->p[s].place);
		}
}

/* True if the place lacks the finding's guard or, if another lock than that is lacked, every lock. */
static bool lacks(const struct race *x, const struct finding_place *place, bool of_guard)
{
	const struct description *d = report_event(x->r, place->e);
	return of_guard ? !place->guarded : d && !d->lock_count;
}

/* In one file by lines; else as they are. */
static bool comes_first(const struct finding_place *a, const struct finding_place *b)
{
	const struct rt_frame *x = a->place.frame, *y = b->place.frame;
	return x && y && x->file && y->file && !strcmp(x->file, y->file) && x->line < y->line;
}

/* The places of the finding that lack the lock. */
static void say_lacking(const struct race *x, struct text *t)
{
	enum { SAID = 4 };
	const struct finding *f = x->f;
	const struct finding_place *more[FINDING_PLACES_MAX + 1] = {&x->p[f->lacking]};
	size_t n = 1;
	bool of_guard = f->guard.lock != MODEL_NONE && !x->p[f->lacking].guarded && x->p[!f->lacking].guarded;
	for (size_t i = 0; i < f->place_count; i++)
		if (lacks(x, &f->places[i], of_guard) && rt_op_is_access(f->places[i].op) && f->places[i].place.frame &&
		    place_key(&f->places[i].place) != place_key(&x->p[f->lacking].place))
			more[n++] = &f->places[i];
	for (size_t i = 1; i < n && i < SAID; i++)
		for (size_t k = i; k && comes_first(more[k], more[k - 1]); k--) {
			const struct finding_place *later = more[k - 1];
			more[k - 1] = more[k];
			more[k] = later;
		}
	for (size_t i = 0; i < n && i < SAID; i++) {
		say(t, !i ? "" : i + 1 == n ? " and" : ",");
		say_place(t, &more[i]->place);
	}
	if (n > SAID)
		say(t, " and %zu more places", n - SAID);
}

static void fix_lacking(const struct race *x, struct text *t)
{
	uint32_t side = x->f->lacking;
	say(t, "hold");
	if (x->f->lacked[0])
		say(t, " `%s`", x->f->lacked);
	if (x->f->lacked[0]) {
		say_lacking(x, t);
		if (x->apart)
			say(t, ", or give each member bytes of its own (`: 0` between bit-fields)");
		return;
	}
	say_place(t, &x->p[side].place);
	say(t, " the lock that is held");
	say_place(t, &x->p[!side].place);
}

/* A function whose result is in static memory has another one with _r, or one that is to be looked up. */
static void fix_result(const char *function, struct text *t)
{
	static const char *const with_r[] = {
	    "asctime",       "ctime",          "drand48",       "ecvt",     "ether_aton", "ether_ntoa", "fcvt",
	    "getgrgid",      "getgrnam",       "gethostbyaddr", "getlogin", "getpwnam",   "getpwuid",   "gethostbyname",
	    "getservbyname", "getprotobyname", "gmtime",        "lgamma",   "localtime",  "ptsname",    "qecvt",
	    "qfcvt",         "rand",           "random",        "strerror", "strtok",     "ttyname"};
	size_t i = 0, n = sizeof with_r / sizeof *with_r;
	while (i < n && strcmp(with_r[i], function) != 0)
		i++;
	say(t, "call the variant of `%s` that is given the memory of its result (", function);
	if (i < n)
		say(t, "`%s_r`", function);
	else
		say(t, "such as `localtime_r` of `localtime`");
	say(t, "), or hold one lock until the result is no longer used");
}

void race_fix(const struct report *r, const struct finding *f, struct text *t)
{
	struct race x;
	char text[FOLLOWS_TEXT_MAX];
	race_of(r, f, &x);
	enum mend mend = mend_of(&x);
	if (mend == MEND_LIFE) {
		fix_life(&x, t);
	} else if (mend == MEND_RESULT) {
		fix_result(f->called, t);
	} else if (mend == MEND_RELAXED) {
		follows_text(r, relaxed_cause(&x), text);
		say(t, "%s", text);
	} else if (mend == MEND_READERS) {
		fix_readers(&x, t);
	} else if (mend == MEND_LACKING) {
		fix_lacking(&x, t);
	} else if (mend == MEND_ATOMIC) {
		say(t, "make the access");
		say_place(t, &x.p[rt_op_is_atomic(x.p[0].op) != 0].place);
		say(t, " atomic, too");
	} else {
		say(t, "%s", mends[mend]);
	}
}
