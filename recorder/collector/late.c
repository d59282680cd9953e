/* Positions of an interrupted recording; see late.h. */
#include "recorder/collector/late.h"

#include "lib/base/vec.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/resolve.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *build_id_of(const char *path)
{
	static const char digits[] = "0123456789abcdef";
	struct stat st;
	const void *bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	elf_version(EV_CURRENT);
	Elf *elf = regular ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	ssize_t n = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;
	char *text = n > 0 ? malloc(2 * (size_t)n + 1) : NULL;
	for (ssize_t i = 0; text && i < n; i++) {
		text[2 * i] = digits[((const unsigned char *)bytes)[i] >> 4];
		text[2 * i + 1] = digits[((const unsigned char *)bytes)[i] & 15];
	}
	if (text)
		text[2 * n] = '\0';
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return text;
}

static enum rt_status add_module(struct modules *m, const struct rt_loaded *l, struct rt_error *err)
{
	char *now = l->build_id ? build_id_of(l->path) : NULL;
	bool same = now && !strcmp(now, l->build_id);
	free(now);
	if (!same)
		return RT_OK;
	bool room = vec_reserve(&m->items, &m->capacity, m->count + 1, sizeof *m->items);
	char *path = room ? strdup(l->path) : NULL;
	if (!path)
		return rt_error_set(err, RT_EMEMORY, "no memory for the list of modules");
	m->items[m->count++] = (struct module){l->start, l->end, path, true};
	return RT_OK;
}

static enum rt_status add_pcs(struct rt_trace *trace, struct rt_writer *w, struct rt_error *err)
{
	struct rt_pass pass;
	enum rt_status status = RT_OK;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e; e = status ? NULL : rt_pass_next(&pass))
		status = e->pc ? rt_writer_pc(w, e->pc, err) : RT_OK;
	status = status ? status : pass.status;
	return status ? status : rt_trace_rewind(trace, err);
}

static enum rt_status resolve(struct rt_trace *trace, const struct modules *m, struct rt_error *err)
{
	struct rt_writer *w = NULL;
	struct resolver *r = NULL;
	struct rt_writer_options options = {.binary = rt_trace_info(trace)->binary};
	enum rt_status status = rt_writer_create(NULL, &options, &w, err);
	if (!status)
		status = add_pcs(trace, w, err);
	if (!status && !resolver_can_write(m, w, true))
		status =
		    rt_error_set(err, RT_EMEMORY, "too little memory for source positions%s", limit_behind(ENOMEM));
	if (!status)
		status = resolver_create(m, NULL, &r, err);
	if (!status)
		status = resolver_write(r, w, true, err);
	if (!status)
		status = rt_writer_symbols(w, trace, err);
	resolver_free(r);
	rt_writer_abort(w);
	return status;
}

enum rt_status late_resolve(struct rt_trace *trace, struct rt_error *err)
{
	struct modules m = {0};
	size_t count;
	const struct rt_loaded *loaded = rt_trace_loaded(trace, &count);
	enum rt_status status = RT_OK;
	for (size_t i = 0; i < count && !status; i++)
		status = add_module(&m, &loaded[i], err);
	if (!status && m.count)
		status = resolve(trace, &m, err);
	modules_release(&m);
	return status;
}
