/* Reads patterns from text; see pattern_file.h. A line is `pattern NAME` or one of the five sequences of PECAN. */
#include "lib/search/pattern_file.h"

#include "lib/base/input.h"
#include "lib/base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20, PATTERNS_MAX = 256, NAME_MAX_LENGTH = 63 };
enum { SEQ_E, SEQ_T, SEQ_SV, SEQ_AR, SEQ_AT, SEQUENCES };
static const char *const sequence_names[SEQUENCES] = {"E", "T", "SV", "AR", "AT"};
/* A region that may be any, or none. */
#define ANY_REGION "*"

struct word {
	const char *text;
	size_t length;
	uint32_t line, column;
};

struct parser {
	struct pattern_list *list;
	const char *path, *at, *end;
	const char *line_start;
	uint32_t line;
	struct rt_error *err;
	/* The current pattern. */
	struct word name, words[SEQUENCES][ANOMALY_EVENTS_MAX];
	uint32_t counts[SEQUENCES];
	struct word starts[SEQUENCES]; /* where the sequence begins; length 0: missing */
};

static enum rt_status complain(struct parser *p, const struct word *where, const char *what)
{
	return rt_error_set(p->err, RT_EUSAGE, "%s:%u:%u: %s%s%.*s%s", p->path, where->line, where->column, what,
	                    where->length ? ": '" : "", (int)(where->length > 40 ? 40 : where->length), where->text,
	                    where->length ? "'" : "");
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The next word of the line: a name, or one other character. Length 0 at the end of the line. */
static struct word next_word(struct parser *p, bool dashes)
{
	while (p->at < p->end && is_blank(*p->at))
		p->at++;
	struct word w = {p->at, 0, p->line, (uint32_t)(p->at - p->line_start) + 1};
	if (p->at == p->end || *p->at == '\n' || *p->at == '#')
		return w;
	while (p->at < p->end && (is_name(*p->at) || (dashes && (*p->at == '-' || *p->at == '.'))))
		p->at++;
	if (p->at == w.text)
		p->at++;
	w.length = (size_t)(p->at - w.text);
	return w;
}

static bool is(const struct word *w, const char *text)
{
	return w->length == strlen(text) && !memcmp(w->text, text, w->length);
}

static bool same(const struct word *a, const struct word *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* Numbers equal words alike, from 0 on; each ANY_REGION gets another number. */
static void number(const struct word *words, uint32_t count, uint8_t *out)
{
	uint8_t used = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = 0;
		while (k < i && (!same(&words[k], &words[i]) || is(&words[i], ANY_REGION)))
			k++;
		out[i] = k < i ? out[k] : used++;
	}
}

/* True if all words of the sequence are equal. */
static bool all_same(const uint8_t *numbers, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (numbers[i] != numbers[0])
			return false;
	return true;
}

static enum rt_status check_lengths(struct parser *p)
{
	for (int s = 0; s < SEQUENCES; s++) {
		if (!p->starts[s].length) {
			char what[64];
			snprintf(what, sizeof what, "the pattern has no sequence %s", sequence_names[s]);
			return complain(p, &p->name, what);
		}
		if (p->counts[s] != p->counts[SEQ_E]) {
			char what[96];
			snprintf(what, sizeof what, "%u entries, where E has %u", p->counts[s], p->counts[SEQ_E]);
			return complain(p, &p->starts[s], what);
		}
	}
	return p->counts[SEQ_E] < 2 ? complain(p, &p->starts[SEQ_E], "a pattern has two events at least") : RT_OK;
}

static enum rt_status check_events(struct parser *p, struct pattern *x)
{
	for (uint32_t i = 0; i < x->count; i++) {
		const struct word *access = &p->words[SEQ_AT][i];
		x->accesses[i] = is(access, "r")          ? PATTERN_READ
		                 : is(access, "w")        ? PATTERN_WRITE
		                 : is(access, ANY_REGION) ? PATTERN_READ | PATTERN_WRITE
		                                          : 0;
		if (!x->accesses[i])
			return complain(p, access, "an access is r, w or *");
		for (uint32_t k = 0; k < i; k++) {
			if (same(&p->words[SEQ_E][k], &p->words[SEQ_E][i]))
				return complain(p, &p->words[SEQ_E][i], "there is such an event already");
			if (x->regions[k] == x->regions[i] && x->threads[k] != x->threads[i])
				return complain(p, &p->words[SEQ_AR][i], "a region is of one thread only");
		}
	}
	return RT_OK;
}

/* True if each event shares a region or a cell with those before it, in some order. */
static bool connected(const struct pattern *x)
{
	uint32_t reached = 1, before = 0;
	while (reached != before) {
		before = reached;
		for (uint32_t i = 0; i < x->count; i++)
			for (uint32_t k = 0; k < x->count; k++)
				if (reached >> k & 1 && (x->regions[i] == x->regions[k] || x->cells[i] == x->cells[k]))
					reached |= 1u << i;
	}
	return reached == (1u << x->count) - 1;
}

static enum rt_status check_pattern(struct parser *p, struct pattern *x)
{
	enum rt_status status = check_events(p, x);
	if (status)
		return status;
	if (all_same(x->threads, x->count))
		return complain(p, &p->starts[SEQ_T], "a pattern has two threads at least");
	if (x->count == 2 && x->cells[0] != x->cells[1])
		return complain(p, &p->starts[SEQ_SV], "two events make a race, which is on one cell");
	if (x->count == 2 && x->accesses[0] == PATTERN_READ && x->accesses[1] == PATTERN_READ)
		return complain(p, &p->starts[SEQ_AT], "two events make a race, which has a write");
	if (!connected(x))
		return complain(p, &p->starts[SEQ_SV], "nothing, neither cell nor region, connects some of the events");
	return RT_OK;
}

/* Ends the current pattern, if there is one. */
static enum rt_status finish_pattern(struct parser *p)
{
	if (!p->name.length)
		return RT_OK;
	enum rt_status status = check_lengths(p);
	struct pattern x = {.kind = ANOMALY_PATTERN, .count = (uint8_t)p->counts[SEQ_E], .asked = true};
	if (status)
		return status;
	number(p->words[SEQ_T], x.count, x.threads);
	number(p->words[SEQ_SV], x.count, x.cells);
	number(p->words[SEQ_AR], x.count, x.regions);
	for (uint32_t i = 0; i < x.count; i++)
		if (is(&p->words[SEQ_AR][i], ANY_REGION))
			x.any |= (uint16_t)(1u << i);
	if ((status = check_pattern(p, &x)) != RT_OK)
		return status;
	struct pattern_list *l = p->list;
	for (uint32_t i = 0; i < l->count; i++)
		if (strlen(l->items[i].name) == p->name.length &&
		    !memcmp(l->items[i].name, p->name.text, p->name.length))
			return complain(p, &p->name, "there is such a pattern already");
	if (l->count == PATTERNS_MAX)
		return complain(p, &p->name, "too many patterns");
	bool room = vec_reserve(&l->items, &l->capacity, (uint64_t)l->count + 2, sizeof *l->items);
	if (room) {
		x.name = strndup(p->name.text, p->name.length);
		l->items[l->count] = x;
		l->items[l->count + 1] = (struct pattern){.name = NULL};
	}
	if (!room || !x.name)
		return rt_error_set(p->err, RT_EMEMORY, "no memory for the patterns of '%s'", p->path);
	l->count++;
	return RT_OK;
}

static enum rt_status begin_pattern(struct parser *p, const struct word *keyword)
{
	enum rt_status status = finish_pattern(p);
	if (status)
		return status;
	memset(p->counts, 0, sizeof p->counts);
	memset(p->starts, 0, sizeof p->starts);
	p->name = next_word(p, true);
	if (!p->name.length)
		return complain(p, keyword, "a name must follow");
	if (!is_name(*p->name.text) || p->name.length > NAME_MAX_LENGTH)
		return complain(p, &p->name, "a name is letters, digits, '_', '-' and '.', 63 at most");
	return RT_OK;
}

/* NAME = word - word - ... */
static enum rt_status parse_sequence(struct parser *p, const struct word *keyword)
{
	int s = 0;
	while (s < SEQUENCES && !is(keyword, sequence_names[s]))
		s++;
	if (s == SEQUENCES)
		return complain(p, keyword, "neither 'pattern' nor one of the sequences E, T, SV, AR and AT");
	if (!p->name.length)
		return complain(p, keyword, "a sequence before the first 'pattern NAME'");
	if (p->starts[s].length)
		return complain(p, keyword, "the pattern has this sequence already");
	struct word w = next_word(p, false);
	if (!is(&w, "="))
		return complain(p, &w, "expected '='");
	p->starts[s] = *keyword;
	for (;;) {
		w = next_word(p, false);
		if (!w.length || (!is_name(*w.text) && !((s == SEQ_AR || s == SEQ_AT) && is(&w, ANY_REGION))))
			return complain(p, &w, "expected a name");
		if (p->counts[s] == ANOMALY_EVENTS_MAX)
			return complain(p, &w, "a pattern has 16 events at most");
		p->words[s][p->counts[s]++] = w;
		w = next_word(p, false);
		if (!w.length)
			return RT_OK;
		if (!is(&w, "-"))
			return complain(p, &w, "expected '-' or the end of the line");
	}
}

static enum rt_status parse_line(struct parser *p)
{
	struct word w = next_word(p, false);
	if (!w.length)
		return RT_OK;
	enum rt_status status = is(&w, "pattern") ? begin_pattern(p, &w) : parse_sequence(p, &w);
	if (status)
		return status;
	w = next_word(p, false);
	return w.length ? complain(p, &w, "expected the end of the line") : RT_OK;
}

enum rt_status pattern_list_parse(struct pattern_list *l, const char *text, size_t length, const char *path,
                                  struct rt_error *err)
{
	struct parser p = {
	    .list = l, .path = path, .at = text, .end = text + length, .line_start = text, .line = 1, .err = err};
	while (p.at < p.end) {
		enum rt_status status = parse_line(&p);
		if (status)
			return status;
		while (p.at < p.end && *p.at != '\n')
			p.at++;
		if (p.at < p.end)
			p.at++;
		p.line++;
		p.line_start = p.at;
	}
	if (!p.name.length)
		return complain(&p, &(struct word){"", 0, p.line, 1}, "there is no pattern in the file");
	return finish_pattern(&p);
}

enum rt_status pattern_list_read(struct pattern_list *l, const char *path, struct rt_error *err)
{
	FILE *in = rt_input_stream(path);
	if (!in)
		return rt_error_set(err, RT_EUSAGE, "cannot open '%s': %s", path, strerror(errno));
	char *text = malloc(FILE_MAX + 1);
	size_t length = text ? fread(text, 1, FILE_MAX + 1, in) : 0;
	enum rt_status status = RT_OK;
	if (!text)
		status = rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", path);
	else if (ferror(in))
		status = rt_error_set(err, RT_EUSAGE, "cannot read '%s': %s", path, strerror(errno));
	else if (length > FILE_MAX)
		status = rt_error_set(err, RT_EUSAGE, "'%s' is no file of patterns: larger than 1 MiB", path);
	else
		status = pattern_list_parse(l, text, length, path, err);
	fclose(in);
	free(text);
	return status;
}

void pattern_list_release(struct pattern_list *l)
{
	for (uint32_t i = 0; i < l->count; i++)
		free((char *)l->items[i].name);
	free(l->items);
	*l = (struct pattern_list){0};
}
