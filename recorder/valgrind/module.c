/* Reads a module's dynamic strings: instrumented code has __tsan_init there, whichever compiler made it. */
#include "recorder/valgrind/module.h"

#include "recorder/valgrind/kernel.h"

#include <elf.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_libcbase.h>
#include <valgrind/pub_tool_mallocfree.h>

static bool read_at(long fd, uint64_t offset, void *to, uint64_t size)
{
	return kernel_call(SYS_pread64, fd, (long)to, (long)size, (long)offset) == (long)size;
}

/* Owned by the caller. NULL: the file does not have it. */
static void *part(long fd, uint64_t offset, uint64_t size)
{
	enum { MOST = 1 << 28 };
	void *p = size && size < MOST ? VG_(malloc)("racetrace.module", size) : NULL;
	if (p && read_at(fd, offset, p, size))
		return p;
	VG_(free)(p);
	return NULL;
}

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
			dynamic = part(fd, segments[i].p_offset, entries * sizeof *dynamic);
		}
	for (uint64_t i = 0; dynamic && i < entries; i++) {
		strings = dynamic[i].d_tag == DT_STRTAB ? dynamic[i].d_un.d_ptr : strings;
		size = dynamic[i].d_tag == DT_STRSZ ? dynamic[i].d_un.d_val : size;
	}
	VG_(free)(dynamic);
	char *text = part(fd, offset_of(segments, n, strings), size);
	bool is = text && contains(text, size, name);
	VG_(free)(text);
	return is;
}

static bool look(const char *file)
{
	Elf64_Ehdr header;
	long fd = kernel_call(SYS_open, (long)file, 0, 0, 0);
	if (fd < 0)
		return false;
	Elf64_Phdr *segments = NULL;
	if (read_at(fd, 0, &header, sizeof header) && header.e_phentsize == sizeof *segments)
		segments = part(fd, header.e_phoff, (uint64_t)header.e_phnum * sizeof *segments);
	bool is = segments && dynamic_contains(fd, segments, header.e_phnum, "__tsan_init");
	VG_(free)(segments);
	kernel_call(SYS_close, fd, 0, 0, 0);
	return is;
}

bool module_is_instrumented(const char *file)
{
	static struct {
		HChar *file;
		bool is;
	} * known;
	static unsigned count;
	for (unsigned i = 0; i < count; i++)
		if (!VG_(strcmp)(known[i].file, file))
			return known[i].is;
	known = VG_(realloc)("racetrace.modules", known, (count + 1) * sizeof *known);
	known[count].file = VG_(strdup)("racetrace.modules", file);
	known[count].is = look(file);
	return known[count++].is;
}
