/* Threads of the collector; see thread.h. */
#include "recorder/collector/thread.h"

int thread_create(pthread_t *thread, size_t stack, void *(*f)(void *), void *arg)
{
	pthread_attr_t attributes;
	int failure = pthread_attr_init(&attributes);
	if (failure)
		return failure;
	failure = pthread_attr_setstacksize(&attributes, stack);
	if (!failure)
		failure = pthread_create(thread, &attributes, f, arg);
	pthread_attr_destroy(&attributes);
	return failure;
}
