/* Writes a trace of any source as racetrace's own file; see export.h. */
#include "tracefmt/export.h"
#include "tracefmt/native/writer.h"
#include "tracefmt/refs.h"

static enum rt_status position(void *arg, uint64_t pc, const struct rt_frame *frames, size_t n, struct rt_error *err)
{
	return rt_writer_position(arg, pc, frames, n, err);
}

static enum rt_status variable(void *arg, const struct rt_variable *v, struct rt_error *err)
{
	return rt_writer_variable(arg, v->name, v->address, v->size, RT_NO_TYPE, v->file, v->line, err);
}

static enum rt_status object(void *arg, uint64_t address, const char *name, struct rt_error *err)
{
	return rt_writer_object_name(arg, address, name, err);
}

static enum rt_status write_threads(const struct rt_trace *trace, struct rt_writer *w, struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	for (uint32_t i = 0; i < info->thread_count; i++) {
		const struct rt_thread *t = &info->threads[i];
		enum rt_status status = rt_writer_thread(w, i, t->name, t->parent, t->label, err);
		if (status)
			return status;
	}
	return RT_OK;
}

static enum rt_status write_modules(const struct rt_trace *trace, struct rt_writer *w, struct rt_error *err)
{
	size_t n;
	const struct rt_module *m = rt_trace_modules(trace, &n);
	enum rt_status status = RT_OK;
	for (size_t i = 0; i < n && !status; i++) {
		const struct rt_loaded loaded = {m[i].start, m[i].end, m[i].path, m[i].build_id};
		if (m[i].build_id)
			status = rt_writer_loaded(w, &loaded, err);
		if (!status)
			status = rt_writer_module(w, m[i].start, m[i].end, 0, m[i].path, m[i].plain, err);
	}
	const struct rt_hidden_atomic *a = rt_trace_hidden_atomics(trace, &n);
	for (size_t i = 0; i < n && !status; i++)
		status = rt_writer_hidden_atomic(w, &a[i], err);
	const struct rt_update *updates = rt_trace_updates(trace, &n);
	for (size_t i = 0; i < n && !status; i++)
		status = rt_writer_update(w, &updates[i], err);
	const struct rt_declared *d = rt_trace_declared(trace, &n);
	for (size_t i = 0; i < n && !status; i++)
		status = rt_writer_declared(w, &d[i], err);
	return status;
}

static enum rt_status write_text_files(const struct rt_trace *trace, struct rt_writer *w, struct rt_error *err)
{
	size_t n;
	const struct rt_text_file *f = rt_trace_text_files(trace, &n);
	enum rt_status status = RT_OK;
	for (size_t i = 0; i < n && !status; i++)
		status = rt_writer_text_file(w, f[i].path, f[i].digest, err);
	return status;
}

static enum rt_status write_events(struct rt_trace *trace, struct rt_writer *w, struct rt_error *err)
{
	static const struct refs_sink sink = {position, variable, object};
	struct refs refs;
	struct rt_pass pass;
	enum rt_status status = RT_OK;
	refs_init(&refs, trace, &sink, w);
	rt_trace_select(trace, RT_SELECT_ALL);
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e; e = status ? NULL : rt_pass_next(&pass)) {
		status = refs_event(&refs, e, err);
		if (!status)
			status = rt_writer_event(w, e, err);
	}
	refs_release(&refs);
	return status ? status : pass.status;
}

enum rt_status rt_export_file(struct rt_trace *trace, const char *path, struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	struct rt_writer_options options = {.command = info->command,
	                                    .pid = info->pid,
	                                    .exact = info->exact,
	                                    .model = info->model,
	                                    .sync_only = info->sync_only,
	                                    .zeroed = info->zeroed,
	                                    .values = info->values,
	                                    .binary = info->binary,
	                                    .vary = info->vary,
	                                    .input = info->input};
	struct rt_writer *w;
	enum rt_status status = rt_writer_create(path, &options, &w, err);
	if (status)
		return status;
	if ((status = write_threads(trace, w, err)) || (status = write_events(trace, w, err)) ||
	    (status = write_modules(trace, w, err)) || (status = write_text_files(trace, w, err)) ||
	    (status = rt_trace_memory(trace, err))) {
		rt_writer_abort(w);
		return status;
	}
	struct rt_writer_result result = {.exit_kind = info->exit_kind,
	                                  .exit_value = info->exit_value,
	                                  .duration_ns = info->duration_ns,
	                                  .dropped = info->dropped,
	                                  .incomplete_why = info->complete ? NULL : info->incomplete_why};
	return rt_writer_finish(w, &result, err);
}
