/* Which entries of a report are to be replayed. */
#ifndef CMD_REPLAY_CHOOSE_H
#define CMD_REPLAY_CHOOSE_H

#include "cmd/replay/replay.h"

/*
 * Those that the options name, the strongest verdicts and the likeliest findings first: indices of entries, which are
 * the caller's (free), also on failure. watched: the runs are by Valgrind. RT_EUSAGE: there is none of that name, or it
 * cannot be replayed.
 */
enum rt_status replay_choose(const struct report *r, const struct replay_options *options, bool watched,
                             size_t **entries, size_t *count, struct rt_error *err);

#endif
