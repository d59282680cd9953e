/*
 * A system call instruction has two bytes, which occur by chance too. So the code before them is disassembled, from
 * several places: x86 code that is read from a wrong place falls into step after a few instructions. What it last put
 * into eax is the number of the call; an unknown one, as in a function that makes any call, may be that of seccomp.
 */
#include "recorder/collector/confine.h"

#include "recorder/channel.h"
#include "recorder/confined.h"

#include <capstone/capstone.h>
#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Code ---- */

#define CODE_MAX (64u << 20)

/* Files whose own system call instructions install no filter unseen: the recorder intercepts the C library's calls. */
static bool is_known(const char *path)
{
	static const char *const prefixes[] = {"libc.so",    "libc-",        "ld-linux",
	                                       "ld-2",       "libpthread",   "libgomp.so",
	                                       "libtsan.so", "libracetrace", "racetrace-amd64-linux",
	                                       "vgpreload_", "libm.so",      "libstdc++.so",
	                                       "libgcc_s.so"};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

struct reader {
	csh capstone;
	cs_insn *insn;
};

static bool writes_eax(const struct reader *r)
{
	cs_regs read, written;
	uint8_t read_count, written_count;
	if (r->insn->id == X86_INS_CALL)
		return true;
	if (cs_regs_access(r->capstone, r->insn, read, &read_count, written, &written_count) != CS_ERR_OK)
		return true;
	for (uint8_t i = 0; i < written_count; i++)
		if (written[i] == X86_REG_RAX || written[i] == X86_REG_EAX || written[i] == X86_REG_AX ||
		    written[i] == X86_REG_AL || written[i] == X86_REG_AH)
			return true;
	return false;
}

/* The number that the instruction puts into eax; -1 if that is unknown. */
static int64_t number_of(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	if (insn->id == X86_INS_MOV && x->op_count == 2 && x->operands[1].type == X86_OP_IMM &&
	    x->operands[0].size >= 4)
		return (int64_t)(uint32_t)x->operands[1].imm;
	if (insn->id == X86_INS_XOR && x->op_count == 2 && x->operands[1].type == X86_OP_REG &&
	    x->operands[1].reg == x->operands[0].reg)
		return 0;
	return -1;
}

/* Reads up to `at`. False: no instruction begins there. */
static bool reach(const struct reader *r, const uint8_t *code, size_t size, size_t from, size_t at, int64_t *number)
{
	const uint8_t *p = code + from;
	size_t left = size - from; /* an instruction that is cut off would be skipped byte by byte, up to `at` */
	uint64_t address = from;
	*number = -1;
	while (address < at && cs_disasm_iter(r->capstone, &p, &left, &address, r->insn))
		if (writes_eax(r))
			*number = number_of(r->insn);
	return address == at && cs_disasm_iter(r->capstone, &p, &left, &address, r->insn) &&
	       r->insn->id == X86_INS_SYSCALL;
}

/* True if a function that makes any call is called for prctl: its first argument is the number. */
static bool passes_prctl(const uint8_t *code, size_t size)
{
	static const uint8_t instruction[] = {0xbf, SYS_prctl, 0, 0, 0}; /* mov $SYS_prctl, %edi */
	return memmem(code, size, instruction, sizeof instruction);
}

/* What the two bytes at `at` may install, if they are an instruction. */
static uint32_t may_install(const struct reader *r, const uint8_t *code, size_t size, size_t at)
{
	enum { BEFORE = 160, TRIES = 4 };
	int reached = 0;
	uint32_t may = 0;
	for (size_t i = 0; i < TRIES; i++) {
		int64_t number;
		size_t from = at > BEFORE + i ? at - BEFORE - i : 0;
		if (!reach(r, code, size, from, at, &number))
			continue;
		reached++;
		if (number < 0 || number == SYS_prctl || number == SYS_seccomp)
			may |= RT_MAY_CONFINE;
		if (number == SYS_prctl || (number < 0 && passes_prctl(code, size)))
			may |= RT_MAY_BE_STRICT;
	}
	return reached > TRIES / 2 ? may : 0;
}

static uint32_t section_may(const struct reader *r, const uint8_t *code, size_t size)
{
	static const uint8_t instruction[] = {0x0f, 0x05};
	const uint8_t *found;
	uint32_t may = 0;
	for (size_t at = 0; (found = memmem(code + at, size - at, instruction, sizeof instruction)); at++) {
		at = (size_t)(found - code);
		may |= may_install(r, code, size, at);
	}
	return may;
}

static uint32_t elf_may(const struct reader *r, Elf *elf)
{
	GElf_Ehdr ehdr;
	GElf_Shdr header;
	uint64_t all = 0;
	uint32_t may = 0;
	if (!gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_X86_64)
		return 0;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		Elf_Data *data = (all += header.sh_size) <= CODE_MAX ? elf_rawdata(scn, NULL) : NULL;
		if (data && data->d_buf)
			may |= section_may(r, data->d_buf, data->d_size);
	}
	return may;
}

uint32_t confine_may(const char *path)
{
	struct reader r = {0};
	uint32_t may = 0;
	int fd = is_known(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && cs_open(CS_ARCH_X86, CS_MODE_64, &r.capstone) == CS_ERR_OK) {
		cs_option(r.capstone, CS_OPT_SKIPDATA, CS_OPT_ON);
		cs_option(r.capstone, CS_OPT_DETAIL, CS_OPT_ON);
		r.insn = cs_malloc(r.capstone);
		may = r.insn ? elf_may(&r, elf) : 0;
		if (r.insn)
			cs_free(r.insn, 1);
		cs_close(&r.capstone);
	}
	elf_end(elf);
	close(fd);
	return may;
}

/* ---- Processes ---- */

static uint32_t filters_of(const char *name)
{
	char text[RT_STATUS_MAX];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return RT_FILTERS_UNKNOWN;
	text[n] = '\0';
	return rt_status_filters(text);
}

uint32_t confine_own(void)
{
	return filters_of("/proc/self/status");
}

uint32_t confine_of(pid_t pid)
{
	char name[64];
	snprintf(name, sizeof name, "/proc/%ld/status", (long)pid);
	return filters_of(name);
}

bool confine_is(pid_t pid, pid_t tid, uint32_t filters)
{
	char name[320];
	snprintf(name, sizeof name, "/proc/%ld/task/%ld/status", (long)pid, (long)tid);
	uint32_t own = filters_of(name);
	if (own != RT_FILTERS_UNKNOWN)
		return own > filters;
	snprintf(name, sizeof name, "/proc/%ld/task", (long)pid);
	DIR *tasks = opendir(name);
	bool is = !tasks;
	for (struct dirent *d; tasks && !is && (d = readdir(tasks));) {
		if (*d->d_name == '.')
			continue;
		snprintf(name, sizeof name, "/proc/%ld/task/%s/status", (long)pid, d->d_name);
		uint32_t n = filters_of(name);
		is = n != RT_FILTERS_UNKNOWN && n > filters; /* unknown: it has ended in the meantime */
	}
	if (tasks)
		closedir(tasks);
	return is;
}
