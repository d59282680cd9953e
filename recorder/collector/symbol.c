/*
 * The symbols of a module by address. libdwfl walks all of them for each address: the positions of a program with a
 * hundred thousand symbols would take ten minutes. It is asked only about symbols without a size, which depend on
 * sections, and once for each of them and section: libLLVM's functions that were merged are such symbols.
 */
#include "recorder/collector/symbol.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct symbol_place *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->number - y->number;
}

static int rank_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

/* Without memory for all there are none. */
static void gather(struct symbol_places *p, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);
	p->gathered = true;
	for (int i = 1; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
		int type = GELF_ST_TYPE(symbol.st_info);
		if (!name || !*name || symbol.st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_TLS ||
		    type == STT_FILE)
			continue;
		if (!vec_reserve(&p->items, &p->size, p->count + 1, sizeof *p->items)) {
			p->count = 0;
			return;
		}
		p->items[p->count++] = (struct symbol_place){.start = address,
		                                             .end = address + symbol.st_size,
		                                             .name = name,
		                                             .number = i,
		                                             .rank = rank_of(&symbol)};
	}
	if (p->count)
		qsort(p->items, p->count, sizeof *p->items, by_start);
	for (size_t i = 0; i < p->count; i++) {
		Dwarf_Addr before = i ? p->items[i - 1].reach : 0;
		p->items[i].reach = p->items[i].end > before ? p->items[i].end : before;
	}
}

/* True if symbol y is the better name for an address that both cover; x begins no earlier. */
static bool is_better(const struct symbol_place *x, const struct symbol_place *y)
{
	return !x || (y->rank && !x->rank) || (y->start == x->start && by_start(y, x) < 0);
}

/* The section that has the address; 0: none. */
static size_t section_at(Dwfl_Module *module, Dwarf_Addr address)
{
	Dwarf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	for (Elf_Scn *s = NULL; elf && (s = elf_nextscn(elf, s));) {
		GElf_Shdr header;
		if (gelf_getshdr(s, &header) && header.sh_flags & SHF_ALLOC &&
		    address - bias - header.sh_addr < header.sh_size)
			return elf_ndxscn(s);
	}
	return 0;
}

/* Behind symbol `last`, which is the last one that begins there, no symbol with a size reaches the address. */
static const char *label_at(struct symbol_places *p, struct symbol_place *last, Dwfl_Module *module, Dwarf_Addr address)
{
	GElf_Off offset;
	GElf_Sym symbol;
	size_t section = section_at(module, address);
	if (section && section == last->section)
		return last->label;
	const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	p->walks++;
	last->section = section;
	last->label = name && (!symbol.st_size || offset < symbol.st_size) ? name : NULL;
	return last->label;
}

const char *symbol_places_name(struct symbol_places *p, Dwfl_Module *module, Dwarf_Addr address)
{
	if (!p->gathered)
		gather(p, module);
	const struct symbol_place *best = NULL;
	bool has_label = false; /* one without a size, which no other reaches */
	size_t begun = lower_bound(i, (size_t)0, p->count, p->items[i].start <= address);
	for (size_t i = begun; i > 0; i--) {
		const struct symbol_place *s = &p->items[i - 1];
		has_label |= s->start == s->end && s->reach <= s->start;
		if (s->reach <= address)
			break;
		if (s->end > address && is_better(best, s))
			best = s;
	}
	if (best || !has_label)
		return best ? best->name : NULL;
	return label_at(p, &p->items[begun - 1], module, address);
}

void symbol_places_release(struct symbol_places *p)
{
	free(p->items);
	*p = (struct symbol_places){0};
}
