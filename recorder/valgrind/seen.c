/* See seen.h. */
#include "recorder/valgrind/seen.h"

#include "recorder/valgrind/kernel.h"
#include "recorder/valgrind/platform.h"

#include <stddef.h>
#include <valgrind/pub_tool_aspacemgr.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_mallocfree.h>

static const uint8_t size_bits[SEEN_SIZES] = {10, 14, 19};

struct unused {
	struct unused *next;
	uint64_t epoch;
};
static struct unused *unused[SEEN_SIZES];

static uint64_t bytes_of(unsigned size)
{
	return sizeof(struct seen) << size_bits[size];
}

/*
 * Zeroed memory that is never given back, in large pages where the system has them: entries are looked up all over a
 * filter, which in small pages costs as much as the accesses themselves. An entry is within a line of the cache.
 */
static struct seen *make_filter(uint64_t bytes)
{
	enum { PAGE = 2 << 20, CHUNK = 4 * PAGE, ADVICE_HUGE_PAGES = 14 };
	static Addr rest;
	static uint64_t left;
	if (left < bytes) {
		void *chunk = VG_(am_shadow_alloc)(CHUNK + PAGE);
		if (!chunk)
			return VG_(calloc)("racetrace.seen", 1, bytes);
		rest = ((Addr)chunk + PAGE - 1) & ~(Addr)(PAGE - 1);
		left = CHUNK;
		kernel_call(SYS_madvise, (long)rest, CHUNK, ADVICE_HUGE_PAGES, 0);
	}
	left -= bytes;
	rest += bytes;
	return (struct seen *)(rest - bytes);
}

bool seen_take(unsigned size, struct filter *f)
{
	enum { LARGEST_MAX = 16 }; /* of 8 MiB each */
	static unsigned largest;
	struct unused *u = unused[size];
	*f = (struct filter){(struct seen *)u, u ? u->epoch : 0, size, size_bits[size]};
	if (u)
		unused[size] = u->next;
	else if (size < SEEN_SIZES - 1 || largest++ < LARGEST_MAX)
		f->entries = make_filter(bytes_of(size));
	if (f->entries)
		seen_forget(f);
	return f->entries;
}

/* The link is no tag of any epoch. */
void seen_give(const struct filter *f)
{
	struct unused *u = (struct unused *)f->entries;
	if (!u)
		return;
	*u = (struct unused){unused[f->size], f->epoch};
	unused[f->size] = u;
}

void seen_forget(struct filter *f)
{
	enum { ADDRESS_BITS = 48 };
	f->epoch += UINT64_C(1) << (ADDRESS_BITS - f->bits + SEEN_PLACE_BITS + 1);
	if (f->epoch)
		return;
	VG_(memset)(f->entries, 0, bytes_of(f->size));
	seen_forget(f);
}

struct known {
	struct known *next;
	uint64_t w1;
	unsigned op;
	uint32_t place;
};

static uint32_t scale_of(unsigned size)
{
	uint32_t scale = 0;
	while (scale < 4 && UINT64_C(2) << scale <= size)
		scale++;
	return scale;
}

uint32_t seen_place(unsigned op, uint64_t w1, unsigned size)
{
	enum { BUCKETS = 1 << 14, KIND = 5 };
	static struct known *buckets[BUCKETS];
	static uint32_t count;
	struct known **first = &buckets[(w1 ^ w1 >> 14 ^ op << KIND) & (BUCKETS - 1)];
	for (struct known *k = *first; k; k = k->next)
		if (k->w1 == w1 && k->op == op)
			return k->place;
	if (count >= seen_ones(SEEN_PLACE_BITS))
		return SEEN_NO_PLACE;
	struct known *k = VG_(malloc)("racetrace.places", sizeof *k);
	*k = (struct known){*first, w1, op, ++count << SEEN_SCALE_BITS | scale_of(size)};
	*first = k;
	return k->place;
}
