/*
 * Functions that record nothing. A program that was linked with GCC's libtsan refers to what libtsan interposes without
 * a version, and the dynamic linker gives such a reference the oldest version that the C library has: a
 * pthread_cond_init for the condition variables of 1999, a realpath that takes no NULL. So what libtsan interposes, the
 * recorder otherwise does not, and glibc has two different versions of, is handed on to the newest version from here.
 */
#include "recorder/recorder.h"

#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#define RT_HAND_ON(type, name, parameters, arguments)                                                                  \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		return RT_REAL(name) arguments;                                                                        \
	}

RT_HAND_ON(int, pthread_cond_init, (pthread_cond_t *restrict cond, const pthread_condattr_t *restrict attributes),
           (cond, attributes))
RT_HAND_ON(int, pthread_cond_destroy, (pthread_cond_t * cond), (cond))
RT_HAND_ON(int, pthread_attr_getaffinity_np, (const pthread_attr_t *attributes, size_t size, cpu_set_t *set),
           (attributes, size, set))
RT_HAND_ON(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set))
RT_HAND_ON(char *, realpath, (const char *restrict path, char *restrict resolved), (path, resolved))
RT_HAND_ON(FILE *, fmemopen, (void *memory, size_t size, const char *mode), (memory, size, mode))
RT_HAND_ON(int, regexec,
           (const regex_t *restrict pattern, const char *restrict text, size_t n, regmatch_t matches[restrict n],
            int flags),
           (pattern, text, n, matches, flags))
RT_HAND_ON(int, glob,
           (const char *restrict pattern, int flags, int (*failed)(const char *, int), glob_t *restrict found),
           (pattern, flags, failed, found))
RT_HAND_ON(int, glob64,
           (const char *restrict pattern, int flags, int (*failed)(const char *, int), glob64_t *restrict found),
           (pattern, flags, failed, found))
RT_HAND_ON(int, posix_spawn,
           (pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
            const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
            char *const environment[restrict]),
           (pid, path, actions, attributes, argv, environment))
RT_HAND_ON(int, posix_spawnp,
           (pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *restrict actions,
            const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
            char *const environment[restrict]),
           (pid, file, actions, attributes, argv, environment))
RT_HAND_ON(double, lgamma, (double x), (x))
RT_HAND_ON(float, lgammaf, (float x), (x))
RT_HAND_ON(long double, lgammal, (long double x), (x))
