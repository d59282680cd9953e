/* Names of C++ lambdas that DWARF has no linkage name of: GCC's, where they are inlined. */
#ifndef RECORDER_COLLECTOR_LAMBDA_H
#define RECORDER_COLLECTOR_LAMBDA_H

#include <elfutils/libdw.h>

struct lambda;

/*
 * "main::{lambda(int)#2}::operator()", nearly as the demangler has it, for a function or an inlined call of it. NULL:
 * it is no lambda's, or there is no memory. Valid until *known (of one unit, NULL at first) is freed.
 */
const char *lambda_name(struct lambda **known, Dwarf_Die *function);
void lambda_names_free(struct lambda **known);

#endif
