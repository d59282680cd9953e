/*
 * Parses RAPID's STD text: THREAD|OP(OBJECT)|LOCATION and, optionally, |VALUE; one event a line, in one pass.
 *
 * Impossible events are refused with their line: an acquire of a lock that another thread holds, an event of a thread
 * after its join. Events that public corpora contain are read with a warning unless the reader is strict. They are the
 * release of a lock by a thread that does not hold it, and the fork of a thread that has begun or ended. The release of
 * an unused lock is accepted: a trace cut out of a longer run begins with such. Only the outermost acquire and release
 * of a re-entrant lock are events.
 */
#include "lib/base/lines.h"
#include "lib/base/text.h"
#include "tracefmt/std/std.h"

#include "lib/base/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 20, QUOTED = 80 };

struct lock_state {
	uint32_t owner; /* thread + 1, 0: free */
	uint32_t depth;
	uint32_t line; /* of the last acquire, 0: never taken */
	bool stray;    /* another thread has released it since */
};
/* Lines, 0: not yet. */
struct thread_state {
	uint32_t first, forked, joined;
	bool acted;
};

struct parser {
	struct std *std;
	struct lines lines;
	struct rt_error *err;
	const struct rt_trace_options *options;
	bool numbered; /* a fork or join has named a thread by a number alone */
	struct lock_state *locks;
	uint32_t lock_room;
	struct thread_state *threads;
	uint32_t thread_room;
};

struct field {
	const char *text;
	size_t length;
};
enum { THREAD, ACTION, LOCATION, VALUE, FIELDS };

static uint32_t line_of(const struct parser *p)
{
	return (uint32_t)p->lines.number;
}

/* Puts the line in front of the message. */
static enum rt_status place(struct parser *p)
{
	rt_error_context(p->err, "'%s' line %u", p->lines.path, line_of(p));
	return RT_EINPUT;
}
#define fail(p, ...) (rt_error_set((p)->err, RT_EINPUT, __VA_ARGS__), place(p))

static enum rt_status no_memory(struct parser *p)
{
	rt_error_set(p->err, RT_EMEMORY, "no memory for line %u of '%s'", line_of(p), p->lines.path);
	return RT_EMEMORY;
}

/* Quotes at most this many characters of a text from the file. */
struct quoted {
	char text[QUOTED];
};
static struct quoted quote(struct field f)
{
	struct quoted q;
	rt_text_escape(q.text, sizeof q.text, f.text, f.length);
	return q;
}
static struct quoted quote_thread(const struct parser *p, uint32_t thread)
{
	const struct names_entry *name = &p->std->thread_names.entries[thread];
	return quote((struct field){name->text, name->length});
}

/* Counts an irregularity; the text is about the first one. */
__attribute__((format(printf, 3, 4))) static void warn(struct parser *p, enum std_warning kind, const char *format, ...)
{
	static const char *const kinds[] = {[STD_FORKED_AGAIN] = "forked-again",
	                                    [STD_STRAY_RELEASE] = "stray-release",
	                                    [STD_UNKNOWN] = "unknown-operation"};
	struct rt_warning *w = &p->std->warnings[kind];
	if (w->count++)
		return;
	w->kind = kinds[kind];
	w->line = line_of(p);
	va_list args;
	va_start(args, format);
	vsnprintf(w->text, sizeof w->text, format, args);
	va_end(args);
}

/* Extends the array up to index; new elements are zero. */
static bool reserve(void **array, uint32_t *room, uint32_t index, size_t size)
{
	return vec_extend(array, room, (uint64_t)index + 1, size);
}

static enum rt_status intern(struct parser *p, struct names *names, struct field f, uint32_t *index)
{
	uint32_t before = names->count;
	if (!names_intern(names, f.text, f.length, index))
		return no_memory(p);
	if (*index == before && memchr(f.text, '\0', f.length))
		return fail(p, "'%s' has a NUL byte: not a text file", quote(f).text);
	return RT_OK;
}

static bool is_number(struct field f)
{
	for (size_t i = 0; i < f.length; i++)
		if (f.text[i] < '0' || f.text[i] > '9')
			return false;
	return f.length;
}

/* The name of the acting thread. One that a fork has named by its number alone is that thread. */
static struct field actor_name(const struct parser *p, struct field f)
{
	uint32_t index;
	struct field number = {f.text + 1, f.length - 1};
	if (!p->numbered || f.length < 2 || f.text[0] != 'T' || !is_number(number) ||
	    names_find(&p->std->thread_names, f.text, f.length, &index) ||
	    !names_find(&p->std->thread_names, number.text, number.length, &index) || p->threads[index].acted)
		return f;
	return number;
}

/* A thread that fork or join names. Its number is enough if threads are T<number>; text has room for that name. */
static struct field other_name(struct parser *p, struct field f, uint32_t actor, char *text, size_t room)
{
	uint32_t index;
	const struct names_entry *name = &p->std->thread_names.entries[actor];
	struct field longer = {text, f.length + 1}, number = {name->text + 1, name->length ? name->length - 1 : 0};
	if (p->options->strict || longer.length > room || !is_number(f))
		return f;
	text[0] = 'T';
	memcpy(text + 1, f.text, f.length);
	if (names_find(&p->std->thread_names, longer.text, longer.length, &index))
		return longer;
	bool known = names_find(&p->std->thread_names, f.text, f.length, &index);
	if (!known && name->text[0] == 'T' && is_number(number))
		return longer;
	p->numbered = true;
	return f;
}

static enum rt_status intern_thread(struct parser *p, struct field f, uint32_t *index)
{
	if (f.length == 0)
		return fail(p, "the thread has no name: an event is THREAD|OP(OBJECT)|LOCATION");
	enum rt_status status = intern(p, &p->std->thread_names, f, index);
	if (status)
		return status;
	if (*index >= STD_THREADS_MAX)
		return fail(p, "more than %d threads", STD_THREADS_MAX);
	return reserve((void **)&p->threads, &p->thread_room, *index, sizeof *p->threads) ? RT_OK : no_memory(p);
}

/* Splits the line at its bars. */
static enum rt_status split(struct parser *p, struct field line, struct field fields[FIELDS])
{
	const char *at = line.text, *end = line.text + line.length;
	unsigned n = 0;
	for (;; n++) {
		if (n == FIELDS)
			return fail(p, "more than %d fields: an event is THREAD|OP(OBJECT)|LOCATION|VALUE", FIELDS);
		const char *bar = at;
		while (bar < end && *bar != '|')
			bar++;
		fields[n] = (struct field){at, (size_t)(bar - at)};
		if (bar == end)
			break;
		at = bar + 1;
	}
	if (n == THREAD)
		return fail(p, "'%s' is not an STD event: THREAD|OP(OBJECT)|LOCATION", quote(line).text);
	if (n == ACTION)
		return fail(p, "'%s' has no location: THREAD|OP(OBJECT)|LOCATION", quote(line).text);
	for (n++; n < FIELDS; n++)
		fields[n] = (struct field){NULL, 0};
	return RT_OK;
}

/* RAPID's operations; the ignored ones are RT_OP_NONE. */
static const struct operation {
	const char *name;
	uint8_t length, op;
	bool object; /* must have one */
} operations[] = {
    {"r", 1, RT_OP_READ, true},          {"w", 1, RT_OP_WRITE, true},
    {"acq", 3, RT_OP_ACQUIRE, true},     {"rel", 3, RT_OP_RELEASE, true},
    {"fork", 4, RT_OP_FORK, true},       {"join", 4, RT_OP_JOIN, true},
    {"end", 3, RT_OP_REGION_END, false}, {"begin", 5, RT_OP_REGION_BEGIN, false},
    {"branch", 6, RT_OP_NONE, false},    {"dummy", 5, RT_OP_NONE, false},
};

static const struct operation ignored_operation = {"", 0, RT_OP_NONE, false};

/* Separates OP from (OBJECT); the object ends at the field's last character. */
static enum rt_status parse_action(struct parser *p, struct field f, const struct operation **operation,
                                   struct field *object)
{
	size_t n = 0;
	while (n < f.length && f.text[n] != '(')
		n++;
	*object = (struct field){f.text + n, 0};
	bool known = false;
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		known |= operations[i].length == n && !memcmp(operations[i].name, f.text, n);
	if (n < f.length && (known || !p->options->skip_unknown)) {
		if (f.text[f.length - 1] != ')')
			return fail(p, "'%s' has no closing parenthesis", quote(f).text);
		*object = (struct field){f.text + n + 1, f.length - n - 2};
	}
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		const struct operation *o = &operations[i];
		if (o->length != n || memcmp(o->name, f.text, n) != 0)
			continue;
		*operation = o;
		if (o->object && object->length == 0)
			return fail(p, "'%s' says not on what: %s(OBJECT)", quote(f).text, o->name);
		return RT_OK;
	}
	if (!p->options->skip_unknown)
		return fail(p,
		            "'%s' is not an STD operation: r w acq rel fork join begin end, or branch, dummy; "
		            "--skip-unknown leaves others out",
		            quote(f).text);
	warn(p, STD_UNKNOWN, "'%s' is not an STD operation and is left out", quote(f).text);
	*operation = &ignored_operation;
	return RT_OK;
}

/* A decimal number, with a sign if it is negative, or 0x and hexadecimal digits. */
static enum rt_status parse_value(struct parser *p, struct field f, uint64_t *value)
{
	bool minus = f.length && f.text[0] == '-';
	size_t i = minus;
	unsigned base = 10;
	if (f.length > i + 2 && f.text[i] == '0' && (f.text[i + 1] | 32) == 'x') {
		base = 16;
		i += 2;
	}
	uint64_t v = 0;
	bool good = i < f.length;
	for (; good && i < f.length; i++) {
		unsigned char c = (unsigned char)f.text[i], low = c | 32;
		unsigned digit = c >= '0' && c <= '9' ? c - 48u : low >= 'a' && low <= 'f' ? low - 'a' + 10u : 16;
		good = digit < base && v <= (UINT64_MAX - digit) / base;
		v = v * base + digit;
	}
	if (!good)
		return fail(p, "the value '%s' is not a number of 64 bits", quote(f).text);
	*value = minus ? -v : v;
	return RT_OK;
}

/* Checks the thread rules for the acting thread. */
static enum rt_status check_actor(struct parser *p, uint32_t thread)
{
	struct thread_state *state = &p->threads[thread];
	if (state->joined)
		return fail(p, "thread '%s' goes on after line %u joined it", quote_thread(p, thread).text,
		            state->joined);
	if (!state->first)
		state->first = line_of(p);
	state->acted = true;
	return RT_OK;
}

static enum rt_status note_fork(struct parser *p, uint32_t thread, uint32_t child)
{
	struct thread_state *state = &p->threads[child];
	struct quoted name = quote_thread(p, child);
	if (child == thread)
		return fail(p, "thread '%s' forks itself", name.text);
	uint32_t first = state->first ? state->first : state->joined;
	if (p->options->strict && state->forked)
		return fail(p, "thread '%s' is forked a second time, after line %u", name.text, state->forked);
	if (p->options->strict && first)
		return fail(p, "thread '%s' is forked after it acted, in line %u", name.text, first);
	if (state->forked)
		warn(p, STD_FORKED_AGAIN, "thread '%s' is forked a second time, after line %u", name.text,
		     state->forked);
	else if (first)
		warn(p, STD_FORKED_AGAIN, "thread '%s' is forked after it acted, in line %u", name.text, first);
	state->forked = line_of(p);
	state->joined = 0;
	return RT_OK;
}

static enum rt_status note_join(struct parser *p, uint32_t thread, uint32_t child)
{
	if (child == thread)
		return fail(p, "thread '%s' joins itself", quote_thread(p, child).text);
	if (!p->threads[child].joined)
		p->threads[child].joined = line_of(p);
	return RT_OK;
}

/* outer: set if this is an outermost acquire or release. */
static enum rt_status note_lock(struct parser *p, uint32_t thread, uint32_t lock, bool acquire, bool *outer)
{
	if (!reserve((void **)&p->locks, &p->lock_room, lock, sizeof *p->locks))
		return no_memory(p);
	struct lock_state *state = &p->locks[lock];
	const struct names_entry *entry = &p->std->locks.entries[lock];
	struct field name = {entry->text, entry->length};
	bool other = state->owner && state->owner != thread + 1, strict = p->options->strict;
	if (other && (strict || (acquire && !state->stray)))
		return fail(p, "'%s' cannot %s lock '%s': '%s' holds it since line %u", quote_thread(p, thread).text,
		            acquire ? "acquire" : "release", quote(name).text, quote_thread(p, state->owner - 1).text,
		            state->line);
	if (acquire) {
		/* A hold that another thread has released ends when the lock is acquired again. */
		*outer = !state->owner || state->stray;
		if (*outer)
			*state = (struct lock_state){thread + 1, 0, line_of(p), false};
		state->depth++;
		return RT_OK;
	}
	*outer = true;
	if (!state->owner && state->line && strict)
		return fail(p, "'%s' releases lock '%s', which it does not hold", quote_thread(p, thread).text,
		            quote(name).text);
	if (other || (!state->owner && state->line)) {
		state->stray |= other;
		warn(p, STD_STRAY_RELEASE, "'%s' releases lock '%s', which it does not hold: that is no release",
		     quote_thread(p, thread).text, quote(name).text);
		return RT_OK;
	}
	if (!state->owner)
		state->line = line_of(p); /* held from before the trace began; once only */
	else if (--state->depth)
		*outer = false;
	else
		*state = (struct lock_state){.line = state->line};
	return RT_OK;
}

/* Interns the object and applies its rules. *keep: set if it is an event. */
static enum rt_status parse_object(struct parser *p, unsigned op, uint32_t thread, struct field name, uint32_t *object,
                                   bool *keep)
{
	struct std *std = p->std;
	enum rt_status status;
	char longer[32];
	*object = 0;
	*keep = true;
	switch (op) {
	case RT_OP_READ:
	case RT_OP_WRITE:
		return intern(p, &std->variables, name, object);
	case RT_OP_ACQUIRE:
	case RT_OP_RELEASE:
		status = intern(p, &std->locks, name, object);
		return status ? status : note_lock(p, thread, *object, op == RT_OP_ACQUIRE, keep);
	case RT_OP_FORK:
	case RT_OP_JOIN:
		status = intern_thread(p, other_name(p, name, thread, longer, sizeof longer), object);
		if (status)
			return status;
		return op == RT_OP_FORK ? note_fork(p, thread, *object) : note_join(p, thread, *object);
	default: /* a region, whose name may be missing */
		if (name.length == 0)
			return RT_OK;
		status = intern(p, &std->regions, name, object);
		++*object;
		return status;
	}
}

static enum rt_status append(struct parser *p, struct std_event event, const uint64_t *value)
{
	struct std *std = p->std;
	__typeof__(std->room) room = std->room, value_room = std->room;
	if (!vec_reserve(&std->events, &room, (uint64_t)std->count + 1, sizeof *std->events) ||
	    (std->values && !vec_reserve(&std->values, &value_room, (uint64_t)std->count + 1, sizeof *std->values)))
		return no_memory(p);
	std->room = room;
	if (value && !std->values && !(std->values = calloc(std->room, sizeof *std->values)))
		return no_memory(p);
	if (value) {
		event.what |= STD_HAS_VALUE;
		std->values[std->count] = *value;
	}
	std->events[std->count++] = event;
	return RT_OK;
}

/* True if the text is a number below STD_LINE exactly as printf writes it, so that the number represents the text. */
static bool plain_number(struct field f, uint32_t *number)
{
	uint32_t n = 0;
	if (f.length == 0 || f.length > 10 || (f.text[0] == '0' && f.length > 1))
		return false;
	for (size_t i = 0; i < f.length; i++) {
		uint32_t digit = (unsigned char)f.text[i] - (uint32_t)'0';
		if (digit > 9 || n > (STD_LINE - 1 - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

static enum rt_status parse_location(struct parser *p, struct field f, uint32_t *position)
{
	*position = 0;
	if (f.length == 0)
		return RT_OK;
	if (plain_number(f, position)) {
		*position |= STD_LINE;
		return RT_OK;
	}
	enum rt_status status = intern(p, &p->std->positions, f, position);
	if (!status && ++*position >= STD_LINE)
		return fail(p, "more than %u different locations", STD_LINE - 1);
	return status;
}

static enum rt_status parse_line(struct parser *p, struct field line)
{
	struct field fields[FIELDS], name;
	const struct operation *operation = NULL;
	struct std_event event = {.number = line_of(p)};
	uint32_t thread;
	bool keep;
	enum rt_status status = split(p, line, fields);
	if (status || (status = parse_action(p, fields[ACTION], &operation, &name)))
		return status;
	if (operation->op == RT_OP_NONE)
		return RT_OK;
	if ((status = intern_thread(p, actor_name(p, fields[THREAD]), &thread)) || (status = check_actor(p, thread)) ||
	    (status = parse_object(p, operation->op, thread, name, &event.object, &keep)) || !keep)
		return status;
	status = parse_location(p, fields[LOCATION], &event.position);
	if (status)
		return status;
	event.what = thread << 8 | operation->op;
	if (!fields[VALUE].length)
		return append(p, event, NULL);
	uint64_t value;
	status = parse_value(p, fields[VALUE], &value);
	return status ? status : append(p, event, &value);
}

/* Removes white space at the end, and the byte order mark that some editors put at a file's beginning. */
static char *trim(char *text, size_t *length, bool first)
{
	while (*length && strchr(" \t\r\f\v", text[*length - 1]) && text[*length - 1])
		--*length;
	bool marked = first && *length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3);
	*length -= marked ? 3 : 0;
	return marked ? text + 3 : text;
}

static enum rt_status parse_lines(struct parser *p)
{
	for (;;) {
		char *text;
		size_t length;
		enum rt_status status = lines_next(&p->lines, &text, &length, p->err);
		if (status)
			return status;
		if (!text)
			break;
		if (p->lines.number > UINT32_MAX)
			return rt_error_set(p->err, RT_EINPUT, "'%s' has more than %u lines", p->lines.path,
			                    UINT32_MAX);
		if (!p->options->strict)
			text = trim(text, &length, p->lines.number == 1);
		if (length == 0 || text[0] == '#')
			continue;
		status = parse_line(p, (struct field){text, length});
		if (status)
			return status;
	}
	if (p->std->count == 0)
		return rt_error_set(p->err, RT_EINPUT, "'%s' has no event: not a trace", p->lines.path);
	return RT_OK;
}

/* A thread's parent is the first thread that forks it, unless it has acted before. */
static void note_parent(struct std *std, uint32_t parent, uint32_t child)
{
	struct rt_thread *t = &std->threads[child];
	if (!t->events && t->parent == child)
		t->parent = parent;
}

/* The thread table: parents by fork, numbers of events. */
static enum rt_status count_threads(struct parser *p)
{
	struct std *std = p->std;
	uint32_t n = std->thread_names.count;
	std->threads = calloc(n, sizeof *std->threads);
	std->ordinals = calloc(n, sizeof *std->ordinals);
	if (!std->threads || !std->ordinals)
		return rt_error_set(p->err, RT_EMEMORY, "no memory to read '%s'", p->lines.path);
	for (uint32_t i = 0; i < n; i++)
		std->threads[i] = (struct rt_thread){.name = names_text(&std->thread_names, i), .parent = i};
	for (size_t i = 0; i < std->count; i++) {
		uint32_t thread = std->events[i].what >> 8;
		std->threads[thread].events++;
		if ((std->events[i].what & 0x7f) == RT_OP_FORK)
			note_parent(std, thread, std->events[i].object);
	}
	std->trace.info.threads = std->threads;
	std->trace.info.thread_count = n;
	return RT_OK;
}

/* Moves the existing warnings to the front. */
static void list_warnings(struct std *std)
{
	uint32_t n = 0;
	for (int i = 0; i < STD_WARNINGS; i++)
		if (std->warnings[i].count)
			std->warnings[n++] = std->warnings[i];
	std->trace.info.warnings = std->warnings;
	std->trace.info.warning_count = n;
}

enum rt_status std_parse(struct std *std, int fd, const char *path, const struct rt_trace_options *options,
                         struct rt_error *err)
{
	struct parser p = {.std = std, .err = err, .options = options};
	enum rt_status status = lines_init(&p.lines, fd, path, LONGEST_LINE, err);
	if (status)
		return status;
	status = parse_lines(&p);
	if (!status)
		status = count_threads(&p);
	std->trace.info.file_bytes = p.lines.bytes;
	std->trace.info.events = std->count;
	list_warnings(std);
	lines_release(&p.lines);
	free(p.locks);
	free(p.threads);
	return status;
}
