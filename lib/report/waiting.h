/* What a thread waits for when the trace ends, or in a deadlock for another thread's end, in words that all formats
 * use.
 */
#ifndef LIB_REPORT_WAITING_H
#define LIB_REPORT_WAITING_H

#include "lib/report/report.h"

enum { WAITING_TEXT_MAX = 700 };

/* The operation that a thread waits to do: a BLOCK's, or the event's own, if it waits for another thread and not for a
 * lock; RT_OP_NONE: it is no such wait. */
unsigned waiting_op(const struct description *d);
/* "waits for a signal of queue.filled", of the description of such an event. */
void waiting_text(const struct report *r, const struct description *d, char text[WAITING_TEXT_MAX]);
/* The same for a headline, in which names are quoted: "waits for a signal of `queue.filled`". */
void waiting_title(const struct report *r, const struct description *d, char text[WAITING_TEXT_MAX]);
/* What the awaited thread does with it, in a ring: "holds", "runs"; "" if the wait is for the thread itself (join). */
const char *waiting_by(const struct description *d);
/* Name of the awaited object; empty if it has none. */
void waiting_object(const struct report *r, const struct description *d, char name[WAITING_TEXT_MAX]);

#endif
