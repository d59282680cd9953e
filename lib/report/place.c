/* User places; see place.h. */
#include "lib/report/place.h"

#include "lib/report/digest.h"
#include "lib/report/fortran.h"
#include "lib/trace/own_code.h"
#include "lib/trace/snippet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* True if no more than the function is known, as of a library that was stripped. */
static bool is_bare(const struct rt_frame *frame)
{
	return !frame->file && !frame->text && frame->module;
}

static bool is_within(const struct rt_frame *frame, const struct rt_frame *other)
{
	return frame->module && other->module && !strcmp(frame->module, other->module);
}

struct place place_of_stack(const struct report *r, const uint64_t *stack, size_t count)
{
	struct place place = {.pc = count ? stack[0] : 0}, bare = {0};
	const struct rt_frame *callee = NULL;
	for (size_t i = 0; i < count; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, stack[i], &n);
		for (size_t k = 0; k < n; k++) {
			struct place here = {.frame = &frames[k], .pc = stack[i], .callee = callee};
			bool own = frame_is_own(&frames[k]);
			if (!place.frame)
				place.frame = &frames[k];
			if (own && bare.frame && frames[k].file)
				return is_within(&frames[k], bare.frame) ? bare : here;
			if (own && !bare.frame && !is_bare(&frames[k]))
				return here;
			if (own && !bare.frame)
				bare = here;
			callee = frames[k].function ? &frames[k] : callee;
		}
	}
	return bare.frame ? bare : place;
}

/* The frames of the user's own source in an event's stack, innermost first, as far as they fit. */
enum { OWN_STACK_MAX = 64 };
struct own_stack {
	struct place places[OWN_STACK_MAX];
	size_t count;
};

static void own_stack(const struct report *r, const struct description *d, struct own_stack *out)
{
	out->count = 0;
	for (size_t i = 0; i < d->stack_count; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < n && out->count < OWN_STACK_MAX; k++)
			if (frame_is_own(&frames[k]))
				out->places[out->count++] = (struct place){.frame = &frames[k], .pc = d->stack[i]};
	}
}

struct place place_of_allocation(const struct report *r, const struct description *alloc)
{
	struct own_stack own;
	size_t i = 0;
	own_stack(r, alloc, &own);
	while (i + 1 < own.count && frame_allocates(own.places[i].frame))
		i++;
	return i ? own.places[i] : place_of_stack(r, alloc->stack, alloc->stack_count);
}

static bool same_function(const struct place *a, const struct place *b)
{
	return place_function_key(a) == place_function_key(b);
}

static bool same_call(const struct place *a, const struct place *b)
{
	return same_function(a, b) && a->frame->line == b->frame->line && a->frame->column == b->frame->column;
}

/*
 * The place of an acquire. A function that acquired the lock held before, too, and has returned since, is one that
 * locks for its callers: the place is in the first caller that is none.
 */
static struct place place_of_acquire(const struct report *r, const struct description *d, struct place inner)
{
	struct own_stack now, before;
	size_t common = 0, i = 0;
	const struct description *held =
	    d->lock_count ? description_of(r->descriptions, d->locks[d->lock_count - 1].acquired) : NULL;
	if (!held || d->stack_cut || held->stack_cut)
		return inner;
	own_stack(r, d, &now);
	own_stack(r, held, &before);
	if (now.count == OWN_STACK_MAX || before.count == OWN_STACK_MAX) /* their outer ends may be missing */
		return inner;
	const struct place *n = now.places + now.count, *b = before.places + before.count;
	size_t least = now.count < before.count ? now.count : before.count;
	while (common < least && same_call(n - 1 - common, b - 1 - common))
		common++;
	common += common < least && same_function(n - 1 - common, b - 1 - common);
	while (i + common < least && same_function(&now.places[i], &before.places[i]))
		i++;
	return i && i < now.count ? now.places[i] : inner;
}

struct place place_of(const struct report *r, uint32_t e)
{
	const struct description *d = report_event(r, e);
	struct place place = d ? place_of_stack(r, d->stack, d->stack_count) : (struct place){0};
	return d && rt_op_has(d->event.op, RT_TAKES) ? place_of_acquire(r, d, place) : place;
}

struct place place_caller(const struct report *r, uint32_t e)
{
	const struct description *d = report_event(r, e);
	struct own_stack own = {0};
	if (d)
		own_stack(r, d, &own);
	for (size_t i = 1; i < own.count; i++)
		if (!same_function(&own.places[i], own.places))
			return own.places[i];
	return (struct place){0};
}

struct place place_of_both(const struct report *r, uint32_t e1, uint32_t e2)
{
	const struct description *d[2] = {report_event(r, e1), report_event(r, e2)};
	struct place place = {0};
	if (!d[0] || !d[1])
		return place;
	size_t n[2] = {d[0]->stack_count, d[1]->stack_count}, common = 0;
	while (common + 1 < n[0] && common + 1 < n[1] &&
	       d[0]->stack[n[0] - 1 - common] == d[1]->stack[n[1] - 1 - common])
		common++;
	size_t at[2] = {n[0] - 1 - common, n[1] - 1 - common}, count[2];
	const struct rt_frame *f[2];
	for (int i = 0; i < 2; i++)
		f[i] = rt_trace_frames(r->analysis->trace, d[i]->stack[at[i]], &count[i]);
	/* What is inlined in the common function is common as far as its calls are. */
	for (size_t depth = 1; depth <= count[0] && depth <= count[1]; depth++) {
		const struct rt_frame *x = &f[0][count[0] - depth], *y = &f[1][count[1] - depth];
		if (!x->function || !y->function || strcmp(x->function, y->function) != 0)
			break;
		if (!frame_is_library(x))
			place = (struct place){.frame = x, .pc = d[0]->stack[at[0]]};
		if (x->line != y->line || x->column != y->column)
			break;
	}
	for (size_t i = at[0] + 1; !place.frame && i < n[0]; i++) {
		place = place_of_stack(r, d[0]->stack + i, n[0] - i);
		if (place.frame && frame_is_library(place.frame))
			place.frame = NULL;
	}
	return place;
}

static char *line_of(const struct report *r, const struct rt_frame *frame)
{
	char *line = frame && frame->file ? snippet_whole(r->sources, frame->file, frame->line) : NULL;
	if (line && fortran_is_source(frame->file))
		fortran_to_c(line);
	return line;
}

char *place_line(const struct report *r, const struct place *place)
{
	return place->callee ? NULL : line_of(r, place->frame);
}

uint32_t place_column(const struct place *place)
{
	return place->frame && !fortran_is_source(place->frame->file) ? place->frame->column : 0;
}

bool place_called_for(const struct report *r, const struct place *place, char name[EXPRESSION_MAX])
{
	struct place callee = {.frame = place->callee};
	char function[PLACE_FUNCTION_MAX];
	if (!callee.frame)
		return false;
	place_function(&callee, function);
	char *line = line_of(r, place->frame);
	bool known = line && expression_called_for(line, function, name);
	free(line);
	return known;
}

/* The user's frame that called `callee`, which is one of the stack; NULL: there is none. */
static const struct rt_frame *caller_of(const struct report *r, const struct description *d,
                                        const struct rt_frame *callee)
{
	bool past = false;
	for (size_t i = 0; i < d->stack_count; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < n; k++) {
			if (past && !frame_is_library(&frames[k]))
				return &frames[k];
			past |= &frames[k] == callee;
		}
	}
	return NULL;
}

/*
 * True if the variable may be a parameter of the function: its name is in the brackets of the line above where the
 * function begins, or no such line is near.
 */
static bool is_parameter(const struct report *r, const struct rt_frame *frame, const char *name)
{
	enum { LINES_MAX = 64 };
	for (uint32_t line = frame->line; line && line + LINES_MAX > frame->line; line--) {
		char *text = snippet_whole(r->sources, frame->file, line);
		int begins = text ? expression_begins(text, frame->function, name) : -1;
		free(text);
		if (begins >= 0)
			return begins;
	}
	return true;
}

/* True if the parameter is declared as `void *` above: memory that the function knows nothing else of. */
static bool is_untyped_parameter(const struct report *r, const struct rt_frame *frame, const char *name)
{
	static const char *const forms[] = {"void *%s", "void* %s", "void * %s"};
	enum { LINES_MAX = 64 };
	char declared[EXPRESSION_MAX + sizeof "void * "];
	for (uint32_t line = frame->line; line && line + LINES_MAX > frame->line; line--) {
		char *text = snippet_whole(r->sources, frame->file, line);
		int begins = text ? expression_begins(text, frame->function, name) : -1;
		bool untyped = false;
		for (size_t i = 0; begins > 0 && i < sizeof forms / sizeof *forms; i++) {
			snprintf(declared, sizeof declared, forms[i], name);
			untyped |= expression_has(text, declared);
		}
		free(text);
		if (begins >= 0)
			return untyped;
	}
	return false;
}

bool place_freed(const struct report *r, const struct description *d, char name[EXPRESSION_MAX])
{
	const struct rt_frame *frame = place_of_stack(r, d->stack, d->stack_count).frame;
	char passed[EXPRESSION_MAX];
	bool handed;
	char *line = line_of(r, frame);
	bool known = line && expression_freed(line, name);
	free(line);
	/* A function that frees for its callers is handed what they free. */
	while (known && frame->function && is_untyped_parameter(r, frame, name)) {
		const struct rt_frame *caller = caller_of(r, d, frame);
		line = line_of(r, caller);
		bool says = line && expression_passed(line, frame->function, passed, &handed);
		free(line);
		if (!says)
			break;
		memcpy(name, passed, sizeof passed);
		frame = caller;
	}
	return known;
}

bool place_depends(const struct report *r, const struct description *acquire, char name[SUBJECT_NAME_MAX])
{
	char on[SUBJECT_NAME_MAX];
	if (!acquire || acquire->event.op != RT_OP_ACQUIRE || !acquire->event.arg)
		return false;
	subject_object_name(r, acquire->event.arg, NULL, on);
	if (!on[0])
		snprintf(on, sizeof on, "0x%" PRIx64, acquire->event.arg);
	snprintf(name, SUBJECT_NAME_MAX, "depend(mutexinoutset: %.200s)", on);
	return true;
}

bool place_locked(const struct report *r, const struct description *acquire, char name[EXPRESSION_MAX])
{
	enum { WRAPPERS_MAX = 3 };
	unsigned op = !acquire                           ? RT_OP_NONE
	              : acquire->event.op == RT_OP_BLOCK ? (unsigned)acquire->event.arg
	                                                 : acquire->event.op;
	if (op != RT_OP_ACQUIRE && op != RT_OP_ACQUIRE_SHARED)
		return false;
	const struct rt_frame *frame = place_of_stack(r, acquire->stack, acquire->stack_count).frame;
	char *line = line_of(r, frame);
	bool known = line && expression_locked(line, name), handed = known && expression_locks_pointer(line);
	free(line);
	for (int i = 0; handed && i < WRAPPERS_MAX && is_parameter(r, frame, name); i++) {
		const struct rt_frame *caller = caller_of(r, acquire, frame);
		line = frame->function ? line_of(r, caller) : NULL;
		bool passed = line && expression_passed(line, frame->function, name, &handed);
		free(line);
		if (!passed)
			break;
		frame = caller;
	}
	/* What a class of locks has as its lock is known by what it is a member of. */
	for (int i = 0; known && i < WRAPPERS_MAX && frame->function && name[strcspn(name, ".->[")] == '\0'; i++) {
		const struct rt_frame *caller = caller_of(r, acquire, frame);
		line = line_of(r, caller);
		bool passed = line && expression_receiver(line, frame->function, name);
		free(line);
		if (!passed)
			break;
		frame = caller;
	}
	return known;
}

void place_lock_name(const struct report *r, uint64_t addr, const struct memory_block *block,
                     const struct description *acquire, char name[SUBJECT_NAME_MAX])
{
	char written[EXPRESSION_MAX];
	subject_object_name(r, addr, NULL, name);
	if (!name[0] && place_depends(r, acquire, name))
		return;
	if (!name[0] && place_locked(r, acquire, written))
		snprintf(name, SUBJECT_NAME_MAX, "%s", written);
	else if (!name[0])
		subject_object_name(r, addr, block, name);
}

const struct description *place_taken(const struct report *r, const struct held_lock *lock)
{
	return description_of(r->descriptions, lock->taken ? lock->taken : lock->acquired);
}

void place_held_name(const struct report *r, const struct held_lock *lock, char name[SUBJECT_NAME_MAX])
{
	place_lock_name(r, lock->addr, &lock->block, place_taken(r, lock), name);
}

uint64_t place_key(const struct place *place)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	const struct rt_frame *f = place->frame;
	if (f && f->file && f->line) {
		digest_text(&state, f->file);
		digest_number(&state, f->line);
	} else if (f && (f->text || f->function)) {
		digest_text(&state, f->text ? f->text : f->function);
	} else {
		digest_number(&state, place->pc);
	}
	return XXH3_64bits_digest(&state);
}

/* The innermost "{lambda(int)#2}" of a function's name, outside of what it is a template of; NULL: it is no lambda's.
 */
static const char *lambda_in(const char *name)
{
	const char *last = NULL;
	int depth = 0;
	for (const char *at = name; *at; at++) {
		depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
		if (!depth && begins(at, "{lambda(") && (at == name || at[-1] == ':') && strchr(at, '}'))
			last = at;
	}
	return last;
}

uint64_t place_function_key(const struct place *place)
{
	XXH3_state_t state;
	const struct rt_frame *f = place->frame;
	if (!f || !f->function)
		return place_key(place);
	XXH3_64bits_reset(&state);
	/* All of a lambda is one function: where it is inlined, its operator() has no parameters. */
	const char *lambda = lambda_in(f->function), *end = lambda ? strchr(lambda, '}') : NULL;
	if (end)
		XXH3_64bits_update(&state, f->function, (size_t)(end - f->function));
	else
		digest_text(&state, f->function);
	digest_text(&state, f->file);
	return XXH3_64bits_digest(&state);
}

/* True if the '<' or '>' at `at` belongs to an operator's name. */
static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	while (at > name && (at[-1] == '<' || at[-1] == '-'))
		at--;
	return at - name >= (ptrdiff_t)(sizeof word - 1) && !memcmp(at - (sizeof word - 1), word, sizeof word - 1);
}

/* True if the '<' at `at` opens a path of Rust's, such as "<T as Trait>::f" and "<impl T>::f". */
static bool is_path(const char *name, const char *at)
{
	return at == name || at[-1] == '<' || at[-1] == '&' || at[-1] == ' ' || begins(at, "<impl ");
}

static void name_made_function(char name[PLACE_FUNCTION_MAX]);

/* "lambda(int) #2 in main" of "main::{lambda(int)#2}::operator()(int)", "lambda $_1 in main" of Clang's
 * "main::$_1::operator()(int)". False: it is no lambda's. */
static bool name_lambda(char name[PLACE_FUNCTION_MAX])
{
	char outer[PLACE_FUNCTION_MAX], own[PLACE_FUNCTION_MAX / 2];
	const char *lambda = lambda_in(name), *clang = strstr(name, "::$_");
	snprintf(outer, sizeof outer, "%s", name);
	if (lambda) {
		const char *parameters = lambda + strlen("{lambda"), *end = strchr(lambda, '}');
		const char *number = memrchr(parameters, '#', (size_t)(end - parameters));
		int length = number && !begins(parameters, "()") ? (int)(number - parameters) : 0;
		number = number ? number : end;
		snprintf(own, sizeof own, "lambda%.*s%s%.*s", length, parameters, number < end ? " " : "",
		         (int)(end - number), number);
		outer[lambda > name + 2 ? lambda - 2 - name : 0] = '\0';
	} else if (clang) {
		snprintf(own, sizeof own, "lambda %.*s", 2 + (int)strspn(clang + 4, "0123456789"), clang + 2);
		outer[clang - name] = '\0';
	} else {
		return false;
	}
	name_made_function(outer);
	snprintf(name, PLACE_FUNCTION_MAX, "%s%s%.75s", own, *outer ? " in " : "", outer);
	return true;
}

/* "main (OpenMP region)" of "main._omp_fn.0", "sweep (OpenMP region)" of "sweep.0._omp_fn.1", "closure in main" of
 * "main::{{closure}}". */
static void name_made_function(char name[PLACE_FUNCTION_MAX])
{
	char outer[PLACE_FUNCTION_MAX];
	char *region = strstr(name, "._omp_fn."), *outlined = strstr(name, ".omp_outlined"),
	     *closure = strstr(name, "::{{closure}}");
	closure = closure ? closure : strstr(name, "::{closure#");
	snprintf(outer, sizeof outer, "%s", name);
	if (name_lambda(name))
		return;
	if (region || outlined) {
		outer[(region ? region : outlined) - name] = '\0';
		if (!strcmp(outer, "MAIN__"))
			snprintf(outer, sizeof outer, "main program");
		/* A procedure within another one is numbered. */
		char *number = strrchr(outer, '.');
		if (number && number[1 + strspn(number + 1, "0123456789")] == '\0')
			*number = '\0';
		snprintf(name, PLACE_FUNCTION_MAX, "%.130s (OpenMP region)", outer);
	} else if (closure) {
		outer[closure - name] = '\0';
		snprintf(name, PLACE_FUNCTION_MAX, "closure in %.140s", outer);
	} else if (begins(name, "__static_initialization_and_destruction") || begins(name, "_GLOBAL__sub_I_")) {
		snprintf(name, PLACE_FUNCTION_MAX, "static initialisation");
	} else if (!strcmp(name, "operator()")) {
		snprintf(name, PLACE_FUNCTION_MAX, "lambda");
	}
}

void place_function(const struct place *place, char name[PLACE_FUNCTION_MAX])
{
	const char *full = place->frame ? place->frame->function : NULL;
	size_t n = 0;
	int depth = 0;
	for (const char *c = full ? full : "a thread"; *c && n + 1 < PLACE_FUNCTION_MAX; c++) {
		/* The standard library's tags and its inline namespace. */
		const char *tag_end = begins(c, "[abi:") ? strchr(c, ']') : begins(c, "__cxx11::") ? c + 8 : NULL;
		if (tag_end) {
			c = tag_end;
			continue;
		}
		bool bracket = full && (*c == '<' || *c == '>') && !(c > full && *c == '>' && c[-1] == '-');
		bracket = bracket && !is_operator(full, c);
		if (bracket && *c == '>' && depth)
			depth--;
		bool opens = bracket && *c == '<' && (depth || !is_path(full, c));
		if (opens && !depth && n > 2 && !memcmp(name + n - 2, "::", 2))
			n -= 2; /* Rust's "f::<T>" */
		if (!depth)
			name[n++] = *c;
		depth += opens;
	}
	name[n] = '\0';
	/* A lambda's own constructor. */
	if (full && !strcmp(full, "<lambda>"))
		n = (size_t)snprintf(name, PLACE_FUNCTION_MAX, "lambda");
	if (n > 2 && !strcmp(name + n - 2, "<>"))
		n -= 2;
	while (n && name[n - 1] == ' ') /* of "operator<< <>" */
		n--;
	name[n] = '\0';
	name_made_function(name);
}
