/* What the events of a finding do, in a word: "reads", "frees", "destroys". */
#ifndef LIB_REPORT_DEED_H
#define LIB_REPORT_DEED_H

#include "lib/report/findings.h"

/* What the event is at the place, as JSON has it: a destroyed mutex is written, a closed descriptor as well. */
const char *deed_kind(const struct report *r, const struct finding_place *place);
/* What its thread does there, for people. */
const char *finding_does(const struct report *r, const struct finding_place *place);
/* What an event is in the life of what it is on: memory, a descriptor, or an object that programs synchronise with. */
enum deed_life {
	LIFE_NONE,
	LIFE_FREES,
	LIFE_CLOSES,
	LIFE_BEGINS,
	LIFE_ENDS,
	LIFE_EITHER, /* one of the last two: the source line does not tell */
	LIVES
};
enum deed_life deed_life(const struct report *r, uint32_t e);
struct deed_words {
	const char *does;   /* "frees" */
	const char *mended; /* what is to be done at another time: "free" */
};
extern const struct deed_words deed_lives[LIVES];
/* True if the two events of a race name different members by their source lines: bit-fields next to one another, or
 * members of a union. names: what each names. */
bool deed_names_members(const struct report *r, const struct anomaly *a, char names[2][EXPRESSION_MAX]);
/* True if the event reads a flag in the condition of a loop that waits for it without a lock, as far as its source line
 * says. */
bool deed_waits(const struct report *r, const struct finding *f, uint32_t e);
/* True if it is a race with the write of an object's vtable pointer: the object is made, or destroyed. */
bool deed_is_vtable(const struct report *r, const struct anomaly *a);
/* True if it is about what GCC counts for --coverage and profiles, which is not exact without
 * -fprofile-update=atomic. */
bool deed_is_profile(const struct report *r, const struct anomaly *a);
/* True if what is allocated at the place is a FILE of the C library's, by its source line. */
bool deed_is_stream(const struct report *r, const struct place *allocated);
/* The number of the descriptor that the event is a call on; -1: it is not. */
int deed_descriptor(const struct report *r, uint32_t e);

/* The operation in words: "end of a wait" of what trace formats call "wait-end". */
const char *deed_operation(enum rt_op op);

#endif
