/*
 * Where a pointer comes from is not followed. If any may lead to code that keeps an order, each call through a pointer
 * may be a call of that code.
 */
#include "recorder/collector/code_names.h"
#include "recorder/collector/code_pointers.h"
#include "recorder/collector/hidden_parts.h"

static void point_at(struct code_search *s, size_t index)
{
	const struct found *f = index == SIZE_MAX ? NULL : &s->found[index];
	if (!f || f->hooked || !(f->does & HIDDEN_ORDERS) ||
	    (!s->opaque[f->image] && code_name_is_of_libstdcxx(s->codes[f->image].functions[f->function].name)))
		return;
	s->pointed_lock |= f->may_lock;
	if (s->pointed == SIZE_MAX || (s->opaque[f->image] && !s->opaque[s->found[s->pointed].image]))
		s->pointed = index;
}

static void visit_pointer(void *of, const char *name, uint64_t address)
{
	struct code_search *s = of;
	point_at(s, hidden_called(s, s->visited, &(struct code_target){.name = name, .address = address}));
}

/* True if an instrumented module has a slot for a function of the image. */
static bool is_called_by_name(const struct code_search *s, size_t image)
{
	for (size_t i = 0; i < s->debug->image_count; i++)
		for (size_t k = 0; s->debug->images[i].instrumented && k < s->codes[i].slot_count; k++) {
			size_t to = hidden_called(s, i, &(struct code_target){.name = s->codes[i].slots[k].name});
			if (to != SIZE_MAX && s->found[to].image == image)
				return true;
		}
	return false;
}

void hidden_find_pointed(struct code_search *s, size_t last)
{
	bool any = false;
	for (size_t i = 0; i < last && !any; i++)
		any = !s->found[i].called && !s->found[i].hooked && s->found[i].does & HIDDEN_ORDERS;
	for (size_t i = 0; any && i < s->debug->image_count; i++) {
		s->visited = i;
		if (s->opaque[i] && s->codes[i].function_count &&
		    (code_has_vtables(&s->debug->images[i]) || !is_called_by_name(s, i)))
			point_at(s, s->found_of[i][0] - 1);
		if (s->debug->images[i].instrumented && s->found_of[i])
			code_pointers(&s->codes[i], &s->debug->images[i], visit_pointer, s);
	}
}
