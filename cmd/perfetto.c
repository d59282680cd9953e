/* Chrome's trace JSON; see perfetto.h. */
#include "cmd/perfetto.h"

#include "cmd/base/common.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/report/json_writer.h"

#include <stdbool.h>
#include <stdlib.h>

/* A critical section that a thread is in. */
struct held {
	uint64_t lock, since;
	uint32_t thread;
};

/* The last release of a lock, or the fork of a thread, that no flow leads away from yet. */
struct source {
	uint64_t key; /* the lock's address, or the thread with the highest bit */
	uint64_t event;
	uint32_t thread;
	bool open;
	UT_hash_handle hh;
};

struct perfetto {
	const struct rt_trace *trace;
	struct json_writer w;
	FILE *out;
	struct held *held;
	size_t held_count, held_room;
	struct source *sources;
	uint64_t flows;
	uint64_t time; /* of the last event */
	bool no_memory;
};

enum { FORKED = 63 };

static void begin(struct perfetto *p, const char *phase, const char *name, uint32_t thread, uint64_t time)
{
	fputs(p->w.more ? ",\n" : "\n", p->out);
	p->w.more = false;
	jw_object(&p->w, NULL);
	jw_text(&p->w, "ph", phase);
	jw_text(&p->w, "name", name);
	jw_number(&p->w, "pid", 1);
	jw_number(&p->w, "tid", (uint64_t)thread + 1);
	jw_number(&p->w, "ts", time);
}

static void end(struct perfetto *p)
{
	jw_object_end(&p->w);
	p->w.more = true;
}

static void put_flow(struct perfetto *p, const char *name, const struct source *from, uint32_t thread, uint64_t time)
{
	const struct {
		const char *phase;
		uint32_t thread;
		uint64_t time;
	} ends[] = {{"s", from->thread, from->event}, {"f", thread, time}};
	p->flows++;
	for (int i = 0; i < 2; i++) {
		begin(p, ends[i].phase, name, ends[i].thread, ends[i].time);
		jw_text(&p->w, "cat", "order");
		jw_number(&p->w, "id", p->flows);
		if (i)
			jw_text(&p->w, "bp", "e");
		end(p);
	}
}

static struct source *source_of(struct perfetto *p, uint64_t key, bool make)
{
	struct source *s;
	HASH_FIND(hh, p->sources, &key, sizeof key, s);
	if (s || !make)
		return s;
	HASH_MAKE(p->sources, key, key, s);
	p->no_memory |= !s;
	return s;
}

static void leave_source(struct perfetto *p, uint64_t key, const struct rt_event *e)
{
	struct source *s = source_of(p, key, true);
	if (!s)
		return;
	s->event = e->number;
	s->thread = e->thread;
	s->open = true;
}

static void acquire(struct perfetto *p, const struct rt_event *e, uint64_t lock)
{
	struct source *from = source_of(p, lock, false);
	if (from && from->open && from->thread != e->thread)
		put_flow(p, "hand-over", from, e->thread, e->number);
	if (from)
		from->open = false;
	if (!vec_reserve(&p->held, &p->held_room, (uint64_t)p->held_count + 1, sizeof *p->held)) {
		p->no_memory = true;
		return;
	}
	p->held[p->held_count++] = (struct held){.lock = lock, .since = e->number, .thread = e->thread};
}

static void put_section(struct perfetto *p, const struct held *h, uint64_t until)
{
	begin(p, "X", cmd_address(p->trace, h->lock).text, h->thread, h->since);
	jw_number(&p->w, "dur", until > h->since ? until - h->since : 1);
	jw_text(&p->w, "cat", "lock");
	end(p);
}

static void release(struct perfetto *p, const struct rt_event *e, uint64_t lock)
{
	for (size_t i = p->held_count; i-- > 0;) {
		if (p->held[i].lock != lock || p->held[i].thread != e->thread)
			continue;
		put_section(p, &p->held[i], e->number);
		p->held[i] = p->held[--p->held_count];
		break;
	}
	leave_source(p, lock, e);
}

static void put_event(struct perfetto *p, const struct rt_event *e)
{
	struct source *fork = source_of(p, (uint64_t)e->thread | UINT64_C(1) << FORKED, false);
	if (fork && fork->open) {
		put_flow(p, "creation", fork, e->thread, e->number);
		fork->open = false;
	}
	if (e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED)
		acquire(p, e, e->addr);
	else if (e->op == RT_OP_RELEASE)
		release(p, e, e->addr);
	else if (e->op == RT_OP_WAIT_BEGIN)
		release(p, e, e->arg);
	else if (e->op == RT_OP_WAIT_END)
		acquire(p, e, e->arg);
	else if (e->op == RT_OP_FORK)
		leave_source(p, e->addr | UINT64_C(1) << FORKED, e);
}

static void put_threads(struct perfetto *p)
{
	const struct rt_trace_info *info = rt_trace_info(p->trace);
	for (uint32_t i = 0; i < info->thread_count; i++) {
		begin(p, "M", "thread_name", i, 0);
		jw_object(&p->w, "args");
		jw_text(&p->w, "name", info->threads[i].name);
		jw_object_end(&p->w);
		end(p);
	}
}

struct perfetto *perfetto_begin(const struct rt_trace *trace, FILE *out)
{
	struct perfetto *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->trace = trace;
	p->w.out = p->out = out;
	fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", out);
	put_threads(p);
	return p;
}

void perfetto_event(struct perfetto *p, const struct rt_event *e, bool goal)
{
	struct rt_event at = *e;
	at.number = ++p->time;
	put_event(p, &at);
	if (!goal)
		return;
	char name[400];
	struct cmd_text position = cmd_position(p->trace, e->pc);
	snprintf(name, sizeof name, "goal: %s %.150s", rt_op_name(e->op), cmd_address(p->trace, e->addr).text);
	begin(p, "i", name, e->thread, at.number);
	jw_text(&p->w, "s", "t");
	jw_object(&p->w, "args");
	jw_number(&p->w, "event", e->number);
	jw_text(&p->w, "position", position.text);
	jw_object_end(&p->w);
	end(p);
}

enum rt_status perfetto_end(struct perfetto *p, struct rt_error *err)
{
	for (size_t i = 0; i < p->held_count; i++)
		put_section(p, &p->held[i], p->time + 1);
	fputs("\n]}\n", p->out);
	bool no_memory = p->no_memory;
	free(p->held);
	HASH_FREE(p->sources);
	free(p);
	return no_memory ? rt_error_set(err, RT_EMEMORY, "no memory for the open critical sections") : RT_OK;
}

enum rt_status perfetto_write(struct rt_trace *trace, FILE *out, struct rt_error *err)
{
	struct rt_pass pass;
	struct perfetto *p = perfetto_begin(trace, out);
	if (!p)
		return rt_error_set(err, RT_EMEMORY, "no memory for the open critical sections");
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && !ferror(out) && !p->no_memory;
	     e = rt_pass_next(&pass)) {
		p->time = e->number;
		put_event(p, e);
	}
	enum rt_status ended = perfetto_end(p, pass.status ? NULL : err);
	return pass.status ? pass.status : ended;
}
