/* Threads of the collector, whose stacks do not depend on how the program's limits are set. */
#ifndef RECORDER_COLLECTOR_THREAD_H
#define RECORDER_COLLECTOR_THREAD_H

#include <pthread.h>

/* Bytes of stack: for one that waits, and for one that reads debug information. */
enum { THREAD_WAITS = 256 << 10, THREAD_RESOLVES = 4 << 20 };

/* As pthread_create. Returns an errno. */
int thread_create(pthread_t *thread, size_t stack, void *(*f)(void *), void *arg);

#endif
