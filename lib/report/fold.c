/* Stacks with calls within libraries folded; see fold.h. */
#include "lib/report/fold.h"

#include "lib/trace/own_code.h"

struct folding {
	void (*put)(void *arg, const struct fold *fold);
	void *arg;
	struct fold waits; /* there may be more of its kind; count 0: none */
	bool unfolded;
};

static void put_waiting(struct folding *f)
{
	if (f->waits.count)
		f->put(f->arg, &f->waits);
	f->waits.first += f->waits.count;
	f->waits.count = 0;
}

static void add(struct folding *f, const struct rt_frame *frame, bool inlined)
{
	bool library = frame_is_library(frame);
	if (f->unfolded || !library || !f->waits.library)
		put_waiting(f);
	f->waits = (struct fold){.first = f->waits.first,
	                         .count = f->waits.count + 1,
	                         .outer = *frame,
	                         .inlined = inlined,
	                         .library = library};
}

void fold_stack(const struct report *r, const struct description *d, bool unfolded,
                void (*put)(void *arg, const struct fold *fold), void *arg)
{
	size_t depth = d ? d->stack_count : 0, n = 0;
	struct folding f = {.put = put, .arg = arg, .unfolded = unfolded};
	while (depth > 1 && (rt_trace_frames(r->analysis->trace, d->stack[depth - 1], &n), n == 0))
		depth--;
	for (size_t i = 0; i < depth; i++) {
		const struct rt_frame unknown = {.pc = d->stack[i]};
		const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < n; k++)
			add(&f, &frames[k], k + 1 < n);
		if (!n) {
			put_waiting(&f); /* a call of no known library */
			add(&f, &unknown, false);
			put_waiting(&f);
		}
	}
	put_waiting(&f);
}
