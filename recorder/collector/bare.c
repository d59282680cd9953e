/*
 * A hook comes before the store that it tells of, which passes no call but those of other hooks: neighbours may be
 * stored as one. So up to the next such call a function stores as many bytes outside of its stack as hooks have told;
 * what it stores beyond is bare. Where paths meet, the most counts that any of them may store: of what is not certain
 * nothing is said.
 *
 * The stack is what rsp points into, rbp where it keeps the frame, and registers that are made of these alone.
 */
#include "recorder/collector/bare.h"

#include "recorder/collector/code_hooks.h"
#include "recorder/collector/x86.h"

#include <string.h>

enum { JUMPS_MAX = 512 };
#define ANY UINT64_MAX /* bytes: any number */

struct jump {
	uint64_t target, told;
};

/* The walk through a function's instructions, by address. */
struct walk {
	const struct code *code;
	const cs_insn *insn;
	uint64_t told;  /* bytes that may still be stored */
	uint64_t stack; /* registers that point into it, X86_BIT each */
	struct jump jumps[JUMPS_MAX];
	unsigned jump_count;
	bool again;  /* the jumps are known */
	bool behind; /* the instruction before this one does not lead here */
	struct bare_stores *out;
};

bool bare_open(struct bare_search *s)
{
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &s->capstone) != CS_ERR_OK)
		return false;
	cs_option(s->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	s->insn = cs_malloc(s->capstone);
	if (s->insn)
		return true;
	bare_close(s);
	return false;
}

void bare_close(struct bare_search *s)
{
	if (s->insn)
		cs_free(s->insn, 1);
	if (s->capstone)
		cs_close(&s->capstone);
	*s = (struct bare_search){0};
}

bool bare_may_have(const struct code *code, const struct code_function *function)
{
	size_t n;
	const uint8_t *p = code_at(code, function->start, &n);
	n = p && function->end - function->start < n ? function->end - function->start : n;
	for (size_t i = 0; p && i + 3 < n; i++) {
		bool vector = p[i] == 0x0f && (p[i + 1] == 0x11 || p[i + 1] == 0x29 || p[i + 1] == 0x7f);
		bool repeat = p[i] == 0xf3 && ((p[i + 1] & 0xfe) == 0xaa || (p[i + 1] == 0x48 && p[i + 2] == 0xab));
		bool wide = p[i] == 0x48 && p[i + 1] == 0xc7 && p[i + 2] < 0xc0;    /* mov qword ptr [...], constant */
		bool constant = (p[i] & 0xfe) == 0x48 && (p[i + 1] & 0xf8) == 0xb8; /* movabs */
		if (vector || repeat || wide || constant)
			return true;
	}
	return false;
}

/* Bytes that may be stored behind a call of the function, of these that might before it. */
static uint64_t told_by(const char *name, uint64_t before)
{
	if (!name || strncmp(name, "__tsan_", 7) != 0)
		return 0;
	unsigned size = code_hook_size(name, "__tsan_write", "__tsan_unaligned_write");
	size = size ? size : code_hook_size(name, "__tsan_read_write", "__tsan_unaligned_read_write");
	if (size)
		return before == ANY ? ANY : before + size;
	/* What is copied is told of behind where it is copied to. */
	if (!strncmp(name, "__tsan_read", 11) || !strncmp(name, "__tsan_unaligned_read", 21) ||
	    !strncmp(name, "__tsan_func", 11))
		return before;
	return ANY; /* of a range, of a pointer to virtual functions, an atomic one */
}

static bool is_stack(const struct walk *w, x86_reg r)
{
	int i = x86_general(r);
	return i >= 0 && w->stack >> i & 1;
}

/* Which registers point into the stack after the instruction. */
static void follow_stack(struct walk *w)
{
	const cs_x86 *x = &w->insn->detail->x86;
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];
	int reg = x->op_count && to->type == X86_OP_REG ? x86_general(to->reg) : -1;
	if (reg < 0 || reg == 4 || !x86_sets(w->insn, reg))
		return;
	bool points = false;
	if (w->insn->id == X86_INS_LEA)
		points = is_stack(w, from->mem.base);
	else if (w->insn->id == X86_INS_MOV && from->type == X86_OP_REG)
		points = is_stack(w, from->reg);
	else if (w->insn->id == X86_INS_ADD || w->insn->id == X86_INS_SUB || w->insn->id == X86_INS_AND)
		points = is_stack(w, to->reg);
	w->stack &= ~X86_BIT(reg);
	w->stack |= points ? X86_BIT(reg) : 0;
}

/* Bytes that the instruction stores outside of the stack, by moving them there; 0: none. */
static uint64_t stores(const struct walk *w)
{
	const cs_x86 *x = &w->insn->detail->x86;
	const cs_x86_op *to = &x->operands[0];
	if (!x->op_count || to->type != X86_OP_MEM || to->mem.segment == X86_REG_FS || to->mem.segment == X86_REG_GS)
		return 0;
	switch (w->insn->id) {
	case X86_INS_STOSB:
	case X86_INS_STOSD:
	case X86_INS_STOSQ:
		return is_stack(w, X86_REG_RDI) ? 0 : x->prefix[0] ? ANY : to->size;
	case X86_INS_MOV:
	case X86_INS_MOVUPS:
	case X86_INS_MOVAPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVAPD:
	case X86_INS_MOVDQU:
	case X86_INS_MOVDQA:
	case X86_INS_MOVQ:
	case X86_INS_VMOVUPS:
	case X86_INS_VMOVAPS:
	case X86_INS_VMOVDQU:
	case X86_INS_VMOVDQA:
		return is_stack(w, to->mem.base) ? 0 : to->size;
	default:
		return 0;
	}
}

/* What the paths to the instruction have told, at most. */
static void meet(struct walk *w)
{
	bool any = false;
	uint64_t told = 0;
	for (unsigned i = 0; i < w->jump_count; i++)
		if (w->jumps[i].target == w->insn->address) {
			any = true;
			told = w->jumps[i].told > told ? w->jumps[i].told : told;
		}
	if (w->behind) /* come to by a jump that is not known, if by none of these */
		w->told = any || !w->again ? told : ANY;
	else if (told > w->told)
		w->told = told;
	w->behind = false;
}

/* A call or a jump. False: there are too many. */
static bool pass_on(struct walk *w, const struct code_target *t)
{
	if (!t->jump) {
		w->told = told_by(t->name, w->told);
		w->stack &= ~X86_CALL_CHANGES;
		return true;
	}
	if (!w->again) {
		if (w->jump_count == JUMPS_MAX)
			return false;
		w->jumps[w->jump_count++] = (struct jump){t->address, w->told};
	}
	w->behind = !t->branches || !t->address;
	return true;
}

static bool step(struct walk *w)
{
	struct code_target t;
	uint64_t n = stores(w);
	meet(w);
	if (n && w->told != ANY) {
		if (n > w->told) {
			w->out->first = w->out->first ? w->out->first : w->insn->address;
			w->out->end = w->insn->address + w->insn->size;
		}
		w->told = n > w->told ? 0 : w->told - n;
	}
	follow_stack(w);
	w->behind |= w->insn->id == X86_INS_RET;
	return !code_target(w->code, w->insn->address, w->insn->bytes, w->insn->size, &t) || pass_on(w, &t);
}

bool bare_find(struct bare_search *s, const struct code *code, const struct code_function *function,
               struct bare_stores *out)
{
	struct walk w = {.code = code, .insn = s->insn, .out = out};
	bool hooked = false;
	out->first = 1;
	/* At first jumps from behind are not known, and tell of nothing: what is bare all the same is seen then, too.
	 */
	for (int round = 0; round < 2 && out->first; round++) {
		size_t n;
		uint64_t address = function->start;
		const uint8_t *p = code_at(code, address, &n);
		n = function->end - function->start < n ? function->end - function->start : n;
		*out = (struct bare_stores){0};
		w.again = round;
		w.behind = false;
		w.told = 0;
		w.stack = X86_RSP;
		while (p && cs_disasm_iter(s->capstone, &p, &n, &address, s->insn)) {
			struct code_target t;
			hooked |= code_target(code, s->insn->address, s->insn->bytes, s->insn->size, &t) && t.name &&
			          !strncmp(t.name, "__tsan_", 7);
			if (!step(&w))
				return false;
		}
	}
	return hooked && out->first;
}
