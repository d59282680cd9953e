/* The Valgrind tool's knowledge of machine instructions, beside capstone's; which functions keep their frames to
 * themselves. */
#include "recorder/valgrind/instruction.h"
#include "tests/unit/suite.h"

#include <capstone/capstone.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Beside capstone, on the code of a whole program ---- */

/* The register's number, of any size; -1: another one. */
static int number(x86_reg r)
{
	switch ((int)r) {
	case X86_REG_RSP:
	case X86_REG_ESP:
	case X86_REG_SP:
	case X86_REG_SPL:
		return REGISTER_SP;
	case X86_REG_RBP:
	case X86_REG_EBP:
	case X86_REG_BP:
	case X86_REG_BPL:
		return REGISTER_FP;
	default:
		return -1;
	}
}

static void compare(const cs_insn *c, const struct instruction *i)
{
	const cs_x86 *x = &c->detail->x86;
	ck_assert_msg(i->length == c->size, "%s %s: %u bytes, not %u", c->mnemonic, c->op_str, i->length, c->size);
	for (unsigned k = 0; k < x->op_count; k++) {
		const cs_x86_op *o = &x->operands[k];
		int r = o->type == X86_OP_REG ? number(o->reg) : -1;
		ck_assert_msg(r < 0 || instruction_names(i, (uint8_t)r), "%s %s: the register is not seen", c->mnemonic,
		              c->op_str);
		if (o->type != X86_OP_MEM || !i->has_modrm)
			continue;
		int base = number(o->mem.base), index = number(o->mem.index);
		ck_assert_msg((base < 0 || base == i->base) && (index < 0 || index == i->index) &&
		                  ((i->base != REGISTER_SP && i->base != REGISTER_FP) ||
		                   (base == i->base && o->mem.disp == i->displacement)),
		              "%s %s: another address", c->mnemonic, c->op_str);
	}
}

static size_t compare_all(csh capstone, const uint8_t *code, size_t size, size_t *unknown)
{
	cs_insn *c = cs_malloc(capstone);
	uint64_t address = 0;
	size_t n = 0;
	ck_assert(c != NULL);
	for (; size > 0; n++) {
		struct instruction i;
		if (!cs_disasm_iter(capstone, &code, &size, &address, c)) {
			code++, address++, size--;
			continue;
		}
		if (instruction_decode(c->bytes, c->size, &i))
			compare(c, &i);
		else
			++*unknown;
	}
	cs_free(c, 1);
	return n;
}

/* An instruction is as long as capstone says, and each use of the two registers is seen; hardly any is not known. */
START_TEST(agrees_with_capstone)
{
	csh capstone;
	size_t n = 0, unknown = 0;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert(elf != NULL && cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) == CS_ERR_OK);
	cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON);
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s)) != NULL;) {
		GElf_Shdr h;
		Elf_Data *d = elf_rawdata(s, NULL);
		if (gelf_getshdr(s, &h) && h.sh_flags & SHF_EXECINSTR && d)
			n += compare_all(capstone, d->d_buf, d->d_size, &unknown);
	}
	cs_close(&capstone);
	elf_end(elf);
	close(fd);
	ck_assert_msg(n > 10000 && unknown * 1000 < n, "%zu of %zu are not known", unknown, n);
}
END_TEST

/* What cannot be read as a whole is not decoded; nothing behind it is looked at. */
START_TEST(ends_where_the_code_does)
{
	static const uint8_t code[] = {0x66, 0x0f, 0x3a, 0x63,
	                               0x44, 0x24, 0x10, 0x0c}; /* pcmpistri $12, 16(%rsp), %xmm0 */
	struct instruction i;
	for (size_t n = 0; n < sizeof code; n++) {
		uint8_t *part = malloc(n ? n : 1);
		ck_assert(part != NULL);
		memcpy(part, code, n);
		ck_assert(!instruction_decode(part, n, &i));
		free(part);
	}
	ck_assert(instruction_decode(code, sizeof code, &i));
	ck_assert_int_eq(i.base, REGISTER_SP);
	ck_assert_int_eq(i.displacement, 16);
}
END_TEST

/* ---- Frames ---- */

#define PUSH_FP 0x55
#define POP_FP 0x5d
#define RET 0xc3
#define SET_FP 0x48, 0x89, 0xe5              /* mov %rsp, %rbp */
#define DOWN 0x48, 0x83, 0xec, 0x18          /* sub $24, %rsp */
#define UP 0x48, 0x83, 0xc4, 0x18            /* add $24, %rsp */
#define STORE_SP 0x89, 0x7c, 0x24, 0x08      /* mov %edi, 8(%rsp) */
#define STORE_FP 0x89, 0x7d, 0xec            /* mov %edi, -20(%rbp) */
#define ADDRESS_SP 0x48, 0x8d, 0x44, 0x24, 8 /* lea 8(%rsp), %rax */
#define ADDRESS_FP 0x48, 0x8d, 0x45, 0xec    /* lea -20(%rbp), %rax */
#define COPY_SP 0x48, 0x89, 0xe0             /* mov %rsp, %rax */
#define COPY_FP 0x48, 0x89, 0xef             /* mov %rbp, %rdi */
#define SPILL_FP 0x48, 0x89, 0x6c, 0x24, 8   /* mov %rbp, 8(%rsp) */
#define OTHER_FP 0x48, 0x8b, 0x6f, 0x08      /* mov 8(%rdi), %rbp */
#define VECTOR_4 0x0f, 0x28, 0xe5            /* movaps %xmm5, %xmm4 */
#define LEAVE 0xc9
#define BRANCH_AWAY 0x0f, 0x84, 0x00, 0x10, 0x00, 0x00 /* je far behind it */
#define GATHER 0xc4, 0xe2, 0x6d, 0x92, 0x04, 0x24      /* vgatherdps %ymm2, (%rsp,%ymm4), %ymm0 */
#define UNKNOWN 0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1     /* vmovaps %zmm1, %zmm0 */

static bool never_leaves(int64_t at, void *argument)
{
	*(int64_t *)argument = at;
	return false;
}

static bool always_leaves(int64_t at, void *argument)
{
	*(int64_t *)argument = at;
	return true;
}

#define USE(leaves, ...)                                                                                               \
	frame_use((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, leaves, &(int64_t){0})
#define IS_PRIVATE(...) ck_assert(USE(never_leaves, __VA_ARGS__).is_private)
#define IS_KNOWN(...) ck_assert(!USE(never_leaves, __VA_ARGS__).is_private)

START_TEST(frame_is_private_unless_its_address_is_taken)
{
	IS_PRIVATE(DOWN, STORE_SP, VECTOR_4, UP, RET);
	IS_PRIVATE(PUSH_FP, SET_FP, STORE_FP, POP_FP, RET);
	IS_PRIVATE(0xf3, 0x0f, 0x1e, 0xfa, PUSH_FP, SET_FP, DOWN, STORE_FP, LEAVE, RET);
	IS_KNOWN(DOWN, STORE_SP, ADDRESS_SP, UP, RET);
	IS_KNOWN(DOWN, COPY_SP, UP, RET);
	IS_KNOWN(PUSH_FP, SET_FP, STORE_FP, ADDRESS_FP, POP_FP, RET);
	IS_KNOWN(PUSH_FP, SET_FP, COPY_FP, POP_FP, RET);
	IS_KNOWN(DOWN, UNKNOWN, UP, RET);
	IS_KNOWN(DOWN, GATHER, UP, RET);
	IS_KNOWN(0x54, RET); /* push %rsp */
}
END_TEST

/* The frame pointer is an ordinary register where the function does not set it at its start. */
START_TEST(frame_pointer_may_be_a_register)
{
	struct frame_use use = USE(never_leaves, PUSH_FP, DOWN, OTHER_FP, SPILL_FP, ADDRESS_FP, UP, POP_FP, RET);
	ck_assert(use.is_private && !use.has_pointer);
	use = USE(never_leaves, PUSH_FP, SET_FP, DOWN, STORE_FP, LEAVE, RET);
	ck_assert(use.is_private && use.has_pointer);
	IS_KNOWN(PUSH_FP, DOWN, SET_FP, UP, POP_FP, RET);
	IS_KNOWN(PUSH_FP, SET_FP, DOWN, SPILL_FP, LEAVE, RET);
	IS_KNOWN(PUSH_FP, SET_FP, OTHER_FP, POP_FP, RET);
	IS_KNOWN(PUSH_FP, SET_FP, PUSH_FP, LEAVE, RET); /* as an argument */
}
END_TEST

/* A jump out of the function leads to a part of it that may take the address, unless it is a tail call. */
START_TEST(frame_is_followed_where_it_goes)
{
	IS_KNOWN(DOWN, STORE_SP, BRANCH_AWAY, UP, RET);
	ck_assert(USE(always_leaves, DOWN, STORE_SP, BRANCH_AWAY, UP, RET).is_private);
	IS_PRIVATE(DOWN, STORE_SP, 0x74, 0x00, UP, RET);
	IS_KNOWN(DOWN, STORE_SP, 0xff, 0xe0, UP, RET);                   /* jmp *%rax */
	IS_KNOWN(DOWN, STORE_SP, 0x3e, 0xff, 0xe0, UP, RET);             /* notrack */
	IS_KNOWN(DOWN, STORE_SP, 0xff, 0x24, 0xc5, 0, 0, 0, 0, UP, RET); /* jmp *0(,%rax,8) */
	IS_PRIVATE(DOWN, STORE_SP, 0xff, 0xd0, UP, RET);                 /* call *%rax */
}
END_TEST

START_TEST(jumps_are_seen_where_they_go)
{
	static const uint8_t back[] = {0x90, 0xeb, 0xf0, RET}; /* to 3 - 16 */
	static const uint8_t unknown[] = {UNKNOWN};
	ck_assert(instruction_jumps_between(back, sizeof back, -13, -12));
	ck_assert(!instruction_jumps_between(back, sizeof back, -12, 100));
	ck_assert(!instruction_jumps_between(back, sizeof back, -100, -13));
	ck_assert(instruction_jumps_between(unknown, sizeof unknown, 0, 1)); /* for all that is known */
}
END_TEST

SUITE(instruction)
{
	Suite *s = suite_create("instruction");
	TCase *c = tcase_create("capstone");
	tcase_add_test(c, agrees_with_capstone);
	tcase_add_test(c, ends_where_the_code_does);
	suite_add_tcase(s, c);
	c = tcase_create("frame");
	tcase_add_test(c, frame_is_private_unless_its_address_is_taken);
	tcase_add_test(c, frame_pointer_may_be_a_register);
	tcase_add_test(c, frame_is_followed_where_it_goes);
	tcase_add_test(c, jumps_are_seen_where_they_go);
	suite_add_tcase(s, c);
	return s;
}
