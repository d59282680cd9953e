/* What instructions (x86-64) do with registers and operands, for searches for where a value goes: code_updates.c. */
#ifndef RECORDER_COLLECTOR_X86_H
#define RECORDER_COLLECTOR_X86_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>

/* What may hold a value: bits 0 to 15 the general registers, 16 to 31 the vector registers, then the flags. */
enum { X86_FLAGS_BIT = 32, X86_NEXT_BIT };
#define X86_BIT(n) (UINT64_C(1) << (n))
#define X86_FLAGS X86_BIT(X86_FLAGS_BIT)
enum {
	X86_RAX = 1 << 0,
	X86_RCX = 1 << 1,
	X86_RDX = 1 << 2,
	X86_RBX = 1 << 3,
	X86_RSP = 1 << 4,
	X86_RSI = 1 << 6,
	X86_RDI = 1 << 7,
	X86_R8 = 1 << 8,
	X86_R9 = 1 << 9
};
#define X86_XMM(n) X86_BIT(16 + (n))
#define X86_ALL_XMM (UINT64_C(0xffff) << 16)
/* What a call may change, the arguments that it may take in registers, and what functions with another convention leave
 * as it is: Microsoft's, or how the address of a thread-local variable is asked for. */
#define X86_CALL_CHANGES                                                                                               \
	((uint64_t)(X86_RAX | X86_RCX | X86_RDX | X86_RSI | X86_RDI | X86_R8 | X86_R9 | 1 << 10 | 1 << 11) |           \
	 X86_ALL_XMM | X86_FLAGS)
#define X86_ARGUMENTS                                                                                                  \
	((uint64_t)(X86_RCX | X86_RDX | X86_RSI | X86_RDI | X86_R8 | X86_R9 | 1 << 10) | (UINT64_C(0xff) << 16))
#define X86_MAY_STAY ((uint64_t)(1 << 11) | (X86_ALL_XMM & ~(UINT64_C(0xff) << 16)))

/* Number of a general register of any width, 0 to 15; -1: it is none. */
int x86_general(x86_reg r);
/* The bit of a register; 0: of none that could hold the value; *other: it cannot be told. */
uint64_t x86_bit(x86_reg r, bool *other);

/* What an instruction does with its operands; the first one is what it writes, if it writes one. */
enum x86_deed {
	X86_UNKNOWN,
	X86_MOVES,    /* the first becomes the second, or what that is converted to */
	X86_COMPUTES, /* of all, into the first, and flags */
	X86_VECTOR,   /* of all, into the first, a vector register */
	X86_COMPARES, /* into flags */
	X86_CHOOSES,  /* by flags, too, into the first */
	X86_COUNTS,   /* computes, but leaves a part of the flags */
	X86_ADDRESS,  /* the first becomes the address of the second */
	X86_EXTENDS,  /* rax by itself, or into rdx */
	X86_POPS,
	X86_NOTHING
};

enum x86_deed x86_deed(const cs_insn *insn);
/* True if the instruction leaves nothing of what the first operand, a register, held. */
bool x86_overwrites(const cs_insn *insn, enum x86_deed deed);
/* xor eax, eax and its like make 0 of anything. */
bool x86_clears(const cs_insn *insn);
/* True if the instruction moves the stack pointer. */
bool x86_moves_stack(const cs_insn *insn);
/* The operand in memory that an instruction reads; NULL: it reads none. */
const cs_x86_op *x86_load(const cs_insn *insn);
/* True if the instruction writes a general register, in part at least. */
bool x86_sets(const cs_insn *insn, int reg);
/* What an instruction of which the deed is unknown may use without naming it. */
uint64_t x86_implied(const cs_insn *insn);
/* True for jumps that depend on rcx: jrcxz, loop. */
bool x86_counts_down(const cs_insn *insn);

#endif
