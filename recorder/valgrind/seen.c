/* See seen.h. */
#include "recorder/valgrind/seen.h"

#include "recorder/valgrind/platform.h"

#include <stddef.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_mallocfree.h>

const uint64_t seen_entries[SEEN_SIZES] = {1 << 10, 1 << 14, 1 << 18};

struct unused {
	struct unused *next;
};
static struct unused *unused[SEEN_SIZES];

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
	return VG_(calloc)("racetrace.seen", seen_entries[size], sizeof(struct seen));
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
