/*
 * Listed schedules: a report's schedule of what is proved or observed is valid for its readers. A reader has the
 * report's text and the trace, and counts the trace's events. The model has some of these as several events: the call
 * on a lock that reads its memory, too; the hold that another thread ended; what comes after a second fork.
 */
#include "lib/report/report.h"
#include "lib/schedule/script.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_VALUES | ORACLE_ATOMICS,
    ORACLE_ALL,
    ORACLE_LOCKS | ORACLE_STRAYS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_CONDITIONS | ORACLE_FORKS | ORACLE_STRAYS,
    ORACLE_ALL | ORACLE_STRAYS,
};
enum { TRACES = 2000, MIXES = sizeof mixes / sizeof *mixes, EVENTS_MAX = 2 * ORACLE_EVENTS };
enum { JUDGED_MAX = 6 /* schedules of one trace */ };

struct subject {
	struct rt_event events[EVENTS_MAX];
	size_t count;
	uint64_t random;
	char names[ORACLE_THREADS][16];
	uint64_t judged, parts; /* schedules; those of goals that the model has as several events */
};

static unsigned below(struct subject *s, unsigned n)
{
	s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(s->random >> 33) % n;
}

static bool is_call(const struct rt_event *e)
{
	enum rt_group group = rt_op_group(e->op);
	return group == RT_GROUP_LOCK || group == RT_GROUP_CONDITION || e->op == RT_OP_BARRIER_ARRIVE ||
	       e->op == RT_OP_SEM_POST || e->op == RT_OP_SEM_WAIT;
}

/* An event of some thread that has had one, which no run of a program needs: the initialisation of a lock, or a second
 * fork. */
static void add_extra(struct subject *s, const struct oracle_trace *t)
{
	struct rt_event e = {.thread = s->events[below(s, (unsigned)s->count)].thread, .pc = 20};
	if (below(s, 3)) {
		const struct rt_event *lock = &t->events[below(s, (unsigned)t->count)];
		if (!is_call(lock))
			return;
		e.op = RT_OP_WRITE;
		e.addr = lock->addr;
		e.arg = 1;
		e.flags = RT_F_OBJECT;
	} else {
		e.op = RT_OP_FORK;
		e.addr = s->events[below(s, (unsigned)s->count)].thread;
		if (e.addr == e.thread)
			return;
	}
	s->events[s->count++] = e;
}

/* The oracle's trace, with calls that read their objects and with events that are its own. */
static struct rt_trace *decorate(struct subject *s, const struct oracle_trace *t, struct memory_trace *memory)
{
	uint64_t ordinals[ORACLE_THREADS] = {0};
	bool objects = below(s, 2), extras = below(s, 3) == 0;
	s->count = 0;
	for (int i = 0; i < t->count; i++) {
		s->events[s->count] = t->events[i];
		if (objects && is_call(&t->events[i]))
			s->events[s->count].flags |= RT_F_OBJECT;
		s->count++;
		if ((extras || objects) && below(s, 10) == 0 && s->count + 1 < EVENTS_MAX)
			add_extra(s, t);
	}
	for (size_t i = 0; i < s->count; i++) {
		s->events[i].number = i + 1;
		s->events[i].ordinal = ++ordinals[s->events[i].thread];
	}
	struct rt_trace *trace = memory_trace(memory, s->events, s->count, (uint32_t)t->threads);
	trace->info.zeroed = t->zeroed;
	for (int i = 0; i < t->threads; i++) {
		snprintf(s->names[i], sizeof s->names[i], "T%d", i);
		memory->threads[i].name = s->names[i];
	}
	return trace;
}

/* The trace and the schedule, NULL: none, for messages. */
static char *text_of(const struct subject *s, const struct script *script)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (size_t i = 0; i < s->count; i++) {
		const struct rt_event *e = &s->events[i];
		fprintf(out, "%zu: T%u %lu %s %lx %lu order %u flags %u value %lx\n", i + 1, e->thread,
		        (unsigned long)e->ordinal, rt_op_name(e->op), (unsigned long)e->addr, (unsigned long)e->arg,
		        e->order, e->flags, (unsigned long)e->value);
	}
	if (script)
		script_write(script, out);
	fclose(out);
	return text;
}

static void judge(struct subject *s, struct rt_trace *trace, const struct report_entry *entry, char *json, size_t size)
{
	struct script *script;
	struct script_verdict verdict;
	struct rt_error err = {0};
	FILE *in = fmemopen(json, size, "r");
	ck_assert_msg(in && !script_read(in, "report", entry->id, &script, &err), "%s", err.message);
	fclose(in);
	ck_assert_msg(!script_judge(script, trace, &verdict, &err), "%s", err.message);
	if (verdict.fault)
		ck_abort_msg("%s is %s; its schedule: event %lu of T%u: %s\n%s", entry->id,
		             verdict_name(entry->anomaly->verdict),
		             (unsigned long)(verdict.at.ordinal ? verdict.at.ordinal : verdict.at.number),
		             verdict.at.thread, verify_fault_text(verdict.fault), text_of(s, script));
	script_free(script);
	s->judged++;
}

/* Is one of the anomaly's events one of several that the model has of one event? */
static bool is_part(const struct model *m, const struct anomaly *a)
{
	for (uint32_t i = 0; i < a->event_count; i++) {
		uint32_t e = a->events[i];
		if ((e && m->events[e - 1].number == m->events[e].number) ||
		    (e + 1 < m->event_count && m->events[e + 1].number == m->events[e].number))
			return true;
	}
	return false;
}

static void check(struct subject *s, const struct oracle_trace *t, bool every)
{
	struct memory_trace memory;
	struct rt_trace *trace = decorate(s, t, &memory);
	struct analysis_options options = {.every = every};
	struct report_options report_options = {.least = VERDICT_PROVED, .every = every};
	struct analysis *a;
	struct report *r;
	struct rt_error err = {0};
	char *json;
	size_t size;
	ck_assert_msg(!analysis_run(trace, &options, &a, &err), "%s", err.message);
	ck_assert_msg(!a->proofs.rejected, "the judge refuses what a prover promised in\n%s", text_of(s, NULL));
	ck_assert_msg(!report_create(a, &report_options, &r, &err), "%s", err.message);
	FILE *out = open_memstream(&json, &size);
	ck_assert_msg(!report_find("json")->write(r, false, out, &err), "%s", err.message);
	fclose(out);
	uint64_t most = s->judged + JUDGED_MAX;
	for (size_t i = below(s, 4); i < r->count && s->judged < most; i++) {
		const struct anomaly *anomaly = r->entries[i].anomaly;
		if (anomaly->verdict < VERDICT_PROVED || !anomaly->schedule)
			continue;
		judge(s, trace, &r->entries[i], json, size);
		s->parts += is_part(a->model, anomaly);
	}
	free(json);
	report_free(r);
	analysis_free(a);
}

START_TEST(what_is_proved_is_valid_for_readers_of_its_schedule)
{
	static struct oracle_trace t;
	static struct subject s;
	s = (struct subject){.random = (uint64_t)_i};
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		oracle_random(&t, seed * 31 + (uint64_t)_i * 7000003, mixes[_i], 8 + (int)(seed % 22));
		check(&s, &t, seed % 4 == 0);
	}
	assert_enough(s.judged, 12, TRACES);
	if (!(mixes[_i] & ORACLE_BARRIERS)) /* of traces with everything few have lock calls in their anomalies */
		assert_enough(s.parts, 3, TRACES);
}
END_TEST

SUITE(listed)
{
	Suite *s = suite_create("listed");
	TCase *c = tcase_create("random traces");
	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, what_is_proved_is_valid_for_readers_of_its_schedule, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
