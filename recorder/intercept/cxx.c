/*
 * What libstdc++ does inside, where no compiler puts hooks: it counts the references to exceptions, messages and
 * locales, and makes futures ready at a thread's end. The orders that come of it, by function:
 *
 *   exception_ptr::_M_release, __cxa_end_catch    dropping a reference to an exception comes before its destruction
 *   ~runtime_error, ~logic_error                  the same of the text, which copies share
 *   ~locale, locale::operator=                    the same of the facets
 *   _Make_ready::_M_set                           the thread's end comes before what waits for the future; of the state
 *                                                 that both share, dropping it comes before its destruction
 *   shared_ptr<filesystem::_Dir>::operator=       dropping it comes before the directory is closed
 *   ctype<char>::do_narrow                        none: its cache is written without any, always with the same
 *
 * A reference is dropped here, by a decrement that is recorded as it takes effect, and the library's own function drops
 * one that was added before: so it is never the library that drops the last one unseen. The thread that drops it
 * destroys the object by way of the library, behind an acquire. The layouts are those of the Itanium ABI and of
 * libstdc++.so.6.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"

static void hold(int *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* True: that was the last one, so it is there again, for the library to drop. last: what the count is then. */
static bool drop(int *count, int last, uintptr_t pc)
{
	int was = rt_atomic_drop(count, pc);
	if (was > last)
		return false;
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	rt_atomic_acquired(count, sizeof *count, pc);
	return true;
}

/* ---- Exceptions ---- */

/* Before an exception: its header, and before that the count of references. */
enum { HEADER = 112, COUNT = 128 };
struct header {
	void *primary; /* of a dependent exception, which is another reference to it; else its type */
	void *destructor, *unexpected, *terminate;
	struct header *next;
	int handlers; /* that it is in; negative: it is on its way again */
	int switch_value;
	void *action, *language_data, *catch_temp, *adjusted;
	uint64_t class;
};
_Static_assert(sizeof(struct header) == 88, "the rest is the unwinder's");
#define CLASS UINT64_C(0x474e5543432b2b00) /* "GNUCC++" and 0, or 1 if it is dependent */

static int *references(void *exception)
{
	return (int *)(void *)((char *)exception - COUNT);
}

RT_INTERPOSE(void, _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv, (void **pointer))
{
	if (*pointer && drop(references(*pointer), 1, RT_PC))
		RT_REAL(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)(pointer);
}

RT_NEXT(struct header **, __cxa_get_globals, (void));

/* The exception of the innermost handler if the handler's end is the end of what refers to it; else NULL. */
static void *leaving(void)
{
	struct header *h = *RT_REAL(__cxa_get_globals)();
	if (!h || h->handlers != 1 || (h->class & ~UINT64_C(1)) != CLASS)
		return NULL;
	return h->class & 1 ? h->primary : (char *)h + HEADER;
}

RT_INTERPOSE(void, __cxa_end_catch, (void))
{
	void *exception = leaving();
	if (exception)
		hold(references(exception));
	RT_REAL(__cxa_end_catch)();
	if (exception && drop(references(exception), 1, RT_PC))
		RT_REAL(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)(&exception);
}

/* ---- Their messages ---- */

/* A string that copies share: in front of its letters are length, capacity and the count of other references. */
struct text {
	size_t length, capacity;
	int others;
};
struct error {
	void *vtable;
	char *letters;
};

static struct text *text_of(const struct error *e)
{
	struct text *t = (struct text *)(void *)(e->letters - sizeof *t);
	return t->length ? t : NULL; /* all empty ones are one, which is not counted */
}

static void destroy_error(struct error *e, void (*real)(struct error *), void (*base)(struct error *), uintptr_t pc)
{
	struct error rest = *e;
	struct text *t = text_of(e);
	uintptr_t outer = rt_heap_called_from(pc);
	if (t)
		hold(&t->others);
	real(e);
	if (t && drop(&t->others, 0, pc))
		base(&rest);
	rt_heap_called(outer);
}

#define ERROR(name, base)                                                                                              \
	RT_INTERPOSE(void, name, (struct error * e))                                                                   \
	{                                                                                                              \
		destroy_error(e, RT_REAL(name), RT_REAL(base), RT_PC);                                                 \
	}
ERROR(_ZNSt13runtime_errorD2Ev, _ZNSt13runtime_errorD2Ev)
ERROR(_ZNSt13runtime_errorD1Ev, _ZNSt13runtime_errorD2Ev)
ERROR(_ZNSt13runtime_errorD0Ev, _ZNSt13runtime_errorD2Ev)
ERROR(_ZNSt11logic_errorD2Ev, _ZNSt11logic_errorD2Ev)
ERROR(_ZNSt11logic_errorD1Ev, _ZNSt11logic_errorD2Ev)
ERROR(_ZNSt11logic_errorD0Ev, _ZNSt11logic_errorD2Ev)

/* ---- Locales ---- */

struct locale {
	int *references; /* the first field of what it refers to */
};

RT_NEXT(const struct locale *, _ZNSt6locale7classicEv, (void));

/* The classic locale is never destroyed, and counting references to it would order threads that it does not. */
static int *counted(const struct locale *l)
{
	static const struct locale *classic;
	if (!classic)
		classic = RT_REAL(_ZNSt6locale7classicEv)();
	return l->references != classic->references ? l->references : NULL;
}

/* After the library dropped one: drops what was added. */
static void drop_locale(int *count, void (*real)(struct locale *), uintptr_t pc)
{
	struct locale rest = {count};
	if (count && drop(count, 1, pc))
		real(&rest);
}

#define LOCALE(name)                                                                                                   \
	RT_INTERPOSE(void, name, (struct locale * l))                                                                  \
	{                                                                                                              \
		int *count = counted(l);                                                                               \
		if (count)                                                                                             \
			hold(count);                                                                                   \
		RT_REAL(name)(l);                                                                                      \
		drop_locale(count, RT_REAL(name), RT_PC);                                                              \
	}
LOCALE(_ZNSt6localeD1Ev)
LOCALE(_ZNSt6localeD2Ev)

RT_INTERPOSE(struct locale *, _ZNSt6localeaSERKS_, (struct locale * to, const struct locale *from))
{
	int *count = counted(to);
	rt_emit_range(RT_OP_READ, from, sizeof *from, RT_PC);
	rt_emit_range(RT_OP_WRITE, to, sizeof *to, RT_PC);
	if (count)
		hold(count);
	struct locale *result = RT_REAL(_ZNSt6localeaSERKS_)(to, from);
	drop_locale(count, RT_REAL(_ZNSt6localeD1Ev), RT_PC);
	return result;
}

/* The classic locale's facet; others' memory may become something else. */
RT_NEXT(const void *, _ZSt9use_facetISt5ctypeIcEERKT_RKSt6locale, (const struct locale *));

RT_INTERPOSE(char, _ZNKSt5ctypeIcE9do_narrowEcc, (const void *facet, char c, char otherwise))
{
	enum { CTYPE_BYTES = 576 };
	static const void *said;
	if (facet != __atomic_load_n(&said, __ATOMIC_RELAXED) &&
	    facet == RT_REAL(_ZSt9use_facetISt5ctypeIcEERKT_RKSt6locale)(RT_REAL(_ZNSt6locale7classicEv)())) {
		__atomic_store_n(&said, facet, __ATOMIC_RELAXED);
		rt_emit_sync(RT_OP_BENIGN, (uintptr_t)facet, CTYPE_BYTES, RT_PC, 0);
	}
	return RT_REAL(_ZNKSt5ctypeIcE9do_narrowEcc)(facet, c, otherwise);
}

/* ---- Shared pointers ---- */

struct counts {
	void (**vtable)(struct counts *);
	int uses, weak;
};
enum { DISPOSE = 2, DESTROY = 3 }; /* in the vtable */
struct shared {
	char *object;
	struct counts *counts;
};

/* Of one that is used: one more use. */
static void hold_shared(struct counts *c)
{
	hold(&c->uses);
	hold(&c->weak);
}

/* As the library's own. */
static bool drop_count(int *count, uintptr_t pc)
{
	if (rt_atomic_drop(count, pc) != 1)
		return false;
	rt_atomic_acquired(count, sizeof *count, pc);
	return true;
}

static void drop_weak(struct counts *c, uintptr_t pc)
{
	if (drop_count(&c->weak, pc))
		c->vtable[DESTROY](c);
}

static void drop_shared(struct counts *c, uintptr_t pc)
{
	if (drop_count(&c->uses, pc)) {
		c->vtable[DISPOSE](c);
		drop_weak(c, pc); /* that of all uses together */
	}
	drop_weak(c, pc);
}

/* One more use, unless there are none any more. */
static bool lock_shared(struct counts *c)
{
	int uses = __atomic_load_n(&c->uses, __ATOMIC_RELAXED);
	while (uses &&
	       !__atomic_compare_exchange_n(&c->uses, &uses, uses + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	if (uses)
		hold(&c->weak);
	return uses != 0;
}

/* Moving to one drops what it had. */
#define MOVE(name)                                                                                                     \
	RT_INTERPOSE(struct shared *, name, (struct shared * to, struct shared * from))                                \
	{                                                                                                              \
		struct counts *c = to->counts;                                                                         \
		if (c)                                                                                                 \
			hold_shared(c);                                                                                \
		RT_REAL(name)(to, from);                                                                               \
		if (c)                                                                                                 \
			drop_shared(c, RT_PC);                                                                         \
		return to;                                                                                             \
	}
MOVE(_ZNSt12__shared_ptrINSt10filesystem4_DirELN9__gnu_cxx12_Lock_policyE2EEaSEOS4_)
MOVE(_ZNSt12__shared_ptrINSt10filesystem7__cxx114_DirELN9__gnu_cxx12_Lock_policyE2EEaSEOS5_)

/* ---- Futures made ready at a thread's end ---- */

struct make_ready {
	void *next;
	void (*run)(struct make_ready *);
	struct shared state; /* weak */
};
enum { STATUS = 16 }; /* in a state */

static void (*real_run)(struct make_ready *);

static void run(struct make_ready *m)
{
	struct shared state = m->state;
	uintptr_t pc = (uintptr_t)real_run;
	if (!state.counts) {
		real_run(m);
		return;
	}
	hold(&state.counts->weak); /* the library drops its own */
	bool alive = lock_shared(state.counts);
	if (alive)
		rt_atomic_will_store(state.object + STATUS, sizeof(int), pc);
	real_run(m);
	if (alive)
		drop_shared(state.counts, pc);
	drop_weak(state.counts, pc);
}

RT_INTERPOSE(void, _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv, (struct make_ready * m))
{
	RT_REAL(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv)(m);
	real_run = m->run;
	m->run = run;
}
