/* Calls of hooks, by their bytes; see code_hooks.h. */
#include "recorder/collector/code_hooks.h"

#include <stdlib.h>
#include <string.h>

unsigned code_hook_size(const char *name, const char *aligned, const char *unaligned)
{
	size_t n = strlen(aligned), k = strlen(unaligned);
	const char *digits = !strncmp(name, aligned, n) ? name + n : !strncmp(name, unaligned, k) ? name + k : "";
	char *end;
	unsigned long size = strtoul(digits, &end, 10);
	return *digits && !*end && size <= 16 ? (unsigned)size : 0;
}

const char *code_hook_before(const struct code *code, uint64_t pc)
{
	struct code_target t;
	size_t n;
	for (unsigned length = 5; length <= 6; length++) {
		const uint8_t *p = code_at(code, pc - length, &n);
		if (p && n >= length && *p == (length == 5 ? 0xe8 : 0xff) &&
		    code_target(code, pc - length, p, length, &t) && !t.jump && t.name)
			return t.name;
	}
	return NULL;
}

/* mov rdi, reg. */
static int moved_to_rdi(const uint8_t *p)
{
	return (p[0] & 0xfb) == 0x48 && p[1] == 0x89 && (p[2] & 0xc7) == 0xc7 ? (p[2] >> 3 & 7) | (p[0] & 4) << 1 : -1;
}

struct code_told code_hook_told(const struct code *code, uint64_t pc)
{
	enum { KEPT = 1 << 3 | 1 << 5 | 0xf << 12 };
	struct code_told told = {0, -1};
	size_t n;
	uint64_t at = pc - 5;
	const uint8_t *p = code_at(code, at - 10, &n);
	int32_t distance;
	if (!p || n < 15)
		return told;
	p += 10;
	if (p[-5] == 0xbf) {
		uint32_t absolute;
		memcpy(&absolute, p - 4, 4);
		told.address = absolute;
		return told;
	}
	int from = moved_to_rdi(p - 3);
	if (from > 0 && KEPT >> from & 1)
		told.reg = from;
	if (from == 0) {
		p -= 3;
		at -= 3;
	}
	if (p[-7] == 0x48 && p[-6] == 0x8d && p[-5] == (from == 0 ? 0x05 : 0x3d)) {
		memcpy(&distance, p - 4, 4);
		told.address = at + (uint64_t)(int64_t)distance;
	}
	return told;
}
