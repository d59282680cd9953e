/* How a run ended, as findings: crashes, failed assertions, sanitizers' reports, hangs, deadlocks, statuses. */
#include "cmd/explore/explore.h"

#include "lib/base/vec.h"

#include <stdio.h>
#include <string.h>

void explore_end_text(const struct run_end *end, const char *control, char *text, size_t size)
{
	if (control && !strcmp(control, "deadlock"))
		snprintf(text, size, "deadlock");
	else if (end->kind == RUN_TIMEOUT)
		snprintf(text, size, "no end in time");
	else if (end->kind == RUN_SIGNALED)
		snprintf(text, size, "killed by signal %d (%s)", end->value, strsignal(end->value));
	else if (end->kind == RUN_EXITED)
		snprintf(text, size, "exit status %d", end->value);
	else
		snprintf(text, size, "not started");
}

/* The first line of a text that contains one of the words. False: there is none. */
static bool line_with(const struct run_output *output, const char *const *words, char *line, size_t size)
{
	const char *at = output->text, *last = at + output->kept;
	while (at < last) {
		const char *end = memchr(at, '\n', (size_t)(last - at));
		size_t n = (size_t)((end ? end : last) - at);
		snprintf(line, size, "%.*s", n < size ? (int)n : (int)size - 1, at);
		for (size_t i = 0; words[i]; i++)
			if (strstr(line, words[i]))
				return true;
		at += n + 1;
	}
	return false;
}

/* Writes numbers as N: addresses and process ids differ from run to run. */
static void without_numbers(char *text)
{
	char *to = text;
	for (const char *at = text; *at;) {
		size_t n = strspn(at, "0123456789");
		if (!strncmp(at, "0x", 2))
			n = 2 + strspn(at + 2, "0123456789abcdefABCDEF");
		if (n) {
			*to++ = 'N';
			at += n;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

static const char *const assertions[] = {"Assertion ", "assertion failed", "ASSERT", NULL};
static const char *const sanitizers[] = {"Sanitizer: ", "runtime error: ", NULL};
static const char *const libraries[] = {"terminate called",
                                        "double free",
                                        "free(): ",
                                        "malloc(): ",
                                        "malloc_",
                                        "corrupted size vs",
                                        "stack smashing ",
                                        "realloc(): ",
                                        "buffer overflow detected",
                                        NULL};

static enum rt_status add(struct exploring *x, uint32_t number, enum incident_kind kind, const char *title,
                          const char *said, struct rt_error *err)
{
	char text[700], key[700];
	const char *label = x->label ? x->label : "";
	snprintf(text, sizeof text, "%.200s%s%s%s%.400s", label, *label ? ": " : "", title, said ? ": " : "",
	         said ? said : "");
	snprintf(key, sizeof key, "%s", said ? said : title);
	without_numbers(key);
	return merge_add_incident(&x->merge, number, kind, text, key, NULL, err);
}

static enum rt_status add_death(struct exploring *x, uint32_t number, int signal, const struct run_output *said,
                                struct rt_error *err)
{
	char line[500], title[128];
	if (line_with(said, assertions, line, sizeof line)) {
		/* glibc writes the program's name first. */
		char *rest = strstr(line, ": ");
		return add(x, number, INCIDENT_ASSERTION, "an assertion fails", rest ? rest + 2 : line, err);
	}
	snprintf(title, sizeof title, "the program is killed by signal %d (%s)", signal, strsignal(signal));
	return add(x, number, INCIDENT_CRASH, title, line_with(said, libraries, line, sizeof line) ? line : NULL, err);
}

enum incident_kind explore_harm(const struct run_end *end, const char *control)
{
	char line[500];
	if (line_with(&end->err, sanitizers, line, sizeof line))
		return INCIDENT_SANITIZER;
	if (!strcmp(control, "deadlock"))
		return INCIDENT_DEADLOCK;
	if (end->kind == RUN_TIMEOUT)
		return INCIDENT_HANG;
	if (end->kind == RUN_SIGNALED)
		return line_with(&end->err, assertions, line, sizeof line) ? INCIDENT_ASSERTION : INCIDENT_CRASH;
	return end->kind == RUN_EXITED && end->value ? INCIDENT_STATUS : INCIDENTS;
}

enum rt_status explore_end(struct exploring *x, const struct run_end *end, const char *control, bool stuck,
                           uint32_t number, struct rt_error *err)
{
	char line[500];
	enum rt_status status = RT_OK;
	bool dead = control && !strcmp(control, "deadlock");
	if (line_with(&end->err, sanitizers, line, sizeof line))
		status = add(x, number, INCIDENT_SANITIZER, "a sanitizer reports", line, err);
	if (status)
		return status;
	if (dead || end->kind == RUN_TIMEOUT) { /* of which the analysis says more, if it does */
		if (stuck)
			return RT_OK;
		return dead ? add(x, number, INCIDENT_DEADLOCK, "no thread can go on", NULL, err)
		            : add(x, number, INCIDENT_HANG, "the program does not end in time", NULL, err);
	}
	if (end->kind == RUN_SIGNALED)
		return add_death(x, number, end->value, &end->err, err);
	if (end->kind != RUN_EXITED)
		return RT_OK;
	if (!vec_reserve(&x->statuses, &x->status_room, (uint64_t)x->status_count + 1, sizeof *x->statuses))
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	x->statuses[x->status_count++] = (struct explore_status){number, end->value};
	return RT_OK;
}

enum rt_status explore_statuses(struct exploring *x, struct rt_error *err)
{
	bool differ = false;
	for (size_t i = 1; i < x->status_count; i++)
		differ |= x->statuses[i].status != x->statuses[0].status;
	for (size_t i = 0; differ && i < x->status_count; i++) {
		char title[300], key[300];
		if (!x->statuses[i].status)
			continue;
		snprintf(title, sizeof title, "%.200s%sthe program ends with status %d, and not always",
		         x->label ? x->label : "", x->label ? ": " : "", x->statuses[i].status);
		snprintf(key, sizeof key, "%.200s %d", x->label ? x->label : "", x->statuses[i].status);
		enum rt_status status =
		    merge_add_incident(&x->merge, x->statuses[i].run, INCIDENT_STATUS, title, key, NULL, err);
		if (status)
			return status;
	}
	return RT_OK;
}
