/*
 * Places of a schedule's events in the source, so that it can be followed without its trace. The ordinals of another
 * recording may differ, since they count what the C library and the recorder do too.
 */
#ifndef LIB_SCHEDULE_SCRIPT_PLACES_H
#define LIB_SCHEDULE_SCRIPT_PLACES_H

#include "lib/schedule/script.h"

/* Gives each step, and each event of the goal, its place, from the schedule's trace. */
enum rt_status script_find_places(struct script *s, struct rt_trace *trace, struct rt_error *err);
/*
 * Sets the ordinals to those of the places in another trace of the program. RT_EINPUT: the schedule has no places, or
 * the trace lacks one of the goal's.
 */
enum rt_status script_use_places(struct script *s, struct rt_trace *trace, struct rt_error *err);

#endif
