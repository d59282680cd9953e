/*
 * systematic: all executions of a small program (lib/explore/executions.h). Each run takes its first choices from a
 * file, and leaves there what was pending at each choice. A run is analyzed if it shows a race that no run before did,
 * or ends in an unusual way; and the first one.
 */
#include "cmd/explore/explore.h"

#include "tracefmt/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 1 << 13, ROOM_MAX = 1 << 19 }; /* records; a power of 4 apart */

struct systematic {
	struct executions *all;
	uint64_t room;
	uint32_t under_way;
	bool failed; /* a file could not be written */
};

static struct systematic *systematic_of(struct exploring *x)
{
	struct rt_error err = {0};
	struct executions_options o = {
	    .reduction = x->o.reduction, .order = x->o.order, .preemptions = x->o.preemptions, .seed = x->o.seed};
	if (x->systematic)
		return x->systematic;
	struct systematic *s = calloc(1, sizeof *s);
	if (!s || executions_create(&o, &s->all, &err)) {
		free(s);
		return NULL;
	}
	s->room = ROOM;
	x->systematic = s;
	return s;
}

void systematic_release(struct exploring *x)
{
	if (!x->systematic)
		return;
	executions_free(x->systematic->all);
	free(x->systematic);
}

static size_t size_of(uint32_t choices, uint64_t room)
{
	return sizeof(struct rt_search) + ((choices + 7u) & ~(size_t)7) + room * sizeof(struct rt_search_record);
}

static bool write_search(const struct systematic *s, const char *path, const uint8_t *choices, uint32_t count)
{
	size_t size = size_of(count, s->room);
	struct rt_search head = {.magic = RT_SEARCH_MAGIC, .size = size, .choice_count = count, .record_room = s->room};
	FILE *f = fopen(path, "w");
	bool ok = f && fwrite(&head, sizeof head, 1, f) == 1 && (!count || fwrite(choices, count, 1, f) == 1) &&
	          fflush(f) == 0 && ftruncate(fileno(f), (off_t)size) == 0;
	if (f && fclose(f) != 0)
		ok = false;
	return ok;
}

bool systematic_next(struct exploring *x, struct run_order *order)
{
	struct systematic *s = systematic_of(x);
	const uint8_t *choices = NULL;
	uint32_t count = 0;
	bool shows;
	if (x->native) /* one run, whose threads run free: there is nothing to search */
		return x->started == x->first;
	if (!s || s->failed || !executions_next(s->all, &choices, &count, &shows))
		return false;
	snprintf(order->file, sizeof order->file, "%.250s/search-%" PRIu32, x->folder, x->started);
	order->seed = x->o.seed;
	order->unseen = !shows && x->started > x->first;
	if (!write_search(s, order->file, choices, count)) {
		s->failed = true;
		return false;
	}
	s->under_way++;
	return true;
}

/* The whole file; NULL: it is not there, or damaged. */
static struct rt_search *read_search(const char *path)
{
	struct rt_search head, *s = NULL;
	FILE *f = fopen(path, "r");
	if (f && fread(&head, sizeof head, 1, f) == 1 && head.magic == RT_SEARCH_MAGIC &&
	    head.record_room <= ROOM_MAX && head.record_count <= head.record_room &&
	    head.size == size_of(head.choice_count, head.record_room) && (s = malloc(head.size))) {
		rewind(f);
		if (fread(s, head.size, 1, f) != 1) {
			free(s);
			s = NULL;
		}
	}
	if (f)
		fclose(f);
	return s;
}

static void tell(struct exploring *x, const struct systematic *s)
{
	const struct executions_counts *c = executions_counts(s->all);
	size_t races;
	executions_races(s->all, &races);
	x->merge.search = (struct merge_search){.reduction = executions_reduction_name(x->o.reduction),
	                                        .order = executions_order_name(x->o.order),
	                                        .preemptions = x->o.preemptions,
	                                        .complete = !s->under_way && !s->failed && !c->diverged &&
	                                                    !c->overflows && executions_are_all(s->all),
	                                        .executions = c->executions,
	                                        .states = c->states,
	                                        .transitions = c->transitions,
	                                        .races = races};
}

enum rt_status systematic_came(struct exploring *x, struct run_order *order, struct rt_error *err)
{
	struct systematic *s = x->systematic;
	struct rt_search *r = read_search(order->file);
	enum rt_status status = RT_OK;
	uint32_t fresh;
	if (!order->file[0])
		return RT_OK;
	unlink(order->file);
	s->under_way--;
	if (r && r->overflow && r->record_room < ROOM_MAX) {
		/* Another run under way may have had too little room as well. */
		if (s->room == r->record_room)
			s->room *= 4;
		if (!executions_add(s->all, rt_search_choices(r), r->choice_count, !order->unseen))
			status = rt_error_set(err, RT_EMEMORY, "no memory to explore");
		order->unseen = x->merge.run_count > 0;
	} else if (!r || r->overflow || r->diverged) {
		executions_fail(s->all, r && r->diverged);
	} else {
		status = executions_take(s->all, r->choice_count, rt_search_records(r), r->record_count, &fresh, err);
	}
	free(r);
	tell(x, s);
	return status;
}
