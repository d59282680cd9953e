/* Atomic instructions in machine code; see atomic_code.h. */
#include "recorder/collector/atomic_code.h"

#include <string.h>

static bool is_memory(uint8_t modrm)
{
	return modrm >> 6 != 3;
}

/* True if the instruction after a lock prefix can be one of those that take it. p: n bytes, from its other prefixes
 * on. */
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
		bool known = p[i + 1] && strchr("\xab\xb3\xbb\xba\xb0\xb1\xc0\xc1\xc7", p[i + 1]);
		return known && n > i + 2 && is_memory(p[i + 2]);
	}
	/* add, or, adc, sbb, and, sub, xor with a register or a number; not, neg, inc, dec; xchg */
	bool known = (op < 0x38 && (op & 7) < 2) || (op >= 0x80 && op <= 0x83 && (modrm >> 3 & 7) != 7) ||
	             ((op & 0xfe) == 0xf6 && (modrm & 0x30) == 0x10) || ((op & 0xfe) == 0xfe && (modrm >> 3 & 7) < 2) ||
	             (op & 0xfe) == 0x86;
	return known && is_memory(modrm);
}

bool atomic_code_may_begin(const uint8_t *p, size_t n)
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

/* Fences count. */
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

bool atomic_code_orders(const struct code *code, const cs_insn *insn)
{
	return is_atomic(insn) && insn->id != X86_INS_LFENCE &&
	       !code_counts(code, insn->address, insn->bytes, insn->size);
}

bool atomic_code_reads_clock(const cs_insn *insn)
{
	return insn->id == X86_INS_RDTSC || insn->id == X86_INS_RDTSCP;
}

bool atomic_code_may_lock(const cs_insn *insn)
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

bool atomic_code_in(csh capstone, cs_insn *insn, const struct code *code, const struct code_function *function)
{
	size_t n, length = function->end - function->start, k = 0;
	uint64_t address = function->start;
	const uint8_t *p = code_at(code, address, &n);
	n = length < n ? length : n;
	while (p && k < n && !atomic_code_may_begin(p + k, n - k))
		k++;
	if (!p || k == n)
		return false;
	while (cs_disasm_iter(capstone, &p, &n, &address, insn))
		if (atomic_code_orders(code, insn))
			return true;
	return false;
}
