/* Text, positions and stacks of the HTML report; see html.h. */
#include "lib/report/html/html.h"

#include "lib/base/hash.h"
#include "lib/report/digest.h"
#include "lib/report/fold.h"
#include "lib/report/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_character(char c, FILE *out)
{
	switch (c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		putc(c, out);
	}
}

void html_put(const struct page *p, const char *text)
{
	utf8_print(text, put_character, p->out);
}

const char *html_thread_name(const struct page *p, uint32_t thread)
{
	return thread < p->info->thread_count ? p->info->threads[thread].name : "unknown";
}

void html_put_thread(const struct page *p, uint32_t thread)
{
	const char *label = thread < p->info->thread_count ? p->info->threads[thread].label : NULL;
	html_put(p, html_thread_name(p, thread));
	if (label) {
		fputs(" (", p->out);
		html_put(p, label);
		fputs(")", p->out);
	}
}

void html_put_marked(const struct page *p, const char *text)
{
	const char *mark;
	for (bool code = false; *text; code = !code, text = *mark ? mark + 1 : mark) {
		char part[FINDING_TEXT_MAX];
		mark = strchrnul(text, '`');
		code = code && *mark; /* a name has two */
		snprintf(part, sizeof part, "%.*s", (int)(mark - text), text);
		fputs(code ? "<code>" : "", p->out);
		html_put(p, part);
		fputs(code ? "</code>" : "", p->out);
	}
}

/* Positions */

void html_put_position(const struct page *p, const struct rt_frame *f)
{
	char address[SUBJECT_NAME_MAX];
	bool bare = !f->text && !f->function && !f->file;
	if (bare)
		subject_address(p->r, f->pc, address);
	if (bare || f->function || f->text)
		html_put(p, bare ? address : f->function ? f->function : f->text);
	if (f->file) {
		fputs(f->function ? " at " : "", p->out);
		html_put(p, report_path(p->r, f->file));
		subject_put_line(f, p->out);
	} else if (f->module && !bare) {
		fputs(" in ", p->out);
		html_put(p, subject_basename(f->module));
	}
}

/* The frame's source line, if it may be shown. */
static void put_snippet(const struct page *p, const struct rt_frame *f)
{
	char *line = snippet(p->r->sources, f->file, f->line);
	if (!line)
		return;
	fprintf(p->out, "<pre><span class=\"dim\">%" PRIu32 "</span> ", f->line);
	html_put(p, line);
	fputs("</pre>", p->out);
	free(line);
}

/* A source line; a leading tab is as wide as editors have it. */
static void put_indented(const struct page *p, const char *text)
{
	for (; *text == '\t' || *text == ' '; text++)
		fputs(*text == '\t' ? "    " : " ", p->out);
	html_put(p, text);
}

void html_put_source(const struct page *p, const struct rt_frame *f)
{
	enum { AROUND = 2 };
	char *line = snippet_indented(p->r->sources, f->file, f->line);
	if (!line)
		return;
	fputs("<pre class=\"source\">", p->out);
	for (uint32_t at = f->line > AROUND ? f->line - AROUND : 1; at <= f->line + AROUND; at++) {
		char *text = at == f->line ? line : snippet_indented(p->r->sources, f->file, at);
		if (!text && at > f->line)
			continue;
		fprintf(p->out,
		        at == f->line ? "<mark><span class=\"dim\">%5" PRIu32 "</span> "
		                      : "<span><span class=\"dim\">%5" PRIu32 "</span> ",
		        at);
		put_indented(p, text ? text : "");
		fputs(at == f->line ? "\n</mark>" : "\n</span>", p->out);
		free(text);
	}
	fputs("</pre>\n", p->out);
}

/* A stack that is on the page: others that are equal refer to it. */
struct html_stack {
	uint64_t key;
	unsigned number;
	UT_hash_handle hh;
};

static uint64_t stack_key(const struct description *d, bool source)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_number(&state, source);
	digest_number(&state, d->stack_cut);
	for (size_t i = 0; i < d->stack_count; i++)
		digest_number(&state, d->stack[i]);
	return XXH3_64bits_digest(&state);
}

/* The stack's number on the page, from 1; *is_new tells whether it is there. 0 without memory. */
static unsigned stack_number(const struct page *p, const struct description *d, bool source, bool *is_new)
{
	struct html_stack *stack;
	uint64_t key = stack_key(d, source);
	HASH_FIND(hh, p->stacks->all, &key, sizeof key, stack);
	*is_new = !stack;
	if (stack)
		return stack->number;
	HASH_MAKE(p->stacks->all, key, key, stack);
	if (!stack)
		return 0;
	stack->number = ++p->stacks->count;
	return stack->number;
}

void html_forget(const struct page *p)
{
	HASH_FREE(p->stacks->all);
	*p->no_memory |= p->r->sources->no_memory;
}

struct stack_writer {
	const struct page *p;
	size_t first, count; /* only these calls are written */
	bool source;
};

static void put_call(void *arg, const struct fold *fold)
{
	const struct stack_writer *w = arg;
	if (fold->first < w->first || fold->first - w->first >= w->count)
		return;
	fputs("<li>", w->p->out);
	html_put_position(w->p, &fold->outer);
	if (w->source)
		put_snippet(w->p, &fold->outer);
	fputs("</li>\n", w->p->out);
}

struct folded_stack {
	struct stack_writer calls;
	const struct description *d;
};

/* Several calls in one item, which opens to a list of them; the numbers go on behind it. */
static void put_fold(void *arg, const struct fold *fold)
{
	struct folded_stack *s = arg;
	struct stack_writer inner = {s->calls.p, fold->first, fold->count, false};
	char name[PLACE_FUNCTION_MAX];
	if (fold->count == 1) {
		s->calls.first = fold->first;
		put_call(&s->calls, fold);
		return;
	}
	place_function(&(struct place){.frame = &fold->outer}, name);
	fprintf(s->calls.p->out, "<li value=\"%zu\"><details><summary>", fold->first + fold->count - 1);
	if (fold->outer.function)
		html_put(s->calls.p, name);
	fprintf(s->calls.p->out, "%s%zu calls within libraries%s</summary>\n<ol start=\"%zu\">\n",
	        fold->outer.function ? " (" : "", fold->count, fold->outer.function ? ")" : "", fold->first);
	fold_stack(s->calls.p->r, s->d, true, put_call, &inner);
	fputs("</ol></details></li>\n", s->calls.p->out);
}

static void put_whole_stack(const struct page *p, const struct description *d, unsigned number, bool source)
{
	struct folded_stack s = {{p, 0, 1, source}, d};
	fprintf(p->out, "<ol class=\"stack\" start=\"0\" id=\"stack%u\">\n", number);
	fold_stack(p->r, d, p->r->verbose, put_fold, &s);
	fputs("</ol>\n", p->out);
	if (d->stack_cut)
		fputs("<p class=\"dim\">and the calls further out</p>\n", p->out);
}

void html_put_stack(const struct page *p, const struct description *d, bool source)
{
	bool is_new;
	if (!d || !d->stack_count)
		return;
	unsigned number = stack_number(p, d, source, &is_new);
	if (!number) {
		*p->no_memory = true;
	} else if (is_new) {
		put_whole_stack(p, d, number, source);
	} else {
		size_t n = 0;
		const struct rt_frame nothing = {.pc = d->stack[0]},
		                      *frames = rt_trace_frames(p->r->analysis->trace, d->stack[0], &n);
		fputs("<p class=\"stack\">", p->out);
		html_put_position(p, n ? frames : &nothing);
		fprintf(p->out, ", <a href=\"#stack%u\">stack %u</a></p>\n", number, number);
	}
}

/* Locks */

void html_put_lock(const struct page *p, uint64_t addr, const struct memory_block *block,
                   const struct description *acquire)
{
	char name[SUBJECT_NAME_MAX];
	place_lock_name(p->r, addr, block, acquire, name);
	if (*name)
		html_put(p, name);
	else
		fprintf(p->out, "0x%" PRIx64, addr);
}
