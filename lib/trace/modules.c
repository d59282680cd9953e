/* The module of an address; see modules.h. */
#include "lib/trace/modules.h"

#include "lib/base/lower_bound.h"

#include <string.h>

const struct rt_module *module_at(const struct rt_trace *trace, uint64_t pc)
{
	size_t n;
	const struct rt_module *m = rt_trace_modules(trace, &n);
	for (size_t i = lower_bound(k, 0, n, m[k].start <= pc); i-- > 0;)
		if (pc < m[i].end)
			return &m[i];
	return NULL;
}

bool module_is_plain(const struct rt_trace *trace, const char *name)
{
	size_t n;
	const struct rt_module *m = rt_trace_modules(trace, &n);
	for (size_t i = 0; i < n; i++)
		if (m[i].plain && !strcmp(module_name(m[i].path), name))
			return true;
	return false;
}
