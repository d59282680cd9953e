/* What the parts of findings' sentences share: titles and fixes, by kind of the finding's first anomaly. */
#ifndef LIB_REPORT_FINDING_PARTS_H
#define LIB_REPORT_FINDING_PARTS_H

#include "lib/report/findings.h"

/* A sentence that is written; what does not fit is cut. */
struct text {
	char *at;
	size_t room;
};

__attribute__((format(printf, 2, 3))) void say(struct text *t, const char *format, ...);
/* "`push`"; "a thread" where no function is known. */
void say_function(struct text *t, const struct finding_place *place);
/* The function of another thread beside one that was named; "another thread in `push`" if it is the same. */
void say_other_function(struct text *t, const struct finding_place *named, const struct finding_place *other);
/* The variable of the finding's first anomaly. */
void say_variable(const struct report *r, struct text *t, const struct finding *f);
/* "`m`"; "the lock" if it has no name. */
void say_lock(struct text *t, const char *name);
/* " at queue.c:12"; nothing where it is not known. */
void say_place(struct text *t, const struct place *place);

const struct anomaly *finding_first(const struct report *r, const struct finding *f);
/* The finding's place of an event: of two on one line it may be the other's. */
struct finding_place finding_place_at(const struct report *r, const struct finding *f, uint32_t e);
bool finding_is_same_function(const struct finding_place *a, const struct finding_place *b);

/* Of a race of two events. */
void race_title(const struct report *r, const struct finding *f, struct text *t);
void race_fix(const struct report *r, const struct finding *f, struct text *t);
/* Of threads that wait: deadlocks and hangs. */
void waits_title(const struct report *r, const struct finding *f, struct text *t);
void waits_fix(const struct report *r, const struct anomaly *a, struct text *t);

#endif
