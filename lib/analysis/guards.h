/*
 * Critical sections that are no unit of work on a variable: a lock that is held for another reason, for example for a
 * thread's whole life, does not make its section a unit.
 */
#ifndef LIB_ANALYSIS_GUARDS_H
#define LIB_ANALYSIS_GUARDS_H

#include "lib/anomaly/anomaly.h"

/*
 * Limits atomicity violations and ASVs with such a critical section to `predicted` (REASON_UNGUARDED). Either no other
 * thread ever holds one of its locks at an access of the variables, and one hold is nearly all that the thread does. It
 * has many events or, in a program's trace, outlasts the creation of a thread. Or one of the variables is accessed by
 * atomic operations alone, or what may be some in machine code, which need no lock, and the thread that comes in
 * between never holds such a lock at one of them. False without memory.
 */
bool guards_cap(const struct model *m, bool program, struct anomaly_list *list);

#endif
