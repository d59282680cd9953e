/*
 * The built-in patterns; see pattern.h. Atomicity violations: of AVIO's (ASPLOS 2006) eight interleavings of two local
 * accesses and a remote one, the four that no serial order explains. w-w-w is conflict-unserializable but not
 * view-unserializable; it is searched for only if named. ASVs: three orders in which a unit u goes first on one cell
 * and u' on the other, times the kinds of conflict on either cell. Vaziri, Tip and Dolby (POPL 2006) have those of
 * equal kinds, as in their programs a unit that writes one cell of a set writes all.
 */
#include "lib/anomaly/pattern.h"

#include <string.h>

enum { R = PATTERN_READ, W = PATTERN_WRITE };

/* clang-format off */
#define TRIPLE(n, a, b, c, off) \
	{.name = n, .kind = ANOMALY_ATOMICITY, .count = 3, .asked = off, \
	 .threads = {0, 1, 0}, .cells = {0, 0, 0}, .regions = {0, 1, 0}, .accesses = {a, b, c}}
#define QUADRUPLE(n, t1, t2, t3, t4, c1, c2, c3, c4, a, b, c, d) \
	{.name = n, .kind = ANOMALY_ASV, .count = 4, .threads = {t1, t2, t3, t4}, .cells = {c1, c2, c3, c4}, \
	 .regions = {t1, t2, t3, t4}, .accesses = {a, b, c, d}}
/* u(1) u'(1) u'(2) u(2); u(1) u'(2) u'(1) u(2); u(1) u'(2) u(2) u'(1). u1, v1: the accesses of u and u' on cell 1. */
#define ASV(u1, v1, u2, v2) \
	QUADRUPLE("asv-A-" #u1 #v1 "-" #u2 #v2, 0, 1, 1, 0, 0, 0, 1, 1, u1, v1, v2, u2), \
	QUADRUPLE("asv-B-" #u1 #v1 "-" #u2 #v2, 0, 1, 1, 0, 0, 1, 0, 1, u1, v2, v1, u2), \
	QUADRUPLE("asv-C-" #u1 #v1 "-" #u2 #v2, 0, 1, 0, 1, 0, 1, 1, 0, u1, v2, u2, v1)
/* clang-format on */

const struct pattern patterns[] = {
    TRIPLE("r-w-r", R, W, R, false),
    TRIPLE("w-w-r", W, W, R, false),
    TRIPLE("w-r-w", W, R, W, false),
    TRIPLE("r-w-w", R, W, W, false),
    TRIPLE("w-w-w", W, W, W, true),
    ASV(W, W, W, W),
    ASV(W, W, W, R),
    ASV(W, W, R, W),
    ASV(W, R, W, W),
    ASV(W, R, W, R),
    ASV(W, R, R, W),
    ASV(R, W, W, W),
    ASV(R, W, W, R),
    ASV(R, W, R, W),
    {.name = NULL},
};

/* clang-format off */
#define SECTIONS(n, act, access) \
	{.name = n, .kind = ANOMALY_ATOMICITY, .count = 3, .threads = {0, 1, 0}, .cells = {0, 0, act}, \
	 .regions = {0, 1, 2}, .accesses = {R, W, access}}
/* clang-format on */

const struct pattern pattern_check_act = SECTIONS("check-w-act", 0, R | W);
const struct pattern pattern_lookup_act = SECTIONS("lookup-w-act", 1, W);

/* Names are borrowed from the patterns, so that they tell which one it is. */
bool anomaly_is_check(const struct anomaly *a)
{
	return a->pattern == pattern_check_act.name;
}

bool anomaly_is_lookup(const struct anomaly *a)
{
	return a->pattern == pattern_lookup_act.name;
}

const struct pattern *pattern_find(const struct pattern *like)
{
	for (const struct pattern *p = patterns; p->name; p++)
		if (p->kind == like->kind && p->count == like->count && !memcmp(p->threads, like->threads, p->count) &&
		    !memcmp(p->cells, like->cells, p->count) && !memcmp(p->regions, like->regions, p->count) &&
		    !memcmp(p->accesses, like->accesses, p->count))
			return p;
	return NULL;
}
