/*
 * Functions of which the C library has several versions. A program that was linked with GCC's libtsan names them
 * without a version, because libtsan has them without one, and the dynamic linker gives such a reference the oldest: a
 * realpath that fails where the result is to be allocated, a pthread_cond_init for conditions of another layout. So
 * each of these is here and calls the version that dlsym takes, the default one. tests/cli/t_versions.sh finds out what
 * is missing.
 */
#include "recorder/sync.h"

#include <glob.h>
#include <math.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FORWARD(type, name, parameters, arguments)                                                                     \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		return RT_REAL(name) arguments;                                                                        \
	}

FORWARD(int, pthread_attr_getaffinity_np, (const pthread_attr_t *attr, size_t size, cpu_set_t *set), (attr, size, set))
FORWARD(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set))
FORWARD(char *, realpath, (const char *restrict path, char *restrict resolved), (path, resolved))
FORWARD(FILE *, fmemopen, (void *buffer, size_t size, const char *mode), (buffer, size, mode))
FORWARD(int, regexec,
        (const regex_t *restrict regex, const char *restrict text, size_t n, regmatch_t matches[restrict n], int flags),
        (regex, text, n, matches, flags))
FORWARD(int, glob, (const char *restrict pattern, int flags, int (*failed)(const char *, int), glob_t *restrict paths),
        (pattern, flags, failed, paths))
FORWARD(int, glob64,
        (const char *restrict pattern, int flags, int (*failed)(const char *, int), glob64_t *restrict paths),
        (pattern, flags, failed, paths))
FORWARD(double, lgamma, (double x), (x))
FORWARD(float, lgammaf, (float x), (x))
FORWARD(long double, lgammal, (long double x), (x))
