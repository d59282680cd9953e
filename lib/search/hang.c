/* Hangs and deadlocks that the trace ends with, as anomalies; see stuck.h. */
#include "lib/search/search.h"
#include "lib/search/stuck.h"

#include <stdlib.h>
#include <string.h>

static const char *ring_pattern(uint32_t length)
{
	static const char *const names[ANOMALY_EVENTS_MAX + 1] = {
	    "",        "cycle-1",  "cycle-2",  "cycle-3",  "cycle-4",  "cycle-5",  "cycle-6",  "cycle-7", "cycle-8",
	    "cycle-9", "cycle-10", "cycle-11", "cycle-12", "cycle-13", "cycle-14", "cycle-15", "cycle-16"};
	return length <= ANOMALY_EVENTS_MAX ? names[length] : "cycle";
}

static const char *call_pattern(unsigned kind)
{
	return kind == RT_CALL_FUTEX ? "futex" : kind == RT_CALL_FILE_LOCK ? "file-lock" : "descriptor";
}

/* Named after what its first thread waits for, which no thread can provide. */
static const char *hang_pattern(const struct model *m, uint32_t block)
{
	switch (model_arg(m, block)) {
	case RT_OP_WAIT_END:
		return "condition";
	case RT_OP_SEM_WAIT:
		return "semaphore";
	case RT_OP_BARRIER_LEAVE:
		return "barrier";
	case RT_OP_JOIN:
		return "join";
	case RT_OP_ONCE_SEEN:
		return "once";
	case RT_OP_HB_AFTER:
		return call_pattern(rt_call_kind(m->threads[model_thread_of(m, block)].call));
	default:
		return "lock"; /* of a thread that has ended */
	}
}

static bool add(const struct model *m, const struct stuck_group *g, struct anomaly_list *list)
{
	uint32_t listed = g->cycle ? g->cycle : g->count;
	listed = listed < ANOMALY_EVENTS_MAX ? listed : ANOMALY_EVENTS_MAX;
	struct anomaly a = {.kind = g->cycle ? ANOMALY_DEADLOCK : ANOMALY_HANG,
	                    .pattern = g->cycle ? ring_pattern(g->cycle) : hang_pattern(m, g->waits[0]),
	                    .verdict = VERDICT_OBSERVED,
	                    .witness = WITNESS_RECORDED,
	                    .count = 1,
	                    .event_count = listed,
	                    .wait_count = g->count - listed};
	memcpy(a.events, g->waits, listed * sizeof *a.events);
	a.waits = malloc(((size_t)a.wait_count + 1) * sizeof *a.waits);
	if (!a.waits)
		return false;
	memcpy(a.waits, g->waits + listed, a.wait_count * sizeof *a.waits);
	if (anomaly_add(list, &a))
		return true;
	free(a.waits);
	return false;
}

bool stuck_report(const struct model *m, bool rings, struct anomaly_list *list)
{
	struct stuck stuck;
	bool ok = stuck_find(m, &stuck);
	for (uint32_t i = 0; ok && i < stuck.count; i++)
		ok = (stuck.groups[i].cycle != 0) != rings || add(m, &stuck.groups[i], list);
	if (ok)
		stuck_release(&stuck);
	return ok;
}

enum rt_status hang_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	return stuck_report(c->m, false, list) ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for all hangs");
}
