/*
 * Operands as capstone tells them; what is done with them is listed here, so that nothing depends on how exact it is
 * about that.
 */
#include "recorder/collector/x86.h"

#include <string.h>

int x86_general(x86_reg r)
{
	static const x86_reg names[16][5] = {
	    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
	    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
	    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
	    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
	    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
	    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
	    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
	    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
	    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
	    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
	    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
	    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
	    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
	    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
	    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
	    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
	};
	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 5; k++)
			if (names[i][k] == r && r != X86_REG_INVALID)
				return i;
	return -1;
}

uint64_t x86_bit(x86_reg r, bool *other)
{
	int n = x86_general(r);
	if (n >= 0)
		return X86_BIT(n);
	if (r >= X86_REG_XMM0 && r <= X86_REG_XMM15)
		return X86_XMM(r - X86_REG_XMM0);
	if (r != X86_REG_RIP && r != X86_REG_INVALID)
		*other = true;
	return 0;
}

enum x86_deed x86_deed(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_MOVAPS:
	case X86_INS_MOVAPD:
	case X86_INS_MOVUPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVDQA:
	case X86_INS_MOVDQU:
	case X86_INS_MOVD:
	case X86_INS_MOVQ:
	case X86_INS_CVTTSD2SI:
	case X86_INS_CVTTSS2SI:
		return X86_MOVES;
	case X86_INS_MOVSS:
	case X86_INS_MOVSD: /* the string operation names its registers in memory operands */
		return insn->detail->x86.op_count == 2 && (insn->detail->x86.operands[0].type == X86_OP_REG ||
		                                           insn->detail->x86.operands[1].type == X86_OP_REG)
		           ? X86_MOVES
		           : X86_UNKNOWN;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_NEG:
		return X86_COMPUTES;
	case X86_INS_IMUL:
		return insn->detail->x86.op_count > 1 ? X86_COUNTS : X86_UNKNOWN;
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_NOT:
	case X86_INS_SHL:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_ROL:
	case X86_INS_ROR:
		return X86_COUNTS;
	case X86_INS_ADDSS:
	case X86_INS_ADDSD:
	case X86_INS_SUBSS:
	case X86_INS_SUBSD:
	case X86_INS_MULSS:
	case X86_INS_MULSD:
	case X86_INS_MINSD:
	case X86_INS_MAXSD:
	case X86_INS_MINSS:
	case X86_INS_MAXSS:
	case X86_INS_CVTSI2SD:
	case X86_INS_CVTSI2SS:
	case X86_INS_CVTSD2SS:
	case X86_INS_CVTSS2SD:
	case X86_INS_PXOR:
	case X86_INS_XORPS:
	case X86_INS_XORPD:
	case X86_INS_ANDPS:
	case X86_INS_ANDPD:
	case X86_INS_UNPCKLPS:
	case X86_INS_UNPCKLPD:
		return X86_VECTOR;
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_COMISD:
	case X86_INS_COMISS:
	case X86_INS_UCOMISD:
	case X86_INS_UCOMISS:
		return X86_COMPARES;
	case X86_INS_CMOVA:
	case X86_INS_CMOVAE:
	case X86_INS_CMOVB:
	case X86_INS_CMOVBE:
	case X86_INS_CMOVE:
	case X86_INS_CMOVNE:
	case X86_INS_CMOVG:
	case X86_INS_CMOVGE:
	case X86_INS_CMOVL:
	case X86_INS_CMOVLE:
	case X86_INS_CMOVS:
	case X86_INS_CMOVNS:
	case X86_INS_SBB:
	case X86_INS_ADC:
		return X86_CHOOSES;
	case X86_INS_LEA:
		return X86_ADDRESS;
	case X86_INS_CDQ:
	case X86_INS_CQO:
	case X86_INS_CDQE:
		return X86_EXTENDS;
	case X86_INS_POP:
		return X86_POPS;
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
	case X86_INS_LEAVE:
		return X86_NOTHING;
	default:
		return X86_UNKNOWN;
	}
}

bool x86_overwrites(const cs_insn *insn, enum x86_deed deed)
{
	const cs_x86 *x = &insn->detail->x86;
	bool vector = x->operands[0].reg >= X86_REG_XMM0 && x->operands[0].reg <= X86_REG_XMM15;
	if (!x->op_count || x->operands[0].type != X86_OP_REG)
		return false;
	if (!vector)
		return x->operands[0].size >= 4 && (deed == X86_MOVES || deed == X86_ADDRESS || deed == X86_POPS);
	/* A scalar that is moved between vector registers leaves the rest. */
	return deed == X86_MOVES &&
	       (x->operands[1].type == X86_OP_MEM || (insn->id != X86_INS_MOVSS && insn->id != X86_INS_MOVSD));
}

bool x86_clears(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	return (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB || insn->id == X86_INS_PXOR ||
	        insn->id == X86_INS_XORPS || insn->id == X86_INS_XORPD) &&
	       x->op_count == 2 && x->operands[0].type == X86_OP_REG && x->operands[1].type == X86_OP_REG &&
	       x->operands[0].reg == x->operands[1].reg && x->operands[0].size >= 4;
}

bool x86_moves_stack(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	return insn->id == X86_INS_PUSH || insn->id == X86_INS_POP || insn->id == X86_INS_LEAVE ||
	       (x->op_count && x->operands[0].type == X86_OP_REG && x86_general(x->operands[0].reg) == 4);
}

const cs_x86_op *x86_load(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	enum x86_deed deed = x86_deed(insn);
	if (deed == X86_ADDRESS || deed == X86_NOTHING || deed == X86_POPS)
		return NULL;
	for (unsigned i = deed == X86_MOVES ? 1 : 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_MEM)
			return &x->operands[i];
	return NULL;
}

bool x86_sets(const cs_insn *insn, int reg)
{
	const cs_x86 *x = &insn->detail->x86;
	return reg >= 0 && x->op_count && x->operands[0].type == X86_OP_REG && x86_general(x->operands[0].reg) == reg;
}

uint64_t x86_implied(const cs_insn *insn)
{
	uint64_t most = (uint64_t)(X86_RAX | X86_RCX | X86_RDX | X86_RSI | X86_RDI) | X86_XMM(0) | X86_FLAGS;
	bool other = false;
	switch (insn->id) {
	case X86_INS_PUSH:
		return 0;
	case X86_INS_SYSCALL: /* the kernel's arguments, and what saves a thread's state */
	case X86_INS_SYSENTER:
	case X86_INS_INT:
	case X86_INS_FXSAVE:
	case X86_INS_FXSAVE64:
	case X86_INS_XSAVE:
	case X86_INS_XSAVE64:
	case X86_INS_XSAVEC:
	case X86_INS_XSAVEC64:
	case X86_INS_XSAVEOPT:
	case X86_INS_XSAVEOPT64:
		return UINT64_MAX;
	case X86_INS_CMPXCHG8B:
	case X86_INS_CMPXCHG16B:
	case X86_INS_XLATB:
		return most | X86_RBX;
	default:
		for (unsigned i = 0; i < insn->detail->regs_read_count; i++)
			most |= x86_bit((x86_reg)insn->detail->regs_read[i], &other);
		return most;
	}
}

bool x86_counts_down(const cs_insn *insn)
{
	return insn->id == X86_INS_JCXZ || insn->id == X86_INS_JECXZ || insn->id == X86_INS_JRCXZ ||
	       insn->id == X86_INS_LOOP || insn->id == X86_INS_LOOPE || insn->id == X86_INS_LOOPNE;
}
