/* What Valgrind cannot do for the program: the collector says so, as the program may not say why it fails. */
#ifndef RECORDER_VALGRIND_REFUSED_H
#define RECORDER_VALGRIND_REFUSED_H

#include "recorder/valgrind/platform.h"

#include <stdint.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_tooliface.h>

/* Before the program begins. */
void refused_begin(void);
/* At the end of a block that ends at an instruction that VEX cannot translate. */
void refused_add(IRSB *to, Addr at);

#endif
