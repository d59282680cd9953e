/*
 * OpenMP's tasks: what they depend on. Neighbours in memory are not one dependence: who reads the first byte has
 * nothing to do with who writes the second.
 */
// options: -fopenmp
#include "named.h"

#include <stdint.h>

static char bytes[2];
static int done;

/* Of the region's tasks that write an address, or only read it: recorder/objects.h, and depend_object in omp_tasks.c.
 */
static __attribute__((no_sanitize("thread"))) uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185;
	return (x ^ x >> 27) * 0x81dadef4bc2dd44d;
}

static __attribute__((no_sanitize("thread"))) unsigned long dependence(const char *p, int read)
{
	enum { REGION_OBJECTS = 38, KINDS = 3 };
	uint64_t parent = 0x200000000000 + REGION_OBJECTS; /* the first object behind those of the first region */

	return 0xc00000000000 + (mix(mix(parent) + ((uintptr_t)p * KINDS + (unsigned)read)) >> 18);
}

int main(void)
{
	NAME_AT(dependence(&bytes[0], 0), "writes-of-first");
	NAME_AT(dependence(&bytes[0], 1), "reads-of-first");
	NAME_AT(dependence(&bytes[1], 0), "writes-of-second");
	NAME_AT(dependence(&bytes[1], 1), "reads-of-second");
#pragma omp parallel num_threads(1)
	{
		// expect main.task1: hb-after writes-of-first, hb-before reads-of-first
#pragma omp task depend(in : bytes[0])
		done++;
		// expect main.task2: hb-after writes-of-second, hb-after reads-of-second, hb-before writes-of-second
#pragma omp task depend(inout : bytes[1])
		done++;
	}
	return done == 2 ? 0 : 1;
}
