/* Calls the callbacks that other files have registered; see RT_CALL_AT. */
#include "recorder/runtime/core.h"

extern const struct rt_callback __start_rt_callbacks[] __attribute__((visibility("hidden")));
extern const struct rt_callback __stop_rt_callbacks[] __attribute__((visibility("hidden")));

void rt_call_at(enum rt_moment moment)
{
	for (const struct rt_callback *c = __start_rt_callbacks; c < __stop_rt_callbacks; c++)
		if (c->moment == moment)
			c->function();
}
