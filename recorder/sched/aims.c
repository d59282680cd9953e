/* The places that a run was told to aim at: where they are in memory. */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

#include <fcntl.h>

static const struct rt_aims none;
const struct rt_aims *rt_sched_aims = &none;
static uintptr_t *pcs;   /* by place; 0: its module is not there */
static uintptr_t *bases; /* by module; the same */

static const char *file_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool is_module(const char *path, const char *target, const char *name)
{
	return is_same(file_name(path), name) || is_same(file_name(target), name);
}

static void loaded(const char *path, const uint8_t *build_id, size_t n, uintptr_t base, void *arg)
{
	const struct rt_place *places = rt_aims_places(rt_sched_aims);
	char target[4096];
	long length = RT_SYSCALL(SYS_readlink, path, target, sizeof target - 1);

	(void)build_id;
	(void)n;
	(void)arg;
	target[length > 0 ? length : 0] = '\0';
	for (uint32_t i = 0; i < rt_sched_aims->place_count; i++)
		if (is_module(path, target, places[i].module)) {
			pcs[i] = base + places[i].offset;
			rt_sched_interest(pcs[i]);
		}
	for (uint32_t i = 0; i < rt_sched_aims->module_count; i++)
		if (is_module(path, target, rt_aims_modules(rt_sched_aims)[i].name))
			bases[i] = base;
}

uint64_t rt_sched_module(uint32_t module)
{
	return module < rt_sched_aims->module_count ? bases[module] : 0;
}

void rt_sched_aim(void)
{
	if (rt_sched_aims->place_count || rt_sched_aims->module_count)
		rt_sched_modules(loaded, NULL);
}

bool rt_sched_aims_begin(const struct rt_control *control)
{
	const struct rt_aims *aims = rt_control_input(control);

	if (control->input_bytes < sizeof *aims)
		return control->input_bytes == 0;
	if (control->input_bytes < rt_aims_size(aims) ||
	    !(pcs = rt_sched_memory((aims->place_count + aims->module_count + 1) * sizeof *pcs)))
		return false;
	bases = pcs + aims->place_count;
	rt_sched_aims = aims;
	if (aims->everywhere)
		rt_sched_interest_all();
	rt_sched_aim();
	return true;
}

uint32_t rt_sched_place(const struct rt_step *step, uint32_t from)
{
	if (!rt_sched_interesting(step->pc))
		return RT_NO_PLACE;
	for (uint32_t i = from; step->op != RT_OP_NONE && i < rt_sched_aims->place_count; i++)
		if (pcs[i] && pcs[i] == step->pc)
			return i;
	return RT_NO_PLACE;
}
