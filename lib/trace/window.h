/*
 * Windows: a stretch of a trace as a trace of its own, for an analysis that may not take the memory of the whole one.
 *
 * A window begins with events that establish the state in which the stretch begins: locks held, waits and their
 * signals, values of semaphores, arrivals at barriers, open calls and regions. All of them come before the stretch, by
 * an annotation. So a correct reordering of the window, put behind the recorded events before it, is a correct
 * reordering of the whole trace: its reads of what was written before see the same writes. Happens-before between two
 * events of the stretch only passes through events between them, so it is that of the whole trace.
 *
 * What needs events of other windows is not found in any.
 */
#ifndef LIB_TRACE_WINDOW_H
#define LIB_TRACE_WINDOW_H

#include "tracefmt/trace.h"

/* A wait that may end without a signal: numbers of its events. */
struct window_wait {
	uint64_t begin, end;
};

struct window_cursor;

/* What windows have to know of the whole trace. */
struct window_survey {
	struct rt_trace *whole;    /* borrowed */
	struct rt_event *kept;     /* BENIGN of the whole trace; ALIAS before a window */
	struct window_wait *timed; /* by begin */
	uint32_t kept_count, timed_count;
	uint32_t kept_capacity, timed_capacity;
	uint64_t events;              /* number of the last one */
	struct window_cursor *cursor; /* the state where the last window began; windows come in rising order */
	bool doubtful; /* no window's state is certain: events are missing, locks are released by other threads */
};

struct window {
	uint64_t first, last;          /* numbers of its events in the whole trace */
	uint32_t opening;              /* number of the events that come before them in the window */
	bool whole_begins, whole_ends; /* with it */
	/* Of its first event or before that, until another window is opened; NULL: the beginning. */
	const struct rt_mark *from;
	bool doubtful; /* the state in which it begins is not certain: it shows nothing for certain */
};

/* Surveys a trace, in one pass. window_survey_release in any case. */
enum rt_status window_survey(struct rt_trace *whole, struct window_survey *out, struct rt_error *err);
void window_survey_release(struct window_survey *s);

/*
 * Makes a trace of events first to last of the whole one; a later window of the survey begins no earlier. On RT_OK *out
 * is the caller's; it borrows the whole trace, which is not to be read otherwise meanwhile, and the survey. Its events
 * are numbered from 1; it gives no operands to annotations that hold under a condition.
 */
enum rt_status window_open(const struct window_survey *s, uint64_t first, uint64_t last, struct rt_trace **out,
                           struct window *window, struct rt_error *err);

/* Number in the whole trace of the last event that was read for such a trace. */
uint64_t window_reached(const struct rt_trace *window);

/* By thread, the ordinal of its last event before the window that was opened last, 0: none. The caller frees it; NULL
 * without memory. */
uint64_t *window_ordinals_before(const struct window_survey *s, uint32_t threads);

/* The number in the whole trace of a window's event; 0: it is of the opening. */
static inline uint64_t window_number(const struct window *w, uint64_t number)
{
	return number > w->opening ? number - w->opening + w->first - 1 : 0;
}

#endif
