/*
 * The recorder under Valgrind: the tool in recorder/valgrind sees what the program, which is not instrumented, does to
 * memory; this library still records what synchronises, and what the C library is called for. The tool appends to the
 * running thread's slot, never while that thread is in here: so each append here looks first whether it had to wait for
 * its turn meanwhile, and stamps count turns.
 */
#include "recorder/runtime/children.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/shared.h"
#include "recorder/runtime/turn.h"
#include "recorder/watch.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else /* without it there is no tool either */
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_DO_CLIENT_REQUEST_EXPR(none, request, a, b, c, d, e) (none)
#define VALGRIND_CLO_CHANGE(option) ((void)(option))
#endif

bool rt_watched, rt_stepwise;

bool rt_watch_is_there(void)
{
	return RUNNING_ON_VALGRIND;
}

void rt_watch_stop(void); /* stop.S */
__attribute__((visibility("hidden"), used)) void rt_watch_stopped(void);

/* Called by rt_watch_stop. */
void rt_watch_stopped(void)
{
#if RT_CONTROLLED
	struct rt_watch_stop s = rt_thread.stop;

	if (s.op == RT_OP_READ || s.op == RT_OP_WRITE)
		rt_turn_access(s.op, s.at, s.size, s.pc, 0);
	else if (rt_controlled)
		rt_turn_step(s.op, rt_place(s.at), s.size, s.pc, 0, false);
#endif
}

void rt_watch_thread(void)
{
#if RT_CONTROLLED
	VALGRIND_DO_CLIENT_REQUEST_EXPR(0, RT_WATCH_TURNS, &rt_thread.patience, rt_interest, &rt_thread.stop,
	                                rt_watch_stop, 0);
#endif
	VALGRIND_DO_CLIENT_REQUEST_EXPR(0, RT_WATCH_CHILDREN, &rt_children, 0, 0, 0, 0);
	VALGRIND_DO_CLIENT_REQUEST_EXPR(0, RT_WATCH_THREAD, &rt_self, &rt_channel, &rt_tree, &rt_shared,
	                                &rt_place_twice);
}

bool rt_watch_room(void)
{
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(1, RT_WATCH_ROOM, 0, 0, 0, 0, 0);
}

enum rt_watch_file rt_watch_next(const char *file)
{
	enum rt_watch_file how = RT_FILE_ALONE;

	if (file)
		how =
		    (enum rt_watch_file)VALGRIND_DO_CLIENT_REQUEST_EXPR(RT_FILE_ALONE, RT_WATCH_FILE, file, 0, 0, 0, 0);
	if (how == RT_FILE_WATCHED)
		VALGRIND_CLO_CHANGE("--trace-children=yes");
	else
		VALGRIND_CLO_CHANGE("--trace-children=no");
	return how;
}
