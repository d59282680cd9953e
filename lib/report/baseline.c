/* Baselines; see baseline.h. */
#include "lib/report/baseline.h"

#include "lib/base/hash.h"
#include "lib/report/saved.h"

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

enum rt_status baseline_read(struct baseline *b, const char *path, struct rt_error *err)
{
	struct saved_report report;
	enum rt_status status = saved_read(path, &report, err);
	if (status)
		return status;
	for (size_t i = 0; i < report.count && !status; i++)
		if (!add(b, report.findings[i].fingerprint))
			status = rt_error_set(err, RT_EMEMORY, "no memory for the findings of '%s'", path);
	saved_release(&report);
	return status;
}

void baseline_release(struct baseline *b)
{
	HASH_FREE(b->all);
}
