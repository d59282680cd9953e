/* Baselines; see baseline.h. */
#include "lib/report/baseline.h"

#include "lib/base/hash.h"
#include "lib/base/json_memory.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct known {
	char fingerprint[17];
	UT_hash_handle hh;
};

bool baseline_has(const struct baseline *b, const char *fingerprint)
{
	struct known *k;
	HASH_FIND_STR(b->all, fingerprint, k);
	return k != NULL;
}

/* False without memory. */
static bool add(struct baseline *b, const char *fingerprint)
{
	struct known *k;
	if (strlen(fingerprint) + 1 != sizeof k->fingerprint || baseline_has(b, fingerprint))
		return true;
	if (!(k = calloc(1, sizeof *k)))
		return false;
	memcpy(k->fingerprint, fingerprint, sizeof k->fingerprint);
	HASH_ADD_STR(b->all, fingerprint, k);
	if (HASH_ADDED(k))
		return true;
	free(k);
	return false;
}

static enum rt_status add_findings(struct baseline *b, const json_t *report, const char *path, struct rt_error *err)
{
	const char *schema = json_string_value(json_object_get(report, "schema"));
	const json_t *findings = json_object_get(report, "findings");
	if (!schema || strcmp(schema, "racetrace.report/1") != 0 || !json_is_array(findings))
		return rt_error_set(err, RT_EUSAGE,
		                    "'%s' is not a JSON report with findings: 'racetrace analyze -f json'", path);
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const char *fingerprint =
		    json_string_value(json_object_get(json_array_get(findings, i), "fingerprint"));
		if (fingerprint && !add(b, fingerprint))
			return rt_error_set(err, RT_EMEMORY, "no memory for the findings of '%s'", path);
	}
	return RT_OK;
}

enum rt_status baseline_read(struct baseline *b, const char *path, struct rt_error *err)
{
	json_error_t error;
	FILE *file = fopen(path, "re");
	if (!file)
		return rt_error_set(err, RT_EUSAGE, "cannot open '%s': %s", path, strerror(errno));
	rt_json_memory_watch();
	json_t *report = json_loadf(file, 0, &error);
	fclose(file);
	if (!report && rt_json_memory_failed())
		return rt_error_set(err, RT_EMEMORY, "no memory for the findings of '%s'", path);
	if (!report)
		return rt_error_set(err, RT_EUSAGE, "'%s' is not JSON: line %d: %s", path, error.line, error.text);
	enum rt_status status = add_findings(b, report, path, err);
	json_decref(report);
	return status;
}

void baseline_release(struct baseline *b)
{
	struct known *k, *next;
	HASH_ITER(hh, b->all, k, next)
	{
		HASH_DELETE(hh, b->all, k);
		free(k);
	}
}
