/*
 * Functions of which the C library has several versions. A program that was linked with GCC's libtsan names them
 * without a version, because libtsan has them without one. The dynamic linker gives such a reference the oldest: a
 * realpath that fails where the result is to be allocated, a pthread_cond_init for conditions of another layout. So
 * each of these is here and calls the version that dlsym takes, the default one. tests/cli/t_versions.sh finds out what
 * is missing.
 */
#include "recorder/intercept/sync.h"

#define FORWARD(type, name, parameters, arguments)                                                                     \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		return RT_REAL(name) arguments;                                                                        \
	}

FORWARD(double, lgamma, (double x), (x))
FORWARD(float, lgammaf, (float x), (x))
FORWARD(long double, lgammal, (long double x), (x))
