/*
 * Functions are the symbols of the module or, without symbols, the ranges of its .eh_frame. A call of another module
 * goes through a slot that the dynamic linker fills, via a stub in the PLT or directly.
 */
#include "recorder/collector/code.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct opening {
	struct code *code;
	Elf *elf;
	GElf_Addr bias;
	size_t section_size, function_size, slot_size, handler_size, variable_size, counter_size;
	bool failed;
};

static void add_section(struct opening *o, Elf_Scn *scn, const GElf_Shdr *header)
{
	struct code *c = o->code;
	Elf_Data *data = elf_rawdata(scn, NULL);
	o->failed |= !vec_reserve(&c->sections, &o->section_size, c->section_count + 1, sizeof *c->sections);
	if (!o->failed && data && data->d_buf)
		c->sections[c->section_count++] =
		    (struct code_section){header->sh_addr + o->bias, data->d_size, data->d_buf};
}

static void add_variables(struct opening *o, const GElf_Shdr *header, const char *name)
{
	struct code *c = o->code;
	if (!(header->sh_flags & SHF_WRITE) || header->sh_flags & SHF_TLS ||
	    (strncmp(name, ".data", 5) != 0 && strncmp(name, ".bss", 4) != 0) || !strncmp(name, ".data.rel.ro", 12))
		return;
	o->failed |= !vec_reserve(&c->variables, &o->variable_size, c->variable_count + 1, sizeof *c->variables);
	if (!o->failed)
		c->variables[c->variable_count++] =
		    (struct code_section){header->sh_addr + o->bias, header->sh_size, NULL};
}

static void add_slots(struct opening *o, Elf_Scn *scn, const GElf_Shdr *header)
{
	struct code *c = o->code;
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbols = elf_getscn(o->elf, header->sh_link);
	Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Shdr symbol_header;
	GElf_Rela rela;
	GElf_Sym symbol;
	if (!symbol_data || !gelf_getshdr(symbols, &symbol_header))
		return;
	for (int i = 0; data && gelf_getrela(data, i, &rela) && !o->failed; i++) {
		unsigned type = (unsigned)GELF_R_TYPE(rela.r_info);
		if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
		    !gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol))
			continue;
		const char *name = elf_strptr(o->elf, symbol_header.sh_link, symbol.st_name);
		o->failed |= !vec_reserve(&c->slots, &o->slot_size, c->slot_count + 1, sizeof *c->slots);
		if (!o->failed && name)
			c->slots[c->slot_count++] = (struct code_slot){rela.r_offset + o->bias, name};
	}
}

static void add_function(struct opening *o, uint64_t start, uint64_t end, const char *name, bool local)
{
	struct code *c = o->code;
	size_t n;
	if (!code_at(c, start, &n))
		return;
	if (end > start + n)
		end = start + n;
	o->failed |= !vec_reserve(&c->functions, &o->function_size, c->function_count + 1, sizeof *c->functions);
	if (!o->failed)
		c->functions[c->function_count++] = (struct code_function){start, end, name, local};
}

static void add_counters(struct opening *o, uint64_t start, uint64_t size, const char *name)
{
	struct code *c = o->code;
	if (strncmp(name, "__gcov", 6) != 0 || name[6] < '0' || name[6] > '9')
		return;
	o->failed |= !vec_reserve(&c->counters, &o->counter_size, c->counter_count + 1, sizeof *c->counters);
	if (!o->failed)
		c->counters[c->counter_count++] = (struct code_section){start, size, NULL};
}

static void add_symbols(struct opening *o, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);
	for (int i = 1; i < n && !o->failed; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
		int type = GELF_ST_TYPE(symbol.st_info);
		if (name && type == STT_OBJECT && symbol.st_shndx != SHN_UNDEF)
			add_counters(o, address, symbol.st_size, name);
		if (name && *name && symbol.st_shndx != SHN_UNDEF &&
		    (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC))
			add_function(o, address, address + symbol.st_size, name,
			             GELF_ST_BIND(symbol.st_info) == STB_LOCAL);
	}
}

enum { NO_TABLE = 0x100, UNKNOWN_TABLE = 0x101, RELATIVE4 = 0x1b, ABSOLUTE4 = 0x03, PERSONALITY4 = 0x0b };

/* How functions of this kind give the address of their table of what catches exceptions where. */
static unsigned table_encoding(const unsigned char *ident, Elf_Data *data, Dwarf_Off cie)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	if (dwarf_next_cfi(ident, data, true, cie, &next, &entry) != 0 || !dwarf_cfi_cie_p(&entry))
		return UNKNOWN_TABLE;
	const char *letter = entry.cie.augmentation;
	const uint8_t *p = entry.cie.augmentation_data, *end = p + entry.cie.augmentation_data_size;
	if (!strchr(letter, 'L'))
		return NO_TABLE;
	for (letter += *letter == 'z'; *letter && p < end; letter++) {
		if (*letter == 'L')
			return *p == RELATIVE4 || *p == ABSOLUTE4 ? *p : UNKNOWN_TABLE;
		bool number = *letter == 'P' && ((*p & 0x0f) == PERSONALITY4 || (*p & 0x0f) == ABSOLUTE4);
		if (*letter == 'P' ? !number : *letter != 'R')
			return UNKNOWN_TABLE;
		p += number ? 5 : 1;
	}
	return UNKNOWN_TABLE;
}

/* The table's address, which is behind the range and the size of what follows; 0: unknown, or there is none. */
static uint64_t table_of(const struct opening *o, const Dwarf_CFI_Entry *entry, uint64_t place, unsigned encoding)
{
	enum { RANGE = 8, SIZE = 1 };
	const uint8_t *p = entry->fde.start;
	int32_t distance;
	if (encoding == UNKNOWN_TABLE || entry->fde.end - p < RANGE + SIZE + 4 || p[RANGE] != sizeof distance)
		return 0;
	memcpy(&distance, p + RANGE + SIZE, sizeof distance);
	if (!distance)
		return 0;
	return encoding == RELATIVE4 ? place + RANGE + SIZE + (uint64_t)(int64_t)distance
	                             : o->bias + (uint32_t)distance;
}

static void add_handler(struct opening *o, struct code_handler handler)
{
	struct code *c = o->code;
	o->failed |= !vec_reserve(&c->handlers, &o->handler_size, c->handler_count + 1, sizeof *c->handlers);
	if (!o->failed)
		c->handlers[c->handler_count++] = handler;
}

/* In the form that all compilers emit: a range's start is 4 bytes relative to itself, its length 4 more. */
static void add_frames(struct opening *o, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	const unsigned char *ident = (const unsigned char *)elf_getident(o->elf, NULL);
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	if (!data || !data->d_buf || !ident)
		return;
	for (; !o->failed && dwarf_next_cfi(ident, data, true, offset, &next, &entry) != 1 && next > offset;
	     offset = next) {
		const uint8_t *p = entry.fde.start;
		int32_t distance;
		uint32_t length;
		if (dwarf_cfi_cie_p(&entry) || entry.fde.end - p < 8)
			continue;
		memcpy(&distance, p, 4);
		memcpy(&length, p + 4, 4);
		uint64_t place = header->sh_addr + o->bias + (uint64_t)(p - (const uint8_t *)data->d_buf);
		uint64_t start = place + (uint64_t)(int64_t)distance;
		add_function(o, start, start + length, NULL, true);
		unsigned encoding = table_encoding(ident, data, entry.fde.CIE_pointer);
		if (encoding != NO_TABLE)
			add_handler(o,
			            (struct code_handler){start, start + length, table_of(o, &entry, place, encoding)});
	}
}

static int by_slot(const void *a, const void *b)
{
	const struct code_slot *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_section(const void *a, const void *b)
{
	const struct code_section *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_handler(const void *a, const void *b)
{
	const struct code_handler *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Of those with one start, the longest comes first, and of these one that others can call, then one with a name. */
static int by_function(const void *a, const void *b)
{
	const struct code_function *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->local != y->local ? x->local - y->local : !x->name - !y->name;
}

/* A symbol without a size extends to the next one; each byte belongs to one function. */
static void tidy_functions(struct code *c)
{
	size_t kept = 0;
	if (c->function_count)
		qsort(c->functions, c->function_count, sizeof *c->functions, by_function);
	for (size_t i = 0; i < c->function_count; i++) {
		struct code_function f = c->functions[i];
		if (kept && f.start == c->functions[kept - 1].start)
			continue;
		if (kept && f.start < c->functions[kept - 1].end) {
			if (f.end <= c->functions[kept - 1].end)
				continue; /* a label inside */
			f.start = c->functions[kept - 1].end;
		}
		if (f.end == f.start) {
			size_t n, k = i + 1;
			code_at(c, f.start, &n);
			f.end = f.start + n;
			while (k < c->function_count && c->functions[k].start == f.start)
				k++;
			if (k < c->function_count && c->functions[k].start < f.end)
				f.end = c->functions[k].start;
		}
		c->functions[kept++] = f;
	}
	c->function_count = kept;
}

bool code_open(struct code *c, const struct debug_image *image)
{
	struct opening o = {.code = c};
	GElf_Ehdr ehdr;
	GElf_Shdr header;
	o.elf = dwfl_module_getelf(image->module, &o.bias);
	if (!o.elf || !gelf_getehdr(o.elf, &ehdr) || ehdr.e_machine != EM_X86_64 || gelf_getclass(o.elf) != ELFCLASS64)
		return false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o.elf, scn));) {
		if (!gelf_getshdr(scn, &header))
			continue;
		if (header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_EXECINSTR)
			add_section(&o, scn, &header);
		else if (header.sh_type == SHT_RELA)
			add_slots(&o, scn, &header);
	}
	add_symbols(&o, image->module);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o.elf, scn));) {
		const char *name =
		    gelf_getshdr(scn, &header) ? elf_strptr(o.elf, ehdr.e_shstrndx, header.sh_name) : NULL;
		if (name)
			add_variables(&o, &header, name);
		if (name && !strcmp(name, ".eh_frame"))
			add_frames(&o, scn, &header);
		Elf_Data *data = name && !strcmp(name, ".gcc_except_table") ? elf_rawdata(scn, NULL) : NULL;
		if (data && data->d_buf)
			c->tables = (struct code_section){header.sh_addr + o.bias, data->d_size, data->d_buf};
	}
	if (c->slot_count)
		qsort(c->slots, c->slot_count, sizeof *c->slots, by_slot);
	if (c->handler_count)
		qsort(c->handlers, c->handler_count, sizeof *c->handlers, by_handler);
	if (c->counter_count)
		qsort(c->counters, c->counter_count, sizeof *c->counters, by_section);
	tidy_functions(c);
	return !o.failed;
}

void code_release(struct code *c)
{
	free(c->sections);
	free(c->variables);
	free(c->counters);
	free(c->functions);
	free(c->slots);
	free(c->handlers);
	*c = (struct code){0};
}

bool code_is_variable(const struct code *c, uint64_t address)
{
	for (size_t i = 0; i < c->variable_count; i++)
		if (address - c->variables[i].start < c->variables[i].size)
			return true;
	return false;
}

const uint8_t *code_at(const struct code *c, uint64_t address, size_t *n)
{
	for (size_t i = 0; i < c->section_count; i++) {
		const struct code_section *s = &c->sections[i];
		if (address >= s->start && address - s->start < s->size) {
			*n = s->size - (address - s->start);
			return s->bytes + (address - s->start);
		}
	}
	*n = 0;
	return NULL;
}

size_t code_function_at(const struct code *c, uint64_t address)
{
	size_t low = lower_bound(middle, 0, c->function_count, c->functions[middle].start <= address);
	return low && address < c->functions[low - 1].end ? low - 1 : SIZE_MAX;
}

/* ---- Calls and jumps ---- */

static const char *slot_name(const struct code *c, uint64_t address)
{
	size_t low = lower_bound(middle, 0, c->slot_count, c->slots[middle].address < address);
	return low < c->slot_count && c->slots[low].address == address ? c->slots[low].name : NULL;
}

/* A 4-byte distance at p; the instruction ends at `end`. */
static uint64_t relative(const uint8_t *p, uint64_t end)
{
	int32_t distance;
	memcpy(&distance, p, 4);
	return end + (uint64_t)(int64_t)distance;
}

/* The function that the PLT entry at the address jumps to; NULL: there is no such entry. */
static const char *stub_name(const struct code *c, uint64_t address)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t n, i = 0;
	const uint8_t *p = code_at(c, address, &n);
	if (!p)
		return NULL;
	if (n >= sizeof endbr && !memcmp(p, endbr, sizeof endbr))
		i = sizeof endbr;
	if (n > i && p[i] == 0xf2)
		i++;
	if (n < i + 6 || p[i] != 0xff || p[i + 1] != 0x25)
		return NULL;
	return slot_name(c, relative(p + i + 2, address + i + 6));
}

/* The distance is at the end of the instruction, or before a number of one byte. */
const char *code_slot_read(const struct code *c, uint64_t address, const uint8_t *bytes, size_t n)
{
	const char *name = NULL;
	for (size_t behind = 4; behind < 6 && behind < n && !name; behind++)
		name = slot_name(c, relative(bytes + n - behind, address + n));
	return name;
}

static bool is_counter(const struct code *c, uint64_t address)
{
	size_t low = lower_bound(middle, 0, c->counter_count, c->counters[middle].start <= address);
	return low && address - c->counters[low - 1].start < c->counters[low - 1].size;
}

/* The byte before the distance says that it counts from the instruction's end; behind it is a number of 0, 1 or 4
 * bytes. */
bool code_counts(const struct code *c, uint64_t address, const uint8_t *bytes, size_t n)
{
	static const size_t behind[] = {4, 5, 8};
	for (size_t i = 0; i < sizeof behind / sizeof *behind && behind[i] < n; i++)
		if ((bytes[n - behind[i] - 1] & 0xc7) == 0x05 &&
		    is_counter(c, relative(bytes + n - behind[i], address + n)))
			return true;
	return false;
}

bool code_target(const struct code *c, uint64_t address, const uint8_t *bytes, size_t n, struct code_target *target)
{
	const uint8_t *p = bytes, *end = bytes + n;
	uint64_t after = address + n;
	*target = (struct code_target){0};
	while (p < end && (*p == 0xf2 || *p == 0xf3 || *p == 0x2e || *p == 0x3e || *p == 0x66 || (*p & 0xf0) == 0x40))
		p++;
	size_t left = (size_t)(end - p);
	if (left >= 5 && (*p == 0xe8 || *p == 0xe9)) {
		target->jump = *p == 0xe9;
		target->address = relative(p + 1, after);
		target->name = stub_name(c, target->address);
	} else if (left >= 6 && *p == 0x0f && (p[1] & 0xf0) == 0x80) {
		target->jump = target->branches = true;
		target->address = relative(p + 2, after);
	} else if (left >= 2 && ((*p & 0xf0) == 0x70 || *p == 0xeb || (*p & 0xfc) == 0xe0)) {
		target->jump = true;
		target->branches = *p != 0xeb;
		target->address = after + (uint64_t)(int64_t)(int8_t)p[1];
	} else if (left >= 2 && *p == 0xff && ((p[1] >> 3 & 7) == 2 || (p[1] >> 3 & 7) == 4)) {
		target->jump = (p[1] >> 3 & 7) == 4;
		if (left >= 6 && (p[1] & 0xc7) == 0x05)
			target->name = slot_name(c, relative(p + 2, after));
		target->branches = target->jump && !target->name;
	} else {
		return false;
	}
	return true;
}
