/* See seen.h. */
#include "recorder/valgrind/seen.h"

#include "recorder/valgrind/kernel.h"
#include "recorder/valgrind/platform.h"

#include <stddef.h>
#include <valgrind/pub_tool_aspacemgr.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_mallocfree.h>

const uint64_t seen_entries[SEEN_SIZES] = {1 << 10, 1 << 14, 1 << 18};

struct unused {
	struct unused *next;
};
static struct unused *unused[SEEN_SIZES];

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

struct seen *seen_take(unsigned size)
{
	enum { LARGEST_MAX = 16 }; /* of 8 MiB each */
	static unsigned largest;
	struct unused *f = unused[size];
	if (f) {
		unused[size] = f->next;
		return (struct seen *)f;
	}
	if (size == SEEN_SIZES - 1 && largest++ >= LARGEST_MAX)
		return NULL;
	return make_filter(seen_entries[size] * sizeof(struct seen));
}

void seen_give(struct seen *f, unsigned size)
{
	struct unused *u = (struct unused *)f;
	if (!u)
		return;
	u->next = unused[size];
	unused[size] = u;
}

uint64_t seen_epoch(void)
{
	static uint64_t last;
	return ++last;
}
