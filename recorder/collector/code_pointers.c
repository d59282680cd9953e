/*
 * The linker writes the address of a function into data by a relocation, and in a program at a fixed address it is
 * simply there. Code computes it from its own place, or loads it from a slot.
 */
#include "recorder/collector/code_pointers.h"

#include <gelf.h>
#include <string.h>

struct visiting {
	const struct code *code;
	Elf *elf;
	GElf_Addr bias;
	code_pointer_visit *visit;
	void *of;
	bool fixed; /* the module is at a fixed address */
};

/* True of the words by which the linker has functions run at the beginning and the end: nothing else calls those. */
static bool is_for_linker(Elf *elf, uint64_t address)
{
	GElf_Shdr header;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
		if (gelf_getshdr(scn, &header) &&
		    (header.sh_type == SHT_INIT_ARRAY || header.sh_type == SHT_FINI_ARRAY) &&
		    address - header.sh_addr < header.sh_size)
			return true;
	return false;
}

static void visit_relocation(const struct visiting *v, const GElf_Rela *rela, const GElf_Sym *symbol, const char *name)
{
	unsigned type = (unsigned)GELF_R_TYPE(rela->r_info);
	size_t n;
	if (type == R_X86_64_RELATIVE) {
		uint64_t address = (uint64_t)rela->r_addend + v->bias;
		if (code_at(v->code, address, &n) && !is_for_linker(v->elf, rela->r_offset))
			v->visit(v->of, NULL, address);
	} else if (symbol && symbol->st_shndx != SHN_UNDEF && type == R_X86_64_64) {
		v->visit(v->of, NULL, symbol->st_value + (uint64_t)rela->r_addend + v->bias);
	} else if (symbol && symbol->st_shndx == SHN_UNDEF && name &&
	           (type == R_X86_64_64 || (type == R_X86_64_JUMP_SLOT && symbol->st_value))) {
		/* A stub with a value stands for the function wherever its address is used. */
		v->visit(v->of, name, 0);
	}
}

static void visit_relocations(const struct visiting *v, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbols = elf_getscn(v->elf, header->sh_link);
	Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Shdr symbol_header;
	GElf_Rela rela;
	bool named = symbol_data && gelf_getshdr(symbols, &symbol_header);
	for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
		GElf_Sym symbol;
		bool known =
		    named && GELF_R_SYM(rela.r_info) && gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol);
		visit_relocation(v, &rela, known ? &symbol : NULL,
		                 known ? elf_strptr(v->elf, symbol_header.sh_link, symbol.st_name) : NULL);
	}
}

/* The words of data at a fixed address. */
static void visit_words(const struct visiting *v, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	uint64_t word;
	size_t n;
	for (size_t i = 0; data && data->d_buf && i + sizeof word <= data->d_size; i += sizeof word) {
		memcpy(&word, (const char *)data->d_buf + i, sizeof word);
		if (code_at(v->code, word + v->bias, &n) && !is_for_linker(v->elf, header->sh_addr + i))
			v->visit(v->of, NULL, word + v->bias);
	}
}

/* An address is computed by `lea`, or loaded by `mov` from a slot; at a fixed address it is a number of 4 bytes. */
static void visit_code(const struct visiting *v, const struct code_section *s)
{
	enum { LENGTH = 7, LEA = 0x8d, MOV = 0x8b };
	uint32_t number;
	size_t n;
	for (size_t k = 0; k + LENGTH <= s->size; k++) {
		const uint8_t *p = s->bytes + k;
		uint64_t at = s->start + k;
		memcpy(&number, p, sizeof number);
		if (v->fixed && code_at(v->code, number + v->bias, &n))
			v->visit(v->of, NULL, number + v->bias);
		if ((*p & 0xfb) != 0x48 || (p[2] & 0xc7) != 0x05)
			continue;
		const char *name = p[1] == MOV ? code_slot_read(v->code, at, p, LENGTH) : NULL;
		memcpy(&number, p + LENGTH - sizeof number, sizeof number);
		if (p[1] == LEA)
			v->visit(v->of, NULL, at + LENGTH + (uint64_t)(int64_t)(int32_t)number);
		else if (name)
			v->visit(v->of, name, 0);
	}
}

void code_pointers(const struct code *c, const struct debug_image *image, code_pointer_visit *visit, void *of)
{
	struct visiting v = {.code = c, .visit = visit, .of = of};
	GElf_Ehdr ehdr;
	GElf_Shdr header;
	v.elf = dwfl_module_getelf(image->module, &v.bias);
	if (!v.elf || !gelf_getehdr(v.elf, &ehdr))
		return;
	v.fixed = ehdr.e_type == ET_EXEC;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(v.elf, scn));) {
		if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		if (header.sh_type == SHT_RELA)
			visit_relocations(&v, scn, &header);
		else if (v.fixed && header.sh_type == SHT_PROGBITS && !(header.sh_flags & SHF_EXECINSTR))
			visit_words(&v, scn, &header);
	}
	for (size_t i = 0; i < c->section_count; i++)
		visit_code(&v, &c->sections[i]);
}

bool code_has_vtables(const struct debug_image *image)
{
	int n = dwfl_module_getsymtab(image->module);
	for (int i = 1; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(image->module, i, &symbol, &address, NULL, NULL, NULL);
		if (name && symbol.st_shndx != SHN_UNDEF && !strncmp(name, "_ZTV", 4))
			return true;
	}
	return false;
}

bool code_may_call_pointer(const uint8_t *p, size_t n)
{
	return n >= 2 && *p == 0xff && ((p[1] & 0x38) == 0x10 || (p[1] & 0x38) == 0x20);
}
