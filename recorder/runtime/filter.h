/* The repeat filter of a slot, which leaves out what a thread has done twice since it last synchronised: plain.h. */
#ifndef RECORDER_RUNTIME_FILTER_H
#define RECORDER_RUNTIME_FILTER_H

#include <stdint.h>

/* Repeat filter: direct-mapped. k0: address | op << 48 | seen twice << 51 | epoch << 52; k1: word 1 of the record. */
struct rt_filter {
	uint64_t k0, k1;
};
/*
 * The table is small, so as to stay in the cache. It is large for a thread that has written many records without any
 * synchronisation: then repeats are far apart and leaving them out pays most. (A matrix product of 300 by 300: 48 of
 * 108 million accesses left out with 4096 entries, 107 with 131072, in half the time and a fortieth of the file.)
 */
#define RT_FILTER_SMALL 4096u
#define RT_FILTER_LARGE 131072u
#define RT_FILTER_BYTES                                                                                                \
	(UINT64_C(6) << 20)    /* room for a large one; with values (value.c) it has more and larger entries */
#define RT_FILTER_PATIENCE 64u /* blocks without synchronisation after which the table grows */
#define RT_FILTER_TWICE (UINT64_C(1) << 51)
#define RT_FILTER_EPOCH (UINT64_C(1) << 52)

/* Where a filter that compares values too has a record, by its words: the low bits. */
static inline uint64_t rt_filter_hash(uint64_t w0, uint64_t w1)
{
	return (w0 >> 3) ^ (w0 >> 13) ^ (w0 & 7) * (1 << 9 | 1 << 13) ^ w1;
}

#endif
