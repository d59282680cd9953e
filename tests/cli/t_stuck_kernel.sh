#!/bin/bash
# t_stuck_kernel.sh [BUILD]: threads that wait in the kernel for what no other process can give are a hang or a deadlock
# (samples/more/stuck_kernel.c), with what each waits for; those of samples/more/stuck_kernel_fixed.c are not.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
here=$top racetrace=$RACETRACE tmp=$SCRATCH

for program in stuck_kernel stuck_kernel_fixed; do
	"${CC:-gcc}" -g -O1 -fsanitize=thread -Wno-tsan "$here/samples/more/$program.c" -o "$tmp/$program" -pthread || exit 1
done
# What the C++ library waits for by futexes of its own.
cat >"$tmp/cxx.cpp" <<'END'
#include <atomic>
#include <barrier>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>
#include <unistd.h>

static std::promise<int> promise;
static std::mutex locks[2];
static std::barrier<> begun(2);
static void deadlock(int first)
{
	locks[first].lock();
	begun.arrive_and_wait();
	locks[!first].lock();
	promise.set_value(first);
}
static std::atomic<int> value{0};
static std::barrier<> both(2);

int main(int, char **argv)
{
	alarm(3);
	if (!std::strcmp(argv[1], "deadlock")) {
		std::thread(deadlock, 0).detach();
		std::thread(deadlock, 1).detach();
		promise.get_future().wait();
	}
	std::thread([&] {
		if (!std::strcmp(argv[1], "future"))
			promise.get_future().wait();
		else if (!std::strcmp(argv[1], "atomic"))
			value.wait(0);
		else
			both.arrive_and_wait();
	}).join();
}
END
"${CXX:-g++}" -std=c++20 -g -O1 -fsanitize=thread -Wno-tsan "$tmp/cxx.cpp" -o "$tmp/cxx" -pthread || exit 1
mkfifo "$tmp/input" || exit 1
sleep 600 >"$tmp/input" &
holder=$!

how="" # more options of record
# once PROGRAM MODE STATUS ANALYZED EXPECTED: the kind, pattern and verdict of each anomaly, then the lines of its
# events and, behind a /, of the other threads that are stuck.
once() {
	local at got
	# (What was open here would have the numbers of what is looked for.)
	timeout 60 "$racetrace" record $how -o "$tmp/$2.zst" -- "$tmp/$1" "$2" <"$tmp/input" >/dev/null 2>"$tmp/$2.err" 3<&- 4<&- 5<&-
	at=$?
	[ $at = "$3" ] || { echo "$1 $2: recorded with status $at, not $3"; return 1; }
	timeout 60 "$racetrace" analyze --format json "$tmp/$2.zst" >"$tmp/$2.json"
	at=$?
	[ $at = "$4" ] || { echo "$1 $2: analyze ended with status $at, not $4"; return 1; }
	got=$(jq -r '[.anomalies[] | select(.kind == "deadlock" or .kind == "hang") | "\(.kind) \(.pattern) \(.verdict) "
		+ ([.events[].source.line] | sort | join(" ")) + " / " + ([.stuck[]?.source.line] | sort | join(" "))]
		| join("; ")' "$tmp/$2.json")
	[ "$got" = "$5" ] || { echo "$1 $2: expected '$5', got '$got'"; return 1; }
}
# The program ends itself after three seconds, in which a busy machine may not have come far enough by turns: several tries.
check() {
	local try
	for try in 1 2 3 4; do
		[ -z "$how" ] || ! once "$@" >/dev/null || return 0
	done
	once "$@"
}
# at MARKER...: their lines, sorted.
at() {
	local name
	for name; do grep -n "@$name \*/" "$here/samples/more/stuck_kernel.c" | cut -d: -f1; done | sort -n | tr '\n' ' ' | sed 's/ $//'
}
# By turns a run ends as soon as no thread can go on, if the scheduler knows what all wait for.
hang() { # MODE PATTERN MARKER...
	local mode=$1 pattern=$2 status=142
	shift 2
	[ -z "$how" ] || [ $mode != futex ] || status=124
	check stuck_kernel "$mode" $status 1 "hang $pattern observed $(at "$@" join) / " 2>/dev/null
}
deadlock() { # MODE PATTERN MARKER...
	local mode=$1 pattern=$2
	shift 2
	check stuck_kernel "$mode" 142 1 "deadlock $pattern observed $(at "$@") / $(at join)" 2>/dev/null
}
wait_all() {
	local job
	for job in $(jobs -p); do
		[ "$job" = $holder ] || wait "$job" || fail=1
	done
}

stuck() {
	hang read descriptor read_pipe read_pipe &
	hang pair descriptor read_pair read_pair &
	hang event descriptor read_event &
	hang stream descriptor read_stream &
	hang write descriptor write_pipe &
	hang poll descriptor poll_both &
	hang select descriptor select_one &
	hang epoll descriptor wait_epoll &
	wait_all
	hang futex futex wait_futex &
	deadlock files cycle-2 lock_files lock_files &
	deadlock parts cycle-2 lock_part lock_part &
	deadlock mutex cycle-2 want_mutex want_file &
	deadlock again cycle-1 lock_again &
	hang keep descriptor keep kept &
	wait_all
}
how=--serial=3
stuck
for mode in stdin inherited sent named accept timed mixed words child; do
	check stuck_kernel_fixed $mode 142 0 "" 2>/dev/null &
done
wait_all
how=""
stuck
for mode in stdin inherited sent named accept timed mixed timer words added; do
	check stuck_kernel_fixed $mode 142 0 "" 2>/dev/null &
done
wait_all
library() { # MODE: the lines are the library's
	timeout 60 "$racetrace" record -o "$tmp/$1.zst" -- "$tmp/cxx" "$1" >/dev/null 2>"$tmp/$1.err" </dev/null
	"$racetrace" analyze --format json "$tmp/$1.zst" >"$tmp/$1.json"
	jq -e '[.anomalies[] | select(.kind == "hang") | "\(.pattern) \(.verdict) \(.events | length)"] == ["futex observed 2"]
		and (.findings[0].title | test("waits inside `std::[^`]*` for a wake"))' \
		"$tmp/$1.json" >/dev/null || { echo "$1: no hang of a futex: $(jq -c '[.findings[].title]' "$tmp/$1.json")"; return 1; }
}
for mode in future atomic barrier; do
	library $mode 2>/dev/null &
done
# By turns, too; and a thread that waits for what those of a deadlock would give is no hang beside it.
by_turns() { # MODE EXPECTED
	timeout 60 "$racetrace" record --serial -o "$tmp/$1-turns.zst" -- "$tmp/cxx" "$1" >/dev/null 2>"$tmp/$1-turns.err" </dev/null
	[ $? = 124 ] || { echo "$1 by turns: $(cat "$tmp/$1-turns.err")"; return 1; }
	"$racetrace" analyze --format json "$tmp/$1-turns.zst" |
		jq -e "[.anomalies[] | select(.kind == \"deadlock\" or .kind == \"hang\")
			| [.kind, .pattern, .verdict, (.events | length), (.stuck | length)]] == $2" >/dev/null ||
		{ echo "$1 by turns: not $2"; return 1; }
}
by_turns future '[["hang", "futex", "observed", 2, 0]]' &
by_turns atomic '[["hang", "futex", "observed", 2, 0]]' &
by_turns deadlock '[["deadlock", "cycle-2", "observed", 2, 1]]' &
for mode in shared until lock signal child closed expires time rest system popen spawn; do
	check stuck_kernel_fixed $mode 142 0 "" 2>/dev/null &
done
for mode in relay wake turns left; do
	check stuck_kernel_fixed $mode 0 0 "" &
done
wait_all
kill $holder
wait $holder 2>/dev/null

# What a thread waits for is in the trace and in all formats, also where others may give it.
shows() { # MODE WORDS
	"$racetrace" dump --kind blocking "$tmp/$1.zst" | grep -q "for hb-after $2" ||
		{ echo "$1: no wait for $2:"; "$racetrace" dump --kind blocking "$tmp/$1.zst"; fail=1; }
}
shows read "read 3\b"
shows stdin "read 0 timed"
shows child "child timed"
shows accept "accept 3 timed"
shows left "read 4"
"$racetrace" convert --to jsonl -o "$tmp/files.jsonl" "$tmp/files.zst" || fail=1
"$racetrace" convert -o "$tmp/copy.zst" "$tmp/files.jsonl" || fail=1
for copy in files.jsonl copy.zst; do
	diff <("$racetrace" dump --kind blocking "$tmp/files.zst" | awk '{ print $4, $5, $6, $7, $8, $9 }') \
		<("$racetrace" dump --kind blocking "$tmp/$copy" | awk '{ print $4, $5, $6, $7, $8, $9 }') || fail=1
done
"$racetrace" analyze --anomalies --format text "$tmp/files.zst" |
	grep -q 'waits for the lock of the file of descriptor [0-9]*, which main.[12] holds' || { echo "text: no lock of a file"; fail=1; }
jq -e '.anomalies[0].events[0].waits_for | .operation == "hb-after" and .call == "file-lock" and .descriptor > 2' \
	"$tmp/files.json" >/dev/null || { echo "JSON: no lock of a file"; fail=1; }
for mode in files parts mutex again; do
	"$racetrace" schedule --verify --anomaly D1 "$tmp/$mode.json" | grep -qx valid ||
		{ echo "$mode: the schedule is not valid"; fail=1; }
done

# Under Valgrind, where a thread that sleeps may also wait for its turn: the same, without instrumentation. The program ends
# itself after three seconds, in which a busy machine may not have come far enough: several tries.
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit $fail
for program in stuck_kernel stuck_kernel_fixed; do
	"${CC:-gcc}" -g -O1 "$here/samples/more/$program.c" -o "$tmp/plain_$program" -pthread || exit 1
done
watched() { # PROGRAM MODE STATUS EXPECTED
	local at got try
	for try in 1 2 3 4 5; do
		timeout 100 "$racetrace" record --recorder=valgrind -o "$tmp/v_$2.zst" -- "$tmp/plain_$1" "$2" >/dev/null 2>"$tmp/v_$2.err" </dev/null
		at=$?
		got=$("$racetrace" analyze --fail-on never --format json "$tmp/v_$2.zst" |
			jq -r '[.anomalies[] | select(.kind == "deadlock" or .kind == "hang") | "\(.kind) \(.pattern) \(.verdict)"] | join(" ")')
		[ "$at $got" != "$3 $4" ] || return 0
		[ "$at" = "$3" ] && [ -z "$got" ] || break
	done
	echo "under Valgrind: $1 $2: status $at and '$got', not $3 and '$4'"
	return 1
}
watched stuck_kernel read 142 'hang descriptor observed' 2>/dev/null &
watched stuck_kernel futex 142 'hang futex observed' 2>/dev/null &
watched stuck_kernel files 142 'deadlock cycle-2 observed' 2>/dev/null &
watched stuck_kernel parts 142 'deadlock cycle-2 observed' 2>/dev/null &
wait_all
watched stuck_kernel_fixed sent 142 '' 2>/dev/null &
watched stuck_kernel_fixed wake 0 '' &
watched stuck_kernel_fixed left 0 '' & # and the program ends
# A signal ends the wait for a lock of a part there, unless its handler is to let the call go on. So does a cancellation.
cat >"$tmp/signal.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static int fds[2], signals, before;
static void on_signal(int sig)
{
	(void)sig;
	signals++;
}
static int lock(int fd, int command, short type)
{
	struct flock part = {.l_type = type, .l_whence = SEEK_SET, .l_len = 10};
	return fcntl(fd, command, &part);
}
/* Signals come again and again, as the first may come before the wait. */
static int lock_after_signal(int flags)
{
	struct itimerval soon = {.it_value = {.tv_usec = 200000}, .it_interval = {.tv_usec = 200000}};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	int result = lock(fds[1], F_OFD_SETLKW, F_WRLCK);
	return result ? errno : 0;
}
static void *waits(void *arg)
{
	lock(fds[0], F_OFD_SETLKW, F_WRLCK);
	return arg;
}
static void *unlocks(void *arg)
{
	while (__atomic_load_n(&signals, __ATOMIC_ACQUIRE) < before + 3)
		usleep(1000);
	lock(fds[0], F_OFD_SETLK, F_UNLCK);
	return arg;
}
int main(void)
{
	char name[] = "lockXXXXXX";
	pthread_t other;
	fds[0] = mkstemp(name);
	fds[1] = open(name, O_RDWR);
	unlink(name);
	lock(fds[0], F_OFD_SETLK, F_WRLCK);
	if (lock_after_signal(0) != EINTR)
		return 1;
	before = signals;
	sigset_t alarms;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	pthread_create(&other, NULL, unlocks, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	if (lock_after_signal(SA_RESTART) != 0)
		return 2;
	void *how = NULL;
	if (pthread_join(other, NULL) || pthread_create(&other, NULL, waits, NULL))
		return 3;
	usleep(50000);
	pthread_cancel(other);
	return pthread_join(other, &how) || how != PTHREAD_CANCELED;
}
END
"${CC:-gcc}" -g -O1 "$tmp/signal.c" -o "$tmp/signal" -pthread || exit 1
interrupted() {
	timeout 60 "$racetrace" record --recorder=valgrind -o "$tmp/signal.zst" -- "$tmp/signal" >"$tmp/signal.out" 2>&1
	local at=$?
	[ $at = 0 ] || { echo "under Valgrind: a signal while the thread waits for a lock: status $at: $(cat "$tmp/signal.out")"; return 1; }
}
(cd "$tmp" && interrupted) &
wait_all
exit $fail
