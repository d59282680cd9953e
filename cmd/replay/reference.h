/*
 * Runs of the program that follow no schedule. Two of them say what it prints if that is the same each time; one of
 * them says where positions are in another build.
 */
#ifndef CMD_REPLAY_REFERENCE_H
#define CMD_REPLAY_REFERENCE_H

#include "cmd/try/try.h"

/* What the program prints. Zeros: not asked for yet. */
struct reference {
	struct try_options options;
	struct try *run; /* under way; NULL: none */
	uint32_t runs;   /* that were started */
	bool known;      /* both printed the same, with this digest: */
	uint64_t printed;
};

/* Starts the first run, unless it was started. options is borrowed until reference_release, its plan must be NULL. */
void reference_start(struct reference *r, const struct try_options *options);
/* Readable when reference_step has something to do; -1: never. */
int reference_fd(const struct reference *r);
/* True if a run is under way. Does not wait. */
bool reference_step(struct reference *r);
void reference_release(struct reference *r);

/*
 * What runs read: `asked`, or if that is NULL the file that the recorded run read, or NULL for nothing, which is said
 * if the recorded run may have read more.
 */
const char *reference_input(const struct rt_trace_info *info, const char *asked);
/* True if the program, found by PATH, is not instrumented. */
bool reference_is_plain(const char *program);
/* True if the trace is of another build than the program that is there now, or of one with another name. */
bool reference_is_other_build(const struct rt_trace *trace, char *const *program);
/*
 * The trace of a run without a schedule, which is exact. wait: until the descriptor is readable, or false to end the
 * run. On RT_OK *trace is owned by the caller.
 */
enum rt_status reference_trace(const struct try_options *options, bool (*wait)(int fd), struct rt_trace **trace,
                               struct rt_error *err);

#endif
