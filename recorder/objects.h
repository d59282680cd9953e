/*
 * Objects of HB_BEFORE and HB_AFTER that are not addresses. Each kind has a range, [first, end), where a program has no
 * memory. That is below the lowest page that may be mapped, in a part of the address space that neither the heap nor
 * mappings use, and in the kernel's half.
 */
#ifndef RECORDER_OBJECTS_H
#define RECORDER_OBJECTS_H

#include "tracefmt/record.h"

#include <stdbool.h>

#define RT_OBJECT_RANGES(X)                                                                                            \
	/* fd.c: kinds and numbers of descriptors */                                                                   \
	X(DESCRIPTOR, 1, 4097)                                                                                         \
	/* By number; see tracefmt/event.h. */                                                                         \
	X(SIGNAL, RT_SIGNAL_OBJECT, RT_SIGNAL_OBJECT + RT_SIGNAL_OBJECTS)                                              \
	/* All timers share one object. */                                                                             \
	X(TIMER, 8257, 8258)                                                                                           \
	/* children.c: what other processes of the tree hear, and tell */                                              \
	X(CHILDREN, 8258, 8259)                                                                                        \
	/* notify.c: System V's queues of messages; its semaphores, two objects each */                                \
	X(QUEUE, 9216, 13312)                                                                                          \
	X(SEMAPHORE, 16384, 49152)                                                                                     \
	/* omp.c: regions and tasks, counted */                                                                        \
	X(OPENMP, 0x200000000000, 0x300000000000)                                                                      \
	/* place.c: memory where other memory was, which is still known by the address; not for HB_BEFORE alone */     \
	X(RENAMED, RT_RENAMED, RT_RENAMED_END)                                                                         \
	/* fd.c: hashes of what a descriptor or a file is known by */                                                  \
	X(NAMED, 0x800000000000, 0xc00000000000)                                                                       \
	/* omp.c: addresses that tasks depend on */                                                                    \
	X(DEPENDENCE, 0xc00000000000, 0x1000000000000)

#define RT_OBJECT_RANGE(name, first, end) RT_OBJECT_##name = (first), RT_OBJECT_##name##_END = (end),
enum { RT_OBJECT_RANGES(RT_OBJECT_RANGE) };

#define RT_OBJECT_ASSERT(name, first, end)                                                                             \
	_Static_assert((first) < (end) && (end) <= RT_OPERAND_MAX + 1, #name ": not a range of operands");             \
	_Static_assert((end) <= 65536 || ((first) >= 0x200000000000 && (end) <= 0x400000000000) ||                     \
	                   (first) >= 0x800000000000,                                                                  \
	               #name ": a program may have memory there");
RT_OBJECT_RANGES(RT_OBJECT_ASSERT)

/* Bits of x spread over the whole; the object in one of the two ranges of hashes that they stand for. */
static inline uint64_t rt_object_mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
	return (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
}
#define RT_OBJECT_BITS 46
static inline uint64_t rt_object_hashed(uint64_t range, uint64_t mixed)
{
	_Static_assert(RT_OBJECT_NAMED_END - RT_OBJECT_NAMED == UINT64_C(1) << RT_OBJECT_BITS &&
	                   RT_OBJECT_DEPENDENCE_END - RT_OBJECT_DEPENDENCE == UINT64_C(1) << RT_OBJECT_BITS,
	               "a hash does not leave its range");
	return range + (mixed >> (64 - RT_OBJECT_BITS));
}

/* Overlapping ranges do not compile. */
#define RT_OBJECT_CASE(name, first, end) case (first)...(end) - 1:
static inline bool rt_object_is_registered(uint64_t object)
{
	switch (object) {
		RT_OBJECT_RANGES(RT_OBJECT_CASE)
		return true;
	default:
		return false;
	}
}

#endif
