/*
 * Numbers: results that go through pointers, and generators whose state is the caller's. drand48's family keeps its own
 * without a lock; rand and random lock theirs.
 */
#include "recorder/intercept/call.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>

#define FLOATS(type, suffix)                                                                                           \
	CALL(type, frexp##suffix, (type x, int *exponent), (x, exponent), , OUT(exponent))                             \
	CALL(type, modf##suffix, (type x, type * whole), (x, whole), , OUT(whole))                                     \
	CALL(type, remquo##suffix, (type x, type y, int *quotient), (x, y, quotient), , OUT(quotient))                 \
	CALL(type, lgamma##suffix##_r, (type x, int *sign), (x, sign), , OUT(sign))                                    \
	CALL_VOID(sincos##suffix, (type x, type * sine, type * cosine), (x, sine, cosine), , OUT(sine); OUT(cosine))   \
	CALL(type, nan##suffix, (const char *s), (s), STR(s), )
FLOATS(double, )
FLOATS(float, f)
FLOATS(long double, l)
SAME(frexp, );
SAME(modf, );
SAME(remquo, );
SAME(lgamma, _r);
SAME(sincos, );
SAME(nan, );

/* Random numbers */
CALL(int, rand_r, (unsigned *seed), (seed), INOUT(seed), )
CALL(int, random_r, (struct random_data *restrict state, int32_t *restrict to), (state, to), INOUT(state), OUT(to))
CALL(int, srandom_r, (unsigned seed, struct random_data *state), (seed, state), INOUT(state), )
CALL(int, initstate_r, (unsigned seed, char *restrict memory, size_t size, struct random_data *restrict state),
     (seed, memory, size, state), INOUT(state), if (r == 0) OUT_N(memory, size))
CALL(int, setstate_r, (char *restrict memory, struct random_data *restrict state), (memory, state), INOUT(state), )
CALL(char *, initstate, (unsigned seed, char *memory, size_t size), (seed, memory, size), , if (r) OUT_N(memory, size))

static char drand48_state;
CALL(double, drand48, (void), (), CHANGES(drand48_state), )
CALL(long, lrand48, (void), (), CHANGES(drand48_state), )
CALL(long, mrand48, (void), (), CHANGES(drand48_state), )
CALL_VOID(srand48, (long seed), (seed), CHANGES(drand48_state), )
CALL(unsigned short *, seed48, (unsigned short from[3]), (from), IN_N(from, 6); CHANGES(drand48_state), OUT_N(r, 6))
CALL_VOID(lcong48, (unsigned short from[7]), (from), IN_N(from, 14); CHANGES(drand48_state), )
CALL(double, erand48, (unsigned short x[3]), (x), IN_N(x, 6); OUT_N(x, 6), )
CALL(long, nrand48, (unsigned short x[3]), (x), IN_N(x, 6); OUT_N(x, 6), )
CALL(long, jrand48, (unsigned short x[3]), (x), IN_N(x, 6); OUT_N(x, 6), )
#define STATE struct drand48_data *restrict state
CALL(int, drand48_r, (STATE, double *restrict to), (state, to), INOUT(state), OUT(to))
CALL(int, lrand48_r, (STATE, long *restrict to), (state, to), INOUT(state), OUT(to))
CALL(int, mrand48_r, (STATE, long *restrict to), (state, to), INOUT(state), OUT(to))
CALL(int, erand48_r, (unsigned short x[3], STATE, double *restrict to), (x, state, to), IN_N(x, 6);
     INOUT(state), OUT_N(x, 6); OUT(to))
CALL(int, nrand48_r, (unsigned short x[3], STATE, long *restrict to), (x, state, to), IN_N(x, 6);
     INOUT(state), OUT_N(x, 6); OUT(to))
CALL(int, jrand48_r, (unsigned short x[3], STATE, long *restrict to), (x, state, to), IN_N(x, 6);
     INOUT(state), OUT_N(x, 6); OUT(to))
CALL(int, srand48_r, (long seed, struct drand48_data *state), (seed, state), , OUT(state))
CALL(int, seed48_r, (unsigned short from[3], struct drand48_data *state), (from, state), IN_N(from, 6), OUT(state))
CALL(int, lcong48_r, (unsigned short from[7], struct drand48_data *state), (from, state), IN_N(from, 14), OUT(state))

/* Numbers as text, in static memory */
CALL(char *, ecvt, (double x, int digits, int *restrict point, int *restrict sign), (x, digits, point, sign), ,
     OUT(point);
     OUT(sign); RESULT_STR)
CALL(char *, fcvt, (double x, int digits, int *restrict point, int *restrict sign), (x, digits, point, sign), ,
     OUT(point);
     OUT(sign); RESULT_STR)
CALL(char *, gcvt, (double x, int digits, char *to), (x, digits, to), , OUT_STR(to))
CALL(char *, l64a, (long n), (n), , RESULT_STR)
CALL(long, a64l, (const char *s), (s), STR(s), )

/* Tables and trees. What the comparison function reads, it says itself; a tree's root is the caller's. */
CALL(void *, tsearch, (const void *key, void **root, int (*compare)(const void *, const void *)), (key, root, compare),
     IN(root), if (r) OUT(root))
CALL(void *, tfind, (const void *key, void *const *root, int (*compare)(const void *, const void *)),
     (key, root, compare), IN(root), )
CALL(void *, tdelete, (const void *restrict key, void **restrict root, int (*compare)(const void *, const void *)),
     (key, root, compare), IN(root), if (r) OUT(root))
static char hsearch_table;
CALL(int, hcreate, (size_t n), (n), CHANGES(hsearch_table), )
CALL_VOID(hdestroy, (void), (), CHANGES(hsearch_table), )
CALL(ENTRY *, hsearch, (ENTRY item, ACTION action), (item, action), STR(item.key);
     if (action == ENTER) CHANGES(hsearch_table); else USES(hsearch_table), )
CALL(int, hcreate_r, (size_t n, struct hsearch_data *table), (n, table), INOUT(table), )
CALL_VOID(hdestroy_r, (struct hsearch_data * table), (table), INOUT(table), )
CALL(int, hsearch_r, (ENTRY item, ACTION action, ENTRY **to, struct hsearch_data *table), (item, action, to, table),
     STR(item.key);
     if (action == ENTER) INOUT(table); else IN(table), OUT(to))
CALL_VOID(insque, (void *element, void *before), (element, before), , OUT_N(element, 2 * sizeof(void *));
          OUT_N(before, before ? sizeof(void *) : 0))
CALL_VOID(remque, (void *element), (element), IN_N(element, 2 * sizeof(void *)), )
