/*
 * Varies the run of a program (`record --vary`): a new thread starts first, because its creator waits a little, or
 * late, or without a delay. The choice and the time are a function of the seed and of the thread's name.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/mix.h"
#include "recorder/runtime/syscall.h"

#include <time.h>

void rt_pause_us(unsigned microseconds)
{
	struct timespec t = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};

	if (microseconds)
		RT_SYSCALL(SYS_nanosleep, &t, NULL);
}

void rt_vary_name(struct rt_private *child, uint64_t parent, uint32_t child_number)
{
	child->name = rt_mix(parent ^ rt_mix(child_number));
}

unsigned rt_vary_us(const struct rt_slot *child, enum rt_vary side)
{
	enum { PAUSE_US = 20000, MANY = 50 }; /* of many threads each waits less: all together not for long */
	uint64_t choice;

	if (!rt_channel->vary)
		return 0;
	choice = rt_mix(rt_channel->vary ^ rt_private_of((struct rt_slot *)(uintptr_t)child)->name);
	if (choice % RT_VARY_CHOICES != side)
		return 0;
	return (unsigned)((choice >> 32) % PAUSE_US * MANY / (MANY + child->thread)) + 1;
}
