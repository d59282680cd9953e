/* The places that a run was told to aim at: where they are in memory. */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"

static const struct rt_aims none;
const struct rt_aims *rt_sched_aims = &none;
static RT_OF_RUN uintptr_t *pcs;   /* by place; 0: its module is not there */
static RT_OF_RUN uintptr_t *bases; /* by module; the same */

void rt_sched_target(const char *path, char target[RT_TARGET_MAX])
{
	long length = RT_SYSCALL(SYS_readlink, path, target, RT_TARGET_MAX - 1);

	target[length > 0 ? length : 0] = '\0';
}

bool rt_sched_is_file(const char *path, const char *target, const char *known)
{
	known = rt_file_name(known);
	return rt_same(rt_file_name(path), known) || rt_same(rt_file_name(target), known);
}

static void loaded(const char *path, uintptr_t base)
{
	const struct rt_place *places = rt_aims_places(rt_sched_aims);
	char target[RT_TARGET_MAX];

	rt_sched_target(path, target);
	for (uint32_t i = 0; i < rt_sched_aims->place_count; i++)
		if (rt_sched_is_file(path, target, places[i].module)) {
			pcs[i] = base + places[i].offset;
			rt_sched_interest(pcs[i]);
		}
	for (uint32_t i = 0; i < rt_sched_aims->module_count; i++)
		if (rt_sched_is_file(path, target, rt_aims_modules(rt_sched_aims)[i].name))
			bases[i] = base;
}

uint64_t rt_sched_module(uint32_t module)
{
	return module < rt_sched_aims->module_count ? bases[module] : 0;
}

void rt_sched_aim(void)
{
	if (rt_sched_aims->place_count || rt_sched_aims->module_count)
		rt_sched_modules(loaded);
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

uintptr_t rt_sched_place_pc(uint32_t place)
{
	return pcs[place];
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
