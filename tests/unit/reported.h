/* What tests of reports share: a trace in RAPID's STD text with its analysis, and reports of it. */
#ifndef TESTS_UNIT_REPORTED_H
#define TESTS_UNIT_REPORTED_H

#include "lib/report/report.h"
#include "tests/unit/schema.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	char path[64];
	struct rt_trace *trace;
	struct analysis *analysis;
};

static inline void load(struct fixture *f, const char *std, const struct analysis_options *options)
{
	struct rt_error err = {0};
	strcpy(f->path, "/tmp/racetrace-test-XXXXXX");
	int fd = mkstemp(f->path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq((int)write(fd, std, strlen(std)), (int)strlen(std));
	close(fd);
	ck_assert_msg(rt_trace_open(f->path, &f->trace, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(analysis_run(f->trace, options, &f->analysis, &err) == RT_OK, "%s", err.message);
}

static inline void unload(struct fixture *f)
{
	analysis_free(f->analysis);
	rt_trace_free(f->trace);
	unlink(f->path);
}

/* The report in one format; the caller frees it. */
static inline char *write_report(const struct fixture *f, const char *format, bool color,
                                 const struct report_options *options)
{
	struct rt_error err = {0};
	struct report *r;
	char *text = NULL;
	size_t size;
	ck_assert_msg(report_create(f->analysis, options, &r, &err) == RT_OK, "%s", err.message);
	FILE *out = open_memstream(&text, &size);
	ck_assert_msg(report_find(format)->write(r, color, out, &err) == RT_OK, "%s", err.message);
	fclose(out);
	report_free(r);
	return text;
}

static inline json_t *read_json(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(json != NULL, "%s at %d:%d", error.text, error.line, error.column);
	return json;
}

/* The report as JSON, checked against the schema. */
static inline json_t *report_of(const struct fixture *f, const struct report_options *options)
{
	char why[1024], *text = write_report(f, "json", false, options);
	json_t *json = read_json(text), *schema = read_json(report_schema);
	ck_assert_msg(schema_check(schema, json, why, sizeof why), "%s", why);
	json_decref(schema);
	free(text);
	return json;
}

static inline json_t *get(json_t *json, const char *path)
{
	char copy[128], *save, *word;
	snprintf(copy, sizeof copy, "%s", path);
	for (word = strtok_r(copy, ".", &save); word; word = strtok_r(NULL, ".", &save)) {
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(word)) : json_object_get(json, word);
		ck_assert_msg(json != NULL, "no %s in %s", word, path);
	}
	return json;
}
#define STRING(json, path) json_string_value(get(json, path))
#define NUMBER(json, path) json_integer_value(get(json, path))

static const struct report_options normal = {.least = VERDICT_PREDICTED};
static const struct report_options each = {.least = VERDICT_PREDICTED, .anomalies = true}; /* text: not by findings */
static const char two_races[] = "T1|w(x)|a.c:10:3\n"
                                "T1|acq(L)|a.c:11\n"
                                "T1|r(y)|a.c:12:5\n"
                                "T1|rel(L)|a.c:13\n"
                                "T2|w(x)|b.c:20:3\n"
                                "T2|w(y)|b.c:21:9\n";

#endif
