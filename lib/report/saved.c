/* Findings of an earlier report; see saved.h. */
#include "lib/report/saved.h"

#include "lib/base/input.h"
#include "lib/base/json_memory.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* False: it has no fingerprint. */
static bool read_finding(const json_t *object, struct saved_finding *f)
{
	const char *fingerprint = text_of(object, "fingerprint");
	const json_t *place = json_array_get(json_object_get(object, "places"), 0);
	json_int_t line = json_integer_value(json_object_get(place, "line"));
	/* It becomes a rule of its own line in suppressions. */
	if (strlen(fingerprint) + 1 != sizeof f->fingerprint ||
	    strspn(fingerprint, "0123456789abcdef") + 1 != sizeof f->fingerprint)
		return false;
	*f = (struct saved_finding){.id = text_of(object, "id"),
	                            .level = text_of(object, "level"),
	                            .verdict = text_of(object, "verdict"),
	                            .title = text_of(object, "title"),
	                            .file = text_of(place, "file"),
	                            .line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0,
	                            .known = json_is_true(json_object_get(object, "known"))};
	memcpy(f->fingerprint, fingerprint, sizeof f->fingerprint);
	return true;
}

static enum rt_status read_findings(struct saved_report *r, const char *path, struct rt_error *err)
{
	const json_t *findings = json_object_get(r->root, "findings");
	if (strcmp(text_of(r->root, "schema"), "racetrace.report/1") != 0 || !json_is_array(findings))
		return rt_error_set(err, RT_EUSAGE,
		                    "'%s' is not a JSON report with findings: 'racetrace analyze -f json'", path);
	size_t n = json_array_size(findings);
	if (!(r->findings = calloc(n + 1, sizeof *r->findings)))
		return rt_error_set(err, RT_EMEMORY, "no memory for the findings of '%s'", path);
	for (size_t i = 0; i < n; i++)
		r->count += read_finding(json_array_get(findings, i), &r->findings[r->count]);
	return RT_OK;
}

enum rt_status saved_read(const char *path, struct saved_report *out, struct rt_error *err)
{
	json_error_t error;
	FILE *file = rt_input_stream(path);
	*out = (struct saved_report){0};
	if (!file)
		return rt_error_set(err, errno == ENOMEM ? RT_EMEMORY : RT_EUSAGE, "cannot open '%s': %s", path,
		                    strerror(errno));
	rt_json_memory_watch();
	out->root = json_loadf(file, 0, &error);
	fclose(file);
	if (rt_json_memory_failed()) { /* some allocations are done without silently */
		saved_release(out);
		return rt_error_set(err, RT_EMEMORY, "no memory for the findings of '%s'", path);
	}
	if (!out->root)
		return rt_error_set(
		    err, RT_EUSAGE,
		    "'%s' is not a JSON report: 'racetrace analyze -f json' writes one of a trace: line %d: %s", path,
		    error.line, error.text);
	enum rt_status status = read_findings(out, path, err);
	if (status)
		saved_release(out);
	return status;
}

void saved_release(struct saved_report *r)
{
	json_decref(r->root);
	free(r->findings);
	*r = (struct saved_report){0};
}

const struct saved_finding *saved_find(const struct saved_report *r, const char *fingerprint)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->findings[i].fingerprint, fingerprint))
			return &r->findings[i];
	return NULL;
}
