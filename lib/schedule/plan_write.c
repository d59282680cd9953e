/* The plan as the file has it (tracefmt/plan.h); see planner.h. */
#include "lib/base/vec.h"
#include "lib/schedule/planner.h"
#include "tracefmt/child.h"

#include <stdlib.h>
#include <string.h>

static uint64_t take(uint64_t *size, uint64_t bytes)
{
	uint64_t at = (*size + 63) & ~UINT64_C(63);
	*size = at + bytes;
	return at;
}

static void write_steps(struct planner *p, struct rt_plan *plan)
{
	struct rt_plan_step *steps = plan_part(plan, plan->steps);
	const struct plan_request *q = p->request;
	for (size_t i = 0; p->threads && i < q->run_count + q->goal_count; i++) {
		const struct stop *s = i < q->run_count ? p->run_stops[i] : p->goal_stops[i - q->run_count];
		const struct plan_run *r = i < q->run_count ? &q->runs[i] : &q->goal[i - q->run_count];
		if (s)
			steps[plan->step_count++] =
			    (struct rt_plan_step){.thread = r->thread,
			                          .marked = s->marked,
			                          .mark = s->found ? s->mark : p->threads[r->thread].mark_count};
	}
	for (uint32_t i = 0; i < q->goal_count; i++)
		plan->goals[i] = (struct rt_plan_goal){
		    .thread = q->goal[i].thread, .mark = p->goal_stops[i] ? p->goal_stops[i]->mark : p->goal_marks[i]};
}

static void write_threads(struct planner *p, struct rt_plan *plan)
{
	const struct rt_trace_info *info = rt_trace_info(p->trace);
	struct rt_plan_thread *threads = plan_part(plan, plan->threads);
	struct rt_plan_thread_state *states = plan_part(plan, plan->states);
	struct rt_plan_mark *marks = plan_part(plan, plan->marks);
	uint64_t at = 0;
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct thread_plan *t = &p->threads[i];
		threads[i] = (struct rt_plan_thread){.parent = info->threads[i].parent,
		                                     .child_number = rt_child_number(info->threads[i].name),
		                                     .first_mark = at,
		                                     .mark_count = t->mark_count};
		states[i].task = RT_PLAN_NONE;
		for (size_t k = 0; k < t->mark_count; k++)
			marks[at++] = (struct rt_plan_mark){
			    .site = t->marks[k].site, .base = t->marks[k].base, .offset = t->marks[k].offset};
	}
}

/* A position of a site in the build that is run. */
static void add_place(struct planner *p, uint64_t pc)
{
	uint32_t module = planner_module(p, pc);
	if (!vec_reserve(&p->site_places, &p->site_place_capacity, (uint64_t)p->site_place_count + 1,
	                 sizeof *p->site_places)) {
		p->no_memory = true;
		return;
	}
	p->site_places[p->site_place_count++] = (struct rt_plan_place){
	    .offset = module == RT_PLAN_NONE ? pc : pc - p->modules[module].start, .module = module};
}

static bool gather_site_places(struct planner *p)
{
	for (struct site *s = p->sites; s && !p->no_memory; s = s->hh.next) {
		uint64_t pc = s->key.pc;
		s->first_place = (uint32_t)p->site_place_count;
		if (!p->rebuilt)
			add_place(p, pc);
		for (size_t i = 0; p->rebuilt && (pc = rebuilt_pc(p->rebuilt, s->key.pc, (unsigned)s->key.op, i)); i++)
			add_place(p, pc);
		s->place_count = (uint32_t)p->site_place_count - s->first_place;
	}
	return !p->no_memory;
}

static void write_sites(struct planner *p, struct rt_plan *plan)
{
	struct rt_plan_site *sites = plan_part(plan, plan->sites);
	for (struct site *s = p->sites; s; s = s->hh.next)
		sites[s->index] = (struct rt_plan_site){.first_place = s->first_place,
		                                        .place_count = s->place_count,
		                                        .op = (uint16_t)s->key.op,
		                                        .watched = s->watched};
	if (p->site_place_count)
		memcpy(plan_part(plan, plan->places), p->site_places, p->site_place_count * sizeof *p->site_places);
}

static uint32_t milliseconds(uint64_t ns)
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);
	return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

enum rt_status planner_write(struct planner *p, struct rt_plan **out)
{
	if (!gather_site_places(p))
		return planner_no_memory(p);
	const struct plan_request *q = p->request;
	struct rt_plan head = {.magic = RT_PLAN_MAGIC,
	                       .kind = q->kind == GOAL_RACE       ? RT_PLAN_RACE
	                               : q->kind == GOAL_SEQUENCE ? RT_PLAN_SEQUENCE
	                                                          : RT_PLAN_DEADLOCK,
	                       .module_count = (uint32_t)p->module_count,
	                       .site_count = p->site_count,
	                       .thread_count = p->thread_count,
	                       .goal_count = q->goal_count,
	                       .rebuilt = p->rebuilt != NULL,
	                       .recorded_ms = milliseconds(rt_trace_info(p->trace)->duration_ns)};
	uint64_t size = sizeof head, marks = 0, paths = 0;
	for (uint32_t i = 0; i < p->thread_count; i++)
		marks += p->threads[i].mark_count;
	for (size_t i = 0; i < p->module_count; i++)
		paths += strlen(p->modules[i].path) + 1;
	head.modules = take(&size, p->module_count * sizeof(struct rt_plan_module));
	head.sites = take(&size, p->site_count * sizeof(struct rt_plan_site));
	head.places = take(&size, p->site_place_count * sizeof(struct rt_plan_place));
	head.bases = take(&size, p->base_count * sizeof(struct rt_plan_base));
	head.threads = take(&size, p->thread_count * sizeof(struct rt_plan_thread));
	head.marks = take(&size, marks * sizeof(struct rt_plan_mark));
	head.steps = take(&size, (q->run_count + q->goal_count) * sizeof(struct rt_plan_step));
	head.states = take(&size, p->thread_count * sizeof(struct rt_plan_thread_state));
	head.learned = take(&size, p->base_count * sizeof(uint64_t));
	uint64_t path = take(&size, paths);
	struct rt_plan *plan = calloc(1, size);
	if (!plan)
		return planner_no_memory(p);
	*plan = head;
	plan->size = size;
	struct rt_plan_module *modules = plan_part(plan, plan->modules);
	for (size_t i = 0; i < p->module_count; i++) {
		size_t length = strlen(p->modules[i].path) + 1;
		modules[i] = (struct rt_plan_module){.path = path};
		memcpy(plan_part(plan, path), p->modules[i].path, length);
		path += length;
	}
	memcpy(plan_part(plan, plan->bases), p->bases, p->base_count * sizeof *p->bases);
	write_sites(p, plan);
	write_threads(p, plan);
	write_steps(p, plan);
	*out = plan;
	return RT_OK;
}
