/*
 * Streams of stdio: their use of memory, and the order that goes through them. Buffers of the C library are not seen;
 * so what is put into one is published at once, on the descriptor, whichever thread flushes it; and whoever takes from
 * one is behind all that was written to the descriptor, whichever thread filled it.
 */
#ifndef RECORDER_STREAM_H
#define RECORDER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct _IO_FILE; /* FILE, without the names that its header gives to other functions */

/* Each call uses the stream itself, which may not be closed at the same time. */
void rt_stream_uses(const struct _IO_FILE *f, uintptr_t pc);
/* Before output. */
void rt_stream_sends(const struct _IO_FILE *f, uintptr_t pc);
/* Before input: will it have to wait for its buffer to be filled? After it: ok, data or the end of it came. */
bool rt_stream_waits(const struct _IO_FILE *f);
void rt_stream_received(const struct _IO_FILE *f, bool waited, bool ok, uintptr_t pc);

#endif
