/* Why an anomaly is only predicted; see reason.h. */
#include "lib/anomaly/reason.h"

#include <inttypes.h>
#include <stdio.h>

/* before, after: the text around a detail; NULL: the reason has no detail. */
static const struct {
	const char *name, *text, *before, *after;
} reasons[REASONS] = {
    [REASON_BUDGET] = {"budget", "the search gave up at its budget", NULL, NULL},
    [REASON_INSTANCES] = {"instances", "not every instance was looked at", NULL, NULL},
    [REASON_RACY_READ] = {"racy-read", "the schedule depends on what a racy read saw", NULL, NULL},
    [REASON_VALUES] = {"values", "reads that see other writes of the same values may allow it", NULL, NULL},
    [REASON_UPDATES] = {"updates",
                        "it needs updates to see other writes; as far as the trace shows, nothing depends on what "
                        "they see",
                        NULL, NULL},
    [REASON_WINDOW] = {"window", "more events lie between its own than are looked at", NULL, NULL},
    [REASON_SYNC_ONLY] = {"sync-only", "the program was not instrumented: what else orders it is not known", NULL,
                          NULL},
    [REASON_ALLOCATION] = {"allocation", "no other run shows it: the use comes after the allocation in each", NULL,
                           NULL},
    [REASON_UNRECORDED_THREAD] = {"unrecorded-thread", "may be ordered by a thread that was not recorded", NULL, NULL},
    [REASON_UNKNOWN_CALL] =
        {"unknown-call", "may be ordered by what the kernel does by itself (io_uring, asynchronous input and output)",
         NULL, NULL},
    [REASON_UNKNOWN_ORDER] = {"unknown-order",
                              "may be ordered by a call that comes after all that other threads did "
                              "(__tsan_java_finalize)",
                              NULL, NULL},
    [REASON_REPEATS] = {"repeats",
                        "in the schedule an access that repeats others, and was left out, may read or leave "
                        "something else",
                        NULL, NULL},
    [REASON_FAILED_TRY] = {"failed-try", "in the schedule nobody holds what a thread tried to take in vain", NULL,
                           NULL},
    [REASON_START] = {"start", "what came before the trace's start may forbid it", NULL, NULL},
    [REASON_HIDDEN_ATOMIC] = {"hidden-atomic", "may be ordered by an atomic instruction that was not recorded",
                              "may be ordered by the atomic instruction in ", ""},
    [REASON_PLAIN_MODULE] = {"plain-module", "may be ordered inside a module that is not instrumented",
                             "may be ordered inside ", ", which is not instrumented"},
    [REASON_BARE_ACCESS] = {"bare-access",
                            "what an inlined memset, strcmp or the like reads or writes is not recorded, and may be "
                            "something else in the schedule",
                            "what an inlined memset, strcmp or the like in ",
                            " reads or writes is not recorded, and may be something else in the schedule"},
    [REASON_MACHINE_CODE] = {"machine-code",
                             "both accesses may be atomic ones, which machine code does not tell from plain ones", NULL,
                             NULL},
    [REASON_MACHINE_ORDER] = {"machine-order",
                              "may be ordered by other accesses, if they are atomic: machine code does not tell", NULL,
                              NULL},
    [REASON_PARTS] = {"parts", "the only schedule that was found stops a thread within a call", NULL, NULL},
    [REASON_CHECKS] = {"checks", "checks of the same variable would see another write than they saw", NULL, NULL},
    [REASON_OWN_READ] = {"own-read",
                         "a read of it would see another value, after which its thread may do something else", NULL,
                         NULL},
    [REASON_WINDOWED] = {"windowed", "the trace was analyzed by windows: events of the others may decide it", NULL,
                         NULL},
    [REASON_OBJECTS] = {"objects", "accesses of objects that locks guard were left out: bytes decide", NULL, NULL},
    [REASON_OTHERS] = {"others", "of the instances that were looked at none is possible while reads see what they saw",
                       NULL, NULL},
    [REASON_UNGUARDED] =
        {"unguarded",
         "the lock of its critical section guards nothing of this: the thread in between never holds it there", NULL,
         NULL},
};

const char *reason_name(enum reason reason)
{
	return reasons[reason].name;
}

void reason_text(const struct reasons *r, enum reason reason, char text[REASON_TEXT_MAX])
{
	if (reason == REASON_INSTANCES && r->instances)
		snprintf(text, REASON_TEXT_MAX, "%" PRIu64 " of %" PRIu64 " instances were looked at", r->looked,
		         r->instances);
	else if (reasons[reason].before && r->details[reason])
		snprintf(text, REASON_TEXT_MAX, "%s%.400s%s", reasons[reason].before, r->details[reason],
		         reasons[reason].after);
	else
		snprintf(text, REASON_TEXT_MAX, "%s", reasons[reason].text);
}

bool reasons_next(const struct reasons *r, int *next, char text[REASON_TEXT_MAX])
{
	while (*next < REASONS) {
		enum reason reason = (enum reason)(*next)++;
		if (!reasons_has(r, reason))
			continue;
		reason_text(r, reason, text);
		return true;
	}
	return false;
}

void reasons_text(const struct reasons *r, char text[REASONS_TEXT_MAX])
{
	char one[REASON_TEXT_MAX];
	size_t used = 0;
	text[0] = '\0';
	for (int next = 0; reasons_next(r, &next, one);)
		used += (size_t)snprintf(text + used, REASONS_TEXT_MAX - used, "%s%s", used ? "; " : "", one);
}
