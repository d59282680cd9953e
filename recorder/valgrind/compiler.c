/*
 * Which compiler made a module. Compilers name themselves in .comment, which some packages are stripped of. Some do
 * not, as older ones of Rust and those of Go, whose programs have GCC's name there because it links them. So each
 * source file that the table of symbols names has to be of a language of GCC's; a file without that table must not
 * have what these two leave in it.
 */
#include "recorder/valgrind/compiler.h"

#include "recorder/valgrind/file.h"

#include <valgrind/pub_tool_libcbase.h>

/* The sections of a file. */
struct sections {
	long fd;
	Elf64_Shdr *items;
	unsigned count;
	char *names;
	uint64_t names_size;
};

/* Empty: the file has none that can be read. */
static struct sections sections_read(long fd, const Elf64_Ehdr *h)
{
	struct sections s = {.fd = fd};
	if (h->e_shentsize != sizeof *s.items || h->e_shstrndx >= h->e_shnum)
		return s;
	s.items = file_part(fd, h->e_shoff, (uint64_t)h->e_shnum * sizeof *s.items);
	if (!s.items)
		return s;
	s.names_size = s.items[h->e_shstrndx].sh_size;
	s.names = file_part(fd, s.items[h->e_shstrndx].sh_offset, s.names_size);
	s.count = s.names ? h->e_shnum : 0;
	return s;
}

static void sections_release(struct sections *s)
{
	VG_(free)(s->items);
	VG_(free)(s->names);
}

static const Elf64_Shdr *named(const struct sections *s, const char *name)
{
	for (unsigned i = 0; i < s->count; i++) {
		uint64_t at = s->items[i].sh_name;
		if (at < s->names_size && !VG_(strncmp)(s->names + at, name, s->names_size - at))
			return &s->items[i];
	}
	return NULL;
}

/* Owned by the caller. NULL: the file has no such section, or none that is in it. */
static char *content(const struct sections *s, const Elf64_Shdr *of)
{
	return of && of->sh_type != SHT_NOBITS ? file_part(s->fd, of->sh_offset, of->sh_size) : NULL;
}

/* ---- Names of compilers ---- */

/* "GCC: (PACKAGE) VERSION …", of a version that makes no update in one instruction of an atomic load and store. */
static bool is_old_gcc(const char *s)
{
	enum { FUSES = 16 };
	static const char name[] = "GCC: (";
	const char *end = VG_(strncmp)(s, name, sizeof name - 1) ? NULL : VG_(strchr)(s, ')');
	unsigned version = 0;
	for (const char *p = end && end[1] == ' ' ? end + 2 : ""; *p >= '0' && *p <= '9' && version < FUSES; p++)
		version = version * 10 + (unsigned)(*p - '0');
	return version && version < FUSES;
}

/* text: strings, each with its end. */
static bool are_old_gcc(const char *text, uint64_t size)
{
	uint64_t i = 0;
	for (; i < size && !text[size - 1]; i += VG_(strlen)(text + i) + 1)
		if (text[i] && !is_old_gcc(text + i))
			return false;
	return size && i == size;
}

/* ---- Names of source files ---- */

/* True if it is not a name that another compiler gives, which has no suffix or one of its own. What was linked with
 * optimization has none at all. */
static bool is_gcc_source(const char *name)
{
	static const char *const suffixes[] = {"c",   "cc",  "cp", "cpp", "cxx", "c++", "C",   "CPP", "i",
	                                       "ii",  "m",   "mm", "f",   "for", "ftn", "f77", "f90", "f95",
	                                       "f03", "f08", "F",  "FOR", "F90", "F95", "F03", "F08", "d",
	                                       "adb", "ads", "s",  "S",   "o",   "os"};
	const char *suffix = VG_(strrchr)(name, '.');
	if (!*name || *name == '<')
		return true;
	for (unsigned i = 0; suffix && i < sizeof suffixes / sizeof *suffixes; i++)
		if (!VG_(strcmp)(suffix + 1, suffixes[i]))
			return true;
	return false;
}

static bool are_gcc_sources(const Elf64_Sym *symbols, uint64_t count, const char *names, uint64_t size)
{
	for (uint64_t i = 0; i < count; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FILE &&
		    (symbols[i].st_name >= size || !is_gcc_source(names + symbols[i].st_name)))
			return false;
	return size && !names[size - 1];
}

/* Of a file that has a table of symbols. */
static bool sources_are_gcc(const struct sections *s, const Elf64_Shdr *table)
{
	const Elf64_Shdr *strings = table->sh_link < s->count ? &s->items[table->sh_link] : NULL;
	Elf64_Sym *symbols = (Elf64_Sym *)content(s, table);
	char *names = content(s, strings);
	uint64_t count = table->sh_size / sizeof *symbols;
	/* Names of files are those of local symbols, which are the first ones. */
	bool are = symbols && names &&
	           are_gcc_sources(symbols, table->sh_info < count ? table->sh_info : count, names, strings->sh_size);
	VG_(free)(symbols);
	VG_(free)(names);
	return are;
}

/* ---- Files without symbols ---- */

/* True if a constant is the name of a file of Rust's library, as each place has one where it may panic. */
static bool names_rust(const struct sections *s)
{
	static const char part[] = "library/core/src/";
	const Elf64_Shdr *constants = named(s, ".rodata");
	char *text = content(s, constants);
	bool does = false;
	for (uint64_t i = 0; text && i + sizeof part <= constants->sh_size && !does; i++)
		does = text[i] == part[0] && !VG_(memcmp)(text + i, part, sizeof part - 1);
	VG_(free)(text);
	return does;
}

bool compiler_is_old_gcc(long fd, const Elf64_Ehdr *header)
{
	struct sections s = sections_read(fd, header);
	const Elf64_Shdr *comment = named(&s, ".comment"), *symbols = named(&s, ".symtab");
	char *text = content(&s, comment);
	bool is = text && are_old_gcc(text, comment->sh_size);
	VG_(free)(text);
	is = is && (symbols ? sources_are_gcc(&s, symbols) : !named(&s, ".go.buildinfo") && !names_rust(&s));
	sections_release(&s);
	return is;
}
