/* What threads wait for in the kernel when the run ends; see waits.h. */
#include "recorder/collector/waits.h"

#include <stdio.h>
#include <string.h>

/* Threads looked at in one round: a program may have thousands that wait. */
#define LOOKS_MAX 32u

/* True if the thread sleeps, by what the kernel says. */
static bool is_asleep(pid_t pid, uint32_t tid)
{
	char name[64], text[512];
	snprintf(name, sizeof name, "/proc/%d/task/%u/stat", (int)pid, tid);
	FILE *f = fopen(name, "re");
	if (!f)
		return false;
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	const char *end = strrchr(text, ')'); /* of the thread's name */
	return end && strncmp(end, ") S ", 4) == 0;
}

/* The call that the slot's thread is in, of which it has recorded nothing since. False: it is in none. */
static bool is_in_call(const struct rt_slot *slot, struct wait_view *now)
{
	now->kind = atomic_load(&slot->call.kind);
	now->at = slot->call.at;
	now->repeats = slot->skipped;
	return atomic_load(&slot->state) == RT_SLOT_LIVE && now->kind != RT_CALL_NONE && now->at == slot->cur;
}

static bool is_same(const struct wait_view *a, const struct wait_view *b)
{
	return a->kind == b->kind && a->at == b->at && a->repeats == b->repeats;
}

void waits_look(struct rt_channel *c, pid_t pid, struct rt_slot *slot, struct wait_view *v, unsigned *looks)
{
	struct wait_view now = {0};
	if (!is_in_call(slot, &now)) {
		*v = (struct wait_view){0};
		return;
	}
	if (!is_same(&now, v)) {
		*v = now;
		return;
	}
	if (*looks >= LOOKS_MAX)
		return;
	++*looks;
	/* The stamp first: all that is later may have ended the wait. */
	uint64_t stamp = atomic_fetch_add(&c->clock, 1) + 1;
	struct wait_view again = {0};
	if (is_asleep(pid, slot->call.tid) && is_in_call(slot, &again) && is_same(&again, v))
		v->asleep = stamp;
}

/* True if the process's threads alone can end the wait. */
static bool is_own(const struct rt_channel *c, const struct rt_call *call)
{
	bool epoll = call->object == RT_SEVERAL_OBJECTS && call->descriptor >= 0;
	if (epoll && atomic_load(&c->others_watched))
		return false;
	return call->own == RT_CALL_OWN || call->own == atomic_load(&c->shared) + 1;
}

unsigned waits_records(const struct rt_channel *c, const struct rt_slot *slot, const struct wait_view *v,
                       struct rt_record records[3])
{
	const struct rt_call *call = &slot->call;
	struct wait_view now = {0};
	if (!v->asleep || !is_in_call(slot, &now) || !is_same(&now, v))
		return 0;
	unsigned flags = RT_F_VALUE | (is_own(c, call) ? 0u : (unsigned)RT_F_TIMED);
	records[0] = rt_record_ext(v->asleep, RT_OP_HB_AFTER);
	records[1] =
	    (struct rt_record){(uint64_t)RT_OP_VALUE << 48, rt_call_value(now.kind, call->descriptor, call->holder)};
	records[2] = rt_record_make(RT_OP_BLOCK, call->object, call->pc, rt_record_aux(0, 0, flags), 0);
	return 3;
}
