/*
 * Functions of the C library that keep something for the next call: a static result, a position, the environment. Two
 * threads call each without order; static_results.c calls the form that keeps nothing, or under a lock.
 */
#define _GNU_SOURCE
#include "both.h"

#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

static volatile size_t sink;
#define USE(value) ((void)__atomic_add_fetch(&sink, (size_t)(value), __ATOMIC_RELAXED))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Each thread calls one of the two, or both the first. */
#define KEPT(name, call, other)                                                                                        \
	PART(name)                                                                                                     \
	{                                                                                                              \
		if (RACE_FREE)                                                                                         \
			other;                                                                                         \
		else                                                                                                   \
			call;                                                                                          \
		return NULL;                                                                                           \
	}
#define LOCKED(call) (pthread_mutex_lock(&lock), (call), pthread_mutex_unlock(&lock))

static const time_t zero;
static const struct tm day = {.tm_mday = 1};
static const struct ether_addr address = {{1, 2, 3, 4, 5, 6}};
#define TEXT ((char[4096]){"a b"}) /* of the caller's own */
#define NUMBER (&(int){0})
#define PASSWD                                                                                                         \
	&(struct passwd){0}, TEXT, 4096, &(struct passwd *)                                                            \
	{                                                                                                              \
		0                                                                                                      \
	}
#define SEED ((unsigned short[3]){1, 2, 3})

KEPT(by_localtime, localtime(&zero), localtime_r(&zero, &(struct tm){0}))                   /* @localtime */
KEPT(by_gmtime, gmtime(&zero), gmtime_r(&zero, &(struct tm){0}))                            /* @gmtime */
KEPT(by_ctime, ctime(&zero), ctime_r(&zero, TEXT))                                          /* @ctime */
KEPT(by_asctime, asctime(&day), asctime_r(&day, TEXT))                                      /* @asctime */
KEPT(by_getpwnam, getpwnam("root"), getpwnam_r("root", PASSWD))                             /* @getpwnam */
KEPT(by_getprotobyname, getprotobyname("tcp"), LOCKED(getprotobyname("tcp")))               /* @getproto */
KEPT(by_ether_ntoa, USE(ether_ntoa(&address)), USE(ether_ntoa_r(&address, TEXT)))           /* @ether */
KEPT(by_ecvt, USE(ecvt(1.5, 3, NUMBER, NUMBER)), LOCKED(USE(ecvt(1.5, 3, NUMBER, NUMBER)))) /* @ecvt */
KEPT(by_drand48, USE(drand48() > 2), USE(erand48(SEED) > 2))                                /* @drand48 */
KEPT(by_strtok, USE(strtok(TEXT, " ")), USE(strtok_r(TEXT, " ", &(char *){0})))             /* @strtok */
KEPT(by_mbtowc, USE(mbtowc(&(wchar_t){0}, "a", 1)), USE(mbrtowc(&(wchar_t){0}, "a", 1, &(mbstate_t){0}))) /* @mbtowc */

/* The environment */
PART(environment_set)
{
	if (RACE_FREE)
		pthread_mutex_lock(&lock);
	setenv("RACETRACE_SAMPLE", "1", 1); /* @setenv */
	if (RACE_FREE)
		pthread_mutex_unlock(&lock);
	return NULL;
}
PART(environment_read)
{
	LATER;
	if (RACE_FREE)
		pthread_mutex_lock(&lock);
	USE(getenv("RACETRACE_SAMPLE") != NULL); /* @getenv */
	if (RACE_FREE)
		pthread_mutex_unlock(&lock);
	return NULL;
}
/* Those who change it lock one another out. */
PART(environment_changed)
{
	setenv("RACETRACE_OTHER", "2", 1);
	unsetenv("RACETRACE_NONE");
	return NULL;
}

int main(void)
{
	static void *(*const parts[])(void *) = {by_localtime, by_gmtime,         by_ctime,      by_asctime,
	                                         by_getpwnam,  by_getprotobyname, by_ether_ntoa, by_ecvt,
	                                         by_drand48,   by_strtok,         by_mbtowc};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		both(parts[i], parts[i]);
	both(environment_set, environment_read);
	both(environment_changed, environment_changed);
	return 0;
}
