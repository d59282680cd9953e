/*
 * Varies the run of a program (`record --vary`): a new thread starts first, because its creator waits a little, or
 * late, or without a delay. The choice and the time are a function of the seed and of the thread's name.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <time.h>

void rt_pause_us(unsigned microseconds)
{
	struct timespec t = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};

	if (microseconds)
		RT_SYSCALL(SYS_nanosleep, &t, NULL);
}

/* SplitMix64's mixing function (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void rt_vary_name(struct rt_private *child, uint64_t parent, uint32_t child_number)
{
	child->name = mix(parent ^ mix(child_number));
}

unsigned rt_vary_us(const struct rt_slot *child, enum rt_vary who)
{
	enum { PAUSE_US = 20000, MANY = 50 }; /* of many threads each waits less: all together not for long */
	uint64_t choice;

	if (!rt_channel->vary)
		return 0;
	choice = mix(rt_channel->vary ^ rt_private_of((struct rt_slot *)(uintptr_t)child)->name);
	if (choice % RT_VARY_CHOICES != who)
		return 0;
	return (unsigned)((choice >> 32) % PAUSE_US * MANY / (MANY + child->thread)) + 1;
}
