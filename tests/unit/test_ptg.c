/* The partial and temporal order graph against what it is defined by: the order of the trace and the clocks. */
#include "lib/search/ptg.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#include <glob.h>

struct subject {
	struct rt_trace *trace;
	struct model *m;
	struct segment_order por;
	struct ptg *g;
};

static void subject_init(struct subject *s, struct rt_trace *trace)
{
	struct rt_error err = {0};
	s->trace = trace;
	struct model_options options = {.regions = REGIONS_LOCKS};
	ck_assert_msg(model_load(trace, &options, &s->m, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(segment_order_compute(s->m, false, &s->por, &err) == RT_OK, "%s", err.message);
	s->g = ptg_create(s->m, &s->por);
	ck_assert_ptr_nonnull(s->g);
}

static void subject_release(struct subject *s)
{
	ptg_free(s->g);
	segment_order_release(&s->por);
	model_free(s->m);
	rt_trace_free(s->trace);
}

/* Events that a walk along solid edges, backwards from e, comes to. */
static void mark_before(const struct subject *s, uint32_t e, bool *marked)
{
	struct ptg_list sources = ptg_por_into(s->g, e);
	uint32_t pred = model_pred(s->m, e);
	if (pred != MODEL_NONE && !marked[pred]) {
		marked[pred] = true;
		mark_before(s, pred, marked);
	}
	for (uint32_t i = 0; i < sources.count; i++)
		if (!marked[sources.events[i]]) {
			marked[sources.events[i]] = true;
			mark_before(s, sources.events[i], marked);
		}
}

/* A path of solid edges. */
static bool is_before(const struct subject *s, uint32_t e1, uint32_t e2)
{
	return e1 != e2 && segment_order_before(&s->por, e1, e2);
}

static void check_solid(const struct subject *s)
{
	const struct model *m = s->m;
	bool *marked = malloc(m->event_count + 1);
	for (uint32_t e = 0; e < m->event_count; e++) {
		struct ptg_list sources = ptg_por_into(s->g, e);
		for (uint32_t i = 0; i < sources.count; i++) {
			ck_assert_uint_ne(model_thread_of(m, sources.events[i]), model_thread_of(m, e));
			ck_assert(!i || sources.events[i - 1] < sources.events[i]);
			for (uint32_t k = 0; k < sources.count; k++)
				ck_assert(i == k || !is_before(s, sources.events[i], sources.events[k]));
		}
		memset(marked, 0, m->event_count);
		mark_before(s, e, marked);
		for (uint32_t other = 0; other < m->event_count; other++)
			ck_assert_msg(marked[other] == is_before(s, other, e), "%s: %u and %u",
			              rt_trace_info(s->trace)->path, m->events[other].number, m->events[e].number);
	}
	free(marked);
}

static void check_dashed(const struct subject *s)
{
	const struct model *m = s->m;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		const uint32_t *all = m->cell_events + m->cells[c].first;
		for (uint32_t i = 0; i < m->cells[c].count; i++) {
			uint32_t after = i + 1 < m->cells[c].count ? all[i + 1] : MODEL_NONE,
			         before = i ? all[i - 1] : MODEL_NONE;
			ck_assert_uint_eq(ptg_tor_after(s->g, all[i], c), after);
			ck_assert_uint_eq(ptg_tor_before(s->g, all[i], c), before);
		}
	}
}

static void check_threads(const struct subject *s)
{
	for (uint32_t e = 0; e < s->m->event_count; e++)
		ck_assert_uint_eq(ptg_of_thread(s->g, model_thread_of(s->m, e)).events[s->m->events[e].pos], e);
}

START_TEST(the_graph_of_every_golden_trace_is_its_order)
{
	glob_t files;
	ck_assert_int_eq(glob("tests/golden/hand/*.std", 0, NULL, &files), 0);
	ck_assert_uint_gt(files.gl_pathc, 50);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct subject s;
		struct rt_trace *trace;
		struct rt_error err = {0};
		ck_assert_msg(rt_trace_open(files.gl_pathv[i], &trace, &err) == RT_OK, "%s", err.message);
		subject_init(&s, trace);
		check_solid(&s);
		check_dashed(&s);
		check_threads(&s);
		subject_release(&s);
	}
	globfree(&files);
}
END_TEST

static const char communication[] = "{\"schema\":\"racetrace.events/1\"}\n"
                                    "{\"op\":\"fork\",\"object\":\"main.1\"}\n"
                                    "{\"op\":\"fork\",\"object\":\"main.2\"}\n"
                                    "{\"op\":\"acquire\",\"object\":\"m\",\"thread\":\"main.1\"}\n"
                                    "{\"op\":\"wait-begin\",\"object\":\"c\",\"arg\":\"m\",\"thread\":\"main.1\"}\n"
                                    "{\"op\":\"write\",\"object\":\"x\"}\n"
                                    "{\"op\":\"acquire\",\"object\":\"m\"}\n"
                                    "{\"op\":\"signal\",\"object\":\"c\"}\n"
                                    "{\"op\":\"release\",\"object\":\"m\"}\n"
                                    "{\"op\":\"wait-end\",\"object\":\"c\",\"arg\":\"m\",\"thread\":\"main.1\"}\n"
                                    "{\"op\":\"write\",\"object\":\"x\",\"thread\":\"main.1\"}\n"
                                    "{\"op\":\"release\",\"object\":\"m\",\"thread\":\"main.1\"}\n"
                                    "{\"op\":\"barrier-arrive\",\"object\":\"b\",\"arg\":3}\n"
                                    "{\"op\":\"barrier-arrive\",\"object\":\"b\",\"arg\":3,\"thread\":\"main.1\"}\n"
                                    "{\"op\":\"barrier-arrive\",\"object\":\"b\",\"arg\":3,\"thread\":\"main.2\"}\n"
                                    "{\"op\":\"barrier-leave\",\"object\":\"b\"}\n"
                                    "{\"op\":\"write\",\"object\":\"x\"}\n"
                                    "{\"op\":\"barrier-leave\",\"object\":\"b\",\"thread\":\"main.2\"}\n"
                                    "{\"op\":\"join\",\"object\":\"main.2\"}\n";

static uint32_t event_of(const struct model *m, uint32_t number)
{
	for (uint32_t e = 0; e < m->event_count; e++)
		if (m->events[e].number == number)
			return e;
	ck_abort_msg("event %u is not kept", number);
	return MODEL_NONE;
}

/* Numbers of the sources of the solid edges into an event, as text. */
static const char *into(const struct subject *s, uint32_t number, char text[64])
{
	struct ptg_list sources = ptg_por_into(s->g, event_of(s->m, number));
	text[0] = '\0';
	for (uint32_t i = 0; i < sources.count; i++)
		snprintf(text + strlen(text), 64 - strlen(text), "%s%u", i ? " " : "",
		         s->m->events[sources.events[i]].number);
	return text;
}

START_TEST(solid_edges_join_thread_communication_events_alone)
{
	char text[64];
	struct subject s;
	subject_init(&s, scratch_trace(communication));
	ck_assert_str_eq(into(&s, 3, text), "1");      /* fork */
	ck_assert_str_eq(into(&s, 9, text), "7");      /* notify to wait, not the lock's release */
	ck_assert_str_eq(into(&s, 6, text), "");       /* an acquire is no thread communication */
	ck_assert_str_eq(into(&s, 15, text), "13 14"); /* all that arrived */
	ck_assert_str_eq(into(&s, 17, text), "12 13");
	ck_assert_str_eq(into(&s, 18, text), "17"); /* join: after the child's last */
	check_solid(&s);
	check_dashed(&s);
	check_threads(&s);
	subject_release(&s);
}
END_TEST

SUITE(ptg)
{
	Suite *s = suite_create("ptg");
	TCase *c = tcase_create("graph");
	tcase_add_test(c, the_graph_of_every_golden_trace_is_its_order);
	tcase_add_test(c, solid_edges_join_thread_communication_events_alone);
	suite_add_tcase(s, c);
	return s;
}
