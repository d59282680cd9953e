/* What threads wait for in the kernel when the run ends; see waits.h. */
#include "recorder/collector/waits.h"

#include "recorder/control.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* Threads looked at in one round: a program may have thousands that wait. */
#define LOOKS_MAX 32u

/* What the kernel says of the thread; false: nothing. */
static bool read_about(pid_t pid, uint32_t tid, const char *what, char *text, size_t size)
{
	char name[64];
	snprintf(name, sizeof name, "/proc/%d/task/%u/%s", (int)pid, tid, what);
	FILE *f = fopen(name, "re");
	if (!f)
		return false;
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
	return true;
}

/*
 * Under Valgrind a thread also sleeps while another one has the turn: by a futex, or by a read, of Valgrind's own. One
 * that has been signalled sleeps until it has the mutex. True if it is the program's call that it sleeps in.
 */
static bool is_own_call(pid_t pid, const struct rt_call *call)
{
	char text[512];
	unsigned long first;
	long number;
	if (!read_about(pid, call->tid, "syscall", text, sizeof text) || sscanf(text, "%ld %lx", &number, &first) != 2)
		return false;
	uint32_t kind = atomic_load(&call->kind);
	if (kind == RT_CALL_CONDITION)
		return number == SYS_futex && first - call->object < sizeof(pthread_cond_t);
	if (number == SYS_futex)
		return kind == RT_CALL_FUTEX && first == call->object;
	return number >= 0 &&
	       (number != SYS_read || (call->descriptor >= 0 && first == (unsigned long)call->descriptor));
}

/* True if the thread sleeps in the call. */
static bool is_asleep(const struct rt_channel *c, pid_t pid, const struct rt_call *call)
{
	char text[512];
	if (!read_about(pid, call->tid, "stat", text, sizeof text))
		return false;
	const char *end = strrchr(text, ')'); /* of the thread's name */
	bool own = !c->watched && atomic_load(&call->kind) != RT_CALL_CONDITION;
	return end && strncmp(end, ") S ", 4) == 0 && (own || is_own_call(pid, call));
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

/* By turns a thread that sleeps may wait for its turn. */
static bool is_still(const struct rt_channel *c)
{
	return !c->control_offset || atomic_load(&c->standstill);
}

/* Two tries later one has failed that began after the last look. */
static bool has_tried(const struct rt_call *call, struct wait_view *v, uint64_t stamp, uint64_t *asleep)
{
	uint32_t tries = atomic_load(&call->tries), since = tries - v->tries;
	bool has = v->looked && since >= 2;
	*asleep = v->looked;
	v->looked = stamp;
	v->tries = tries;
	return has;
}

void waits_look(struct rt_channel *c, pid_t pid, struct rt_slot *slot, struct wait_view *v, unsigned *looks)
{
	struct wait_view now = {0};
	if (!is_in_call(slot, &now) || !is_still(c)) {
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
	uint64_t asleep = stamp;
	bool is =
	    atomic_load(&slot->call.tries) ? has_tried(&slot->call, v, stamp, &asleep) : is_asleep(c, pid, &slot->call);
	struct wait_view again = {0};
	if (is && is_in_call(slot, &again) && is_same(&again, v))
		v->asleep = asleep;
}

/* True if the process's threads alone can end the wait. */
static bool is_own(const struct rt_channel *c, const struct rt_call *call)
{
	bool epoll = call->object == RT_SEVERAL_OBJECTS && call->descriptor >= 0;
	if (epoll && atomic_load(&c->others_watched))
		return false;
	return call->own == RT_CALL_OWN || call->own == atomic_load(&c->shared) + 1;
}

/* True if by turns no thread could go on: one that is in a call waits in it, as all that others did was before. */
static bool is_deadlock(struct rt_channel *c)
{
	const struct rt_control *control = rt_channel_control(c);
	return control && atomic_load(&control->end) == RT_END_DEADLOCK;
}

unsigned waits_records(struct rt_channel *c, const struct rt_slot *slot, const struct wait_view *v,
                       struct rt_record records[3])
{
	const struct rt_call *call = &slot->call;
	struct wait_view now = {0};
	uint64_t asleep = is_deadlock(c) ? atomic_load(&c->clock) + 1 : is_still(c) ? v->asleep : 0;
	if (!asleep || !is_in_call(slot, &now) || (v->asleep && !is_same(&now, v)))
		return 0;
	unsigned flags = RT_F_VALUE | (is_own(c, call) ? 0u : (unsigned)RT_F_TIMED);
	bool condition = now.kind == RT_CALL_CONDITION;
	unsigned kind = condition ? RT_CALL_FUTEX : now.kind;
	records[0] = rt_record_ext(asleep, condition ? RT_OP_WAIT_END : RT_OP_HB_AFTER);
	records[1] =
	    (struct rt_record){(uint64_t)RT_OP_VALUE << 48, rt_call_value(kind, call->descriptor, call->holder)};
	records[2] = rt_record_make(RT_OP_BLOCK, call->object, call->pc, rt_record_aux(0, 0, flags), 0);
	return 3;
}
