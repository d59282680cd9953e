/* What a person knows already: --baseline and --suppressions, of the commands that report. */
#ifndef CMD_BASE_KNOWN_H
#define CMD_BASE_KNOWN_H

#include "lib/report/baseline.h"
#include "lib/report/suppress.h"

#include <argp.h>

struct cmd_known {
	bool has_baseline;
	struct baseline baseline;
	struct suppressions suppressions;
};

/* The two options, each as often as one likes; the input is a struct cmd_known. */
extern const struct argp cmd_known_argp;

/* Makes a report leave out what is known. */
void cmd_known_use(struct cmd_known *k, struct report_options *options);
/* Reports on standard error each suppression that matched nothing. */
void cmd_known_warn(const struct cmd_known *k);
void cmd_known_release(struct cmd_known *k);

#endif
