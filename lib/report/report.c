/* Gathering a report, and the table of formats; see report.h. */
#include "lib/report/report.h"

#include "lib/anomaly/goal.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/report/findings.h"
#include "lib/report/fingerprint.h"
#include "lib/report/follows.h"
#include "lib/report/formats.h"
#include "lib/report/root.h"
#include "lib/report/steps.h"
#include "lib/report/subject.h"
#include "lib/trace/snippet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct report_format report_formats[] = {
    {"text", ".txt", report_text, report_text_merged},
    {"json", ".json", report_json, report_json_merged},
    {"sarif", ".sarif", report_sarif, report_sarif_merged},
    {"html", ".html", report_html, report_html_merged},
    {"dot", ".dot", report_dot, NULL},
    {"svg", ".svg", report_svg, NULL},
    {"gcc", NULL, report_gcc, report_gcc_merged},
    {NULL, NULL, NULL, NULL},
};

const struct report_format *report_find(const char *name)
{
	for (const struct report_format *f = report_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

/* The schema is part of the program: the assembler includes it, from the root of the sources. */
__asm__(".section .rodata\n"
        ".globl report_schema\n"
        "report_schema:\n"
        ".incbin \"docs/report.schema.json\"\n"
        ".byte 0\n"
        ".previous\n");

bool report_is_hidden(const struct anomaly *anomaly)
{
	uint32_t hb = UINT32_C(1) << order_find("hb"), hybrid = UINT32_C(1) << order_find("hybrid"),
	         cp = UINT32_C(1) << order_find("cp");
	return anomaly->kind == ANOMALY_RACE && anomaly->orders_run & hb && !(anomaly->orders_unordered & hb) &&
	       anomaly->orders_unordered & (hybrid | cp);
}

/* For an order that warns of cells, its warnings are listed, not the pairs in these cells. */
static uint32_t listing_orders(const struct anomaly *anomaly, uint32_t wanted)
{
	int own = order_find(anomaly->pattern);
	for (int i = 0; orders[i].name; i++)
		if (orders[i].warned_at && i != own)
			wanted &= ~(UINT32_C(1) << i);
	return wanted;
}

static bool listed(const struct anomaly *anomaly, const struct report_options *options)
{
	return options->orders ? (anomaly->orders_unordered & listing_orders(anomaly, options->orders)) != 0
	                       : anomaly->verdict >= options->least;
}

static bool entries_create(struct report *r, const struct report_options *options)
{
	const struct anomaly_list *list = &r->analysis->anomalies;
	r->entries = calloc(list->count ? list->count : 1, sizeof *r->entries);
	if (!r->entries)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		const struct anomaly *anomaly = &list->items[i];
		if (!listed(anomaly, options))
			continue;
		r->entries[r->count].anomaly = anomaly;
		r->entries[r->count++].count = anomaly->count;
		r->summary[anomaly->kind][anomaly->verdict]++;
	}
	if (!options->orders)
		memcpy(r->summary, r->analysis->summary, sizeof r->summary);
	return true;
}

/* Queries for describe(): each event once, the addresses where anomalies' accesses meet, and those of the locks
 * held. */
struct questions {
	struct describe_query *items;
	size_t count, capacity;
	unsigned char *asked;    /* by event index: 1: for its ordinal alone; 2: for all */
	unsigned char *locksets; /* by index */
	unsigned char *objects;  /* by index: locks of these */
	bool no_memory;
};

static void ask_with(struct questions *q, struct describe_query query)
{
	if (!vec_reserve(&q->items, &q->capacity, (uint64_t)q->count + 1, sizeof *q->items)) {
		q->no_memory = true;
		return;
	}
	q->items[q->count++] = query;
}

static void ask(struct questions *q, uint64_t number, uint64_t addr, bool ordinal)
{
	ask_with(q, (struct describe_query){.number = number, .addr = addr, .ordinal = ordinal});
}

static void ask_event(struct questions *q, const struct model *m, uint32_t e)
{
	if (e >= m->event_count || q->asked[e] == 2)
		return;
	q->asked[e] = 2;
	unsigned op = model_op(m, e);
	uint32_t object = m->events[e].object;
	uint64_t addr = 0;
	bool waits = op == RT_OP_BLOCK && model_arg(m, e) != RT_OP_JOIN;
	bool for_others = op == RT_OP_SEM_WAIT || op == RT_OP_ONCE_SEEN || op == RT_OP_BARRIER_LEAVE;
	if ((rt_op_group(op) == RT_GROUP_LOCK || for_others || waits) && object < m->object_count)
		addr = m->objects[object].addr;
	if (m->sites[m->events[e].site].flags & RT_F_OBJECT && rt_op_is_access(op))
		addr = m->cells[object].addr;
	ask(q, m->events[e].number, addr, false);
	uint32_t lockset = model_lockset_of(m, e);
	if (lockset >= m->lockset_count || q->locksets[lockset])
		return;
	q->locksets[lockset] = 1;
	for (uint32_t i = 0; i < m->locksets[lockset].count; i++) {
		uint32_t lock = m->locksets[lockset].locks[i].object;
		if (!q->objects[lock])
			ask(q, 0, m->objects[lock].addr, false);
		q->objects[lock] = 1;
	}
}

/* For what a deadlock's event waits, if its operation does not say so. */
static void ask_wait(struct questions *q, const struct model *m, const struct anomaly *a, uint32_t i)
{
	uint32_t e = a->events[i], object = MODEL_NONE;
	struct describe_query query = {.number = m->events[e].number};
	if (goal_awaits_signal(m, a->events, a->event_count, i)) {
		object = m->events[e].object;
		query.waits = RT_OP_WAIT_END;
	} else if (model_op(m, e) == RT_OP_ATOMIC_LOAD) {
		object = model_once_passed(m, e);
		query.waits = model_result_passed(m, e) ? RT_OP_ATOMIC_LOAD : RT_OP_ONCE_SEEN;
	}
	if (object == MODEL_NONE)
		return;
	query.addr = m->objects[object].addr;
	ask_with(q, query);
}

static void ask_anomaly(struct questions *q, const struct model *m, const struct anomaly *anomaly, bool steps)
{
	uint32_t e;
	uint64_t addr;
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		ask_event(q, m, anomaly->events[i]);
		if (anomaly->kind == ANOMALY_DEADLOCK)
			ask_wait(q, m, anomaly, i);
	}
	for (uint32_t i = 0; i < anomaly->wait_count; i++)
		ask_event(q, m, anomaly->waits[i]);
	if (subject_meeting(m, anomaly, &e, &addr))
		ask(q, m->events[e].number, addr, false);
	const struct schedule *s = steps ? anomaly->schedule : NULL;
	for (uint32_t i = 0; s && i < s->count; i++) {
		e = steps_end(m, s, i);
		if (q->asked[e])
			continue;
		q->asked[e] = 1;
		ask(q, m->events[e].number, 0, true);
	}
}

/* Queries the write and the read of each relaxed atomic that the anomaly follows. */
static void ask_causes(struct questions *q, const struct report *r, const struct anomaly *anomaly)
{
	for (uint32_t i = 0; i < anomaly->cause_count; i++) {
		const struct cause *cause = follows_cause(r, anomaly, i);
		const struct anomaly pair = follows_pair(cause);
		if (cause->anomaly == MODEL_NONE)
			ask_anomaly(q, r->analysis->model, &pair, false);
	}
}

/* steps: also queries the ends of their schedules' steps. */
static enum rt_status describe_entries(struct report *r, const struct describe_stretch *stretch, bool steps,
                                       struct rt_error *err)
{
	const struct model *m = r->analysis->model;
	struct questions q = {.asked = calloc((size_t)m->event_count + 1, 1),
	                      .locksets = calloc((size_t)m->lockset_count + 1, 1),
	                      .objects = calloc((size_t)m->object_count + 1, 1)};
	enum rt_status status = RT_EMEMORY;
	q.no_memory = !q.asked || !q.locksets || !q.objects;
	for (size_t i = 0; i < r->count && !q.no_memory; i++) {
		ask_anomaly(&q, m, r->entries[i].anomaly, steps);
		ask_causes(&q, r, r->entries[i].anomaly);
	}
	if (q.no_memory)
		rt_error_set(err, RT_EMEMORY, "no memory for the report");
	else
		status = stretch->pass ? describe_stretch(stretch, q.items, q.count, &r->descriptions, err)
		                       : describe(r->analysis->trace, q.items, q.count, &r->descriptions, err);
	free(q.items);
	free(q.asked);
	free(q.locksets);
	free(q.objects);
	return status;
}

static int compare_entries(const void *a, const void *b)
{
	const struct report_entry *x = a, *y = b;
	const struct anomaly *p = x->anomaly, *q = y->anomaly;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->verdict != q->verdict)
		return p->verdict > q->verdict ? -1 : 1;
	if (p->follows != q->follows)
		return p->follows ? 1 : -1;
	if (x->rank.value < y->rank.value || x->rank.value > y->rank.value)
		return x->rank.value > y->rank.value ? -1 : 1;
	for (uint32_t i = 0; i < p->event_count && i < q->event_count; i++)
		if (p->events[i] != q->events[i])
			return p->events[i] < q->events[i] ? -1 : 1;
	if (p->event_count != q->event_count)
		return p->event_count < q->event_count ? -1 : 1;
	return strcmp(p->pattern, q->pattern);
}

static void sort_entries(struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct report_entry *e = &r->entries[i];
		e->rank = rank_of(r->analysis, r->descriptions, &r->guards, e->anomaly);
		fingerprint_of(r, e->anomaly, e->fingerprint);
	}
	qsort(r->entries, r->count, sizeof *r->entries, compare_entries);
}

struct position {
	uint64_t key;
	size_t entry;
	UT_hash_handle hh;
};

/* Merges entries at the same source positions into the first. */
static bool merge_entries(struct report *r)
{
	struct position *positions = NULL, *known, *next;
	struct position *memory = calloc(r->count + 1, sizeof *memory);
	size_t kept = 0;
	bool ok = memory != NULL;
	for (size_t i = 0; ok && i < r->count; i++) {
		const struct anomaly *anomaly = r->entries[i].anomaly;
		memory[i].key = fingerprint_positions(r, anomaly);
		HASH_FIND(hh, positions, &memory[i].key, sizeof memory[i].key, known);
		if (known) {
			r->entries[known->entry].count += anomaly->count;
			r->summary[anomaly->kind][anomaly->verdict]--;
			continue;
		}
		memory[i].entry = kept;
		HASH_ADD(hh, positions, key, sizeof memory[i].key, &memory[i]);
		ok = HASH_ADDED(&memory[i]);
		r->entries[kept++] = r->entries[i];
	}
	HASH_ITER(hh, positions, known, next)
	HASH_DELETE(hh, positions, known);
	free(memory);
	if (ok)
		r->count = kept;
	return ok;
}

static void name_entries(struct report *r)
{
	unsigned long numbers[ANOMALY_KINDS] = {0};
	for (size_t i = 0; i < r->count; i++) {
		struct report_entry *e = &r->entries[i];
		snprintf(e->id, sizeof e->id, "%c%lu", anomaly_kind_letter(e->anomaly->kind),
		         ++numbers[e->anomaly->kind]);
	}
}

/* Assigns the causes the ids of the entries at their positions: the first one's, as patterns differ (w-r and r-w). */
static bool name_causes(struct report *r)
{
	free(r->cause_ids);
	const struct analysis *a = r->analysis;
	struct position *positions = NULL, *known, *next;
	struct position *memory = calloc(r->count + 1, sizeof *memory);
	r->cause_ids = calloc((size_t)a->causes.count + 1, sizeof *r->cause_ids);
	bool ok = memory && r->cause_ids;
	for (size_t i = 0; ok && a->causes.count && i < r->count; i++) {
		if (r->entries[i].anomaly->kind != ANOMALY_RACE || r->entries[i].anomaly->follows)
			continue;
		memory[i].key = fingerprint_places(r, r->entries[i].anomaly);
		memory[i].entry = i;
		HASH_FIND(hh, positions, &memory[i].key, sizeof memory[i].key, known);
		if (known)
			continue;
		HASH_ADD(hh, positions, key, sizeof memory[i].key, &memory[i]);
		ok = HASH_ADDED(&memory[i]);
	}
	for (uint32_t i = 0; ok && i < a->causes.count; i++) {
		if (a->causes.items[i].anomaly == MODEL_NONE)
			continue;
		uint64_t key = fingerprint_places(r, &a->anomalies.items[a->causes.items[i].anomaly]);
		HASH_FIND(hh, positions, &key, sizeof key, known);
		if (known)
			memcpy(r->cause_ids[i], r->entries[known->entry].id, sizeof r->cause_ids[i]);
	}
	HASH_ITER(hh, positions, known, next)
	HASH_DELETE(hh, positions, known);
	free(memory);
	return ok;
}

enum rt_status report_name_causes(struct report *r, struct rt_error *err)
{
	return name_causes(r) ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the report");
}

/* Removes all entries but the one with that id. */
static enum rt_status select_entry(struct report *r, const char *id, struct rt_error *err)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->entries[i].id, id)) {
			r->entries[0] = r->entries[i];
			r->count = 1;
			r->alone = true;
			return RT_OK;
		}
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	return rt_error_set(
	    err, RT_EUSAGE, "there is no anomaly '%s' in '%s'%s%s", id, info->path,
	    info->complete ? "" : ", which is incomplete: ", info->complete ? "" : info->incomplete_why);
}

/* Leaves the finding with this id, and its entries. */
static enum rt_status select_finding(struct report *r, const char *id, struct rt_error *err)
{
	const struct finding *f = NULL;
	for (size_t i = 0; i < r->findings->count && !f; i++)
		if (!strcmp(r->findings->items[i].id, id))
			f = &r->findings->items[i];
	if (!f)
		return rt_error_set(err, RT_EUSAGE, "there is no finding '%s' in '%s'", id,
		                    rt_trace_info(r->analysis->trace)->path);
	size_t count = f->entry_count;
	struct report_entry *entries = calloc(count, sizeof *entries);
	if (!entries)
		return rt_error_set(err, RT_EMEMORY, "no memory for the report");
	for (size_t i = 0; i < count; i++)
		entries[i] = r->entries[f->entries[i]];
	free(r->entries);
	r->entries = entries;
	r->count = count;
	r->finding = id;
	return report_join(r, err);
}

static const char *why_incomplete(const struct rt_trace_info *info)
{
	if (!info->complete)
		return info->incomplete_why ? info->incomplete_why : "it was cut short";
	return info->events ? NULL : "it has no events";
}

const char *report_path(const struct report *r, const char *path)
{
	const char *roots[] = {r->source_root, r->folder, r->base};
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		size_t n = roots[i] ? strlen(roots[i]) : 0;
		if (n > 1 && !strncmp(path, roots[i], n) && path[n] == '/' && path[n + 1])
			return path + n + 1;
	}
	return path;
}

/* The folder that the user named, and those that paths are relative to. */
static enum rt_status find_folders(struct report *r, const char *source_root, struct rt_error *err)
{
	const char *trace = rt_trace_info(r->analysis->trace)->path;
	r->folder = trace ? realpath(trace, NULL) : NULL;
	char *slash = r->folder ? strrchr(r->folder, '/') : NULL;
	if (slash)
		*slash = '\0';
	char root[PATH_MAX];
	if (source_root && !(r->source_root = realpath(source_root, NULL)))
		return rt_error_set(err, RT_EUSAGE, "cannot open the folder '%s': %s", source_root, strerror(errno));
	const char *base = r->source_root ? r->source_root : root_find(root) ? root : NULL;
	r->base = base ? strdup(base) : NULL;
	return !base || r->base ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the report");
}

/* The entries in their order, described and named, and the findings of them all. */
static enum rt_status gather(struct report *r, const struct report_options *options, struct rt_error *err)
{
	if (!entries_create(r, options))
		return rt_error_set(err, RT_EMEMORY, "no memory for the report");
	enum rt_status status = describe_entries(r, &options->stretch, !options->only, err);
	if (status)
		return status;
	sort_entries(r);
	if (!options->every && !merge_entries(r))
		return rt_error_set(err, RT_EMEMORY, "no memory for the report");
	name_entries(r);
	status = report_name_causes(r, err);
	return status ? status : findings_create(r, &r->findings, err);
}

/* Leaves what alone is to be listed. */
static enum rt_status select_listed(struct report *r, const struct report_options *options, struct rt_error *err)
{
	if (!options->only)
		return options->finding ? select_finding(r, options->finding, err) : RT_OK;
	enum rt_status status = select_entry(r, options->only, err);
	if (status)
		return status;
	descriptions_free(r->descriptions);
	r->descriptions = NULL;
	return describe_entries(r, &options->stretch, true, err);
}

enum rt_status report_create(const struct analysis *a, const struct report_options *options, struct report **out,
                             struct rt_error *err)
{
	struct report *r = calloc(1, sizeof *r);
	struct snippets *sources = calloc(1, sizeof *sources);
	if (!r || !sources) {
		free(r);
		free(sources);
		return rt_error_set(err, RT_EMEMORY, "no memory for the report");
	}
	*r = (struct report){.analysis = a,
	                     .guards = {.m = a->model, .por = a->facts.por},
	                     .sources = sources,
	                     .baseline = options->baseline,
	                     .suppressions = options->suppressions,
	                     .verbose = options->verbose,
	                     .unkept = options->unkept,
	                     .by_anomaly = options->anomalies || options->every || options->orders || options->only ||
	                                   options->least < VERDICT_PREDICTED,
	                     .incomplete = why_incomplete(rt_trace_info(a->trace))};
	enum rt_status status = find_folders(r, options->source_root, err);
	*sources = (struct snippets){.trace = a->trace, .root = r->source_root};
	if (!status)
		status = gather(r, options, err);
	if (!status)
		status = select_listed(r, options, err);
	if (!status)
		status = rt_trace_memory(a->trace, err);
	if (!status && r->guards.no_memory)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the report");
	if (status) {
		report_free(r);
		return status;
	}
	*out = r;
	return RT_OK;
}

enum rt_status report_write(const struct report *r, const struct report_format *format, bool color, FILE *out,
                            struct rt_error *err)
{
	enum rt_status status = format->write(r, color, out, err);
	if (!status && r->sources->no_memory)
		return rt_error_set(err, RT_EMEMORY, "no memory for the report");
	return status;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	findings_free(r->findings);
	guards_release(&r->guards);
	descriptions_free(r->descriptions);
	free(r->entries);
	free(r->cause_ids);
	snippets_release(r->sources);
	free(r->sources);
	free(r->source_root);
	free(r->base);
	free(r->folder);
	free(r);
}

void report_add_replay(struct report *r, size_t entry, struct replay_result *replay)
{
	struct anomaly *anomaly =
	    &r->analysis->anomalies.items[r->entries[entry].anomaly - r->analysis->anomalies.items];
	replay_free(anomaly->replay);
	anomaly->replay = replay;
	replay->was = (int)anomaly->verdict;
	r->replayed = true;
	if (replay->kind != OUTCOME_CONFIRMED)
		return;
	r->summary[anomaly->kind][anomaly->verdict]--;
	anomaly->verdict = VERDICT_CONFIRMED;
	r->summary[anomaly->kind][anomaly->verdict]++;
}

void report_keep(struct report *r, enum verdict least, bool replayed)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->count; i++)
		if (r->entries[i].anomaly->verdict >= least || (replayed && r->entries[i].anomaly->replay))
			r->entries[kept++] = r->entries[i];
	r->count = kept;
}

enum rt_status report_join(struct report *r, struct rt_error *err)
{
	if (r->alone)
		return RT_OK;
	findings_free(r->findings);
	r->findings = NULL;
	enum rt_status status = findings_create(r, &r->findings, err);
	if (!status && r->finding && r->findings->count == 1)
		snprintf(r->findings->items[0].id, sizeof r->findings->items[0].id, "%s", r->finding);
	return status;
}

bool report_is_of_one(const struct report *r, const char *format, struct rt_error *err)
{
	if (r->count == 1 || r->finding)
		return true;
	rt_error_set(err, RT_EUSAGE, "%s draws one anomaly, and there are %zu: say which by --anomaly, or --finding",
	             format, r->count);
	return false;
}

const struct description *report_event(const struct report *r, uint32_t e)
{
	return description_of(r->descriptions, r->analysis->model->events[e].number);
}
