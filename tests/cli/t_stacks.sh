#!/bin/bash
# t_stacks.sh [BUILD]: call stacks are right after the program has left functions by longjmp, siglongjmp out of a signal's
# handler, and an exception; in what a library that is not instrumented calls back (libgomp), and in what one calls.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE tmp=$SCRATCH
cd "$top" || exit 1

cat >"$tmp/program.cpp" <<'END'
#include <csetjmp>
#include <csignal>
#include <pthread.h>
static thread_local jmp_buf outer, inner;
static thread_local sigjmp_buf stop;
int jumped, raised, thrown, team;
#define APART __attribute__((noinline, noipa)) static
APART void touch_jumped() { jumped++; }
APART void touch_raised() { raised++; }
APART void touch_thrown() { thrown++; }
APART void touch_team() { team++; }
struct local { int *p; ~local() { ++*p; } };
APART void deep(int n, int how)
{
	int left = 0;
	local l = {&left};
	if (n > 0)
		deep(n - 1, how);
	else if (how == 0)
		longjmp(outer, 1);
	else if (how == 1)
		raise(SIGUSR1);
	else
		throw how;
}
APART void nested()
{
	if (setjmp(outer) == 0) {
		if (setjmp(inner) == 0)
			longjmp(inner, 1);
		deep(3, 0);
	}
	touch_jumped();
}
static void handler(int) { siglongjmp(stop, 1); }
APART void interrupted()
{
	if (sigsetjmp(stop, 1) == 0)
		deep(3, 1);
	touch_raised();
}
APART void caught()
{
	try {
		deep(3, 2);
	} catch (int) {
		touch_thrown();
	}
}
static void all()
{
	nested();
	interrupted();
	caught();
}
static void *thread(void *)
{
	all();
	return 0;
}
int main()
{
	pthread_t t;
	signal(SIGUSR1, handler);
	pthread_create(&t, 0, thread, 0);
	all();
	pthread_join(t, 0);
#pragma omp parallel num_threads(2)
	touch_team();
	return 3;
}
END
"${CXX:-g++}" -g -O1 -fsanitize=thread -fopenmp "$tmp/program.cpp" -o "$tmp/program" -pthread || exit 1
"$racetrace" record -o "$tmp/trace" -- "$tmp/program"
[ $? = 3 ] || { echo "the program ended otherwise than by itself"; exit 1; }
"$racetrace" analyze --format json "$tmp/trace" >"$tmp/report"
jq -r '[.anomalies[] | select(.variable.kind == "global") | .events[].stack
	| map(.function // empty | sub("[(.].*"; "")) | join(" ")] | unique[]' "$tmp/report" >"$tmp/got"
diff - "$tmp/got" <<'END' || fail=1
touch_jumped nested all main
touch_jumped nested all thread
touch_raised interrupted all main
touch_raised interrupted all thread
touch_team main main
touch_thrown caught all main
touch_thrown caught all thread
END

# What the C++ library waits for by itself is of the program's line.
cat >"$tmp/library.cpp" <<'END'
#include <future>
#include <thread>
static std::promise<int> promise;
static void wait()
{
	promise.get_future().wait(); /* @future */
}
int main()
{
	std::thread other(wait); /* @create */
	other.join(); /* @join */
}
END
line() { grep -n "@$1 " "$tmp/library.cpp" | cut -d: -f1; }
for way in -fsanitize=thread -fno-inline; do # the latter under Valgrind
	"${CXX:-g++}" -g -O1 $way "$tmp/library.cpp" -o "$tmp/library" -pthread || exit 1
	"$racetrace" record --serial -o "$tmp/library.zst" "$tmp/library" 2>"$tmp/err"
	[ $? = 124 ] || { echo "library.cpp $way: $(cat "$tmp/err")"; fail=1; }
	"$racetrace" analyze --format json "$tmp/library.zst" >"$tmp/report"
	jq -c '.findings[0].places | map(.line) | sort' "$tmp/report" >"$tmp/lines"
	[ "$(cat "$tmp/lines")" = "[$(line future),$(line join)]" ] || { echo "library.cpp $way: $(cat "$tmp/lines")"; fail=1; }
	jq -e --arg line "$(line create)" '.trace.threads[] | select(.name == "main.1") | .created.stack
		| any(.function == "main" and .line == ($line | tonumber))' "$tmp/report" >/dev/null ||
		{ echo "library.cpp $way: created at $(jq -c '.trace.threads[1].created.stack' "$tmp/report")"; fail=1; }
done
exit $fail
