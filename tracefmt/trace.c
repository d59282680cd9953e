/* Opens a trace of any format by its content; see trace.h and source.h. */
#include "lib/base/assert.h"
#include "lib/base/input.h"
#include "tracefmt/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const struct rt_source *const sources[] = {&rt_source_file, &rt_source_jsonl, &rt_source_std};
enum { SOURCES = sizeof sources / sizeof *sources, PROBE_BYTES = 4096 };

enum rt_status rt_trace_open_input(int fd, const char *path, const struct rt_trace_options *options,
                                   struct rt_trace **out, struct rt_error *err)
{
	unsigned char start[PROBE_BYTES];
	size_t n = 0;
	enum rt_status status = rt_input_start(fd, path, start, sizeof start, &n, err);
	if (!status && n == 0)
		status = rt_error_set(err, RT_EINPUT, "'%s' is empty: not a trace", path);
	for (size_t i = 0; i < SOURCES && !status; i++) {
		if (!sources[i]->probe(start, n))
			continue;
		status = sources[i]->open(fd, path, options, out, err);
		if (status)
			return status;
		(*out)->source = sources[i];
		(*out)->mask = RT_SELECT_ALL;
		(*out)->info.format = sources[i]->name;
		char *copy = strdup(path);
		if (!copy) {
			sources[i]->free(*out);
			*out = NULL;
			return rt_error_set(err, RT_EMEMORY, "no memory to open '%s'", path);
		}
		(*out)->info.path = copy;
		return RT_OK;
	}
	close(fd);
	return status
	           ? status
	           : rt_error_set(err, RT_EINPUT, "'%s' is not a trace: neither racetrace's, JSON lines nor STD", path);
}

enum rt_status rt_trace_open_as(const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                                struct rt_error *err)
{
	int fd = -1;
	enum rt_status status = rt_input_open(path, &fd, err);
	return status ? status : rt_trace_open_input(fd, path, options, out, err);
}

enum rt_status rt_trace_open(const char *path, struct rt_trace **out, struct rt_error *err)
{
	return rt_trace_open_as(path, &(struct rt_trace_options){0}, out, err);
}

const char *rt_model_name(enum rt_memory_model model)
{
	return model == RT_MODEL_C11 ? "c11" : "sc";
}

void rt_trace_free(struct rt_trace *trace)
{
	if (!trace)
		return;
	if (trace->shares) {
		trace->shares--;
		return;
	}
	free((char *)(uintptr_t)trace->info.path);
	trace->source->free(trace);
}

void rt_trace_share(struct rt_trace *trace)
{
	trace->shares++;
}

const struct rt_trace_info *rt_trace_info(const struct rt_trace *trace)
{
	return &trace->info;
}

enum rt_status rt_trace_memory(const struct rt_trace *trace, struct rt_error *err)
{
	return trace->info.no_memory
	           ? rt_error_set(err, RT_EMEMORY, "no memory for the source positions of '%s'", trace->info.path)
	           : RT_OK;
}

void rt_trace_select(struct rt_trace *trace, uint64_t mask)
{
	trace->mask = mask;
}

enum rt_status rt_trace_rewind(struct rt_trace *trace, struct rt_error *err)
{
	return trace->source->rewind(trace, err);
}

struct rt_mark *rt_trace_mark(const struct rt_trace *trace)
{
	return trace->source->mark ? trace->source->mark(trace) : NULL;
}

enum rt_status rt_trace_return(struct rt_trace *trace, const struct rt_mark *mark, struct rt_error *err)
{
	return mark ? trace->source->go(trace, mark, err) : rt_trace_rewind(trace, err);
}

void rt_mark_free(struct rt_mark *mark)
{
	free(mark);
}

enum rt_status rt_trace_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                             struct rt_error *err)
{
	enum rt_status status = trace->source->read(trace, events, n, got, err);
	for (size_t i = 1; rt_asserting && !status && i < *got; i++)
		rt_assert(events[i - 1].number < events[i].number);
	if (!status && *got && trace->watcher)
		trace->watcher(events[*got - 1].number, trace->watcher_arg);
	return status;
}

void rt_trace_watch(struct rt_trace *trace, rt_trace_watcher *watcher, void *arg)
{
	trace->watcher = watcher;
	trace->watcher_arg = arg;
}

struct rt_event *rt_pass_more(struct rt_pass *p)
{
	p->at = p->got = 0;
	if (!p->status)
		p->status = rt_trace_read(p->trace, p->events, RT_PASS_EVENTS, &p->got, p->err);
	return p->status || !p->got ? NULL : &p->events[p->at++];
}

struct rt_event *rt_pass_from(struct rt_pass *p, struct rt_trace *trace, const struct rt_mark *mark,
                              struct rt_error *err)
{
	p->trace = trace;
	p->err = err;
	p->status = rt_trace_return(trace, mark, err);
	return rt_pass_more(p);
}

struct rt_event *rt_pass_first(struct rt_pass *p, struct rt_trace *trace, struct rt_error *err)
{
	return rt_pass_from(p, trace, NULL, err);
}

const struct rt_frame *rt_trace_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	return trace->source->frames(trace, pc, count);
}

bool rt_trace_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	return trace->source->variable(trace, addr, out);
}

const char *rt_trace_object_name(const struct rt_trace *trace, uint64_t addr)
{
	return trace->source->object_name(trace, addr);
}

const struct rt_text_file *rt_trace_text_files(const struct rt_trace *trace, size_t *count)
{
	*count = 0;
	return trace->source->text_files ? trace->source->text_files(trace, count) : NULL;
}

bool rt_text_file_digest(const char *path, uint64_t *digest)
{
	enum { LENGTH_MAX = 16 << 20 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LENGTH_MAX;
	char *text = good ? malloc((size_t)st.st_size + 1) : NULL;
	good = text && read(fd, text, (size_t)st.st_size) == st.st_size;
	if (good)
		*digest = XXH64(text, (size_t)st.st_size, 0);
	free(text);
	if (fd >= 0)
		close(fd);
	return good;
}

const struct rt_module *rt_trace_modules(const struct rt_trace *trace, size_t *count)
{
	*count = 0;
	return trace->source->modules ? trace->source->modules(trace, count) : NULL;
}

const struct rt_loaded *rt_trace_loaded(const struct rt_trace *trace, size_t *count)
{
	*count = 0;
	return trace->source->loaded ? trace->source->loaded(trace, count) : NULL;
}

const struct rt_hidden_atomic *rt_trace_hidden_atomics(const struct rt_trace *trace, size_t *count)
{
	*count = 0;
	return trace->source->hidden_atomics ? trace->source->hidden_atomics(trace, count) : NULL;
}

const struct rt_update *rt_trace_updates(const struct rt_trace *trace, size_t *count)
{
	*count = 0;
	return trace->source->updates ? trace->source->updates(trace, count) : NULL;
}

const struct rt_declared *rt_trace_declared(const struct rt_trace *trace, size_t *count)
{
	*count = 0;
	return trace->source->declared ? trace->source->declared(trace, count) : NULL;
}

int rt_declared_compare(const void *a, const void *b)
{
	const struct rt_declared *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	int of = strcmp(x->of, y->of);
	return of ? of : strcmp(x->name, y->name);
}

const char *rt_declared_kind_name(enum rt_declared_kind kind)
{
	static const char *const names[RT_DECLARED_KINDS] = {
	    [RT_DECLARED_MEMBER] = "member", [RT_DECLARED_LOCAL] = "local", [RT_DECLARED_GLOBAL] = "global"};
	return kind < RT_DECLARED_KINDS ? names[kind] : NULL;
}
