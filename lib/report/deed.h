/* What the events of a finding do, in a word: "reads", "frees", "destroys". */
#ifndef LIB_REPORT_DEED_H
#define LIB_REPORT_DEED_H

#include "lib/report/findings.h"

/* What the event is at the place, as JSON has it: a destroyed mutex is written, a closed descriptor as well. */
const char *deed_kind(const struct report *r, const struct finding_place *place);
/* What its thread does there, for people. */
const char *finding_does(const struct report *r, const struct finding_place *place);
/* True if the event is a call on an object that programs synchronise with or on a descriptor, not an access. */
bool deed_is_call(const struct report *r, uint32_t e);
/* True if it begins or ends the object's life, or closes the descriptor. */
bool deed_is_of_life(const struct report *r, uint32_t e);
/* True if the call is known to begin the object's life, by the source line. */
bool deed_begins(const struct report *r, uint32_t e);
/* True if the two events of a race name different members by their source lines: bit-fields next to one another, or
 * members of a union. names: what each names. */
bool deed_names_members(const struct report *r, const struct anomaly *a, char names[2][EXPRESSION_MAX]);
/* True if the event reads a flag in the condition of a loop that waits for it without a lock, as far as its source line
 * says. */
bool deed_waits(const struct report *r, const struct finding *f, uint32_t e);
/* The number of the descriptor that the event is a call on; -1: it is not. */
int deed_descriptor(const struct report *r, uint32_t e);

#endif
