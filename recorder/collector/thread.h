/* Threads of the collector, with stacks that do not depend on the program's limits. */
#ifndef RECORDER_COLLECTOR_THREAD_H
#define RECORDER_COLLECTOR_THREAD_H

#include <pthread.h>

/* Bytes of stack: for a thread that only waits, and for one that reads debug information. */
enum { THREAD_WAITS = 256 << 10, THREAD_RESOLVES = 4 << 20 };

/* Like pthread_create. Returns an errno. */
int thread_create(pthread_t *thread, size_t stack, void *(*f)(void *), void *arg);

#endif
