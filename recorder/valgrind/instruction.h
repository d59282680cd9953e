/* Machine instructions, as far as the frames of functions have to know them: see instruction.c. */
#ifndef RECORDER_VALGRIND_INSTRUCTION_H
#define RECORDER_VALGRIND_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGISTER_SP = 4, REGISTER_FP = 5, REGISTER_NONE = 255 };

struct instruction {
	unsigned length;
	unsigned prefixes; /* their number, that of REX or VEX not counted */
	uint8_t map;       /* 1: one byte; 2: 0f; 3: 0f 38; 4: 0f 3a */
	uint8_t opcode, modrm, rex;
	bool has_modrm, is_vex;
	bool is_elsewhere; /* its memory operand is relative to a segment */
	bool is_locked;
	uint8_t base, index; /* registers of the memory operand */
	uint8_t vvvv;        /* a further register, of VEX */
	int32_t displacement, immediate;
};

/* Decodes the instruction at `code`, of which `size` bytes can be read. False: it is not known. */
bool instruction_decode(const uint8_t *code, size_t size, struct instruction *i);
/* True if it has a memory operand. */
static inline bool instruction_has_memory(const struct instruction *i)
{
	return i->has_modrm && i->modrm >> 6 != 3;
}
/* True if it names the register, other than in the address of its memory operand. It may say so of a few that do not.
 */
bool instruction_names(const struct instruction *i, uint8_t r);
/* True if it is a relative jump or branch, calls left out; *distance: from its end. */
bool instruction_jumps(const struct instruction *i, int32_t *distance);
/* True if it pushes or pops a register or a constant, or is `leave`: what it accesses was saved, or is an argument. */
bool instruction_saves(const struct instruction *i);

/* True if it is movs, cmps, stos, lods or scas, once or repeated. */
bool instruction_is_string(const struct instruction *i);

/* True if it moves a vector to or from memory that is aligned, in the form that AVX has (vmovaps, vmovapd, vmovdqa): on
 * processors with AVX such a move of 16 bytes is atomic. It may say so of vmovdqu. */
bool instruction_moves_aligned(const struct instruction *i);

/* Length of the instruction to which indirect calls may lead (endbr64), if the code begins with it; else 0. */
size_t instruction_landing(const uint8_t *code, size_t size);

/* True if the code, of `size` bytes, may jump to an offset from `first` on, and before `end`; as well if it is not
 * known as a whole. */
bool instruction_jumps_between(const uint8_t *code, size_t size, int64_t first, int64_t end);

/* What a function does with the address of its frame. */
struct frame_use {
	bool is_private;  /* nothing but accesses by it: no other code can have the address of what is in there */
	bool has_pointer; /* the frame pointer is set where it begins */
};
/*
 * Of the function whose code is `code`, which ends `size` bytes further. leaves(at, argument) is asked of each jump to
 * somewhere else, at an offset: true if the frame is given up there, as in a tail call.
 */
struct frame_use frame_use(const uint8_t *code, size_t size, bool (*leaves)(int64_t at, void *argument),
                           void *argument);

#endif
