/*
 * Every byte is first checked for the pattern of such an instruction, which almost none pass. Only a function that has
 * such bytes is disassembled, from its start, so that bytes inside other instructions do not count.
 *
 * A function without hooks leaves no events, so its callers represent it: their call counts as the atomic instruction.
 * Each call of a function with hooks has an ENTER, whose pc identifies the function.
 *
 * Any function of a module that is not instrumented may read and write, and keep an order, if one of them has such an
 * instruction: each call of them counts, and so does all that it does around its own calls of functions with hooks.
 */
#include "recorder/collector/hidden.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/module_path.h"
#include "lib/base/vec.h"
#include "recorder/collector/atomic_code.h"
#include "recorder/collector/bare.h"
#include "recorder/collector/code.h"
#include "recorder/collector/code_names.h"
#include "recorder/collector/code_pointers.h"
#include "recorder/collector/hidden_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- A function ---- */

struct jump {
	uint64_t end, target;
};
/* One pass over a function's instructions. */
struct flow {
	uint64_t first, last; /* of the atomic instructions: start of the first, end of the last; 0: there is none */
	struct jump *jumps;   /* backward ones */
	size_t count, size;
	size_t cause; /* the first called one, SIZE_MAX: none is */
	bool hooked;
	bool may_lock;
	unsigned does;  /* HIDDEN_* */
	bool annotated; /* it declares itself what it orders */
	bool lost;      /* a jump whose target is unknown, or out of the function and back */
};

static void add_jump(struct code_search *s, struct flow *f, uint64_t end, uint64_t target)
{
	if (!vec_reserve(&f->jumps, &f->size, (uint64_t)f->count + 1, sizeof *f->jumps)) {
		s->failed = true;
		return;
	}
	f->jumps[f->count++] = (struct jump){end, target};
}

static void add_atomic(struct flow *f, const cs_insn *insn, unsigned does)
{
	f->does |= does;
	f->may_lock |= atomic_code_may_lock(insn);
	if (!f->first)
		f->first = insn->address;
	f->last = insn->address + insn->size;
}

/* A call through a pointer, or a jump: in a function with hooks to a case of a switch, for a last hook is called. */
static void add_pointer_call(struct code_search *s, struct flow *f, bool jump)
{
	if (s->pointed == SIZE_MAX || (jump && f->hooked))
		return;
	if (f->cause == SIZE_MAX)
		f->cause = s->pointed;
	f->may_lock |= s->pointed_lock;
	add_atomic(f, s->insn, HIDDEN_ALL);
}

static void add_target(struct code_search *s, struct flow *f, const struct code *code, const struct code_function *at,
                       const cs_insn *insn)
{
	struct code_target t;
	if (!code_target(code, insn->address, insn->bytes, insn->size, &t))
		return;
	if (!t.name && !t.address)
		add_pointer_call(s, f, t.jump);
	if (!t.jump) {
		f->hooked |= t.name && !strcmp(t.name, "__tsan_func_entry");
		f->annotated |= code_name_annotates(t.name);
		return;
	}
	if (t.name)
		return;
	if (t.address < at->start || t.address >= at->end) {
		size_t other = t.address ? code_function_at(code, t.address) : SIZE_MAX;
		/* Else: a call in tail position. */
		f->lost |= t.branches || other == SIZE_MAX || code->functions[other].start != t.address;
	} else if (t.address <= insn->address) {
		add_jump(s, f, insn->address + insn->size, t.address);
	}
}

static void add_call(struct code_search *s, struct flow *f, struct call *call)
{
	const struct found *cause = &s->found[call->cause];
	call->real = true;
	if (cause->hooked)
		return;
	if (f->cause == SIZE_MAX)
		f->cause = call->cause;
	f->may_lock |= cause->may_lock;
	add_atomic(f, s->insn, cause->does);
}

/* Accesses without a hook count, too. */
static void add_bare(struct code_search *s, struct flow *f, const struct code *code,
                     const struct code_function *function)
{
	struct bare_accesses bare;
	if (!bare_find(&s->bare, code, function, &bare))
		return;
	f->first = f->first && f->first < bare.first ? f->first : bare.first;
	f->last = f->last > bare.end ? f->last : bare.end;
	f->does |= (bare.loads ? HIDDEN_READS : 0) | (bare.stores ? HIDDEN_WRITES : 0);
}

/* Disassembles a function. s->calls: its calls; those of functions without hooks count as atomic. */
static struct flow read_function(struct code_search *s, const struct code *code, const struct code_function *function)
{
	struct flow f = {.cause = SIZE_MAX};
	size_t n;
	uint64_t address = function->start;
	const uint8_t *p = code_at(code, address, &n);
	cs_insn fence = {0};
	bool clock = false;
	size_t next = 0;
	n = function->end - function->start < n ? function->end - function->start : n;
	while (cs_disasm_iter(s->capstone, &p, &n, &address, s->insn)) {
		/* A load fence beside a reading of the clock belongs to that alone. */
		if (fence.size && !atomic_code_reads_clock(s->insn))
			add_atomic(&f, &fence, HIDDEN_ALL);
		fence.size = 0;
		while (next < s->call_count && s->calls[next].address < s->insn->address)
			next++;
		if (next < s->call_count && s->calls[next].address == s->insn->address)
			add_call(s, &f, &s->calls[next]);
		if (s->insn->id == X86_INS_LFENCE && !clock)
			fence = *s->insn;
		else if (atomic_code_orders(code, s->insn))
			add_atomic(&f, s->insn, HIDDEN_ALL);
		clock = atomic_code_reads_clock(s->insn);
		f.may_lock |= s->insn->id == X86_INS_PAUSE;
		f.annotated |=
		    code_name_annotates(code_slot_read(code, s->insn->address, s->insn->bytes, s->insn->size));
		add_target(s, &f, code, function, s->insn);
	}
	if (fence.size)
		add_atomic(&f, &fence, HIDDEN_ALL);
	add_bare(s, &f, code, function);
	return f;
}

/* From which code on an atomic instruction may have been executed, and up to where it may still be. */
static void find_window(const struct flow *f, const struct code_function *function, uint64_t *from, uint64_t *until)
{
	*from = f->lost ? function->start : f->first;
	*until = f->lost ? function->end : f->last;
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < f->count; i++) {
			const struct jump *j = &f->jumps[i];
			if (j->end > *from && j->target < *from) {
				*from = j->target;
				changed = true;
			}
			if (j->target < *until && j->end > *until) {
				*until = j->end;
				changed = true;
			}
		}
	}
}

static struct found *find(struct code_search *s, size_t image, size_t function)
{
	size_t i = s->found_of[image][function];
	return i ? &s->found[i - 1] : NULL;
}

static void add_found(struct code_search *s, const struct found *found)
{
	struct found *known = find(s, found->image, found->function);
	if (known) {
		known->from = found->from < known->from ? found->from : known->from;
		known->may_lock |= found->may_lock;
		known->called &= !(found->does & ~known->does);
		known->does |= found->does;
		known->until = found->until > known->until ? found->until : known->until;
		return;
	}
	if (!vec_reserve(&s->found, &s->size, (uint64_t)s->count + 1, sizeof *s->found)) {
		s->failed = true;
		return;
	}
	s->found[s->count++] = *found;
	s->found_of[found->image][found->function] = s->count;
}

/* An instruction of f.cold's: f may jump there from anywhere, and back. */
static void add_whole(struct code_search *s, const struct found *cold, size_t function)
{
	const struct code *code = &s->codes[cold->image];
	struct found whole = *cold;
	s->call_count = 0;
	struct flow f = read_function(s, code, &code->functions[function]);
	whole.function = function;
	whole.from = code->functions[function].start;
	whole.until = code->functions[function].end;
	whole.hooked = f.hooked;
	free(f.jumps);
	add_found(s, &whole);
}

/* Examines a function that may have an atomic instruction, or one of s->calls. True if it declares what it orders. */
static bool look(struct code_search *s, size_t image, size_t function)
{
	const struct code *code = &s->codes[image];
	const struct code_function *here = &code->functions[function];
	struct flow f = read_function(s, code, here);
	struct found found = {.image = image,
	                      .function = function,
	                      .at = f.first,
	                      .origin = image,
	                      .name = here->name,
	                      .hooked = f.hooked,
	                      .may_lock = f.may_lock,
	                      .does = f.does};
	if (f.first && !f.annotated && (f.hooked || !code_name_is_runtime(here->name))) {
		size_t whole = code_whole_function(code, function);
		find_window(&f, here, &found.from, &found.until);
		if (f.cause != SIZE_MAX) {
			found.at = s->found[f.cause].at;
			found.origin = s->found[f.cause].origin;
			found.name = s->found[f.cause].name;
		}
		add_found(s, &found);
		if (whole != function)
			add_whole(s, &found, whole);
	}
	free(f.jumps);
	return f.annotated;
}

/* ---- All functions ---- */

/* Looks at functions that have something of a kind, by their bytes. */
static void look_at_image(struct code_search *s, size_t image, bool (*may_begin)(const uint8_t *p, size_t n))
{
	const struct code *code = &s->codes[image];
	for (size_t i = 0; i < code->function_count && !s->failed; i++) {
		size_t n, length = code->functions[i].end - code->functions[i].start, k = 0;
		const uint8_t *p = code_at(code, code->functions[i].start, &n);
		n = length < n ? length : n;
		while (p && k < n && !may_begin(p + k, n - k))
			k++;
		struct bare_accesses bare;
		if (p && (k < n || (s->pointed == SIZE_MAX && bare_find(&s->bare, code, &code->functions[i], &bare))))
			look(s, image, i);
	}
}

static void add_out(struct code_search *s, const struct hidden_atomic *item)
{
	struct hidden_atomics *a = s->out;
	if (!vec_reserve(&a->items, &a->size, (uint64_t)a->count + 1, sizeof *a->items)) {
		s->failed = true;
		return;
	}
	a->items[a->count++] = *item;
}

size_t hidden_called(const struct code_search *s, size_t image, const struct code_target *t)
{
	if (t->name) {
		size_t at = lower_bound(i, 0, s->name_count, strcmp(s->names[i].name, t->name) < 0);
		return at < s->name_count && !strcmp(s->names[at].name, t->name) ? s->names[at].found : SIZE_MAX;
	}
	size_t function = code_function_at(&s->codes[image], t->address);
	if (function == SIZE_MAX || s->codes[image].functions[function].start != t->address)
		return SIZE_MAX;
	size_t found = s->found_of[image][function];
	return found && !s->found[found - 1].called ? found - 1 : SIZE_MAX;
}

/* The calls of one function are known. */
static void look_at_function(struct code_search *s, size_t image, size_t function)
{
	size_t n = s->call_count;
	if (!n || function == SIZE_MAX || look(s, image, function))
		n = 0;
	for (size_t i = 0; i < n && !s->failed; i++) {
		const struct call *call = &s->calls[i];
		const struct found *to = &s->found[call->cause];
		uint64_t pc = call->address + call->length - 1;
		if (call->real && to->hooked)
			add_out(s, &(struct hidden_atomic){.start = pc,
			                                   .end = pc,
			                                   .from = pc,
			                                   .until = pc,
			                                   .at = to->at,
			                                   .may_lock = to->may_lock,
			                                   .does = to->does,
			                                   .function = to->name,
			                                   .image = &s->debug->images[to->origin]});
	}
	s->call_count = 0;
}

static void note_call(struct code_search *s, uint64_t address, size_t length, size_t cause)
{
	if (!vec_reserve(&s->calls, &s->call_size, (uint64_t)s->call_count + 1, sizeof *s->calls)) {
		s->failed = true;
		return;
	}
	s->calls[s->call_count++] = (struct call){address, length, cause, false};
}

/* Visits functions in the order of their addresses. */
static void look_at_calls(struct code_search *s, size_t image)
{
	const struct code *code = &s->codes[image];
	size_t function = SIZE_MAX;
	for (size_t i = 0; i < code->section_count; i++) {
		const struct code_section *section = &code->sections[i];
		for (size_t k = 0; k + 6 <= section->size && !s->failed; k++) {
			const uint8_t *p = section->bytes + k;
			size_t length = *p == 0xff ? 6 : 5;
			struct code_target t;
			if ((*p & 0xfe) != 0xe8 && (*p != 0xff || (p[1] != 0x15 && p[1] != 0x25)))
				continue;
			if (!code_target(code, section->start + k, p, length, &t))
				continue;
			size_t to = hidden_called(s, image, &t);
			if (to == SIZE_MAX)
				continue;
			size_t here = code_function_at(code, section->start + k);
			if (here != function) {
				look_at_function(s, image, function);
				function = here;
			}
			note_call(s, section->start + k, length, to);
		}
		look_at_function(s, image, function);
		function = SIZE_MAX;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->name, ((const struct name *)b)->name);
}

static bool is_taken(const struct code_search *s, const char *name)
{
	size_t at = lower_bound(i, 0, s->taken_count, strcmp(s->taken[i].name, name) < 0);
	return at < s->taken_count && !strcmp(s->taken[at].name, name);
}

/* Builds the table of names of the first `last` found functions, except those whose callers are known. */
static void name_called(struct code_search *s, size_t last)
{
	s->name_count = 0;
	if (!vec_reserve(&s->names, &s->name_size, last + 1, sizeof *s->names)) {
		s->failed = true;
		return;
	}
	for (size_t i = 0; i < last; i++) {
		const struct found *f = &s->found[i];
		const char *name = s->codes[f->image].functions[f->function].name;
		if (!f->called && name && !(s->opaque[f->image] && is_taken(s, name)))
			s->names[s->name_count++] = (struct name){name, i};
	}
	if (s->name_count)
		qsort(s->names, s->name_count, sizeof *s->names, by_name);
}

static void look_at_pointer_calls(struct code_search *s)
{
	for (size_t i = 0; i < s->debug->image_count && !s->failed; i++)
		if (s->debug->images[i].instrumented && s->found_of[i])
			look_at_image(s, i, code_may_call_pointer);
}

/* Callers of callers, if these have no hooks either, and so on. */
static void find_callers(struct code_search *s)
{
	size_t first = 0;
	while (first < s->count && !s->failed) {
		size_t last = s->count;
		name_called(s, last);
		if (s->pointed == SIZE_MAX && !s->failed) {
			hidden_find_pointed(s, last);
			if (s->pointed != SIZE_MAX) {
				look_at_pointer_calls(s);
				name_called(s, last);
			}
		}
		for (size_t i = 0; i < s->debug->image_count && !s->failed; i++)
			if (s->debug->images[i].instrumented && s->found_of[i])
				look_at_calls(s, i);
		for (size_t i = 0; i < last; i++)
			s->found[i].called = true;
		first = last;
	}
}

/* ---- Modules that are not instrumented ---- */

bool hidden_may_be_opaque(const struct debug *d, size_t image)
{
	const struct debug_image *of = &d->images[image];
	/* The first is the program. Of a host that is not instrumented the calls of the C library tell the orders. */
	return d->images[0].instrumented && !of->instrumented && !of->system && of->base[0] != '[';
}

static void take_names(struct code_search *s, const struct code *code)
{
	for (size_t i = 0; i < code->function_count && !s->failed; i++) {
		s->failed |= !vec_reserve(&s->taken, &s->taken_size, (uint64_t)s->taken_count + 1, sizeof *s->taken);
		if (!s->failed && !code->functions[i].local)
			s->taken[s->taken_count++] = (struct name){.name = code->functions[i].name};
	}
}

/* All of its functions count as found, so that their callers are. */
static void open_opaque(struct code_search *s, size_t image)
{
	const struct code *code = &s->codes[image];
	s->opaque[image] = s->quiet[image] = true;
	for (size_t i = 0; i < code->function_count && s->quiet[image]; i++)
		s->quiet[image] = code_name_is_runtime(code->functions[i].name) ||
		                  !atomic_code_in(s->capstone, s->insn, code, &code->functions[i]);
	for (size_t i = 0; i < code->function_count && !s->failed; i++)
		add_found(s, &(struct found){.image = image,
		                             .function = i,
		                             .at = code->functions[i].start,
		                             .origin = image,
		                             .does = s->quiet[image] ? HIDDEN_READS | HIDDEN_WRITES : HIDDEN_ALL});
}

/* The code of an opaque module, as one. */
static void add_opaque(struct code_search *s, size_t image)
{
	const struct code *code = &s->codes[image];
	uint64_t start = UINT64_MAX, end = 0;
	for (size_t i = 0; i < code->section_count; i++) {
		const struct code_section *section = &code->sections[i];
		start = section->start < start ? section->start : start;
		end = section->start + section->size > end ? section->start + section->size : end;
	}
	if (s->opaque[image] && start < end)
		add_out(s, &(struct hidden_atomic){.start = start,
		                                   .end = end,
		                                   .from = start,
		                                   .until = end,
		                                   .at = start,
		                                   .does = s->quiet[image] ? HIDDEN_READS | HIDDEN_WRITES : HIDDEN_ALL,
		                                   .image = &s->debug->images[image]});
}

/* ---- All modules ---- */

/* False: none of its functions is looked at. */
static bool open_image(struct code_search *s, size_t image)
{
	const struct debug_image *of = &s->debug->images[image];
	bool recorder = module_is_recorder(of->base), opaque = hidden_may_be_opaque(s->debug, image);
	if ((!of->instrumented && !opaque && !recorder) || !code_open(&s->codes[image], of))
		return false;
	if (!opaque)
		take_names(s, &s->codes[image]);
	if (recorder)
		return false;
	s->found_of[image] = calloc(s->codes[image].function_count + 1, sizeof **s->found_of);
	s->failed |= !s->found_of[image];
	return !s->failed;
}

static void add_all_out(struct code_search *s)
{
	for (size_t i = 0; i < s->count && !s->failed; i++) {
		const struct found *f = &s->found[i];
		const struct code_function *function = &s->codes[f->image].functions[f->function];
		if (!s->opaque[f->image])
			add_out(s, &(struct hidden_atomic){.start = function->start,
			                                   .end = function->end,
			                                   .from = f->from,
			                                   .until = f->until,
			                                   .at = f->at,
			                                   .may_lock = f->may_lock,
			                                   .does = f->does,
			                                   .function = f->name,
			                                   .image = &s->debug->images[f->origin]});
	}
	for (size_t i = 0; i < s->debug->image_count && !s->failed; i++)
		add_opaque(s, i);
}

static void find_all(struct code_search *s)
{
	for (size_t i = 0; i < s->debug->image_count && !s->failed; i++)
		if (open_image(s, i) && s->debug->images[i].instrumented)
			look_at_image(s, i, atomic_code_may_begin);
	for (size_t i = 0; i < s->debug->image_count && !s->failed; i++)
		if (s->found_of[i] && !s->debug->images[i].instrumented)
			open_opaque(s, i);
	if (s->taken_count)
		qsort(s->taken, s->taken_count, sizeof *s->taken, by_name);
	find_callers(s);
	add_all_out(s);
}

enum rt_status hidden_atomics_find(struct hidden_atomics *a, struct debug *d, struct rt_error *err)
{
	struct code_search s = {
	    .debug = d, .out = a, .pointed = SIZE_MAX, .codes = calloc(d->image_count + 1, sizeof *s.codes)};
	s.found_of = calloc(d->image_count + 1, sizeof *s.found_of);
	s.opaque = calloc(d->image_count + 1, sizeof *s.opaque);
	s.quiet = calloc(d->image_count + 1, sizeof *s.quiet);
	if (!s.codes || !s.found_of || !s.opaque || !s.quiet ||
	    cs_open(CS_ARCH_X86, CS_MODE_64, &s.capstone) != CS_ERR_OK) {
		free_all(s.codes, s.found_of, s.opaque, s.quiet);
		return rt_error_set(err, RT_EMEMORY, "no memory to look for atomic instructions");
	}
	cs_option(s.capstone, CS_OPT_SKIPDATA, CS_OPT_ON);
	s.insn = cs_malloc(s.capstone);
	s.failed = !s.insn || !bare_open(&s.bare);
	if (!s.failed)
		find_all(&s);
	for (size_t i = 0; i < d->image_count; i++) {
		code_release(&s.codes[i]);
		free(s.found_of[i]);
	}
	if (s.insn)
		cs_free(s.insn, 1);
	cs_close(&s.capstone);
	bare_close(&s.bare);
	free_all(s.codes, s.found_of, s.opaque, s.quiet, s.taken, s.names, s.calls, s.found);
	return s.failed ? rt_error_set(err, RT_EMEMORY, "no memory to look for atomic instructions") : RT_OK;
}

void hidden_atomics_release(struct hidden_atomics *a)
{
	free(a->items);
	*a = (struct hidden_atomics){0};
}
