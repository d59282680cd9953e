/* Text, positions and stacks of the text report; see text.h. */
#include "lib/report/text/text.h"

#include "lib/report/fold.h"
#include "lib/report/place.h"
#include "lib/report/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void text_style(const struct printer *p, enum style s)
{
	static const char *const sequences[] = {"\033[0m", "\033[1m", "\033[1;31m", "\033[1;33m", "\033[2m"};
	if (p->color)
		fputs(sequences[s], p->out);
}

void text_put(const struct printer *p, const char *text)
{
	utf8_write(text, p->out);
}

void text_put_styled(const struct printer *p, enum style s, const char *text)
{
	text_style(p, s);
	text_put(p, text);
	text_style(p, PLAIN);
}

uint32_t text_width(FILE *out)
{
	struct winsize size;
	int fd = fileno(out);
	if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

void text_put_thread(const struct printer *p, uint32_t thread)
{
	if (thread >= p->info->thread_count) {
		fputs("unknown", p->out);
		return;
	}
	text_put_styled(p, BOLD, p->info->threads[thread].name);
	const char *label = p->info->threads[thread].label;
	if (label) {
		fputs(" (", p->out);
		text_put(p, label);
		fputs(")", p->out);
	}
}

const char *text_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Positions */

void text_put_frame(const struct printer *p, size_t index, int indent, const struct rt_frame *f, bool inlined)
{
	char address[SUBJECT_NAME_MAX];
	bool bare = !f->text && !f->function && !f->file;
	fprintf(p->out, "%*s#%zu ", indent, "", index);
	if (f->text && !f->function && !f->file) {
		fputs("location ", p->out);
		text_put(p, f->text);
	} else if (f->function) {
		text_put_styled(p, BOLD, f->function);
	} else if (bare) {
		subject_address(p->r, f->pc, address);
		text_put(p, address);
	}
	if (f->file) {
		fputs(f->function ? " at " : "", p->out);
		text_put(p, report_path(p->r, f->file));
		subject_put_line(f, p->out);
	} else if (f->module && !bare) {
		fputs(" in ", p->out);
		text_put(p, subject_basename(f->module));
	}
	fputs(inlined ? " (inlined)\n" : "\n", p->out);
}

void text_put_snippet(const struct printer *p, int indent, const struct rt_frame *f)
{
	char *line = snippet_around(p->r->sources, f->file, f->line, f->column);
	if (!line)
		return;
	text_style(p, DIM);
	fprintf(p->out, "%*s%" PRIu32 " | ", indent + 3, "", f->line);
	text_put(p, line);
	text_style(p, PLAIN);
	fputc('\n', p->out);
	free(line);
}

/* Calls within libraries: by the one that the program's own code called. */
static void put_folded(const struct printer *p, int indent, const struct fold *fold)
{
	char name[PLACE_FUNCTION_MAX];
	place_function(&(struct place){.frame = &fold->outer}, name);
	fprintf(p->out, "%*s#%zu-#%zu ", indent, "", fold->first, fold->first + fold->count - 1);
	if (fold->outer.function)
		text_put_styled(p, BOLD, name);
	fprintf(p->out, "%s%zu calls within libraries%s\n", fold->outer.function ? " (" : "", fold->count,
	        fold->outer.function ? ")" : "");
}

struct stack_printer {
	const struct printer *p;
	int indent;
	bool source; /* the line of the first call of the program's own is still to be shown */
};

static void put_fold(void *arg, const struct fold *fold)
{
	struct stack_printer *s = arg;
	if (fold->count > 1) {
		put_folded(s->p, s->indent, fold);
		return;
	}
	text_put_frame(s->p, fold->first, s->indent, &fold->outer, fold->inlined);
	if (s->source && fold->outer.file && (!fold->library || s->p->r->verbose)) {
		text_put_snippet(s->p, s->indent, &fold->outer);
		s->source = false;
	}
}

void text_put_stack(const struct printer *p, const struct description *d, int indent, bool source)
{
	struct stack_printer s = {p, indent, source};
	fold_stack(p->r, d, p->r->verbose, put_fold, &s);
	if (d && d->stack_cut)
		fprintf(p->out, "%*s... and the calls further out\n", indent, "");
}
