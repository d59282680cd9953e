/*
 * A search forward from the read's hook over all paths of its function, for what the value may be in: registers, flags
 * and words of the stack. It ends where these are all overwritten. Only instructions that are listed here may have to
 * do with the value. All others that could, even without naming it, end the search: the read is no update then.
 *
 * Between two hooks the compiler accesses instrumented memory once. Other loads there are of constants, and of words of
 * the stack whose address nobody has.
 *
 * In a module without hooks a read is an instruction of its own. It is the update as a whole, or the next store is.
 */
#include "recorder/collector/code_updates.h"

#include "recorder/collector/code_held.h"
#include "recorder/collector/code_hooks.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTION_MAX = 1 << 16, VISITS_MAX = 2048, WINDOW_MAX = 64 };
#define SEEN X86_BIT(63)

struct code_updates *code_updates_create(struct debug *d)
{
	struct code_updates *u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	u->debug = d;
	u->codes = calloc(d->image_count + 1, sizeof *u->codes);
	u->opened = calloc(d->image_count + 1, sizeof *u->opened);
	if (!u->codes || !u->opened || cs_open(CS_ARCH_X86, CS_MODE_64, &u->capstone) != CS_ERR_OK) {
		free(u->codes);
		free(u->opened);
		free(u);
		return NULL;
	}
	cs_option(u->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	u->insn = cs_malloc(u->capstone);
	if (u->insn)
		return u;
	code_updates_free(u);
	return NULL;
}

void code_updates_free(struct code_updates *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->debug->image_count; i++)
		code_release(&u->codes[i]);
	if (u->insn)
		cs_free(u->insn, 1);
	cs_close(&u->capstone);
	free(u->codes);
	free(u->opened);
	free(u);
}

/* ---- Paths ---- */

static void go_on(struct search *s, uint64_t address, uint64_t held)
{
	const struct code_function *f = s->function;
	if (!held)
		return;
	if (held & X86_RSP || address < f->start || address >= f->end) {
		held_fail(s);
		return;
	}
	uint64_t *known = &s->known[address - f->start];
	if (*known & SEEN && (*known | held) == *known)
		return;
	if (s->open_count == VISITS_MAX) {
		held_fail(s);
		return;
	}
	*known |= held | SEEN;
	s->open[s->open_count++] = (uint16_t)(address - f->start);
}

static bool decode(struct search *s, uint64_t address)
{
	size_t n;
	const uint8_t *p = code_at(s->code, address, &n);
	return p && cs_disasm_iter(s->u->capstone, &p, &n, &address, s->u->insn);
}

/* True if the target of a call or jump depends on the value, by other than flags. */
static bool leads_it(struct search *s, uint64_t held)
{
	const cs_x86 *x = &s->u->insn->detail->x86;
	uint64_t named = x86_counts_down(s->u->insn) ? X86_RCX : 0;
	bool other = false;
	for (unsigned i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];
		if (op->type == X86_OP_REG)
			named |= x86_bit(op->reg, &other);
		else if (op->type == X86_OP_MEM)
			named |= x86_bit(op->mem.base, &other) | x86_bit(op->mem.index, &other) |
			         (held_is_frame(s, op->mem.base) ? WORDS : 0);
	}
	return named & held;
}

/*
 * True if a function of the same module neither uses what the registers hold nor leaves it there: a compiler that knows
 * the function keeps values in registers that it does not change.
 */
static bool drops(struct search *s, uint64_t address, uint64_t held)
{
	const cs_insn *insn = s->u->insn;
	struct code_target t;
	for (unsigned i = 0; i < WINDOW_MAX && held && !s->fails; i++, address += insn->size) {
		if (!decode(s, address) || insn->id == X86_INS_RET)
			return false;
		if (code_target(s->code, address, insn->bytes, insn->size, &t))
			return !t.jump && t.name;
		held = held_after(s, held, false, false);
	}
	return !held && !s->fails;
}

/* An exception that leaves the call leaves the function, too, or goes on with what calls do not change. */
static void throw_from(struct search *s, uint64_t call, uint64_t held)
{
	uint64_t pad;
	if (held && (!code_pad(s->code, call, &pad) || (pad && held & (WORDS | MOVED))))
		held_fail(s);
	else if (held && pad)
		go_on(s, pad, held);
}

/* What compilers call at the end of a landing pad, or to throw. */
static bool never_returns(const char *name)
{
	static const char *const names[] = {"_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "_ZSt9terminatev"};
	bool never = false;
	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
		never |= !strcmp(name, names[i]);
	return never;
}

/* A call, also one in tail position. */
static uint64_t call(struct search *s, const struct code_target *t, uint64_t held)
{
	static const char *const hooks[] = {"__tsan_read", "__tsan_write", "__tsan_unaligned_", "__tsan_func_"};
	bool hook = false;
	uint64_t end = s->u->insn->address + s->u->insn->size;
	for (size_t i = 0; t->name && i < sizeof hooks / sizeof *hooks; i++)
		hook |= !strncmp(t->name, hooks[i], strlen(hooks[i]));
	s->stored = s->left = true;
	if (held & (hook ? (uint64_t)(X86_RSI | X86_RDI) : X86_ARGUMENTS | X86_MAY_STAY))
		return held_fail(s);
	if (s->plain && held & 0xffff & ~X86_CALL_CHANGES)
		return held_fail(s);
	if (!t->name && t->address && !drops(s, t->address, held & X86_CALL_CHANGES))
		return held_fail(s);
	held &= ~X86_CALL_CHANGES;
	if (!hook)
		throw_from(s, end - 1, held);
	return s->fails || never_returns(t->name) ? 0 : held;
}

/* A jump to what may be a part of the function elsewhere. If it is another function, the stack was cleared before. */
static void leave(struct search *s, uint64_t held)
{
	if (held & ~(WORDS | MOVED) || (held & WORDS && !(held & MOVED)))
		held_fail(s);
}

static void visit(struct search *s, uint64_t address)
{
	uint64_t held = s->known[address - s->function->start] & ~SEEN;
	const cs_insn *insn = s->u->insn;
	struct code_target t;
	if (++s->visits > VISITS_MAX || !decode(s, address)) {
		held_fail(s);
		return;
	}
	uint64_t next = address + insn->size;
	if (insn->id == X86_INS_RET) {
		/* Which ones its caller looks at depends on how it calls. */
		if (held & X86_CALL_CHANGES & ~X86_FLAGS)
			held_fail(s);
		return;
	}
	if (!code_target(s->code, address, insn->bytes, insn->size, &t)) {
		if (insn->id == X86_INS_UD2 || insn->id == X86_INS_HLT)
			return;
		go_on(s, next, held_step(s, held, false, false));
		return;
	}
	if (leads_it(s, held)) {
		held_fail(s);
		return;
	}
	if (!t.jump) {
		go_on(s, next, call(s, &t, held));
		return;
	}
	s->stored = s->left = true;
	if (t.branches && held & X86_FLAGS)
		held_fail(s);
	else if (t.name)
		call(s, &t, held);
	else if (t.address && (t.address < s->function->start || t.address >= s->function->end))
		leave(s, held);
	else if (!t.address)
		held_fail(s);
	else
		go_on(s, t.address, held);
	if (t.branches)
		go_on(s, next, held);
}

/* ---- A read ---- */

/* The loads between two hooks. */
struct loads {
	uint64_t known; /* the one by what the hook was told; 0: none */
	unsigned count;
	uint64_t last;
	unsigned size; /* of the last one */
	int base,
	    pointer; /* register by which it loads, -1: by none alone; to which the one before it loaded, likewise */
	uint64_t outside; /* the last one that is not of a word of the stack */
	unsigned outside_count, outside_size;
};

static void note_load(struct search *s, struct loads *l, const cs_x86_op *op, const struct code_told *told,
                      unsigned size)
{
	const cs_insn *insn = s->u->insn;
	const cs_x86_op *to = &insn->detail->x86.operands[0];
	int base = op->mem.index == X86_REG_INVALID ? x86_general(op->mem.base) : -1;
	bool fixed = op->mem.index == X86_REG_INVALID && x86_general(op->mem.base) < 0;
	uint64_t address = (op->mem.base == X86_REG_RIP ? insn->address + insn->size : 0) + (uint64_t)op->mem.disp;
	if (op->size == size && ((fixed && told->address && address == told->address) ||
	                         (told->reg >= 0 && base == told->reg && !op->mem.disp)))
		l->known = insn->address;
	if (!held_is_stack(s, op)) {
		l->outside = insn->address;
		l->outside_size = op->size;
		l->outside_count++;
	}
	l->base = base;
	l->last = insn->address;
	l->size = op->size;
	if (!l->count++)
		l->pointer =
		    held_is_stack(s, op) && op->size == 8 && x86_deed(insn) == X86_MOVES ? x86_general(to->reg) : -1;
}

/*
 * Which of them is the access that was hooked: the one that is known to be, the only one, the one by a pointer that was
 * on the stack, or the only one that is not of the stack if nobody has an address there. 0: it cannot be told.
 */
static uint64_t choose_load(struct search *s, const struct loads *l, unsigned size)
{
	if (l->known)
		return l->known;
	bool alone = l->count == 1 || (l->count == 2 && l->pointer >= 0 && l->base == l->pointer);
	if (alone)
		return l->size == size ? l->last : 0;
	return l->outside_count == 1 && l->outside_size == size && held_keeps_stack(s) ? l->outside : 0;
}

/* Where the value is loaded; 0: it cannot be told. *hook: address of the next hook's call, which is a write's. */
static uint64_t find_load(struct search *s, uint64_t pc, unsigned size, uint64_t *hook)
{
	struct loads loads = {.pointer = -1};
	struct code_told told = code_hook_told(s->code, pc);
	const cs_insn *insn = s->u->insn;
	for (unsigned i = 0; i < WINDOW_MAX && pc < s->function->end && decode(s, pc); i++, pc += insn->size) {
		struct code_target t;
		if (code_target(s->code, pc, insn->bytes, insn->size, &t)) {
			*hook = pc;
			bool write = !t.jump && t.name &&
			             code_hook_size(t.name, "__tsan_write", "__tsan_unaligned_write") == size;
			return write ? choose_load(s, &loads, size) : 0;
		}
		const cs_x86_op *op = x86_load(insn);
		if (op && (x86_deed(insn) == X86_UNKNOWN || op == &insn->detail->x86.operands[0]))
			return 0;
		if (op)
			note_load(s, &loads, op, &told, size);
		if (x86_sets(insn, told.reg))
			told.reg = -1;
	}
	return 0;
}

/* From the load to the hook of the write, one instruction after the other. */
static uint64_t follow_window(struct search *s, uint64_t load, uint64_t hook)
{
	uint64_t held = 0;
	const cs_insn *insn = s->u->insn;
	for (uint64_t at = load; at < hook && !s->fails; at += insn->size) {
		if (!decode(s, at))
			return held_fail(s);
		held = held_step(s, held, at == load, true);
		/* held_keeps_stack has used the instruction. */
		if (!decode(s, at))
			return held_fail(s);
	}
	return held;
}

static bool search(struct search *s, uint64_t pc, unsigned size, struct rt_update *out)
{
	uint64_t hook, load = find_load(s, pc, size, &hook);
	struct code_target t;
	if (!load)
		return false;
	uint64_t held = follow_window(s, load, hook);
	if (s->fails || !decode(s, hook) || !code_target(s->code, hook, s->u->insn->bytes, s->u->insn->size, &t))
		return false;
	uint64_t next = hook + s->u->insn->size;
	out->write = next - 1;
	held = call(s, &t, held);
	s->stored = s->left = false;
	go_on(s, next, held);
	while (s->open_count && !s->fails)
		visit(s, s->function->start + s->open[--s->open_count]);
	return !s->fails;
}

/* ---- A read in code without hooks ---- */

/* True if an instruction of the function begins there. */
static bool begins(struct search *s, uint64_t at)
{
	size_t n;
	uint64_t address = s->function->start;
	const uint8_t *p = code_at(s->code, address, &n);
	while (p && address < at && cs_disasm_iter(s->u->capstone, &p, &n, &address, s->u->insn))
		;
	return address == at;
}

/* Behind the one instruction that reads, computes and writes. */
static bool follow_one(struct search *s, struct rt_update *out)
{
	const cs_insn *insn = s->u->insn;
	enum x86_deed deed = x86_deed(insn);
	if (deed != X86_COMPUTES && deed != X86_COUNTS && deed != X86_CHOOSES)
		return false;
	out->write = insn->address + 1;
	s->stored = s->left = true;
	go_on(s, insn->address + insn->size, X86_FLAGS);
	return true;
}

/* From the load to the next store, one instruction after the other, and behind it. */
static bool follow_load(struct search *s, struct rt_update *out)
{
	uint64_t held = 0, at = out->read - 1;
	const cs_insn *insn = s->u->insn;
	struct code_target t;
	for (unsigned i = 0; i < WINDOW_MAX && !s->fails && decode(s, at); i++, at += insn->size) {
		if (code_target(s->code, at, insn->bytes, insn->size, &t))
			return false;
		bool is_write =
		    i && held_stores(insn, x86_deed(insn)) && !held_is_stack(s, &insn->detail->x86.operands[0]);
		held = held_step(s, held, !i, !is_write);
		if (is_write) {
			out->write = at + 1;
			s->stored = s->left = true;
			go_on(s, at + insn->size, held);
			return true;
		}
		/* held_keeps_stack has used the instruction. */
		if (!decode(s, at))
			return false;
	}
	return false;
}

/* The pc is behind the instruction's first byte. What else is accessed is for the trace to show: between the two. */
static bool search_plain(struct search *s, struct rt_update *out)
{
	uint64_t at = out->read - 1;
	const cs_insn *insn = s->u->insn;
	if (!decode(s, at) || !x86_load(insn) || x86_deed(insn) == X86_UNKNOWN)
		return false;
	bool one = held_stores(insn, x86_deed(insn));
	if (one ? !follow_one(s, out) : !follow_load(s, out))
		return false;
	while (s->open_count && !s->fails)
		visit(s, s->function->start + s->open[--s->open_count]);
	return !s->fails && begins(s, at);
}

/* True if a function takes arguments in registers that others do not change (clang's regcall, which is in its name). */
static bool has_regcall(const struct code *code)
{
	bool has = false;
	for (size_t i = 0; i < code->function_count && !has; i++)
		has = code->functions[i].name && strstr(code->functions[i].name, "__regcall");
	return has;
}

static const struct code *code_of(struct code_updates *u, uint64_t pc, bool *plain)
{
	struct debug_image *image = debug_image_at(u->debug, pc);
	if (!image)
		return NULL;
	*plain = !image->instrumented;
	size_t i = (size_t)(image - u->debug->images);
	if (!u->opened[i] && (!code_open(&u->codes[i], image) || has_regcall(&u->codes[i])))
		code_release(&u->codes[i]);
	u->opened[i] = true;
	return &u->codes[i];
}

/* True if the function begins with mov rbp, rsp, or may. */
static bool sets_frame(const struct code *code, const struct code_function *f)
{
	enum { BEGINNING = 64 };
	static const uint8_t sets_rbp[] = {0x48, 0x89, 0xe5};
	size_t n;
	const uint8_t *p = code_at(code, f->start, &n);
	n = f->end - f->start < n ? f->end - f->start : n;
	return p && memmem(p, n < BEGINNING ? n : BEGINNING, sets_rbp, sizeof sets_rbp);
}

bool code_updates_find(struct code_updates *u, uint64_t pc, struct rt_update *out)
{
	bool plain;
	const struct code *code = code_of(u, pc, &plain);
	uint64_t behind = pc + 1;
	out->read = pc;
	const char *name = code && !plain ? code_hook_before(code, behind) : NULL;
	unsigned size = name ? code_hook_size(name, "__tsan_read", "__tsan_unaligned_read") : 0;
	size_t function = code && (plain || size) ? code_function_at(code, pc) : SIZE_MAX;
	if (function == SIZE_MAX || code->functions[function].end - code->functions[function].start > FUNCTION_MAX)
		return false;
	struct search s = {.u = u, .code = code, .function = &code->functions[function], .plain = plain};
	s.framed = sets_frame(code, s.function);
	s.known = calloc(s.function->end - s.function->start, sizeof *s.known);
	s.open = malloc(VISITS_MAX * sizeof *s.open);
	bool has = s.known && s.open && (plain ? search_plain(&s, out) : search(&s, behind, size, out));
	free(s.known);
	free(s.open);
	return has;
}
