/*
 * A hook comes before the access that it tells of, which passes no call but those of other hooks: neighbours may be
 * stored as one. So up to the next other call a function stores as many bytes as hooks have told; what it stores beyond
 * is bare. What it loads is, if no hook has told of a read. The stack and constants need no hooks. Where paths meet,
 * the most counts that any of them may do: of what is not certain nothing is said.
 *
 * The stack is what rsp points into, and registers that are made of it; so with constants.
 */
#include "recorder/collector/bare.h"

#include "recorder/collector/code_hooks.h"
#include "recorder/collector/x86.h"

#include <string.h>

enum { JUMPS_MAX = 512 };
#define ANY UINT64_MAX /* bytes: any number */

struct jump {
	uint64_t target, told;
	bool heard;
};

/* The walk through a function's instructions, by address. */
struct walk {
	const struct code *code;
	const cs_insn *insn;
	uint64_t told;  /* bytes that may still be stored */
	bool heard;     /* memory may be read */
	uint64_t stack; /* registers that point into it, X86_BIT each */
	uint64_t fixed; /* the same of constants */
	struct jump jumps[JUMPS_MAX];
	unsigned jump_count;
	bool again;  /* the jumps are known */
	bool behind; /* the instruction before this one does not lead here */
	bool hooked; /* a hook was called */
	struct bare_accesses *out;
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

/* Bytes that may be stored behind a call of a hook, of these that might before it. */
static uint64_t told_by(const char *name, uint64_t before)
{
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

/* Where an operand is that has a fixed address; 0: it has none. */
static uint64_t fixed_address(const struct walk *w, const x86_op_mem *at)
{
	if (at->base == X86_REG_RIP)
		return w->insn->address + w->insn->size + (uint64_t)at->disp;
	return at->base == X86_REG_INVALID ? (uint64_t)at->disp : 0;
}

static bool is_fixed(const struct walk *w, const x86_op_mem *at)
{
	uint64_t address = fixed_address(w, at);
	int base = x86_general(at->base), index = x86_general(at->index);
	return address ? !code_is_variable(w->code, address)
	               : (base >= 0 && w->fixed >> base & 1) || (index >= 0 && w->fixed >> index & 1);
}

/* Which registers point into the stack, or at constants, after the instruction. */
static void follow_registers(struct walk *w)
{
	const cs_x86 *x = &w->insn->detail->x86;
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];
	int reg = x->op_count && to->type == X86_OP_REG ? x86_general(to->reg) : -1, other = -1;
	bool fixed = false;
	if (reg < 0 || reg == 4 || !x86_sets(w->insn, reg))
		return;
	if (w->insn->id == X86_INS_LEA) {
		other = x86_general(from->mem.base);
		fixed = is_fixed(w, &from->mem);
	} else if (w->insn->id == X86_INS_MOV && from->type == X86_OP_REG) {
		other = x86_general(from->reg);
	} else if (w->insn->id == X86_INS_ADD || w->insn->id == X86_INS_SUB || w->insn->id == X86_INS_AND) {
		other = reg;
		fixed =
		    from->type == X86_OP_REG && x86_general(from->reg) >= 0 && w->fixed >> x86_general(from->reg) & 1;
	}
	bool stack = other >= 0 && w->stack >> other & 1;
	fixed |= other >= 0 && w->fixed >> other & 1;
	w->stack = (w->stack & ~X86_BIT(reg)) | (stack ? X86_BIT(reg) : 0);
	w->fixed = (w->fixed & ~X86_BIT(reg)) | (fixed ? X86_BIT(reg) : 0);
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

/* True of instructions that a comparison of memory is made of. What is passed by value is loaded by others. */
static bool may_compare(const cs_insn *insn, const cs_x86_op *from)
{
	switch (insn->id) {
	case X86_INS_CMP:
	case X86_INS_SUB:
	case X86_INS_XOR:
	case X86_INS_MOVDQU:
	case X86_INS_MOVDQA:
	case X86_INS_MOVUPS:
	case X86_INS_PCMPEQB:
	case X86_INS_PXOR:
	case X86_INS_VMOVDQU:
	case X86_INS_VPCMPEQB:
		return true;
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
		return from->size <= 2;
	default:
		return false;
	}
}

/* True if the instruction compares memory that may be of others, and varies. */
static bool compares(const struct walk *w)
{
	const cs_x86_op *from = x86_load(w->insn);
	if (!from || from->mem.segment == X86_REG_FS || from->mem.segment == X86_REG_GS || is_stack(w, from->mem.base))
		return false;
	if (from == w->insn->detail->x86.operands && (from->access & CS_AC_WRITE || stores(w)))
		return false;
	return may_compare(w->insn, from) && !is_fixed(w, &from->mem);
}

/* What the paths to the instruction have told, at most. */
static void meet(struct walk *w)
{
	bool any = false, heard = false;
	uint64_t told = 0;
	for (unsigned i = 0; i < w->jump_count; i++)
		if (w->jumps[i].target == w->insn->address) {
			any = true;
			heard |= w->jumps[i].heard;
			told = w->jumps[i].told > told ? w->jumps[i].told : told;
		}
	if (w->behind) { /* come to by a jump that is not known, if by none of these */
		w->told = any || !w->again ? told : ANY;
		w->heard = any || !w->again ? heard : true;
	} else {
		w->told = told > w->told ? told : w->told;
		w->heard |= heard;
	}
	w->behind = false;
}

static void call(struct walk *w, const char *name)
{
	w->stack &= ~X86_CALL_CHANGES;
	w->fixed &= ~X86_CALL_CHANGES;
	if (name && !strncmp(name, "__tsan_", 7)) {
		w->hooked = true;
		w->told = told_by(name, w->told);
		/* A write, too: to write a bit field is to read what is beside it. */
		w->heard |= strncmp(name, "__tsan_func", 11) != 0;
	} else if (!name || strcmp(name, "__tls_get_addr") != 0) {
		w->told = 0;
		w->heard = false;
	}
}

/* A call or a jump. False: there are too many. */
static bool pass_on(struct walk *w, const struct code_target *t)
{
	if (!t->jump) {
		call(w, t->name);
		return true;
	}
	if (!w->again) {
		if (w->jump_count == JUMPS_MAX)
			return false;
		w->jumps[w->jump_count++] = (struct jump){t->address, w->told, w->heard};
	}
	w->behind = !t->branches || !t->address;
	return true;
}

static void add(struct walk *w, bool stores)
{
	w->out->first = w->out->first ? w->out->first : w->insn->address;
	w->out->end = w->insn->address + w->insn->size;
	w->out->stores |= stores;
	w->out->loads |= !stores;
}

static bool step(struct walk *w)
{
	struct code_target t;
	uint64_t n = stores(w);
	bool passes = code_target(w->code, w->insn->address, w->insn->bytes, w->insn->size, &t);
	meet(w);
	if (n > w->told && w->told != ANY)
		add(w, true);
	if (!passes && !w->heard && compares(w))
		add(w, false);
	if (w->told != ANY)
		w->told = n > w->told ? 0 : w->told - n;
	follow_registers(w);
	w->behind |= w->insn->id == X86_INS_RET;
	return !passes || pass_on(w, &t);
}

bool bare_find(struct bare_search *s, const struct code *code, const struct code_function *function,
               struct bare_accesses *out)
{
	struct walk w = {.code = code, .insn = s->insn, .out = out};
	out->first = 1;
	/* At first jumps from behind are not known, and tell of nothing: what is bare all the same is seen then, too.
	 */
	for (int round = 0; round < 2 && out->first; round++) {
		size_t n;
		uint64_t address = function->start;
		const uint8_t *p = code_at(code, address, &n);
		n = function->end - function->start < n ? function->end - function->start : n;
		*out = (struct bare_accesses){0};
		w.again = round;
		w.behind = w.heard = false;
		w.told = w.fixed = 0;
		w.stack = X86_RSP;
		while (p && cs_disasm_iter(s->capstone, &p, &n, &address, s->insn))
			if (!step(&w))
				return false;
	}
	return w.hooked && out->first;
}
