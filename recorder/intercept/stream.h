/*
 * Streams of stdio: their use of memory, and the order that goes through them. Buffers of the C library are not seen.
 * So what is put into one is published at once, on the descriptor, whichever thread flushes it. A thread that takes
 * from one comes after all that was written to the descriptor, whichever thread filled it.
 */
#ifndef RECORDER_INTERCEPT_STREAM_H
#define RECORDER_INTERCEPT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct _IO_FILE; /* FILE, without the names that its header gives to other functions */

/* Before output. */
void rt_stream_sends(const struct _IO_FILE *f, uintptr_t pc);
/* Where input will come from. */
enum rt_stream_source {
	RT_STREAM_DESCRIPTOR, /* may wait */
	RT_STREAM_BUFFER,     /* which another thread may have filled */
	RT_STREAM_OWN_BUFFER  /* which this thread filled, and has taken from alone since */
};
/* Before input; and after it: ok, data came. */
enum rt_stream_source rt_stream_asks(const struct _IO_FILE *f, uintptr_t pc);
void rt_stream_received(const struct _IO_FILE *f, enum rt_stream_source from, bool ok, uintptr_t pc);

#endif
