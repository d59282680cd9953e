/* Binary search. */
#ifndef LIB_BASE_LOWER_BOUND_H
#define LIB_BASE_LOWER_BOUND_H

/*
 * The first i in [from, to) for which `below` is false, or `to`. `below` is an expression of i, which the macro
 * declares; it is true up to some place and false from there on.
 *
 *   size_t at = lower_bound(i, 0, n, items[i].address < address);
 */
#define lower_bound(i, from, to, below)                                                                                \
	({                                                                                                             \
		__typeof__((from) + (to)) i##_low = (from), i##_high = (to);                                           \
		while (i##_low < i##_high) {                                                                           \
			const __typeof__(i##_low) i = i##_low + (i##_high - i##_low) / 2;                              \
			if (below)                                                                                     \
				i##_low = i + 1;                                                                       \
			else                                                                                           \
				i##_high = i;                                                                          \
		}                                                                                                      \
		i##_low;                                                                                               \
	})

#endif
