/* The ends of a program for which the trace is written; see trigger.h. */
#include "cmd/trigger.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* "SEGV", "SIGSEGV" or "11". -1: there is no such signal. */
static int signal_of(const char *text)
{
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	char *end;
	long number = strtol(text, &end, 10);
	if (*text && !*end)
		return number > 0 && number < NSIG ? (int)number : -1;
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);
		if (known && strcmp(known, name) == 0)
			return i;
	}
	return -1;
}

static int status_of(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);
	return *text && !*end && number >= 0 && number <= 255 ? (int)number : -1;
}

bool trigger_parse(const char *text, struct trigger *out)
{
	static const struct {
		const char *name;
		struct trigger trigger;
	} any[] = {{"failure", {TRIGGER_FAILURE, -1}}, {"exit", {TRIGGER_EXIT, -1}}, {"signal", {TRIGGER_SIGNAL, -1}}};
	for (size_t i = 0; i < sizeof any / sizeof *any; i++)
		if (strcmp(text, any[i].name) == 0) {
			*out = any[i].trigger;
			return true;
		}
	if (strncmp(text, "exit=", 5) == 0)
		*out = (struct trigger){TRIGGER_EXIT, status_of(text + 5)};
	else if (strncmp(text, "signal=", 7) == 0)
		*out = (struct trigger){TRIGGER_SIGNAL, signal_of(text + 7)};
	else
		return false;
	return out->value >= 0;
}

bool trigger_fires(const struct trigger *t, enum rt_exit_kind kind, int value)
{
	bool killed = kind == RT_EXIT_SIGNAL;
	switch (t->kind) {
	case TRIGGER_FAILURE:
		return killed || value != 0;
	case TRIGGER_EXIT:
		return !killed && (t->value < 0 ? value != 0 : value == t->value);
	case TRIGGER_SIGNAL:
		return killed && (t->value < 0 || value == t->value);
	case TRIGGER_NONE:
		break;
	}
	return true;
}
