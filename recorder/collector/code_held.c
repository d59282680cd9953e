/* What holds the value after an instruction; see code_held.h. */
#include "recorder/collector/code_held.h"

#include <string.h>

/* ---- Words of the stack ---- */

bool held_is_frame(const struct search *s, x86_reg base)
{
	return base == X86_REG_RSP || (s->framed && base == X86_REG_RBP);
}

bool held_is_stack(const struct search *s, const cs_x86_op *op)
{
	return op->type == X86_OP_MEM && op->mem.index == X86_REG_INVALID && op->mem.segment == X86_REG_INVALID &&
	       held_is_frame(s, op->mem.base);
}

/* Bits of the words that the operand is of, or may be, in part at least; *whole: of all of them. */
static uint64_t words_at(const struct search *s, const cs_x86_op *op, bool *whole)
{
	uint64_t bits = 0;
	*whole = true;
	for (unsigned i = 0; i < s->word_count; i++) {
		const struct word *w = &s->words[i];
		bool same = w->base == op->mem.base;
		if (same && (op->mem.disp >= w->offset + w->size || w->offset >= op->mem.disp + op->size))
			continue;
		bits |= X86_BIT(WORD_BIT + i);
		*whole &= same && op->mem.disp <= w->offset && op->mem.disp + op->size >= w->offset + w->size;
	}
	return bits;
}

/* True if the call may return again later, when words of the stack may be read that were stored in between. */
static bool returns_twice(const struct search *s)
{
	static const char *const names[] = {"setjmp",  "_setjmp",    "sigsetjmp", "__sigsetjmp",
	                                    "savectx", "getcontext", "vfork"};
	const cs_insn *insn = s->u->insn;
	struct code_target t;
	bool does = false;
	if (!code_target(s->code, insn->address, insn->bytes, insn->size, &t) || !t.name)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		does |= !strcmp(t.name, names[i]);
	return does;
}

/*
 * True if the function keeps all words of its stack to itself: it takes no address of any, and reads none but on the
 * paths that it has.
 */
static bool find_keeps_stack(struct search *s)
{
	const struct code_function *f = s->function;
	size_t n;
	uint64_t address = f->start;
	const uint8_t *p = code_at(s->code, address, &n);
	cs_insn *insn = s->u->insn;
	n = f->end - f->start < n ? f->end - f->start : n;
	while (n) {
		if (!cs_disasm_iter(s->u->capstone, &p, &n, &address, insn))
			return false;
		const cs_x86 *x = &insn->detail->x86;
		int first = x->op_count && x->operands[0].type == X86_OP_REG ? x86_general(x->operands[0].reg) : -1;
		bool keeps = first == 4 || (first == 5 && s->framed);
		if (returns_twice(s))
			return false;
		for (unsigned i = 0; i < x->op_count; i++) {
			const cs_x86_op *op = &x->operands[i];
			int named = op->type == X86_OP_REG ? x86_general(op->reg) : -1;
			bool memory = op->type == X86_OP_MEM, sets = !i && insn->id != X86_INS_PUSH;
			bool base = memory && held_is_frame(s, op->mem.base);
			if (base && (insn->id == X86_INS_LEA ? first != 4 : !held_is_stack(s, op)))
				return false;
			if (named == 4 && !sets && (insn->id == X86_INS_PUSH || !keeps))
				return false;
			if (named == 5 && s->framed && !sets && insn->id != X86_INS_PUSH && !keeps)
				return false;
		}
	}
	return true;
}

bool held_keeps_stack(struct search *s)
{
	if (s->u->function != s->function)
		s->u->keeps = find_keeps_stack(s);
	s->u->function = s->function;
	return s->u->keeps;
}

/* ---- One instruction ---- */

uint64_t held_fail(struct search *s)
{
	s->fails = true;
	return 0;
}

/*
 * The value is stored: into a word of the stack before the write's hook (window), or as the update right behind it. The
 * compiler keeps nothing on the stack between a hook and its access.
 */
static uint64_t store(struct search *s, const cs_x86_op *to, uint64_t held, bool window)
{
	bool whole;
	if (window && held_is_stack(s, to)) {
		uint64_t known = words_at(s, to, &whole);
		if (known)
			return whole ? held | known : held_fail(s);
		struct word word = {to->mem.base, to->mem.disp, to->size}; /* held_keeps_stack uses the instruction */
		if (s->word_count == WORDS_MAX || !held_keeps_stack(s))
			return held_fail(s);
		s->words[s->word_count] = word;
		return held | X86_BIT(WORD_BIT + s->word_count++);
	}
	return window || s->stored || held_is_frame(s, to->mem.base) ? held_fail(s) : held;
}

/*
 * Behind the write's hook, something is stored: the update. A second store before the next call or jump is into a word
 * of the stack, or of memory that is not instrumented, such as an array of the function's own. Then it cannot be told
 * which of the two is the update.
 */
static void note_store(struct search *s, bool frame)
{
	s->fails |= s->stored && !s->left && !frame;
	s->stored = true;
}

/* True if the instruction may write memory. */
bool held_stores(const cs_insn *insn, enum x86_deed deed)
{
	const cs_x86 *x = &insn->detail->x86;
	return x->op_count && x->operands[0].type == X86_OP_MEM && deed != X86_COMPARES && deed != X86_NOTHING;
}

/* What holds the value after the instruction, of what did before (held). source: it loads the value itself. */
uint64_t held_after(struct search *s, uint64_t held, bool source, bool window)
{
	const cs_insn *insn = s->u->insn;
	const cs_x86 *x = &insn->detail->x86;
	enum x86_deed deed = x86_deed(insn);
	uint64_t named = 0, inputs = 0, first = 0, kept_words = 0;
	bool other = false, whole = true, memory = false;
	for (unsigned i = 0; i < x->op_count && deed != X86_NOTHING; i++) {
		const cs_x86_op *op = &x->operands[i];
		uint64_t bits = 0;
		if (op->type == X86_OP_REG) {
			bits = x86_bit(op->reg, &other);
		} else if (op->type == X86_OP_MEM) {
			uint64_t address = x86_bit(op->mem.base, &other) | x86_bit(op->mem.index, &other);
			if (deed == X86_ADDRESS)
				bits = address;
			else if (address & held)
				return held_fail(s);
			else if (held & MOVED && op->mem.base == X86_REG_RSP)
				return held_fail(s);
			else if (held_is_stack(s, op))
				bits = words_at(s, op, &whole);
			memory |= !i;
		}
		named |= bits;
		first = i ? first : bits;
		if (i || (deed != X86_MOVES && deed != X86_ADDRESS && deed != X86_POPS))
			inputs |= bits;
	}
	if (held & WORDS && x86_moves_stack(insn))
		held |= MOVED;
	if (deed == X86_UNKNOWN)
		return (named | x86_implied(insn)) & held || (other && held & X86_ALL_XMM) ? held_fail(s) : held;
	if (deed == X86_NOTHING && insn->id == X86_INS_LEAVE)
		return held & X86_BIT(5) ? held_fail(s) : held;
	if (deed == X86_NOTHING)
		return held;
	if (deed == X86_EXTENDS)
		return insn->id == X86_INS_CDQE ? held : held & X86_RAX ? held | X86_RDX : held & ~(uint64_t)X86_RDX;
	if (other && (source || named & held))
		return held_fail(s);
	if (deed == X86_CHOOSES)
		inputs |= X86_FLAGS;
	bool takes = source || inputs & held || (deed == X86_POPS && held & WORDS);
	kept_words = memory ? first : 0;
	if (x86_clears(insn)) {
		held &= ~first;
		return deed == X86_COMPUTES ? held & ~X86_FLAGS : held;
	}
	if (deed == X86_COMPARES)
		return takes ? held | X86_FLAGS : held & ~X86_FLAGS;
	if (deed == X86_COMPUTES)
		held = takes ? held | X86_FLAGS : held & ~X86_FLAGS;
	else if (takes && (deed == X86_COUNTS || deed == X86_CHOOSES))
		held |= X86_FLAGS;
	if (memory && takes)
		return deed == X86_MOVES ? store(s, &x->operands[0], held, window) : held_fail(s);
	if (memory)
		return deed == X86_MOVES && whole ? held & ~kept_words : held;
	if (takes)
		return held | first;
	return x86_overwrites(insn, deed) ? held & ~first : held;
}

uint64_t held_step(struct search *s, uint64_t held, bool source, bool window)
{
	bool store = !window && held_stores(s->u->insn, x86_deed(s->u->insn));
	bool frame = store && held_is_frame(s, s->u->insn->detail->x86.operands[0].mem.base);
	held = held_after(s, held, source, window);
	if (store)
		note_store(s, frame);
	return held;
}
