/* The loader's shadow memory; see shadow.h. */
#include "lib/trace/shadow.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define ONES2(n) n, n + 1, n + 1, n + 2
#define ONES4(n) ONES2(n), ONES2(n + 1), ONES2(n + 1), ONES2(n + 2)
#define ONES6(n) ONES4(n), ONES4(n + 1), ONES4(n + 1), ONES4(n + 2)
const uint8_t shadow_ones[256] = {ONES6(0), ONES6(1), ONES6(1), ONES6(2)};

static uint32_t slot_of(const struct shadow *s, uint64_t key)
{
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & s->slot_mask;
}

bool shadow_init(struct shadow *s)
{
	memset(s, 0, sizeof *s);
	s->slot_mask = 1023;
	s->slots = calloc(s->slot_mask + 1, sizeof *s->slots);
	s->page_capacity = 256;
	s->pages = malloc(s->page_capacity * sizeof *s->pages);
	return s->slots && s->pages;
}

void shadow_release(struct shadow *s)
{
	for (uint32_t i = 0; i < s->page_count; i++) {
		free(s->pages[i].words);
		free(s->pages[i].base);
		free(s->pages[i].blocks);
	}
	free(s->pages);
	free(s->slots);
}

/* A page that exists, or NULL. */
static struct shadow_page *page_find(const struct shadow *s, uint64_t key)
{
	for (uint32_t i = slot_of(s, key); s->slots[i]; i = (i + 1) & s->slot_mask)
		if (s->pages[s->slots[i] - 1].key == key)
			return &s->pages[s->slots[i] - 1];
	return NULL;
}

static void slot_put(struct shadow *s, uint32_t page)
{
	uint32_t i = slot_of(s, s->pages[page].key);
	while (s->slots[i])
		i = (i + 1) & s->slot_mask;
	s->slots[i] = page + 1;
}

static bool grow_slots(struct shadow *s)
{
	uint32_t mask = s->slot_mask * 2 + 1;
	uint32_t *slots = calloc((size_t)mask + 1, sizeof *slots);
	if (!slots)
		return false;
	free(s->slots);
	s->slots = slots;
	s->slot_mask = mask;
	for (uint32_t p = 0; p < s->page_count; p++)
		slot_put(s, p);
	return true;
}

/* The page with this key, created (all granules untouched) if absent; NULL without memory. */
static struct shadow_page *page_get(struct shadow *s, uint64_t key)
{
	struct shadow_page *page = page_find(s, key);
	if (page)
		return page;
	if (s->page_count == SHADOW_PAGES_MAX || (s->page_count * 2 >= s->slot_mask && !grow_slots(s)))
		goto fail;
	if (!vec_reserve(&s->pages, &s->page_capacity, (uint64_t)s->page_count + 1, sizeof *s->pages))
		goto fail;
	s->pages[s->page_count] = (struct shadow_page){.key = key}; /* NOLINT: room was made above */
	slot_put(s, s->page_count);
	return &s->pages[s->page_count++];
fail:
	s->failed = true;
	return NULL;
}

static uint32_t *page_words(struct shadow *s, struct shadow_page *page)
{
	if (!page->words) {
		page->words = malloc((SHADOW_GRANULES + SHADOW_COUNTS) * sizeof *page->words);
		if (!page->words) {
			s->failed = true;
			return NULL;
		}
		for (int i = 0; i < SHADOW_GRANULES; i++)
			page->words[i] = page->uniform;
		memset(page->words + SHADOW_GRANULES, 0, SHADOW_COUNTS * sizeof *page->words);
	}
	return page->words;
}

/* The words of a page, created if absent; NULL without memory. */
static uint32_t *words_of(struct shadow *s, uint64_t key)
{
	struct shadow_page *page = page_get(s, key);
	uint32_t *words = page ? page_words(s, page) : NULL;
	if (words) {
		s->cache[key % SHADOW_CACHE].key = key;
		s->cache[key % SHADOW_CACHE].words = words;
	}
	return words;
}

static uint32_t block_of(const struct shadow_page *page, uint64_t granule)
{
	return page->blocks ? page->blocks[granule % SHADOW_GRANULES] : page->block;
}

uint64_t shadow_bytes(const struct shadow *s)
{
	uint64_t bytes =
	    (uint64_t)s->page_capacity * sizeof *s->pages + ((uint64_t)s->slot_mask + 1) * sizeof *s->slots;
	for (uint32_t i = 0; i < s->page_count; i++)
		bytes += (uint64_t)(s->pages[i].words ? 2 * SHADOW_GRANULES + SHADOW_COUNTS : 0) * 4 +
		         (uint64_t)(s->pages[i].blocks ? SHADOW_GRANULES : 0) * 4;
	return bytes;
}

uint32_t shadow_block(const struct shadow *s, uint64_t addr)
{
	const struct shadow_page *page = page_find(s, addr >> SHADOW_PAGE_SHIFT);
	return page ? block_of(page, addr >> 3) : 0;
}

uint32_t shadow_meet(struct shadow *s, uint64_t granule, uint32_t was, uint32_t now, uint32_t thread)
{
	uint32_t block = s->met ? shadow_block(s, granule << 3) : 0, owner = was >> SHADOW_OWNER_SHIFT;
	bool untouched = shadow_is_untouched(was), written = now & SHADOW_WRITTEN;
	bool keep = block && s->met(s->met_arg, block, granule << 3, owner - 1, thread, untouched, written);
	if (!untouched)
		return now;
	/* The first access makes the granule the thread's own, as new memory is. */
	now &= ~((uint32_t)SHADOW_SHARED | UINT32_MAX << SHADOW_OWNER_SHIFT | (written ? 0 : (uint32_t)SHADOW_LATE));
	return now | (thread + 1) << SHADOW_OWNER_SHIFT | (keep ? (uint32_t)SHADOW_KEEP : 0);
}

static void mark_word(struct shadow *s, uint32_t *word, uint64_t granule, uint32_t bits, uint32_t thread)
{
	uint32_t now = shadow_mark(*word, bits, thread);
	*word = now & ~*word & SHADOW_SHARED ? shadow_meet(s, granule, *word, now, thread) : now;
}

/* accesses: number of them that are counted here. */
static void mark_granule(struct shadow *s, uint64_t granule, uint32_t bits, uint32_t thread, uint32_t accesses)
{
	uint32_t *words = words_of(s, granule / SHADOW_GRANULES);
	if (!words)
		return;
	words[SHADOW_GRANULES + (granule % SHADOW_GRANULES >> SHADOW_COUNT_SHIFT)] += accesses;
	mark_word(s, &words[granule % SHADOW_GRANULES], granule, bits, thread);
}

/* Granules [from, to) of one page, all touched in full. Where all are shared, most accesses change none. */
static void mark_inner(struct shadow *s, uint64_t from, uint64_t to, uint32_t bits, uint32_t thread)
{
	struct shadow_page *page = page_get(s, from / SHADOW_GRANULES);
	if (!page || (page->common && !(bits & ~page->common)))
		return;
	if (!page->words && to - from == SHADOW_GRANULES) {
		mark_word(s, &page->uniform, from, bits, thread);
		return;
	}
	uint32_t *words = page_words(s, page), common = UINT32_MAX;
	for (uint64_t g = from; words && g < to; g++) {
		mark_word(s, &words[g % SHADOW_GRANULES], g, bits, thread);
		common &= words[g % SHADOW_GRANULES];
	}
	if (words && to - from == SHADOW_GRANULES && common & SHADOW_SHARED)
		page->common = common;
}

void shadow_touch_range(struct shadow *s, uint64_t addr, uint64_t size, uint32_t thread, bool write)
{
	if (size > SHADOW_RANGE_MAX)
		size = SHADOW_RANGE_MAX;
	if (!size || addr > UINT64_MAX - size)
		return;
	uint32_t bits = write ? (uint32_t)SHADOW_WRITTEN | (s->forked ? (uint32_t)SHADOW_LATE : 0) : 0;
	uint64_t end = addr + size, first = addr >> 3, last = (end - 1) >> 3;
	uint32_t begin_cut = 1u << (addr & 7), end_cut = 1u << (((end - 1) & 7) + 1);
	if (first == last) {
		mark_granule(s, first, bits | begin_cut | end_cut, thread, 1);
		return;
	}
	mark_granule(s, first, bits | begin_cut, thread, 1);
	for (uint64_t g = first + 1; g < last && !s->failed;) {
		uint64_t to = (g / SHADOW_GRANULES + 1) * SHADOW_GRANULES;
		if (to > last)
			to = last;
		mark_inner(s, g, to, bits, thread);
		g = to;
	}
	mark_granule(s, last, bits | end_cut, thread, 0);
}

static uint32_t renewed(uint32_t word)
{
	uint32_t now = word & (SHADOW_CUTS | SHADOW_KEEP | SHADOW_KEEP_EARLY);
	if ((word & SHADOW_SHARED) && (word & SHADOW_LATE))
		now |= SHADOW_KEEP;
	if ((word & SHADOW_SHARED) && (word & SHADOW_WRITTEN))
		now |= SHADOW_KEEP_EARLY;
	return now;
}

/* Only the granules from first to last of one page. */
static void renew_page(struct shadow *s, struct shadow_page *page, uint64_t first, uint64_t last)
{
	uint64_t start = page->key * SHADOW_GRANULES;
	uint64_t from = first > start ? first - start : 0;
	uint64_t to = last < start + SHADOW_GRANULES - 1 ? last - start : SHADOW_GRANULES - 1;
	bool whole = from == 0 && to == SHADOW_GRANULES - 1;
	page->common = 0;
	if (!page->words && (whole || !shadow_is_untouched(page->uniform))) {
		/* Part of a uniform page is renewed: the page stays as it is, which keeps too much for this part. */
		if (whole)
			page->uniform = renewed(page->uniform);
		return;
	}
	uint32_t *words = page_words(s, page);
	for (uint64_t i = from; words && i <= to; i++)
		words[i] = renewed(words[i]);
}

/* Whole granules only: a shared granule keeps its neighbours' state. False if there are none. */
static bool whole_granules(uint64_t addr, uint64_t size, uint64_t *first, uint64_t *last)
{
	if (!size || addr > UINT64_MAX - size - 7)
		return false;
	uint64_t end = (addr + size) >> 3;
	*first = (addr + 7) >> 3;
	*last = end - 1;
	return *first < end;
}

void shadow_renew(struct shadow *s, uint64_t addr, uint64_t size)
{
	uint64_t first, last;
	if (!whole_granules(addr, size, &first, &last))
		return;
	uint64_t key = first / SHADOW_GRANULES, last_key = last / SHADOW_GRANULES;
	if (last_key - key < s->page_count) {
		for (; key <= last_key; key++) {
			struct shadow_page *page = page_find(s, key);
			if (page)
				renew_page(s, page, first, last);
		}
		return;
	}
	for (uint32_t i = 0; i < s->page_count; i++)
		if (s->pages[i].key >= key && s->pages[i].key <= last_key)
			renew_page(s, &s->pages[i], first, last);
}

/* This part of the page belongs to another block than the rest. */
static uint32_t *page_blocks(struct shadow *s, struct shadow_page *page)
{
	if (!page->blocks) {
		page->blocks = malloc(SHADOW_GRANULES * sizeof *page->blocks);
		s->failed |= !page->blocks;
		for (int i = 0; page->blocks && i < SHADOW_GRANULES; i++)
			page->blocks[i] = page->block;
	}
	return page->blocks;
}

/* Granules [from, to) of one page. */
static void allocate_page(struct shadow *s, struct shadow_page *page, uint64_t from, uint64_t to, uint32_t untouched,
                          uint32_t block)
{
	bool whole = to - from == SHADOW_GRANULES;
	page->common = 0;
	if (whole) {
		free(page->blocks);
		page->blocks = NULL;
		page->block = block;
	}
	if (whole && !page->words) {
		page->uniform = renewed(page->uniform) | untouched;
		return;
	}
	uint32_t *words = page_words(s, page), *blocks = whole ? NULL : page_blocks(s, page);
	for (uint64_t g = from; words && !s->failed && g < to; g++) {
		uint32_t *word = &words[g % SHADOW_GRANULES];
		*word = renewed(*word) | untouched;
		if (blocks)
			blocks[g % SHADOW_GRANULES] = block;
	}
}

void shadow_allocate(struct shadow *s, uint64_t addr, uint64_t size, uint32_t thread, uint32_t block)
{
	enum { PAGES = 1 << 22 }; /* memory that is never touched must not use up all pages */
	uint64_t first, last;
	if (!whole_granules(addr, size, &first, &last))
		return;
	uint32_t untouched = (uint32_t)SHADOW_LATE | (thread + 1) << SHADOW_OWNER_SHIFT;
	for (uint64_t g = first; g <= last && !s->failed;) {
		uint64_t end = (g / SHADOW_GRANULES + 1) * SHADOW_GRANULES, to = end <= last ? end : last + 1;
		uint64_t key = g / SHADOW_GRANULES;
		struct shadow_page *page = s->page_count < PAGES ? page_get(s, key) : page_find(s, key);
		if (page)
			allocate_page(s, page, g, to, untouched, block);
		g = to;
	}
}

static bool survives(uint32_t word, enum shadow_which which)
{
	if (which == SHADOW_ALL)
		return word & SHADOW_CUTS;
	if (word & SHADOW_KEEP || (word & SHADOW_SHARED && word & SHADOW_LATE))
		return true;
	return which == SHADOW_EARLY && (word & SHADOW_KEEP_EARLY || (word & SHADOW_SHARED && word & SHADOW_WRITTEN));
}

static int by_key(const void *a, const void *b)
{
	const struct shadow_page *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* Cell numbering over the granules, by rising address. */
struct cutter {
	enum shadow_which which;
	void (*each)(void *arg, uint64_t addr, uint32_t size);
	void *arg;
	uint64_t cells;
	uint64_t open;  /* where the open cell begins */
	uint64_t reach; /* end of the survivors seen last; the open cell ends there at the latest */
	bool is_open;
};

static void close_cell(struct cutter *c, uint64_t end)
{
	/* A cell's size has 32 bits; longer ones get the largest. */
	uint64_t size = end - c->open;
	c->each(c->arg, c->open, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size);
	c->is_open = false;
}

static void open_cell(struct cutter *c, uint64_t addr)
{
	if (c->is_open)
		close_cell(c, addr);
	c->open = addr;
	c->is_open = true;
	c->cells++;
}

/* Numbers one granule; returns its word for pass two: cuts are the beginnings of cells, bit 8 is unused. */
static uint32_t cut_granule(struct cutter *c, uint64_t addr, uint32_t word, bool *end_cut)
{
	if (!survives(word, c->which)) {
		*end_cut = false;
		return 0;
	}
	if (c->is_open && c->reach != addr)
		close_cell(c, c->reach);
	uint32_t begins = word & 0xff;
	if (!c->is_open || *end_cut)
		begins |= 1;
	for (unsigned i = 0; i < 8; i++)
		if (begins & 1u << i)
			open_cell(c, addr + i);
	c->reach = addr + 8;
	*end_cut = word & 0x100;
	return begins | SHADOW_KEEP;
}

/* True if any granule of the page survives. */
static bool page_survives(const struct shadow_page *page, enum shadow_which which)
{
	if (!page->words)
		return survives(page->uniform, which);
	for (int i = 0; i < SHADOW_GRANULES; i++)
		if (survives(page->words[i], which))
			return true;
	return false;
}

/* Number of accesses of the page that may be to survivors. */
static uint64_t accesses_near(const struct shadow_page *page, enum shadow_which which)
{
	uint64_t sum = 0;
	for (unsigned k = 0; page->words && k < SHADOW_COUNTS; k++) {
		const uint32_t *word = page->words + (k << SHADOW_COUNT_SHIFT), *end = word + (1 << SHADOW_COUNT_SHIFT);
		while (word < end && !survives(*word, which))
			word++;
		sum += word < end ? page->words[SHADOW_GRANULES + k] : 0;
	}
	return sum;
}

/* A page with survivors. */
static bool cut_page(struct cutter *c, struct shadow_page *page, bool *end_cut)
{
	uint64_t addr = page->key << SHADOW_PAGE_SHIFT;
	if (!page->words) {
		/* No access cuts it. */
		cut_granule(c, addr, page->uniform, end_cut);
		c->reach = addr + (1 << SHADOW_PAGE_SHIFT);
		page->begun = (uint32_t)c->cells;
		return c->cells < UINT32_MAX - SHADOW_GRANULES * 8;
	}
	page->base = malloc(SHADOW_GRANULES * sizeof *page->base);
	if (!page->base)
		return false;
	for (unsigned i = 0; i < SHADOW_GRANULES; i++) {
		page->base[i] = (uint32_t)c->cells;
		page->words[i] = cut_granule(c, addr + i * 8, page->words[i], end_cut);
	}
	return c->cells < UINT32_MAX - SHADOW_GRANULES * 8;
}

uint32_t shadow_cut(struct shadow *s, enum shadow_which which, void (*each)(void *arg, uint64_t addr, uint32_t size),
                    void *arg)
{
	struct cutter c = {.which = which, .each = each, .arg = arg};
	qsort(s->pages, s->page_count, sizeof *s->pages, by_key);
	memset(s->slots, 0, ((size_t)s->slot_mask + 1) * sizeof *s->slots);
	for (int i = 0; i < SHADOW_CACHE; i++) {
		s->cache[i].key = UINT64_MAX;
		s->cache[i].words = NULL;
	}
	/* Removes pages without survivors: in pass two most accesses then fail at the lookup. */
	bool end_cut = false, ok = true;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->page_count; i++) {
		struct shadow_page *page = &s->pages[i];
		free(page->blocks);
		page->blocks = NULL;
		if (ok && page_survives(page, which)) {
			s->accesses += accesses_near(page, which);
			ok = cut_page(&c, page, &end_cut);
			s->pages[kept++] = *page;
		} else {
			free(page->words);
			free(page->base);
		}
	}
	s->page_count = kept;
	if (!ok)
		return UINT32_MAX;
	if (c.is_open)
		close_cell(&c, c.reach);
	for (uint32_t i = 0; i < kept; i++)
		slot_put(s, i);
	return (uint32_t)c.cells;
}

void shadow_cache_fill(struct shadow *s, uint64_t key)
{
	const struct shadow_page *page = page_find(s, key);
	s->cache[key % SHADOW_CACHE].key = key;
	s->cache[key % SHADOW_CACHE].words = page ? page->words : NULL;
	s->cache[key % SHADOW_CACHE].base = page ? page->base : NULL;
	s->cache[key % SHADOW_CACHE].uniform = page && !page->words;
}

/* Number of cells that begin at or before a byte of the page. *kept: its granule survives, so the last one covers
 * it. */
static uint32_t begun_at(const struct shadow_page *page, uint64_t addr, bool *kept)
{
	*kept = true;
	if (!page->words)
		return page->begun;
	uint32_t granule = addr >> 3 & (SHADOW_GRANULES - 1), word = page->words[granule];
	*kept = word & SHADOW_KEEP;
	return page->base[granule] + shadow_ones[word & ((2u << (addr & 7)) - 1) & 0xff];
}

bool shadow_cells_range(const struct shadow *s, uint64_t addr, uint64_t size, uint32_t *first, uint32_t *last)
{
	if (size > SHADOW_RANGE_MAX)
		size = SHADOW_RANGE_MAX;
	if (!size || addr > UINT64_MAX - size)
		return false;
	uint64_t end = addr + size - 1, key = addr >> SHADOW_PAGE_SHIFT, end_key = end >> SHADOW_PAGE_SHIFT;
	const struct shadow_page *page = page_find(s, key);
	bool kept;
	while (!page && key < end_key) {
		page = page_find(s, ++key);
		addr = key << SHADOW_PAGE_SHIFT;
	}
	if (!page)
		return false;
	uint32_t begun = begun_at(page, addr, &kept);
	*first = kept ? begun - 1 : begun;
	for (page = page_find(s, end_key); !page; page = page_find(s, end_key)) {
		end_key--;
		end = end_key << SHADOW_PAGE_SHIFT | ((1 << SHADOW_PAGE_SHIFT) - 1);
	}
	begun = begun_at(page, end, &kept);
	if (begun <= *first)
		return false;
	*last = begun - 1;
	return true;
}
