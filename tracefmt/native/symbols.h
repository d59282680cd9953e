/*
 * A trace's symbols: source positions, variables and their types, names of objects, modules. The writer gathers them
 * and stores one block of tables over one table of strings; the reader looks them up.
 */
#ifndef TRACEFMT_NATIVE_SYMBOLS_H
#define TRACEFMT_NATIVE_SYMBOLS_H

#include "lib/base/bytes.h"
#include "tracefmt/native/writer.h"
#include "tracefmt/trace.h"

/* The writer's side. */
struct rt_symbol_table;

/* NULL without memory. */
struct rt_symbol_table *rt_symbol_table_create(void);
void rt_symbol_table_free(struct rt_symbol_table *t);
/* These do the work of the calls in writer.h; false without memory. */
bool rt_symbol_table_position(struct rt_symbol_table *t, uint64_t pc, const struct rt_frame *frames, size_t n);
bool rt_symbol_table_type(struct rt_symbol_table *t, const struct rt_type *type, uint32_t *index);
bool rt_symbol_table_variable(struct rt_symbol_table *t, const char *name, uint64_t address, uint64_t size,
                              uint32_t type, const char *file, uint32_t line);
bool rt_symbol_table_object(struct rt_symbol_table *t, uint64_t addr, const char *name);
bool rt_symbol_table_module(struct rt_symbol_table *t, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                            bool plain);
bool rt_symbol_table_hidden_atomic(struct rt_symbol_table *t, const struct rt_hidden_atomic *a);
bool rt_symbol_table_text_file(struct rt_symbol_table *t, const char *path, uint64_t digest);
bool rt_symbol_table_update(struct rt_symbol_table *t, const struct rt_update *u);
bool rt_symbol_table_declared(struct rt_symbol_table *t, const struct rt_declared *d);
/* Appends the block's content; false without memory. */
bool rt_symbol_table_write(struct rt_symbol_table *t, struct rt_bytes *out);

/* The reader's side. */
struct rt_symbols;

/* Parses the block's content, which is copied. RT_EINPUT: damaged; RT_EMEMORY. */
enum rt_status rt_symbols_parse(const uint8_t *data, size_t n, struct rt_symbols **out);
void rt_symbols_free(struct rt_symbols *s);
/* As in trace.h; s may be NULL. */
const struct rt_frame *rt_symbols_frames(const struct rt_symbols *s, uint64_t pc, size_t *count);
bool rt_symbols_variable(const struct rt_symbols *s, uint64_t addr, struct rt_variable *out);
const char *rt_symbols_object(const struct rt_symbols *s, uint64_t addr);
/* Gives the modules the build ids of the loaded ones with the same path, which are borrowed. */
void rt_symbols_set_builds(struct rt_symbols *s, const struct rt_loaded *loaded, size_t count);
const struct rt_module *rt_symbols_modules(const struct rt_symbols *s, size_t *count);
const struct rt_text_file *rt_symbols_text_files(const struct rt_symbols *s, size_t *count);
const struct rt_hidden_atomic *rt_symbols_hidden_atomics(const struct rt_symbols *s, size_t *count);
const struct rt_update *rt_symbols_updates(const struct rt_symbols *s, size_t *count);
const struct rt_declared *rt_symbols_declared(const struct rt_symbols *s, size_t *count);

#endif
