/* What a person knows already; see known.h. */
#include "cmd/base/known.h"

#include "cmd/base/command.h"
#include "cmd/base/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPT_BASELINE = 768, OPT_SUPPRESSIONS };

static const struct argp_option options[] = {
    {"baseline", OPT_BASELINE, "FILE", 0,
     "Leave out findings that FILE, an earlier JSON report, has as well; they do not count for the exit status", 0},
    {"suppressions", OPT_SUPPRESSIONS, "FILE", 0,
     "Leave out findings that the rules of FILE match, in ThreadSanitizer's syntax or as finding:FINGERPRINT; "
     "'racetrace "
     "suppress' writes such a file. Rules without a match are reported",
     0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct cmd_known *k = state->input;
	struct rt_error err = {0};
	switch (key) {
	case OPT_BASELINE:
		k->has_baseline = true;
		if (baseline_read(&k->baseline, arg, &err))
			exit(cmd_fail(&err));
		return 0;
	case OPT_SUPPRESSIONS:
		if (suppressions_read(&k->suppressions, arg, &err))
			exit(cmd_fail(&err));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cmd_known_argp = {.options = options, .parser = parse};

void cmd_known_use(struct cmd_known *k, struct report_options *o)
{
	o->baseline = k->has_baseline ? &k->baseline : NULL;
	o->suppressions = k->suppressions.count ? &k->suppressions : NULL;
}

void cmd_known_warn(const struct cmd_known *k)
{
	for (uint32_t i = 0; i < k->suppressions.count; i++) {
		const struct suppression *s = &k->suppressions.items[i];
		if (!s->used && !s->foreign)
			fprintf(stderr, "racetrace: warning: '%s' line %" PRIu32 ": '%s' suppresses nothing\n", s->path,
			        s->line, cmd_text(s->rule).text);
	}
}

void cmd_known_release(struct cmd_known *k)
{
	baseline_release(&k->baseline);
	suppressions_release(&k->suppressions);
}
