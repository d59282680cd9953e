/*
 * The loader's shadow memory: one word for each granule (8 bytes) of the program's memory holds what pass one learns of
 * it, and where pass two finds its cells.
 *
 * Hand-written because every access of a trace looks it up twice. Nearly every lookup is one compare with a small cache
 * of pages.
 */
#ifndef LIB_TRACE_SHADOW_H
#define LIB_TRACE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHADOW_GRANULES 512 /* a page: 4 KiB of the program's memory */
#define SHADOW_PAGE_SHIFT 12
#define SHADOW_COUNT_SHIFT 6 /* accesses are counted for 64 granules together */
#define SHADOW_COUNTS (SHADOW_GRANULES >> SHADOW_COUNT_SHIFT)
#define SHADOW_THREADS_MAX 262142            /* values that the owner's 18 bits can hold */
#define SHADOW_RANGE_MAX (UINT64_C(1) << 28) /* longer accesses are truncated */
#define SHADOW_PAGES_MAX (1u << 24)

/* A granule's word. Bits 0 to 8: an access begins or ends before this byte (8: at the granule's end). */
enum {
	SHADOW_CUTS = 0x1ff,
	SHADOW_SHARED = 1 << 9,      /* by two threads or more, since it was last new */
	SHADOW_WRITTEN = 1 << 10,    /* since it was last new */
	SHADOW_LATE = 1 << 11,       /* written after the first fork */
	SHADOW_KEEP_EARLY = 1 << 12, /* was shared and written before it became new */
	SHADOW_KEEP = 1 << 13,       /* was shared and written late before it became new; after pass one: survives */
	SHADOW_OWNER_SHIFT = 14      /* first thread + 1; 0: none yet */
};

/* Allocated by its owner after the first fork, and untouched since: LATE alone means this. */
static inline bool shadow_is_untouched(uint32_t word)
{
	return (word & (SHADOW_LATE | SHADOW_WRITTEN)) == SHADOW_LATE;
}

struct shadow_page {
	uint64_t key;    /* address >> SHADOW_PAGE_SHIFT */
	uint32_t *words; /* NULL: all granules are like `uniform`; behind them SHADOW_COUNTS numbers of accesses */
	uint32_t *base;  /* pass two, if there are words: number of cells that begin before the granule */
	uint32_t begun;  /* pass two, if not: number of cells that begin up to the page's first byte; all survives */
	uint32_t uniform;
	uint32_t common; /* pass one: bits that each word has, if all are SHARED; 0: not known */
	uint32_t
	    *blocks;    /* pass one: by granule, the block that was allocated there last; NULL: all are like `block` */
	uint32_t block; /* as numbered by the caller; 0: none */
};

enum { SHADOW_CACHE = 512 };

struct shadow {
	struct shadow_page *pages;
	uint32_t page_count, page_capacity;
	uint32_t *slots; /* hash table of page index + 1 */
	uint32_t slot_mask;
	uint64_t accesses; /* after shadow_cut: number of accesses near granules that survive */
	bool forked;       /* the first fork has been seen */
	bool failed;       /* no memory, or more pages than SHADOW_PAGES_MAX */
	/*
	 * Pass one: called when a second thread touches a granule of a block for the first time since its allocation.
	 * untouched: no thread had, not even the one that allocated it (owner). Returns true if the granule is to
	 * survive for this.
	 */
	bool (*met)(void *arg, uint32_t block, uint64_t addr, uint32_t owner, uint32_t thread, bool untouched,
	            bool written);
	void *met_arg;
	struct {
		uint64_t key;
		uint32_t *words; /* NULL: not looked up yet; pass two: none */
		const uint32_t *base;
		bool uniform; /* pass two: a page without words */
	} cache[SHADOW_CACHE];
};

/* Which granules survive: shared ones that are written after the first fork; early: before it, too (some thread has no
 * fork that orders it); or all accessed ones. */
enum shadow_which { SHADOW_LATER, SHADOW_EARLY, SHADOW_ALL };

bool shadow_init(struct shadow *s);
void shadow_release(struct shadow *s);

/* Pass one: an access of any size by a thread. */
void shadow_touch_range(struct shadow *s, uint64_t addr, uint64_t size, uint32_t thread, bool write);
/* Pass one: [addr, addr + size) is new memory: what is known of its sharing is dropped. */
void shadow_renew(struct shadow *s, uint64_t addr, uint64_t size);
/* Pass one: the same, and a thread allocated it as this block. */
void shadow_allocate(struct shadow *s, uint64_t addr, uint64_t size, uint32_t thread, uint32_t block);
/* Pass one: the block that was allocated last at the address, 0: none. */
uint32_t shadow_block(const struct shadow *s, uint64_t addr);
/* Pass one: the caller's new word for a shared access that turns the word `was` into `now`. */
uint32_t shadow_meet(struct shadow *s, uint64_t granule, uint32_t was, uint32_t now, uint32_t thread);
/* Bytes that the shadow memory takes. */
uint64_t shadow_bytes(const struct shadow *s);

extern const uint8_t shadow_ones[256]; /* number of ones in a byte */

static inline uint32_t shadow_mark(uint32_t word, uint32_t bits, uint32_t thread)
{
	uint32_t owner = word >> SHADOW_OWNER_SHIFT;
	if (owner == thread + 1) {
		word |= bits;
		return shadow_is_untouched(word) ? word & ~(uint32_t)SHADOW_LATE : word;
	}
	return word | bits | (owner ? (uint32_t)SHADOW_SHARED : (thread + 1) << SHADOW_OWNER_SHIFT);
}

/* Pass one: an access. */
static inline void shadow_touch(struct shadow *s, uint64_t addr, uint64_t size, uint32_t thread, bool write)
{
	unsigned offset = addr & 7;
	uint64_t key = addr >> SHADOW_PAGE_SHIFT;
	uint32_t *words = s->cache[key % SHADOW_CACHE].words;
	if (size - 1 >= 8 - offset || s->cache[key % SHADOW_CACHE].key != key || !words) {
		shadow_touch_range(s, addr, size, thread, write);
		return;
	}
	uint32_t bits = 1u << offset | 1u << (offset + (unsigned)size);
	if (write)
		bits |= (uint32_t)SHADOW_WRITTEN | (s->forked ? (uint32_t)SHADOW_LATE : 0);
	uint32_t *word = &words[addr >> 3 & (SHADOW_GRANULES - 1)];
	words[SHADOW_GRANULES + (addr >> (3 + SHADOW_COUNT_SHIFT) & (SHADOW_COUNTS - 1))]++;
	uint32_t now = shadow_mark(*word, bits, thread);
	if (now == *word)
		return;
	if (now & ~*word & SHADOW_SHARED)
		now = shadow_meet(s, addr >> 3, *word, now, thread);
	*word = now;
}

/*
 * Between the passes: decides which granules survive and numbers their cells by rising address. Returns the number of
 * cells, or UINT32_MAX without memory. Calls each for every cell with its address and size.
 */
uint32_t shadow_cut(struct shadow *s, enum shadow_which which, void (*each)(void *arg, uint64_t addr, uint32_t size),
                    void *arg);

/* Pass two: the cells of an access, [*first, *last]; false if none survives. */
bool shadow_cells_range(const struct shadow *s, uint64_t addr, uint64_t size, uint32_t *first, uint32_t *last);
void shadow_cache_fill(struct shadow *s, uint64_t key);

static inline bool shadow_cells(struct shadow *s, uint64_t addr, uint64_t size, uint32_t *first, uint32_t *last)
{
	unsigned offset = addr & 7;
	uint64_t key = addr >> SHADOW_PAGE_SHIFT;
	if (size - 1 >= 8 - offset)
		return shadow_cells_range(s, addr, size, first, last);
	if (s->cache[key % SHADOW_CACHE].key != key)
		shadow_cache_fill(s, key);
	const uint32_t *words = s->cache[key % SHADOW_CACHE].words;
	if (!words)
		return s->cache[key % SHADOW_CACHE].uniform && shadow_cells_range(s, addr, size, first, last);
	unsigned granule = addr >> 3 & (SHADOW_GRANULES - 1);
	uint32_t word = words[granule];
	if (!(word & SHADOW_KEEP))
		return false;
	/* Cells that begin at or before a byte; the last of them covers it. */
	uint32_t base = s->cache[key % SHADOW_CACHE].base[granule] - 1;
	*first = base + shadow_ones[word & ((2u << offset) - 1) & 0xff];
	*last = base + shadow_ones[word & ((1u << (offset + (unsigned)size)) - 1) & 0xff];
	return true;
}

#endif
