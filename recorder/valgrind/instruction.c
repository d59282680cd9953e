/*
 * Machine instructions of x86-64: how long they are, and whether they name the stack or the frame pointer. What is not
 * in the tables (AVX-512, 3DNow, XOP, other sizes of addresses) is not known.
 *
 * A variable is private to its function if no instruction of the function takes its address: the rule by which
 * compilers leave accesses out of the instrumentation. It is applied to the whole frame here.
 *
 * Not by libcapstone: it needs the C library, without which a tool of Valgrind's is linked. Nor from outside: what a
 * program loads or makes while it runs is known only here. The tests compare the two.
 */
#include "recorder/valgrind/instruction.h"

/* Forms of the operands behind an opcode. */
enum form {
	BAD,  /* not known */
	NONE, /* nothing follows */
	M,    /* a ModR/M byte */
	M_I8, /* and a constant */
	M_IZ, /* of 4 bytes; with prefix 66 of 2 */
	I8,   /* only a constant */
	IZ,
	I16,
	IV, /* of 8 bytes with REX.W, else as IZ */
	I64,
	M_GROUP, /* ModR/M, and a constant of a byte in two of the group's instructions */
	M_GROUP_Z
};

static enum form form_1(uint8_t op)
{
	if (op < 0x40) {
		static const uint8_t row[8] = {M, M, M, M, I8, IZ, BAD, BAD};
		return row[op & 7];
	}
	switch (op >> 4) {
	case 5:
	case 9:
		return op == 0x9a ? BAD : NONE;
	case 7:
		return I8;
	case 0xb:
		return op < 0xb8 ? I8 : IV;
	default:
		break;
	}
	if (op == 0x63 || (op >= 0x84 && op <= 0x8f) || (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) ||
	    op == 0xfe || op == 0xff)
		return M;
	if (op == 0x6b || op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6)
		return M_I8;
	if (op == 0x69 || op == 0x81 || op == 0xc7)
		return M_IZ;
	if (op == 0x6a || op == 0xa8 || op == 0xcd || (op >= 0xe0 && op <= 0xe7) || op == 0xeb)
		return I8;
	if (op == 0x68 || op == 0xa9 || op == 0xe8 || op == 0xe9)
		return IZ;
	if (op >= 0xa0 && op <= 0xa3)
		return I64;
	if (op == 0xc2)
		return I16;
	if (op == 0xf6)
		return M_GROUP;
	if (op == 0xf7)
		return M_GROUP_Z;
	if ((op >= 0x6c && op <= 0x6f) || (op >= 0xa4 && op <= 0xaf) || op == 0xc3 || op == 0xc9 || op == 0xcc ||
	    op == 0xd7 || (op >= 0xec && op <= 0xef) || op == 0xf4 || op == 0xf5 || (op >= 0xf8 && op <= 0xfd))
		return NONE;
	return BAD;
}

static enum form form_2(uint8_t op)
{
	if (op == 0x04 || op == 0x0a || op == 0x0c || op == 0x0e || op == 0x0f || op == 0x36 || op == 0x39 ||
	    (op >= 0x24 && op <= 0x27) || (op >= 0x3b && op <= 0x3f) || op == 0x7a || op == 0x7b || op == 0xa6 ||
	    op == 0xa7)
		return BAD;
	if ((op >= 0x05 && op <= 0x09) || op == 0x0b || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
	    (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf))
		return NONE;
	if (op >> 4 == 8)
		return IZ;
	if ((op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
	    (op >= 0xc4 && op <= 0xc6))
		return M_I8;
	return M;
}

static enum form form_of(const struct instruction *i)
{
	switch (i->map) {
	case 1:
		return form_1(i->opcode);
	case 2:
		return i->is_vex && i->opcode == 0x77 ? NONE : form_2(i->opcode);
	case 3:
		return i->is_vex && i->opcode >= 0x90 && i->opcode <= 0x93 ? BAD : M; /* a vector is the index */
	default:
		return M_I8;
	}
}

/* The bytes that are read. */
struct reader {
	const uint8_t *at, *end;
	bool failed;
};

static uint8_t byte(struct reader *r)
{
	if (r->at >= r->end) {
		r->failed = true;
		return 0;
	}
	return *r->at++;
}

/* Of 1, 2, 4 or 8 bytes, the sign extended; of 8 the lower half. */
static int32_t constant(struct reader *r, unsigned size)
{
	uint32_t value = 0;
	for (unsigned k = 0; k < size; k++) {
		uint32_t b = byte(r);
		value |= k < 4 ? b << 8 * k : 0;
	}
	return size == 1 ? (int8_t)value : size == 2 ? (int16_t)value : (int32_t)value;
}

static void read_modrm(struct reader *r, struct instruction *i)
{
	i->modrm = byte(r);
	i->has_modrm = true;
	unsigned mod = i->modrm >> 6, rm = i->modrm & 7, extended = (unsigned)(i->rex & 1) << 3;
	if (mod == 3)
		return;
	i->base = (uint8_t)(rm | extended);
	if (rm == 4) {
		uint8_t sib = byte(r);
		i->index = (uint8_t)((sib >> 3 & 7) | (unsigned)(i->rex & 2) << 2);
		i->base = (uint8_t)((sib & 7) | extended);
		if (i->index == REGISTER_SP)
			i->index = REGISTER_NONE;
		rm = sib & 7;
	}
	if (!mod && rm == 5)
		i->base = REGISTER_NONE;
	unsigned size = mod == 1 ? 1 : mod == 2 || i->base == REGISTER_NONE ? 4 : 0;
	i->displacement = constant(r, size);
}

/* The opcode, and what of VEX or REX is before it. */
static void read_opcode(struct reader *r, struct instruction *i)
{
	uint8_t b = byte(r);
	if (b >> 4 == 4) {
		i->rex = b;
		b = byte(r);
	} else if (b == 0xc5 || b == 0xc4) {
		uint8_t first = byte(r), last = b == 0xc4 ? byte(r) : first;
		i->is_vex = true;
		i->rex = (uint8_t)(0x40 | (first & 0x80 ? 0 : 4));
		if (b == 0xc4)
			i->rex |= (uint8_t)((first & 0x40 ? 0 : 2) | (first & 0x20 ? 0 : 1) | (last & 0x80 ? 8 : 0));
		i->map = b == 0xc4 ? (uint8_t)((first & 31) + 1) : 2;
		i->vvvv = (uint8_t)(~last >> 3 & 15);
		i->opcode = byte(r);
		r->failed |= i->map < 2 || i->map > 4;
		return;
	}
	i->map = 1;
	if (b == 0x0f) {
		i->map = 2;
		b = byte(r);
		if (b == 0x38 || b == 0x3a) {
			i->map = b == 0x38 ? 3 : 4;
			b = byte(r);
		}
	}
	i->opcode = b;
}

bool instruction_decode(const uint8_t *code, size_t size, struct instruction *i)
{
	enum { LONGEST = 15 };
	struct reader r = {code, code + (size < LONGEST ? size : LONGEST), false};
	bool is_short = false;
	*i = (struct instruction){.base = REGISTER_NONE, .index = REGISTER_NONE, .vvvv = REGISTER_NONE};
	for (;; i->prefixes++, r.at++) {
		uint8_t b = r.at < r.end ? *r.at : 0;
		is_short |= b == 0x66;
		i->is_elsewhere |= b == 0x64 || b == 0x65;
		i->is_locked |= b == 0xf0;
		if (b != 0x66 && b != 0xf2 && b != 0xf3 && b != 0xf0 && b != 0x2e && b != 0x36 && b != 0x3e &&
		    b != 0x26 && b != 0x64 && b != 0x65)
			break;
	}
	read_opcode(&r, i);
	enum form form = r.failed ? BAD : form_of(i);
	if (form == BAD)
		return false;
	if (form == M || form == M_I8 || form == M_IZ || form == M_GROUP || form == M_GROUP_Z)
		read_modrm(&r, i);
	if (i->map == 1 && i->opcode == 0x8f && i->modrm >> 3 & 7) /* XOP */
		return false;
	bool has_constant = (i->modrm >> 3 & 7) < 2; /* of the groups */
	unsigned z = is_short && !(i->rex & 8) ? 2 : 4;
	if (i->map <= 2 && (i->opcode == 0xe8 || i->opcode == 0xe9 || (i->map == 2 && i->opcode >> 4 == 8)))
		z = 4;
	if (form == I8 || form == M_I8 || (form == M_GROUP && has_constant))
		i->immediate = constant(&r, 1);
	else if (form == IZ || form == M_IZ || (form == M_GROUP_Z && has_constant))
		i->immediate = constant(&r, z);
	else if (form == IV)
		i->immediate = constant(&r, i->rex & 8 ? 8 : z);
	else if (form == I16)
		i->immediate = constant(&r, 2);
	else if (form == I64)
		i->immediate = constant(&r, 8);
	i->length = (unsigned)(r.at - code);
	return !r.failed;
}

/* ---- Registers ---- */

/* True if the registers of the ModR/M byte are surely not general ones. */
static bool is_vector(const struct instruction *i)
{
	uint8_t op = i->opcode;
	if (i->map == 1)
		return op >= 0xd8 && op <= 0xdf;
	if (i->map == 2)
		return (op >= 0x10 && op <= 0x17) || op == 0x28 || op == 0x29 || op == 0x2e || op == 0x2f ||
		       (op >= 0x51 && op <= 0x6d) || op == 0x6f || (op >= 0x70 && op <= 0x76) ||
		       (op >= 0x7c && op <= 0x7d) || op == 0x7f || op == 0xc2 || op == 0xc6 ||
		       (op >= 0xd0 && op <= 0xd6) || (op >= 0xd8 && op <= 0xfe);
	if (i->map == 3)
		return op < 0xf0;
	return op <= 0x0f || op == 0x18 || op == 0x19 || op == 0x21 || (op >= 0x38 && op <= 0x6f) ||
	       (op >= 0xcc && op < 0xf0);
}

/* True if the middle of the ModR/M byte belongs to the opcode. */
static bool is_group(const struct instruction *i)
{
	uint8_t op = i->opcode;
	if (i->map == 1)
		return op == 0x80 || op == 0x81 || op == 0x83 || op == 0x8c || op == 0x8e || op == 0x8f || op == 0xc0 ||
		       op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) || op == 0xf6 ||
		       op == 0xf7 || op == 0xfe || op == 0xff;
	return i->map == 2 && !i->is_vex &&
	       (op <= 0x01 || op == 0x0d || (op >= 0x18 && op <= 0x1f) || op >> 4 == 9 || op == 0xae || op == 0xba ||
	        op == 0xc7);
}

bool instruction_names(const struct instruction *i, uint8_t r)
{
	uint8_t op = i->opcode, low = (uint8_t)((op & 7) | (unsigned)(i->rex & 1) << 3);
	if (!i->has_modrm)
		return low == r && ((i->map == 1 && ((op >= 0x50 && op <= 0x5f) || (op >= 0x90 && op <= 0x97) ||
		                                     (op >= 0xb8 && op <= 0xbf))) ||
		                    (i->map == 2 && op >= 0xc8 && op <= 0xcf));
	if (is_vector(i))
		return false;
	uint8_t reg = (uint8_t)((i->modrm >> 3 & 7) | (unsigned)(i->rex & 4) << 1);
	uint8_t rm = (uint8_t)((i->modrm & 7) | (unsigned)(i->rex & 1) << 3);
	return (!is_group(i) && reg == r) || (i->modrm >> 6 == 3 && rm == r) || (i->is_vex && i->vvvv == r);
}

bool instruction_jumps(const struct instruction *i, int32_t *distance)
{
	*distance = i->immediate;
	return (i->map == 1 && (i->opcode >> 4 == 7 || i->opcode == 0xe9 || i->opcode == 0xeb ||
	                        (i->opcode >= 0xe0 && i->opcode <= 0xe3))) ||
	       (i->map == 2 && !i->is_vex && i->opcode >> 4 == 8);
}

bool instruction_saves(const struct instruction *i)
{
	return i->map == 1 && !i->is_vex &&
	       (i->opcode >> 4 == 5 || i->opcode == 0x68 || i->opcode == 0x6a || i->opcode == 0xc9);
}

bool instruction_is_string(const struct instruction *i)
{
	return i->map == 1 && !i->is_vex && i->opcode >= 0xa4 && i->opcode <= 0xaf && (i->opcode & 0xfe) != 0xa8;
}

bool instruction_moves_aligned(const struct instruction *i)
{
	return i->map == 2 && i->is_vex &&
	       (i->opcode == 0x28 || i->opcode == 0x29 || i->opcode == 0x6f || i->opcode == 0x7f);
}

/* ---- Frames ---- */

/* mov between the two registers. */
static bool copies(const struct instruction *i, uint8_t from, uint8_t to)
{
	return i->map == 1 && i->rex == 0x48 && i->has_modrm && !i->is_vex &&
	       ((i->opcode == 0x89 && i->modrm == (0xc0 | from << 3 | to)) ||
	        (i->opcode == 0x8b && i->modrm == (0xc0 | to << 3 | from)));
}

size_t instruction_landing(const uint8_t *code, size_t size)
{
	enum { LENGTH = 4 };
	return size >= LENGTH && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa ? LENGTH : 0;
}

/* push, and mov of the stack pointer: their bytes at the start of the function, or 0. */
static size_t prologue(const uint8_t *code, size_t size)
{
	struct instruction i;
	size_t at = instruction_landing(code, size);
	if (at >= size || code[at] != 0x55 || !instruction_decode(code + at + 1, size - at - 1, &i) ||
	    !copies(&i, REGISTER_SP, REGISTER_FP))
		return 0;
	return at + 1 + i.length;
}

/* True if it moves the stack pointer, by a number or to the frame pointer. */
static bool moves_stack(const struct instruction *i, bool has_pointer)
{
	if (i->map != 1 || i->is_vex || i->prefixes)
		return false;
	if (i->opcode == 0x83 || i->opcode == 0x81) /* add, and, sub */
		return i->rex == 0x48 && (i->modrm == 0xc4 || i->modrm == 0xe4 || i->modrm == 0xec);
	if (i->opcode == 0x8d) /* lea */
		return i->rex == 0x48 && (i->modrm >> 3 & 7) == REGISTER_SP && i->index == REGISTER_NONE &&
		       (i->base == REGISTER_SP || (has_pointer && i->base == REGISTER_FP));
	return has_pointer && copies(i, REGISTER_FP, REGISTER_SP);
}

/* True if the address of the frame may be known elsewhere behind it. */
static bool escapes(const struct instruction *i, bool has_pointer)
{
	bool is_pop = i->map == 1 && !i->is_vex && i->opcode >> 3 == 0x58 >> 3;
	bool by_frame = i->base == REGISTER_SP || i->index == REGISTER_SP ||
	                (has_pointer && (i->base == REGISTER_FP || i->index == REGISTER_FP));
	if (moves_stack(i, has_pointer))
		return false;
	if (i->map == 1 && !i->is_vex && (i->opcode == 0xc8 || (i->opcode == 0xc9 && !has_pointer)))
		return true; /* enter; leave */
	if (i->map == 1 && !i->is_vex && i->opcode == 0x8d && by_frame)
		return true; /* lea */
	if (i->map == 1 && !i->is_vex && i->opcode == 0xff && (i->modrm >> 4 & 3) == 2)
		return true; /* jmp: of a switch, it may lead to a part that is put elsewhere and takes the address */
	if (instruction_names(i, REGISTER_SP) || copies(i, REGISTER_SP, REGISTER_FP))
		return true;
	return has_pointer && !is_pop && instruction_names(i, REGISTER_FP);
}

bool instruction_jumps_between(const uint8_t *code, size_t size, int64_t first, int64_t end)
{
	for (size_t at = 0; at < size;) {
		struct instruction i;
		int32_t distance;
		if (!instruction_decode(code + at, size - at, &i))
			return true;
		at += i.length;
		int64_t to = (int64_t)at;
		if (!instruction_jumps(&i, &distance))
			continue;
		to += distance;
		if (to >= first && to < end)
			return true;
	}
	return false;
}

struct frame_use frame_use(const uint8_t *code, size_t size, bool (*leaves)(int64_t at, void *argument), void *argument)
{
	size_t start = prologue(code, size);
	struct frame_use use = {.has_pointer = start > 0};
	for (size_t at = start; at < size;) {
		struct instruction i;
		int32_t distance;
		if (!instruction_decode(code + at, size - at, &i) || escapes(&i, use.has_pointer))
			return use;
		at += i.length;
		int64_t to = (int64_t)at;
		if (!instruction_jumps(&i, &distance))
			continue;
		to += distance;
		if ((to < 0 || to >= (int64_t)size) && !leaves(to, argument))
			return use;
	}
	use.is_private = true;
	return use;
}
