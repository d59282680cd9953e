/*
 * Has the store of a write's hook taken place by the time of the read's hook behind it? Between the two hooks of a copy
 * GCC only loads an address. Otherwise the store is there. So the few instructions in between decide (x86-64). One that
 * is not known here ends the search: the store may not have taken place.
 */
#include "recorder/sched/sched.h"

enum { BETWEEN_MAX = 64 }; /* bytes */

/* What follows the opcode. */
enum {
	NO_OPERAND = 1,
	OPERAND = 2,
	IMMEDIATE_8 = 4,
	IMMEDIATE_32 = 8,
	IMMEDIATE_64 = 16,
	STORES = 32,
	MAY_COMPARE = 64
};

struct instruction {
	unsigned kind; /* of the above; 0: unknown */
	bool wide;     /* REX.W */
	bool word;     /* operands of 16 bits */
	unsigned char opcode;
};

/* Of opcodes that 0f begins. */
static unsigned kind_of_long(unsigned char opcode)
{
	switch (opcode) {
	case 0x11: /* vector registers to memory */
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x7f:
	case 0xd6:
		return OPERAND | STORES;
	case 0x10: /* the other way, or among themselves */
	case 0x28:
	case 0x57:
	case 0x6e:
	case 0x6f:
	case 0xef:
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
	case 0xaf: /* imul */
		return OPERAND;
	default:
		return 0;
	}
}

static unsigned kind_of(const struct instruction *i)
{
	unsigned char opcode = i->opcode;

	if (opcode < 0x40 && (opcode & 7) < 4) { /* add, or, adc, sbb, and, sub, xor, cmp */
		bool compares = opcode >= 0x38, to_memory = (opcode & 7) < 2;

		return OPERAND | (to_memory && !compares ? STORES : 0);
	}
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return NO_OPERAND | (i->wide ? IMMEDIATE_64 : IMMEDIATE_32);
	switch (opcode) {
	case 0x63: /* movsxd */
	case 0x84: /* test */
	case 0x85:
	case 0x8a: /* mov to a register, lea */
	case 0x8b:
	case 0x8d:
		return OPERAND;
	case 0x88: /* mov to memory */
	case 0x89:
		return OPERAND | STORES;
	case 0xc6:
		return OPERAND | STORES | IMMEDIATE_8;
	case 0xc7:
		return OPERAND | STORES | IMMEDIATE_32;
	case 0x80:
	case 0x83:
		return OPERAND | STORES | MAY_COMPARE | IMMEDIATE_8;
	case 0x81:
		return OPERAND | STORES | MAY_COMPARE | IMMEDIATE_32;
	case 0x90:
		return NO_OPERAND;
	default:
		return 0;
	}
}

/* Reads one; *stores: it stores to memory that is not the frame's. Returns what is behind it; NULL: unknown. */
static const unsigned char *read_one(const unsigned char *at, bool *stores)
{
	struct instruction i = {0};
	bool repeats = false;

	*stores = false;
	for (; *at == 0x66 || *at == 0xf2 || *at == 0xf3; at++) {
		i.word |= *at == 0x66;
		repeats |= *at != 0x66;
	}
	if (*at >= 0x40 && *at <= 0x4f)
		i.wide = *at++ >> 3 & 1;
	i.opcode = *at++;
	if (i.opcode == 0x0f)
		i.kind = kind_of_long(*at++);
	else if (!repeats)
		i.kind = kind_of(&i);
	if (!i.kind)
		return NULL;
	if (i.kind & OPERAND) {
		unsigned char modrm = *at++, mod = modrm >> 6, base = modrm & 7;
		bool disp_32 = mod == 2 || (mod == 0 && base == 5);

		if (mod != 3 && base == 4) {
			base = *at++ & 7;
			disp_32 |= mod == 0 && base == 5;
			base = base == 5 && mod == 0 ? 0 : base;
		} else if (mod == 0 && base == 5) { /* of the instruction pointer */
			base = 0;
		}
		bool frame = base == 4 || base == 5, compares = i.kind & MAY_COMPARE && (modrm >> 3 & 7) == 7;

		*stores = i.kind & STORES && mod != 3 && !frame && !compares;
		at += disp_32 ? 4 : mod == 1;
	}
	return at + (i.kind & IMMEDIATE_8    ? 1
	             : i.kind & IMMEDIATE_32 ? (i.word ? 2 : 4)
	             : i.kind & IMMEDIATE_64 ? 8
	                                     : 0);
}

bool rt_sched_has_stored(uintptr_t write, uintptr_t read)
{
	/* Positions are within the calls of the hooks. */
	const unsigned char *at = (const unsigned char *)(write + 1), *end = (const unsigned char *)read;
	bool stores = false;

	if (end <= at || end - at > BETWEEN_MAX)
		return false;
	while (at && at < end && !stores)
		at = read_one(at, &stores);
	return at && at <= end && stores;
}
