/*
 * Reads what a module's file says of it. Instrumented code has __tsan_init in its dynamic strings, whichever compiler
 * made it.
 */
#include "recorder/valgrind/module.h"

#include "recorder/valgrind/compiler.h"
#include "recorder/valgrind/file.h"
#include "recorder/valgrind/kernel.h"

#include <elf.h>
#include <stddef.h>
#include <sys/stat.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_libcbase.h>
#include <valgrind/pub_tool_mallocfree.h>

/* Where the file has what is loaded at the address; 0: nowhere. */
static uint64_t offset_of(const Elf64_Phdr *segments, unsigned n, uint64_t address)
{
	for (unsigned i = 0; i < n; i++)
		if (segments[i].p_type == PT_LOAD && address - segments[i].p_vaddr < segments[i].p_filesz)
			return address - segments[i].p_vaddr + segments[i].p_offset;
	return 0;
}

static bool contains(const char *strings, uint64_t size, const char *name)
{
	uint64_t length = VG_(strlen)(name) + 1;
	for (uint64_t i = 0; i + length <= size; i++)
		if ((!i || !strings[i - 1]) && !VG_(memcmp)(strings + i, name, length))
			return true;
	return false;
}

static bool dynamic_contains(long fd, const Elf64_Phdr *segments, unsigned n, const char *name)
{
	uint64_t strings = 0, size = 0, entries = 0;
	Elf64_Dyn *dynamic = NULL;
	for (unsigned i = 0; i < n && !dynamic; i++)
		if (segments[i].p_type == PT_DYNAMIC) {
			entries = segments[i].p_filesz / sizeof *dynamic;
			dynamic = file_part(fd, segments[i].p_offset, entries * sizeof *dynamic);
		}
	for (uint64_t i = 0; dynamic && i < entries; i++) {
		strings = dynamic[i].d_tag == DT_STRTAB ? dynamic[i].d_un.d_ptr : strings;
		size = dynamic[i].d_tag == DT_STRSZ ? dynamic[i].d_un.d_val : size;
	}
	VG_(free)(dynamic);
	char *text = file_part(fd, offset_of(segments, n, strings), size);
	bool is = text && contains(text, size, name);
	VG_(free)(text);
	return is;
}

struct look {
	Elf64_Ehdr header;
	uint64_t functions;   /* address of .eh_frame_hdr; 0: none */
	Elf64_Phdr *segments; /* only while it is looked at */
	bool is_program;      /* an ELF file of this machine */
	bool is_32_bit;
	bool is_instrumented, is_dynamic, is_by_old_gcc;
	bool checks_addresses; /* by AddressSanitizer, whose shadow memory Valgrind has no room for */
};

static struct look look(long fd)
{
	struct look l = {.segments = NULL};
	if (!file_read(fd, 0, &l.header, sizeof l.header) || VG_(memcmp)(l.header.e_ident, ELFMAG, SELFMAG))
		return l;
	l.is_32_bit = l.header.e_ident[EI_CLASS] == ELFCLASS32;
	if (l.header.e_machine != EM_X86_64 || l.header.e_phentsize != sizeof *l.segments)
		return l;
	l.segments = file_part(fd, l.header.e_phoff, (uint64_t)l.header.e_phnum * sizeof *l.segments);
	if (!l.segments)
		return l;
	l.is_instrumented = dynamic_contains(fd, l.segments, l.header.e_phnum, "__tsan_init");
	l.checks_addresses = dynamic_contains(fd, l.segments, l.header.e_phnum, "__asan_init");
	for (unsigned i = 0; i < l.header.e_phnum; i++) {
		l.is_dynamic |= l.segments[i].p_type == PT_INTERP;
		if (l.segments[i].p_type == PT_GNU_EH_FRAME)
			l.functions = l.segments[i].p_vaddr;
	}
	VG_(free)(l.segments);
	l.is_by_old_gcc = compiler_is_old_gcc(fd, &l.header);
	l.is_program = true;
	return l;
}

static long open_file(const char *file)
{
	enum { NONBLOCK = 04000, CLOEXEC = 02000000 };
	return kernel_call(SYS_open, (long)file, NONBLOCK | CLOEXEC, 0, 0);
}

static void close_file(long fd)
{
	kernel_call(SYS_close, fd, 0, 0, 0);
}

struct module {
	HChar *file;
	bool is_instrumented, is_by_old_gcc;
	uint64_t functions;
};

static const struct module *module_of(const char *file)
{
	static struct module *known;
	static unsigned count;
	for (unsigned i = 0; i < count; i++)
		if (!VG_(strcmp)(known[i].file, file))
			return &known[i];
	long fd = open_file(file);
	struct look l = {.functions = 0};
	if (fd >= 0) {
		l = look(fd);
		close_file(fd);
	}
	known = VG_(realloc)("racetrace.modules", known, (count + 1) * sizeof *known);
	known[count] =
	    (struct module){VG_(strdup)("racetrace.modules", file), l.is_instrumented, l.is_by_old_gcc, l.functions};
	return &known[count++];
}

bool module_is_instrumented(const char *file)
{
	return module_of(file)->is_instrumented;
}

bool module_updates_plainly(const char *file)
{
	return module_of(file)->is_by_old_gcc;
}

uint64_t module_functions(const char *file)
{
	return module_of(file)->functions;
}

/* The interpreter of a script, in `line`. NULL: it is none. */
static const char *interpreter(char *line, size_t size)
{
	line[size - 1] = '\0';
	if (line[0] != '#' || line[1] != '!')
		return NULL;
	char *start = line + 2;
	while (*start == ' ' || *start == '\t')
		start++;
	char *end = start;
	while (*end && *end != ' ' && *end != '\t' && *end != '\n')
		end++;
	*end = '\0';
	return start;
}

/* Kernel's layout of what the system call fills. */
static bool gains_rights(long fd)
{
	enum { SET_IDS = 06000, CAPABILITY = 64 };
	struct stat st;
	char value[CAPABILITY];
	return kernel_call(SYS_fstat, fd, (long)&st, 0, 0) != 0 || st.st_mode & SET_IDS ||
	       kernel_call(SYS_fgetxattr, fd, (long)"security.capability", (long)value, sizeof value) > 0;
}

static enum rt_watch_file watch_program(const struct look *l, bool gains)
{
	if (gains || l->is_instrumented)
		return RT_FILE_ALONE;
	if (l->is_32_bit)
		return RT_FILE_32_BIT;
	if (l->checks_addresses)
		return RT_FILE_ADDRESS;
	return !l->is_program ? RT_FILE_ALONE : l->is_dynamic ? RT_FILE_WATCHED : RT_FILE_STATIC;
}

static enum rt_watch_file watch(const char *file, bool may_be_script)
{
	char line[256] = "";
	long fd = open_file(file);
	if (fd < 0)
		return RT_FILE_ALONE;
	struct look l = look(fd);
	enum rt_watch_file how = watch_program(&l, gains_rights(fd));
	long n = kernel_call(SYS_pread64, fd, (long)line, sizeof line - 1, 0);
	close_file(fd);
	const char *by = n > 2 && may_be_script ? interpreter(line, sizeof line) : NULL;
	return by ? watch(by, false) : how;
}

enum rt_watch_file file_watch(const char *file)
{
	return watch(file, true);
}

/*
 * In place of Valgrind's reader of line numbers, by the linker's --wrap: nothing here uses them, reading takes long,
 * and Valgrind 3.19 complains about what Clang writes (DWARF 5).
 */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void)
{
}
