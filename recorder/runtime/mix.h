/*
 * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). A sequence is rt_mix(x),
 * rt_mix(x + RT_MIX_STEP), and so on.
 */
#ifndef RECORDER_RUNTIME_MIX_H
#define RECORDER_RUNTIME_MIX_H

#include <stdint.h>

#define RT_MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t rt_mix(uint64_t x)
{
	x += RT_MIX_STEP;
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#endif
