/*
 * Strategies of the recorder that are told what to aim at, or what earlier runs were like.
 *
 * racefuzzer (Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008): a run finds pairs of statements
 * that hybrid detection leaves unordered. Then each pair in turn is what a run tries to create, beside as many runs
 * that try nothing. The same for atomicity violations, ASVs and deadlocks.
 *
 * pct learns the numbers of threads and steps from the run before, drfinder which function takes which lock.
 */
#include "cmd/explore/explore.h"

#include "lib/base/input.h"
#include "lib/base/vec.h"
#include "lib/trace/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Learning ---- */

static void last_outcome(const struct exploring *x, char *path, size_t size)
{
	snprintf(path, size, "%.250s/last-outcome", x->folder);
}

bool learning_next(struct exploring *x, struct run_order *order)
{
	char option[300] = "--learn=";
	char depth[32];
	x->next_seed++;
	snprintf(depth, sizeof depth, "--depth=%" PRIu32, x->o.depth);
	if (x->o.depth && !x->native && !run_order_add(order, depth))
		return false;
	if (x->ended)
		last_outcome(x, option + strlen(option), sizeof option - strlen(option));
	return !x->ended || run_order_add(order, option);
}

enum rt_status learning_merged(struct exploring *x, const struct run_result *run, struct rt_error *err)
{
	char path[300];
	last_outcome(x, path, sizeof path);
	if (rename(run->slot->outcome, path) != 0 && x->ended == 1)
		return rt_error_set(err, RT_EINPUT, "a run leaves no outcome to learn from");
	return RT_OK;
}

/* ---- Aims ---- */

enum { AIM_EVENTS = ANOMALY_EVENTS_MAX, AIM_PLACES = 2 * AIM_EVENTS, AIMS_MAX = 1000 };

struct aim {
	struct merge_trial trial;
	const char *pattern; /* --pattern */
	char at[AIM_PLACES][300];
	/* Of a location that is a variable of the place's module: its offset there, which counts every second time;
	 * other memory at the same positions may lead astray. 0: none. */
	uint64_t objects[AIM_PLACES];
	uint32_t count;
};

struct racefuzzer {
	struct aim *items;
	size_t count, room;
	size_t first; /* trial of the first aim: those of the merge before it are of other inputs or tests */
	size_t next;  /* the aim of the next run; count: none, a plain one */
	bool busy;    /* the first run is under way */
};

void racefuzzer_release(struct exploring *x)
{
	struct racefuzzer *f = x->racefuzzer;
	if (!f)
		return;
	free(f->items);
	free(f);
}

enum rt_status racefuzzer_read_pairs(struct exploring *x, struct rt_error *err)
{
	FILE *file = rt_input_stream(x->o.pairs);
	if (!file)
		return rt_error_set(err, RT_EUSAGE, "cannot open '%s': %s", x->o.pairs, strerror(errno));
	json_t *report = json_loadf(file, 0, NULL);
	fclose(file);
	json_t *anomalies = json_object_get(report, "anomalies");
	if (!json_is_array(anomalies)) {
		json_decref(report);
		return rt_error_set(err, RT_EUSAGE, "'%s' is not a JSON report: 'racetrace analyze -f json'",
		                    x->o.pairs);
	}
	x->pairs = json_object();
	for (size_t i = 0; i < json_array_size(anomalies); i++) {
		const char *fingerprint =
		    json_string_value(json_object_get(json_array_get(anomalies, i), "fingerprint"));
		if (fingerprint)
			json_object_set_new(x->pairs, fingerprint, json_true());
	}
	json_decref(report);
	return x->pairs ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to explore");
}

static struct merge_trial *trial_of(const struct exploring *x, size_t aim)
{
	return &x->merge.trials[x->racefuzzer->first + aim];
}

bool racefuzzer_next(struct exploring *x, struct run_order *order)
{
	struct racefuzzer *f = x->racefuzzer;
	order->candidate = SIZE_MAX;
	if (!f) { /* phase 1 */
		if (!(x->racefuzzer = calloc(1, sizeof *x->racefuzzer)))
			return false;
		x->racefuzzer->first = x->merge.trial_count;
		x->racefuzzer->busy = true;
		x->next_seed++;
		return true;
	}
	if (x->native) { /* nothing can be aimed at */
		x->next_seed++;
		return true;
	}
	if (f->busy || !f->count)
		return false;
	if (f->next >= f->count) { /* as many runs that aim at nothing */
		f->next = 0;
		x->next_seed++;
		return true;
	}
	const struct aim *aim = &f->items[f->next];
	char option[320];
	order->strategy = "racefuzzer";
	order->candidate = f->next++;
	snprintf(option, sizeof option, "--pattern=%s", aim->pattern);
	bool ok = run_order_add(order, option);
	bool fixed = trial_of(x, order->candidate)->runs % 2 == 0;
	for (uint32_t i = 0; ok && i < aim->count; i++) {
		int role = fixed && aim->objects[i] ? (int)strcspn(aim->at[i], ":") : 0;
		if (role)
			snprintf(option, sizeof option, "--at=%.*s=%#" PRIx64 "%s", role, aim->at[i], aim->objects[i],
			         aim->at[i] + role);
		else
			snprintf(option, sizeof option, "--at=%s", aim->at[i]);
		ok = run_order_add(order, option);
	}
	return ok;
}

/* The role of an event of a sequence: its thread and its location, each by its first event. */
static void put_role(const struct model *m, const struct anomaly *a, uint32_t i, char *to, size_t size)
{
	uint32_t role = 0, location = 0, threads[AIM_EVENTS], cells[AIM_EVENTS], nt = 0, nc = 0;
	for (uint32_t k = 0; k <= i; k++) {
		uint32_t thread = model_thread_of(m, a->events[k]), cell = m->events[a->events[k]].object;
		for (role = 0; role < nt && threads[role] != thread; role++)
			;
		if (role == nt)
			threads[nt++] = thread;
		for (location = 0; location < nc && cells[location] != cell; location++)
			;
		if (location == nc)
			cells[nc++] = cell;
	}
	snprintf(to, size, "%" PRIu32 "/%" PRIu32 ":", role, location);
}

static bool put_pc(const struct report *r, uint64_t pc, const char *role, char *to, size_t size)
{
	const struct rt_module *module = module_at(r->analysis->trace, pc);
	if (!module)
		return false;
	snprintf(to, size, "%s%.200s+0x%" PRIx64, role, module_name(module->path), pc - module->start);
	return true;
}

/* Where the variable that the event accesses is in the module of its position; 0: there, or otherwise, is none. */
static uint64_t object_of(const struct report *r, uint32_t e, uint64_t pc)
{
	const struct rt_trace *trace = r->analysis->trace;
	const struct description *d = report_event(r, e);
	const struct rt_module *module = module_at(trace, pc);
	struct rt_variable variable;
	bool there = d && module && d->event.addr > module->start && rt_trace_variable(trace, d->event.addr, &variable);
	return there ? d->event.addr - module->start : 0;
}

static bool make_aim(const struct report *r, const struct report_entry *e, struct aim *aim)
{
	const struct model *m = r->analysis->model;
	const struct anomaly *a = e->anomaly;
	bool sequence = a->kind == ANOMALY_ATOMICITY || a->kind == ANOMALY_ASV;
	char what[900] = "", role[32] = "", gate_role[32];
	if (a->kind == ANOMALY_RACE ? anomaly_is_of_blocks(m, a) || anomaly_may_be_atomic(a)
	                            : !sequence && (a->kind != ANOMALY_DEADLOCK || anomaly_is_stuck(m, a)))
		return false;
	aim->pattern = a->kind == ANOMALY_RACE ? "race" : sequence ? "sequence" : "deadlock";
	aim->count = 0;
	for (uint32_t i = 0; i < a->event_count; i++) {
		if (sequence)
			put_role(m, a, i, role, sizeof role);
		uint64_t gate = sequence ? explore_gate(r, a, i) : 0, pc = m->sites[m->events[a->events[i]].site].pc;
		if (gate) {
			aim->objects[aim->count] = 0;
			snprintf(gate_role, sizeof gate_role, "%.*s/-:", (int)strcspn(role, "/"), role);
			if (!put_pc(r, gate, gate_role, aim->at[aim->count++], sizeof *aim->at))
				return false;
		}
		aim->objects[aim->count] = sequence ? object_of(r, a->events[i], pc) : 0;
		if (!put_pc(r, pc, role, aim->at[aim->count++], sizeof *aim->at))
			return false;
		struct place place = place_of(r, a->events[i]);
		const struct rt_frame *f = place.frame;
		if (f && f->file)
			snprintf(what + strlen(what), sizeof what - strlen(what), "%s%.100s:%" PRIu32, i ? " and " : "",
			         module_name(f->file), f->line);
		else
			snprintf(what + strlen(what), sizeof what - strlen(what), "%s%.100s", i ? " and " : "",
			         aim->at[aim->count - 1]);
	}
	aim->trial = (struct merge_trial){.kind = a->kind, .what = strdup(what)};
	memcpy(aim->trial.fingerprint, e->fingerprint, sizeof aim->trial.fingerprint);
	return aim->trial.what != NULL;
}

/* All that hybrid leaves unordered, whatever the provers say of it. */
static enum rt_status take_aims(struct exploring *x, const struct run_result *run, struct rt_error *err)
{
	struct racefuzzer *f = x->racefuzzer;
	struct merge *m = &x->merge;
	struct report_options options = {.least = VERDICT_REFUTED};
	struct report *all;
	enum rt_status status = report_create(run->analysis, &options, &all, err);
	if (status)
		return status;
	for (size_t i = 0; !status && i < all->count && f->count < AIMS_MAX; i++) {
		const struct report_entry *e = &all->entries[i];
		bool known = x->pairs && !json_object_get(x->pairs, e->fingerprint);
		for (size_t k = 0; k < f->count && !known; k++)
			known = !strcmp(f->items[k].trial.fingerprint, e->fingerprint);
		if (known)
			continue;
		if (!vec_reserve(&f->items, &f->room, (uint64_t)f->count + 1, sizeof *f->items) ||
		    !vec_reserve(&m->trials, &m->trial_room, (uint64_t)m->trial_count + 1, sizeof *m->trials))
			status = rt_error_set(err, RT_EMEMORY, "no memory to explore");
		else if (make_aim(all, e, &f->items[f->count]))
			m->trials[m->trial_count++] = f->items[f->count++].trial;
	}
	report_free(all);
	return status;
}

enum rt_status racefuzzer_ended(struct exploring *x, const struct run_result *run, struct rt_error *err)
{
	struct racefuzzer *f = x->racefuzzer;
	bool first = f->busy;
	f->busy = false;
	return first && run->analysis && !x->native ? take_aims(x, run, err) : RT_OK;
}

enum rt_status racefuzzer_merged(struct exploring *x, const struct run_result *run, struct rt_error *err)
{
	struct merge *m = &x->merge;
	if (run->order->candidate == SIZE_MAX) {
		m->plain_runs++;
		if (run->harm != INCIDENTS)
			m->plain_harm[run->harm]++;
		return RT_OK;
	}
	struct merge_trial *t = trial_of(x, run->order->candidate);
	t->runs++;
	if (run->harm != INCIDENTS && !t->harm[run->harm]++)
		t->harm_seed[run->harm] = run->order->seed;
	if (!run->told->created)
		return RT_OK;
	if (!t->created++)
		t->seed = run->order->seed;
	struct replay_run outcome = {.kind = OUTCOME_CONFIRMED, .way = OUTCOME_BY_SEARCH};
	const struct run_end *end = try_end(run->t);
	outcome.end = run->harm == INCIDENT_DEADLOCK ? OUTCOME_DEADLOCK
	              : run->harm == INCIDENT_HANG   ? OUTCOME_HANG
	              : end->kind == RUN_SIGNALED    ? OUTCOME_SIGNAL
	                                             : OUTCOME_STATUS;
	outcome.value = outcome.end == OUTCOME_SIGNAL || outcome.end == OUTCOME_STATUS ? end->value : 0;
	return explore_attach(x, t->fingerprint, &outcome, err);
}
