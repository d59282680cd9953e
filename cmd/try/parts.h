/* What the parts of try.h share: try.c runs the program, tell.c says what became of it. */
#ifndef CMD_TRY_PARTS_H
#define CMD_TRY_PARTS_H

#include "cmd/try/try.h"
#include "recorder/control.h"

struct
try {
	struct try_options o;
	struct runner *runner;
	char plan_path[4096], trace_path[4096], growing_path[4112];
	struct rt_plan *plan; /* as the run has left it; NULL: not read */
	struct rt_control *control;
	struct rt_trace *trace; /* of the run; NULL: not opened, or not there */
	bool looked;            /* for it */
};

/* Reads the plan as the run has left it, and what is behind it. False: it is not there, or not whole. */
bool try_read_result(struct try *t);
/* The trace of the run; NULL: it is not there. Borrowed. */
struct rt_trace *try_trace(struct try *t);

#endif
