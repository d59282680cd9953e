/* What positions and addresses are called; see writer.h. */
#include "tracefmt/native/writer_parts.h"

#include "tracefmt/source.h"

#include <stdlib.h>

bool writer_add_pc(uint64_t pc, void *arg)
{
	bool added;
	return !pc || set_add(arg, pc, &added);
}

/* Reports a symbol table's failure. Events can be written all the same. */
static enum rt_status symbol_result(struct rt_writer *w, bool ok, struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for symbols");
}

enum rt_status rt_writer_pc(struct rt_writer *w, uint64_t pc, struct rt_error *err)
{
	return symbol_result(w, writer_add_pc(pc, &w->pcs), err);
}

enum rt_status rt_writer_symbols(struct rt_writer *w, struct rt_trace *trace, struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	w->raw.len = 0;
	if (!rt_symbol_table_write(w->symbols, &w->raw) || w->raw.failed)
		return writer_no_memory(w, err);
	return trace->source->set_symbols ? trace->source->set_symbols(trace, w->raw.data, w->raw.len, err) : RT_OK;
}

enum rt_status rt_writer_position(struct rt_writer *w, uint64_t pc, const struct rt_frame *frames, size_t n,
                                  struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_position(w->symbols, pc, frames, n), err);
}

int rt_writer_each_pc(struct rt_writer *w, int (*f)(uint64_t pc, void *arg), void *arg)
{
	writer_ring_complete(w, NULL);
	for (struct writer_thread *t = w->oldest; t; t = t->newer)
		if (!rt_encoder_each_pc(t->encoder, writer_add_pc, &w->pcs))
			return -1;
	size_t n;
	uint64_t *pcs = set_sorted(&w->pcs, &n);
	if (!pcs)
		return -1;
	int result = 0;
	for (size_t i = 0; i < n && !result; i++)
		result = f(pcs[i], arg);
	free(pcs);
	return result;
}

void rt_writer_leave_out_symbols(struct rt_writer *w)
{
	rt_symbol_table_free(w->symbols);
	w->symbols = NULL;
}

enum rt_status rt_writer_type(struct rt_writer *w, const struct rt_type *type, uint32_t *index, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_type(w->symbols, type, index), err);
}

enum rt_status rt_writer_variable(struct rt_writer *w, const char *name, uint64_t address, uint64_t size, uint32_t type,
                                  const char *file, uint32_t line, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_variable(w->symbols, name, address, size, type, file, line), err);
}

enum rt_status rt_writer_object_name(struct rt_writer *w, uint64_t addr, const char *name, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_object(w->symbols, addr, name), err);
}

enum rt_status rt_writer_module(struct rt_writer *w, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                                bool plain, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_module(w->symbols, start, end, offset, path, plain), err);
}

enum rt_status rt_writer_hidden_atomic(struct rt_writer *w, const struct rt_hidden_atomic *a, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_hidden_atomic(w->symbols, a), err);
}

enum rt_status rt_writer_text_file(struct rt_writer *w, const char *path, uint64_t digest, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_text_file(w->symbols, path, digest), err);
}

enum rt_status rt_writer_update(struct rt_writer *w, const struct rt_update *u, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_update(w->symbols, u), err);
}

enum rt_status rt_writer_declared(struct rt_writer *w, const struct rt_declared *d, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_declared(w->symbols, d), err);
}
