/*
 * What an instruction's bytes look like is asked of every byte first, since almost none pass; only a function that has
 * such bytes is disassembled, from its start, so that bytes inside other instructions do not count.
 *
 * A function without hooks leaves no events, so its callers stand for it: their call is the atomic instruction. Of one
 * with hooks each call has an ENTER, whose pc tells that it was this function.
 */
#include "recorder/collect/hidden.h"

#include "recorder/collect/code.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

/* An atomic function. */
struct found {
	size_t image, function; /* indices */
	uint64_t from, until, at;
	size_t origin; /* index into images: where the instruction at `at` is */
	const char *name;
	bool hooked, may_lock;
	bool called; /* its callers were looked for */
};

struct search {
	struct debug *debug;
	struct code *codes; /* by image */
	csh capstone;
	cs_insn *insn;
	struct found *found;
	size_t count, size;
	struct hidden_atomics *out;
	bool failed;
};

/* ---- Instructions ---- */

static bool is_memory(uint8_t modrm)
{
	return modrm >> 6 != 3;
}

/* May the instruction behind a lock prefix be one of those that take it? p: n bytes, of its other prefixes on. */
static bool takes_lock(const uint8_t *p, size_t n)
{
	size_t i = 0;
	while (i < n && i < 4 &&
	       (p[i] == 0x66 || p[i] == 0x67 || p[i] == 0xf2 || p[i] == 0xf3 || (p[i] >= 0x64 && p[i] <= 0x65)))
		i++;
	if (i < n && (p[i] & 0xf0) == 0x40)
		i++;
	if (n < i + 2)
		return false;
	uint8_t op = p[i], modrm = p[i + 1];
	if (op == 0x0f) {
		bool known = op == 0x0f && strchr("\xab\xb3\xbb\xba\xb0\xb1\xc0\xc1\xc7", p[i + 1]) && p[i + 1];
		return known && n > i + 2 && is_memory(p[i + 2]);
	}
	/* add, or, adc, sbb, and, sub, xor with a register or a number; not, neg, inc, dec; xchg */
	bool known = (op < 0x38 && (op & 7) < 2) || (op >= 0x80 && op <= 0x83 && (modrm >> 3 & 7) != 7) ||
	             ((op & 0xfe) == 0xf6 && (modrm & 0x30) == 0x10) || ((op & 0xfe) == 0xfe && (modrm >> 3 & 7) < 2) ||
	             (op & 0xfe) == 0x86;
	return known && is_memory(modrm);
}

/* May an atomic instruction begin here, or its opcode be here? */
static inline bool may_be_atomic(const uint8_t *p, size_t n)
{
	switch (*p) {
	case 0xf0:
		return takes_lock(p + 1, n - 1);
	case 0x86:
	case 0x87:
		return n > 1 && is_memory(p[1]);
	case 0x0f:
		return n > 2 && p[1] == 0xae && p[2] >= 0xe8;
	default:
		return false;
	}
}

static bool has_lock(const cs_insn *insn)
{
	for (size_t i = 0; i < insn->size; i++) {
		uint8_t b = insn->bytes[i];
		if (b == 0xf0)
			return true;
		if (b != 0x66 && b != 0x67 && b != 0xf2 && b != 0xf3 && (b < 0x64 || b > 0x65) && b != 0x2e &&
		    b != 0x3e)
			return false;
	}
	return false;
}

static bool is_atomic(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_XCHG:
		return strchr(insn->op_str, '[');
	case X86_INS_MFENCE:
	case X86_INS_SFENCE:
	case X86_INS_LFENCE:
		return true;
	default:
		return has_lock(insn);
	}
}

static bool reads_clock(const cs_insn *insn)
{
	return insn->id == X86_INS_RDTSC || insn->id == X86_INS_RDTSCP;
}

/* ---- A function ---- */

struct jump {
	uint64_t end, target;
};
/* One pass over a function's instructions. */
struct flow {
	uint64_t first, last; /* of the atomic instructions: start of the first, end of the last; 0: there is none */
	struct jump *jumps;   /* backward ones */
	size_t count, size;
	bool hooked;
	bool may_lock;
	bool annotated; /* it says itself what it orders */
	bool lost;      /* a jump whose target is unknown, or out of the function and back */
};

static void add_jump(struct search *s, struct flow *f, uint64_t end, uint64_t target)
{
	if (f->count == f->size) {
		size_t size = f->size ? f->size * 2 : 16;
		struct jump *jumps = realloc(f->jumps, size * sizeof *jumps);
		s->failed |= !jumps;
		if (!jumps)
			return;
		f->jumps = jumps;
		f->size = size;
	}
	f->jumps[f->count++] = (struct jump){end, target};
}

/* The calls by which a program says what it orders: of racetrace.h, and of ThreadSanitizer's interface. */
static bool is_annotation(const char *name)
{
	static const char *const prefixes[] = {"racetrace_hook_", "__tsan_acquire", "__tsan_release",
	                                       "__tsan_mutex_",   "Annotate",       "WTFAnnotate"};
	for (size_t i = 0; name && i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void add_target(struct search *s, struct flow *f, const struct code *code, const struct code_function *at,
                       const cs_insn *insn)
{
	struct code_target t;
	if (!code_target(code, insn->address, insn->bytes, insn->size, &t))
		return;
	if (!t.jump) {
		f->hooked |= t.name && !strcmp(t.name, "__tsan_func_entry");
		f->annotated |= is_annotation(t.name);
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

/* Locks are taken by exchanging, comparing or setting a bit, or are waited for. */
static bool may_lock(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_XCHG:
	case X86_INS_CMPXCHG:
	case X86_INS_CMPXCHG8B:
	case X86_INS_CMPXCHG16B:
	case X86_INS_BTS:
	case X86_INS_PAUSE:
		return true;
	default:
		return false;
	}
}

static void add_atomic(struct flow *f, const cs_insn *insn)
{
	f->may_lock |= may_lock(insn);
	if (!f->first)
		f->first = insn->address;
	f->last = insn->address + insn->size;
}

/* Disassembles a function. call: the address of a call in it that counts as atomic, 0: none. */
static struct flow read_function(struct search *s, const struct code *code, const struct code_function *function,
                                 uint64_t call)
{
	struct flow f = {0};
	size_t n;
	uint64_t address = function->start;
	const uint8_t *p = code_at(code, address, &n);
	cs_insn fence = {0};
	bool clock = false;
	n = function->end - function->start < n ? function->end - function->start : n;
	while (cs_disasm_iter(s->capstone, &p, &n, &address, s->insn)) {
		/* A load fence beside a reading of the clock is there for that alone. */
		if (fence.size && !reads_clock(s->insn))
			add_atomic(&f, &fence);
		fence.size = 0;
		if (s->insn->id == X86_INS_LFENCE && !clock)
			fence = *s->insn;
		else if (s->insn->address == call || (is_atomic(s->insn) && s->insn->id != X86_INS_LFENCE))
			add_atomic(&f, s->insn);
		clock = reads_clock(s->insn);
		f.may_lock |= s->insn->id == X86_INS_PAUSE;
		f.annotated |= is_annotation(code_slot_read(code, s->insn->address, s->insn->bytes, s->insn->size));
		add_target(s, &f, code, function, s->insn);
	}
	if (fence.size)
		add_atomic(&f, &fence);
	return f;
}

/* From which code on an atomic instruction may have been executed, and until where it may yet be. */
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

/* What the compiler's own runtime has, where it is linked statically, keeps its own data in order. */
static bool is_runtime(const char *name)
{
	static const char *const prefixes[] = {
	    "_Unwind_", "__register_frame", "__deregister_frame", "__cxa_", "__gxx_", "__cpu_indicator_init", "__libc_",
	    "__gcc_"};
	for (size_t i = 0; name && i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* The function whose unlikely code this is: "f" for "f.cold". */
static size_t whole_function(const struct code *code, size_t function)
{
	const char *name = code->functions[function].name, *cold = name ? strstr(name, ".cold") : NULL;
	for (size_t i = 0; cold && i < code->function_count; i++) {
		const char *other = code->functions[i].name;
		if (other && strlen(other) == (size_t)(cold - name) && !strncmp(other, name, (size_t)(cold - name)))
			return i;
	}
	return function;
}

static struct found *find(struct search *s, size_t image, size_t function)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->found[i].image == image && s->found[i].function == function)
			return &s->found[i];
	return NULL;
}

static void add_found(struct search *s, const struct found *found)
{
	struct found *known = find(s, found->image, found->function);
	if (known) {
		known->from = found->from < known->from ? found->from : known->from;
		known->may_lock |= found->may_lock;
		known->until = found->until > known->until ? found->until : known->until;
		return;
	}
	if (s->count == s->size) {
		size_t size = s->size ? s->size * 2 : 16;
		struct found *items = realloc(s->found, size * sizeof *items);
		s->failed |= !items;
		if (!items)
			return;
		s->found = items;
		s->size = size;
	}
	s->found[s->count++] = *found;
}

/*
 * Looks at a function with suspicious bytes, or (cause) with what looks like a call of an unhooked atomic function.
 */
static void look(struct search *s, size_t image, size_t function, uint64_t call, const struct found *cause)
{
	const struct code *code = &s->codes[image];
	const struct code_function *here = &code->functions[function];
	struct flow f = read_function(s, code, here, call);
	struct found found = {
	    .image = image, .function = function, .origin = image, .hooked = f.hooked, .may_lock = f.may_lock};
	bool innocent = f.annotated || (!f.hooked && is_runtime(here->name));
	if (f.first && !innocent && (!cause || (f.first <= call && call < f.last))) {
		size_t whole = whole_function(code, function);
		find_window(&f, here, &found.from, &found.until);
		found.at = f.first;
		found.name = here->name;
		if (cause) {
			found.at = cause->at;
			found.origin = cause->origin;
			found.name = cause->name;
			found.may_lock |= cause->may_lock;
		}
		add_found(s, &found);
		if (whole != function) { /* and so is all of the rest, as it may go there from anywhere */
			struct flow rest = read_function(s, code, &code->functions[whole], 0);
			found.function = whole;
			found.from = code->functions[whole].start;
			found.until = code->functions[whole].end;
			found.hooked = rest.hooked;
			free(rest.jumps);
			add_found(s, &found);
		}
	}
	free(f.jumps);
}

/* ---- All functions ---- */

static void look_at_image(struct search *s, size_t image)
{
	const struct code *code = &s->codes[image];
	for (size_t i = 0; i < code->function_count && !s->failed; i++) {
		size_t n, length = code->functions[i].end - code->functions[i].start;
		const uint8_t *p = code_at(code, code->functions[i].start, &n);
		for (size_t k = 0; p && k < length && k < n; k++)
			if (may_be_atomic(p + k, n - k)) {
				look(s, image, i, 0, NULL);
				break;
			}
	}
}

static void add_out(struct search *s, const struct hidden_atomic *item)
{
	struct hidden_atomics *a = s->out;
	if (a->count == a->size) {
		size_t size = a->size ? a->size * 2 : 16;
		struct hidden_atomic *items = realloc(a->items, size * sizeof *items);
		s->failed |= !items;
		if (!items)
			return;
		a->items = items;
		a->size = size;
	}
	a->items[a->count++] = *item;
}

/* Is there a call at the address, in a function that does not itself say what it orders? */
static bool is_call(struct search *s, const struct code *code, size_t function, uint64_t address)
{
	struct flow f = read_function(s, code, &code->functions[function], address);
	free(f.jumps);
	return !f.annotated && f.first && f.first <= address && address < f.last;
}

static const struct found *called(const struct search *s, size_t image, const struct code_target *t, size_t last)
{
	for (size_t i = 0; i < last; i++) {
		const struct found *f = &s->found[i];
		const struct code_function *to = &s->codes[f->image].functions[f->function];
		if (f->called)
			continue;
		if (t->name ? to->name && !strcmp(to->name, t->name) : f->image == image && to->start == t->address)
			return f;
	}
	return NULL;
}

static void look_at_call(struct search *s, size_t image, uint64_t address, size_t length, const struct found *to)
{
	struct found cause = *to; /* the table may move */
	const struct code *code = &s->codes[image];
	size_t function = code_function_at(code, address);
	if (function == SIZE_MAX)
		return;
	if (!cause.hooked)
		look(s, image, function, address, &cause);
	else if (is_call(s, code, function, address))
		add_out(s, &(struct hidden_atomic){.start = address + length - 1,
		                                   .end = address + length - 1,
		                                   .from = address + length - 1,
		                                   .until = address + length - 1,
		                                   .at = cause.at,
		                                   .may_lock = cause.may_lock,
		                                   .function = cause.name,
		                                   .image = &s->debug->images[cause.origin]});
}

/* Calls of the first `last` found functions, but for those whose callers are known. */
static void look_at_calls(struct search *s, size_t image, size_t last)
{
	const struct code *code = &s->codes[image];
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
			const struct found *to = called(s, image, &t, last);
			if (to)
				look_at_call(s, image, section->start + k, length, to);
		}
	}
}

static void find_all(struct search *s)
{
	size_t images = s->debug->image_count, last;
	for (size_t i = 0; i < images && !s->failed; i++)
		if (s->debug->images[i].instrumented && code_open(&s->codes[i], &s->debug->images[i]))
			look_at_image(s, i);
	do {
		last = s->count;
		for (size_t i = 0; i < images && last && !s->failed; i++)
			look_at_calls(s, i, last);
		for (size_t i = 0; i < last; i++)
			s->found[i].called = true;
	} while (last < s->count && !s->failed);
	for (size_t i = 0; i < s->count && !s->failed; i++) {
		const struct found *f = &s->found[i];
		const struct code_function *function = &s->codes[f->image].functions[f->function];
		add_out(s, &(struct hidden_atomic){.start = function->start,
		                                   .end = function->end,
		                                   .from = f->from,
		                                   .until = f->until,
		                                   .at = f->at,
		                                   .may_lock = f->may_lock,
		                                   .function = f->name,
		                                   .image = &s->debug->images[f->origin]});
	}
}

enum rt_status hidden_atomics_find(struct hidden_atomics *a, struct debug *d, struct rt_error *err)
{
	struct search s = {.debug = d, .out = a, .codes = calloc(d->image_count + 1, sizeof *s.codes)};
	if (!s.codes || cs_open(CS_ARCH_X86, CS_MODE_64, &s.capstone) != CS_ERR_OK) {
		free(s.codes);
		return rt_error_set(err, RT_EMEMORY, "no memory to look for atomic instructions");
	}
	cs_option(s.capstone, CS_OPT_SKIPDATA, CS_OPT_ON);
	s.insn = cs_malloc(s.capstone);
	s.failed = !s.insn;
	if (!s.failed)
		find_all(&s);
	for (size_t i = 0; i < d->image_count; i++)
		code_release(&s.codes[i]);
	if (s.insn)
		cs_free(s.insn, 1);
	cs_close(&s.capstone);
	free(s.codes);
	free(s.found);
	return s.failed ? rt_error_set(err, RT_EMEMORY, "no memory to look for atomic instructions") : RT_OK;
}

void hidden_atomics_release(struct hidden_atomics *a)
{
	free(a->items);
	*a = (struct hidden_atomics){0};
}
