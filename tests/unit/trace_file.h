/* Trace files in tests: written to a scratch folder, opened, read whole. Each test has a process of its own. */
#ifndef TESTS_UNIT_TRACE_FILE_H
#define TESTS_UNIT_TRACE_FILE_H

#include "tracefmt/native/file.h"
#include "tracefmt/native/writer.h"
#include "tracefmt/source.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/racetrace-test-XXXXXX";
static char path[64], other[64];

static inline void setup(void)
{
	strcpy(folder + sizeof folder - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/trace.zst", folder);
	snprintf(other, sizeof other, "%s/other.zst", folder);
}

static inline void teardown(void)
{
	unlink(path);
	unlink(other);
	ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left behind */
}

static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline struct rt_writer *create(bool exact)
{
	const char *const command[] = {"./app", "an arg", "\xff", NULL};
	struct rt_writer_options options = {.command = command, .pid = 77, .exact = exact};
	struct rt_writer *w;
	struct rt_error err = {0};
	ck_assert_msg(!rt_writer_create(path, &options, &w, &err), "%s", err.message);
	return w;
}

static inline void finish(struct rt_writer *w)
{
	struct rt_writer_result result = {.exit_kind = RT_EXIT_SIGNAL, .exit_value = 9, .duration_ns = 123456};
	struct rt_error err = {0};
	ck_assert_msg(!rt_writer_finish(w, &result, &err), "%s", err.message);
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, result.bytes);
}

static inline struct rt_trace *open_trace(const char *name)
{
	struct rt_trace *trace;
	struct rt_error err = {0};
	ck_assert_msg(!rt_trace_open(name, &trace, &err), "%s", err.message);
	return trace;
}

/* All events of a trace, read `step` at a time; the caller frees them. */
static inline struct rt_event *read_all(struct rt_trace *trace, size_t step, size_t *count)
{
	size_t cap = 64, n = 0, got;
	struct rt_event *events = malloc(cap * sizeof *events);
	do {
		if (cap - n < step)
			events = realloc(events, (cap = cap * 2 + step) * sizeof *events);
		if (rt_trace_read(trace, events + n, step, &got, NULL))
			ck_abort_msg("cannot read");
		n += got;
	} while (got);
	*count = n;
	return events;
}

/* Check writes to a pipe at each assertion: one that holds for every event is asserted where it fails alone. */
static inline void assert_same_event(const struct rt_event *a, const struct rt_event *b)
{
	if (a->thread != b->thread || a->ordinal != b->ordinal || a->stamp != b->stamp || a->addr != b->addr ||
	    a->arg != b->arg || a->pc != b->pc || a->value != b->value || a->op != b->op || a->order != b->order ||
	    a->flags != b->flags)
		ck_abort_msg("event %ju: %s of thread %u is not event %ju: %s of thread %u", (uintmax_t)a->number,
		             rt_op_name(a->op), a->thread, (uintmax_t)b->number, rt_op_name(b->op), b->thread);
}

/* Events of several threads in global order, of every kind. */
static inline struct rt_event *random_events(size_t n, uint32_t threads, uint64_t seed)
{
	struct rt_event *events = calloc(n, sizeof *events);
	uint64_t *ordinals = calloc(threads, sizeof *ordinals), stamp = 1000;
	uint32_t thread = 0;
	for (size_t i = 0; i < n; i++) {
		struct rt_event *e = &events[i];
		uint64_t x = next_random(&seed);
		if (x % 8 == 0) {
			thread = (uint32_t)(x >> 40) % threads;
			stamp += 1 + (x >> 32) % 100;
		}
		e->thread = thread;
		e->stamp = stamp;
		e->number = i + 1;
		ordinals[thread] += 1 + (x % 64 == 1 ? (x >> 50) : 0);
		e->ordinal = ordinals[thread];
		e->op = (uint8_t)(RT_OP_READ + (x >> 8) % (RT_OP_COUNT - RT_OP_READ));
		e->addr = (x >> 16) % 10 * 4096 + (x & 0xff0);
		e->pc = 0x400000 + (x >> 12) % 60;
		e->order = (uint8_t)(e->op > RT_OP_WRITE && e->op <= RT_OP_FENCE ? (x >> 20) % 6 : 0);
		e->arg = (x >> 24) % 5 ? UINT64_C(1) << (x >> 24) % 5 : next_random(&seed) & RT_OPERAND_MAX;
		if (x % 32 == 5) {
			e->flags = RT_F_VALUE;
			e->value = next_random(&seed);
		}
	}
	free(ordinals);
	return events;
}

static inline void write_events(const struct rt_event *events, size_t n, uint32_t threads)
{
	struct rt_writer *w = create(true);
	for (uint32_t i = 0; i < threads; i++) {
		char name[32];
		snprintf(name, sizeof name, "main.%u", i);
		ck_assert(!rt_writer_thread(w, i, i ? name : "main", 0, i == 1 ? "label" : NULL, NULL));
	}
	for (size_t i = 0; i < n; i++)
		if (rt_writer_event(w, &events[i], NULL))
			ck_abort_msg("cannot write");
	finish(w);
}

static inline size_t read_file(const char *name, uint8_t **data)
{
	FILE *f = fopen(name, "rb");
	ck_assert_ptr_nonnull(f);
	*data = malloc(1 << 20);
	size_t n = fread(*data, 1, 1 << 20, f);
	fclose(f);
	return n;
}

static inline void write_file(const char *name, const uint8_t *data, size_t n)
{
	FILE *f = fopen(name, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* A small file of several chunks: 40 events, each thread ended after every fifth. */
static inline struct rt_event *small_file(size_t *n)
{
	struct rt_event *events = random_events(*n = 40, 2, 8);
	for (size_t i = 0; i < *n; i++)
		events[i].stamp = i + 1; /* one run each, so that what is left has its place */
	struct rt_writer *w = create(true);
	struct rt_frame frame = {.function = "f", .file = "f.c", .line = 3, .pc = 0x400000};
	ck_assert(!rt_writer_thread(w, 0, "main", 0, NULL, NULL));
	ck_assert(!rt_writer_thread(w, 1, "main.1", 0, NULL, NULL));
	for (size_t i = 0; i < *n; i++) {
		ck_assert(!rt_writer_event(w, &events[i], NULL));
		if (i % 5 == 4)
			for (uint32_t t = 0; t < 2; t++)
				ck_assert(!rt_writer_thread_end(w, t, NULL));
	}
	ck_assert(!rt_writer_position(w, 0x400000, &frame, 1, NULL));
	finish(w);
	return events;
}

/* One event a record, so that the stamps alone decide. */
static inline void put(struct rt_writer *w, uint32_t thread, uint64_t stamp, uint64_t addr)
{
	struct rt_record r[2] = {rt_record_ext(stamp, 0), rt_record_make(RT_OP_READ, addr, 1, 4, 0)};
	ck_assert(!rt_writer_records(w, thread, stamp ? r : r + 1, stamp ? 2 : 1, NULL));
}

#endif
