/* Suppressions; see suppress.h. */
#include "lib/report/suppress.h"

#include "lib/base/input.h"
#include "lib/base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 100000 };

/* Patterns */

/* True if the text begins with the pattern's piece of this length, in which no star is. */
static bool begins(const char *text, const char *piece, size_t length)
{
	return strncmp(text, piece, length) == 0;
}

/* True if the text matches the pattern. */
static bool text_matches(const char *pattern, const char *text)
{
	bool anchored = *pattern == '^';
	pattern += anchored;
	for (bool first = true;; first = false) {
		size_t length = strcspn(pattern, "*$");
		bool at_end = pattern[length] == '$' && !pattern[length + 1];
		if (pattern[length] == '$' && !at_end) /* a dollar in the middle is one */
			length += 1 + strcspn(pattern + length + 1, "*");
		if (at_end) {
			size_t rest = strlen(text);
			if (rest < length || (anchored && first && rest != length))
				return false;
			return begins(text + rest - length, pattern, length);
		}
		if (anchored && first) {
			if (!begins(text, pattern, length))
				return false;
		} else {
			while (!begins(text, pattern, length))
				if (!*text++)
					return false;
		}
		text += length;
		pattern += length;
		if (!*pattern)
			return true;
		pattern++; /* the star */
	}
}

/* Files */

static const struct {
	const char *name;
	uint32_t kinds;
	bool top, foreign;
} types[] = {{"race", UINT32_C(1) << ANOMALY_RACE, false, false},
             {"race_top", UINT32_C(1) << ANOMALY_RACE, true, false},
             {"deadlock", UINT32_C(1) << ANOMALY_DEADLOCK, false, false},
             {"mutex", UINT32_C(1) << ANOMALY_DEADLOCK, false, false},
             {"atomicity", UINT32_C(1) << ANOMALY_ATOMICITY, false, false},
             {"asv", UINT32_C(1) << ANOMALY_ASV, false, false},
             {"hang", UINT32_C(1) << ANOMALY_HANG, false, false},
             {"pattern", UINT32_C(1) << ANOMALY_PATTERN, false, false},
             {"finding", 0, false, false},
             {"thread", 0, false, true},
             {"signal", 0, false, true},
             {"called_from_lib", 0, false, true},
             {NULL, 0, false, false}};

/* One line, without its end. */
static enum rt_status add_rule(struct suppressions *s, const char *path, uint32_t line, char *text,
                               struct rt_error *err)
{
	text += strspn(text, " \t");
	size_t length = strcspn(text, "\r\n");
	while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	text[length] = '\0';
	if (!*text || *text == '#')
		return RT_OK;
	size_t name = strcspn(text, ":");
	for (int i = 0; types[i].name; i++) {
		if (strlen(types[i].name) != name || strncmp(types[i].name, text, name) != 0 || !text[name] ||
		    !text[name + 1])
			continue;
		char *rule =
		    s->count < RULES_MAX && vec_reserve(&s->items, &s->room, (uint64_t)s->count + 1, sizeof *s->items)
		        ? strdup(text)
		        : NULL;
		if (!rule)
			return rt_error_set(err, RT_EMEMORY, "no memory for the suppressions of '%s'", path);
		s->items[s->count++] = (struct suppression){.rule = rule,
		                                            .pattern = rule + name + 1,
		                                            .kinds = types[i].kinds,
		                                            .top = types[i].top,
		                                            .foreign = types[i].foreign,
		                                            .path = path,
		                                            .line = line};
		return RT_OK;
	}
	return rt_error_set(err, RT_EUSAGE,
	                    "'%s' line %u: '%s' is no suppression: KIND:PATTERN, such as race:function or "
	                    "finding:FINGERPRINT",
	                    path, line, text);
}

enum rt_status suppressions_read(struct suppressions *s, const char *path, struct rt_error *err)
{
	FILE *file = rt_input_stream(path);
	char *text = NULL;
	size_t size = 0;
	enum rt_status status = RT_OK;
	if (!file)
		return rt_error_set(err, RT_EUSAGE, "cannot open '%s': %s", path, strerror(errno));
	errno = 0;
	for (uint32_t line = 1; !status && getline(&text, &size, file) >= 0; line++)
		status = add_rule(s, path, line, text, err);
	if (!status && !feof(file))
		status = rt_error_set(err, errno == ENOMEM ? RT_EMEMORY : RT_EUSAGE, "cannot read '%s': %s", path,
		                      strerror(errno ? errno : EIO));
	free(text);
	fclose(file);
	return status;
}

void suppressions_release(struct suppressions *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->items[i].rule);
	free(s->items);
	*s = (struct suppressions){0};
}

/* Findings */

static bool frame_matches(const char *pattern, const struct rt_frame *f)
{
	const char *const texts[] = {f->function, f->file, f->module, f->text};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i] && text_matches(pattern, texts[i]))
			return true;
	return false;
}

static bool stack_matches(const struct suppression *s, const struct report *r, const struct description *d)
{
	for (size_t i = 0; i < d->stack_count; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < n; k++) {
			if (frame_matches(s->pattern, &frames[k]))
				return true;
			if (s->top)
				return false;
		}
	}
	return false;
}

/* variable: the name of a race's; "" if it has none. */
static bool anomaly_matches(const struct suppression *s, const struct report *r, const struct anomaly *a,
                            const char *variable)
{
	if (!(s->kinds >> a->kind & 1))
		return false;
	if (!s->top && variable[0] && text_matches(s->pattern, variable))
		return true;
	for (uint32_t i = 0; i < a->event_count + a->wait_count; i++) {
		uint32_t e = i < a->event_count ? a->events[i] : a->waits[i - a->event_count];
		const struct description *d = report_event(r, e);
		if (d && stack_matches(s, r, d))
			return true;
	}
	return false;
}

/* The first rule that matches the anomaly; NULL: none. */
static struct suppression *rule_of(struct suppressions *s, const struct report *r, const struct anomaly *a)
{
	struct subject subject;
	const char *variable = a->kind == ANOMALY_RACE && subject_of(r, a, &subject) ? subject.name : "";
	for (uint32_t i = 0; i < s->count; i++)
		if (anomaly_matches(&s->items[i], r, a, variable))
			return &s->items[i];
	return NULL;
}

bool suppressions_have(struct suppressions *s, const char *fingerprint)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->items[i].kinds && !s->items[i].foreign && !strcmp(s->items[i].pattern, fingerprint)) {
			s->items[i].used = true;
			return true;
		}
	return false;
}

bool suppressions_match(struct suppressions *s, const struct report *r, const struct finding *f)
{
	enum anomaly_kind kind = r->entries[f->entries[0]].anomaly->kind;
	if (suppressions_have(s, f->fingerprint))
		return true;
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = r->entries[f->entries[i]].anomaly;
		if (a->kind == kind && !rule_of(s, r, a))
			return false;
	}
	/* Each of them is needed. A rule by which the finding would still be listed suppresses nothing. */
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct anomaly *a = r->entries[f->entries[i]].anomaly;
		if (a->kind == kind)
			rule_of(s, r, a)->used = true;
	}
	return true;
}
