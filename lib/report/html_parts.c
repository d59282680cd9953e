/* Text, positions and stacks of the HTML report; see html.h. */
#include "lib/report/html.h"

#include "lib/report/utf8.h"

#include <inttypes.h>
#include <stdlib.h>

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

void html_put_thread(const struct page *p, uint32_t thread)
{
	html_put(p, thread < p->info->thread_count ? p->info->threads[thread].name : "unknown");
}

/* Positions */

void html_put_position(const struct page *p, const struct rt_frame *f)
{
	if (f->function)
		html_put(p, f->function);
	else if (f->text)
		html_put(p, f->text);
	else if (!f->file)
		fprintf(p->out, "0x%" PRIx64, f->pc);
	if (f->file) {
		fputs(f->function ? " at " : "", p->out);
		html_put(p, f->file);
		if (f->line)
			fprintf(p->out, ":%" PRIu32, f->line);
		if (f->line && f->column)
			fprintf(p->out, ":%" PRIu32, f->column);
	} else if (f->module) {
		fputs(" in ", p->out);
		html_put(p, subject_basename(f->module));
	}
}

void html_put_snippet(const struct page *p, const struct rt_frame *f)
{
	char *line = snippet(p->snippets, f->file, f->line);
	if (!line)
		return;
	fprintf(p->out, "<pre><span class=\"dim\">%" PRIu32 "</span> ", f->line);
	html_put(p, line);
	fputs("</pre>", p->out);
	free(line);
}

static void put_frames(const struct page *p, uint64_t pc, bool source)
{
	size_t n = 0;
	const struct rt_frame nothing = {.pc = pc}, *known = rt_trace_frames(p->r->analysis->trace, pc, &n);
	for (size_t k = 0; k < (n ? n : 1); k++) {
		const struct rt_frame *f = n ? &known[k] : &nothing;
		fputs("<li>", p->out);
		html_put_position(p, f);
		if (source)
			html_put_snippet(p, f);
		fputs("</li>\n", p->out);
	}
}

static void make_frames(FILE *out, uint64_t pc, const void *arg)
{
	struct page p = *(const struct page *)arg;
	p.out = out;
	put_frames(&p, pc, false);
}

static void make_sources(FILE *out, uint64_t pc, const void *arg)
{
	struct page p = *(const struct page *)arg;
	p.out = out;
	put_frames(&p, pc, true);
}

void html_put_stack(const struct page *p, const struct description *d, bool source)
{
	fputs("<ol class=\"stack\" start=\"0\">\n", p->out);
	for (size_t i = 0; d && i < d->stack_count; i++)
		if (!pieces_write(source ? p->sources : p->frames, d->stack[i], source ? make_sources : make_frames, p,
		                  p->out))
			*p->no_memory = true;
	fputs("</ol>\n", p->out);
	if (d && d->stack_cut)
		fputs("<p class=\"dim\">and the calls further out</p>\n", p->out);
}

/* Locks */

void html_put_lock(const struct page *p, uint64_t addr, const struct memory_block *block)
{
	char name[SUBJECT_NAME_MAX];
	subject_object_name(p->r, addr, block, name);
	if (*name)
		html_put(p, name);
	else
		fprintf(p->out, "0x%" PRIx64, addr);
}
