#!/bin/bash
# t_pid.sh BUILD: `record --idle` starts a program that `record --pid` records for a while, again and again. The trace begins in a
# known state: no race is reported of what was ordered by a lock that was taken before, or by anything else.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
gcc -g -O1 -fsanitize=thread "$top/tests/process/idle_server.c" -o server -pthread || exit 1

# appears FILE PATTERN: the pattern comes in the file.
appears() {
	for _ in $(seq 6000); do
		grep -q -- "$2" "$1" 2>/dev/null && return
		sleep 0.05
	done
	wrong "no '$2' in $1: $(cat "$1")"
}
# start COMMAND...: runs the server, whose number is in pid, by file descriptor 3 and `answers`.
start() {
	rm -f orders
	mkfifo orders
	"$@" <orders >answers 2>server.err &
	pid=$!
	exec 3>orders
	appears answers ready
}
# tell COMMAND: the server has done it.
told=0
tell() {
	echo "$1" >&3
	told=$((told + 1))
	for _ in $(seq 6000); do
		[ "$(grep -c '^done\|^child' answers)" = $told ] && return
		sleep 0.05
	done
	wrong "no answer to '$1': $(cat answers)"
}
# attach [OPTION...]: a recording of it has begun, as process `recorder`.
attach() {
	rm -f t.zst said
	"$racetrace" record --pid "$pid" -o t.zst "$@" 2>said &
	recorder=$!
	appears said 'recording process'
}
# detach: it ends.
detach() {
	kill -INT $recorder
	wait $recorder || wrong "record --pid ended with $?: $(cat said)"
}
# rounds: the program has made some more.
rounds() {
	local more
	more=$(($(grep -c '^round' answers) + 3))
	for _ in $(seq 6000); do
		[ "$(grep -c '^round' answers)" -ge $more ] && return
		sleep 0.05
	done
	wrong 'no rounds'
}
# races: the variables of races that are observed or proved.
races() {
	"$racetrace" analyze --kinds race --format json t.zst >report.json 2>analyze.err
	[ $? -le 1 ] || cat analyze.err
	jq -r '.anomalies[] | select(.verdict == "observed" or .verdict == "proved") | .variable.name' report.json | sort -u | tr '\n' ' '
}

start "$racetrace" record --idle ./server
tell 'go 20'
tell hold
# What was locked before is held at the beginning, and nothing that the program does is a race.
attach
tell release
tell 'go 200'
detach
[ "$(races)" = '' ] || wrong "a race of a program without one: $(races)"
"$racetrace" dump t.zst >events || wrong "dump failed"
head -n 1 events | grep -q ' lost  *6' || wrong "the first event is no loss: $(head -n 1 events)"
[ "$(grep -c ' lost ' events)" = 1 ] || wrong "something is lost: $(grep ' lost ' events)"
grep -q ' main.1 .* acquire  *held' events || wrong "the lock that was held at the beginning"
grep -q ' main .* acquire  *first' events || wrong "the lock that was held at the beginning and released first"
[ "$(grep -c ' begin ' events)" = 4 ] || wrong "threads: $(grep ' begin ' events)"
"$racetrace" info --format json t.zst | jq -e '.complete and .exit == null' >info.log || wrong "info: $(cat info.log)"
jq -e '[.anomalies[] | select(.verdict == "proved")] | length == 0' report.json >info.log || wrong "proved"

# Again: a race is observed, and nothing else.
attach -v
tell 'race 200'
"$racetrace" record --pid "$pid" -o second.zst 2>err
[ $? = 3 ] && grep -q "process $pid is being recorded already, by process $recorder" err || wrong "attached twice: $(cat err)"
tell 'race 20'
detach
grep -q 't.zst: [0-9]* events' said || wrong "record -v: $(cat said)"
[ "$(races)" = 'racy ' ] || wrong "races: $(races)"

# The trace is kept if there is something in it.
attach --trigger finding
tell 'go 50'
detach
[ ! -e t.zst ] && grep -q 'no trace is written' said || wrong "--trigger finding without one: $(cat said)"
attach --trigger finding
tell 'race 50'
detach
[ "$(races)" = 'racy ' ] || wrong "--trigger finding: $(races)"

# A recording that begins and ends while the program runs.
tell 'begin 100000000'
for _ in 1 2 3 4 5; do
	attach
	sleep 0.05
	detach
	[ "$(races)" = '' ] || wrong "a race of a recording from the middle: $(races)"
	! "$racetrace" dump t.zst | grep ' lost ' | grep -qv ' lost  *6' || wrong "lost: $("$racetrace" dump t.zst | grep ' lost ')"
done
attach --ring 64K --time 1
wait $recorder || wrong "--time: $(cat said)"
[ "$(races)" = '' ] || wrong "a race of a ring: $(races)"

# The collector is killed: the program goes on idle, and is recorded again.
attach
kill -9 $recorder
wait $recorder 2>/dev/null
tell end
tell 'go 5000'
attach
tell 'race 50'
detach
[ "$(races)" = 'racy ' ] || wrong "after a dead collector: $(races)"

# A child is idle by itself.
tell fork
server=$pid
pid=$(sed -n 's/^child //p' answers)
attach
rounds
detach
"$racetrace" dump t.zst | grep -q ' acquire  *m ' || wrong "nothing of the child"
kill "$pid"
pid=$server

# The program ends, by itself and as ever.
attach
echo exit >&3
wait $recorder || wrong "the end of the program: $(cat said)"
grep -q "process $pid has ended" said || wrong "the end is not said: $(cat said)"
wait "$pid"
[ $? = 5 ] || wrong "the program's status"
[ "$(races)" = '' ] || wrong "at the end: $(races)"
"$racetrace" dump t.zst | grep -q ' end ' || wrong "the last events are not there"
grep -q 'the collector is gone; the program goes on idle' server.err || wrong "a dead collector is not said: $(cat server.err)"
[ "$(wc -l <server.err)" = 1 ] || wrong "the server said: $(cat server.err)"
exec 3>&-

# What is mapped at two addresses when a recording begins is known so from its first event on, to each thread.
cat >twice.c <<'END2'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static int *view[2];
static pthread_barrier_t all;
static int over;
static void *add(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&all);
		if (over)
			return NULL;
		(*view[(long)arg])++;
	}
}
int main(void)
{
	char line[100];
	pthread_t t[2];
	int file = memfd_create("twice", 0);
	if (ftruncate(file, 4096) != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		view[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	pthread_barrier_init(&all, NULL, 3);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, (void *)i);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && *line != 'e') {
		for (int i = 0; i < 50; i++)
			pthread_barrier_wait(&all);
		puts("done");
		fflush(stdout);
	}
	over = 1;
	pthread_barrier_wait(&all);
	return 5;
}
END2
gcc -g -O1 -fsanitize=thread twice.c -o twice -pthread || exit 1
told=0
start "$racetrace" record --idle ./twice
attach
tell go
detach
"$racetrace" dump --format jsonl t.zst >events || wrong 'dump of memory that is mapped twice'
jq -se 'map(select(.op)) | (map(select(.op == "alias")) | length) as $n
	| $n > 0 and ([.[] | select(.op == "alias") | .stamp] | max) <= ([.[] | select(.op == "begin") | .stamp] | min)' events >/dev/null ||
	wrong "two addresses are known too late: $(grep -E '"op":"(alias|begin)"' events)"
echo exit >&3
wait "$pid"
[ $? = 5 ] || wrong "the status of a program that maps memory twice"
exec 3>&-

# Linked with the recorder, it needs the variable alone.
gcc -g -O1 -fsanitize=thread -c "$top/tests/process/idle_server.c" -o server.o || exit 1
gcc server.o $("$racetrace" --libs) -o linked -pthread || exit 1
told=0
start env RACETRACE=idle ./linked
attach
tell 'race 20'
detach
[ "$(races)" = 'racy ' ] || wrong "RACETRACE=idle: $(races)"
echo exit >&3
wait "$pid"
exec 3>&-

# Files may not be as long as the memory that the recorder shares: the program runs all the same.
(
	ulimit -f 1000
	echo exit | RACETRACE=idle ./linked >answers 2>err
)
[ $? = 5 ] && grep -q 'limits do not allow an idle recorder' err || wrong "with a limit on files: $(cat answers err)"

# A child that was forked after a recording of its parent knows the accesses that were declared benign before.
cat >benign.c <<'END2'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void AnnotateBenignRaceSized(const char *, int, const volatile void *, size_t, const char *);
static int counter;
static void *add(void *unused)
{
	counter++;
	return unused;
}
int main(void)
{
	char line[100];
	AnnotateBenignRaceSized(__FILE__, __LINE__, &counter, sizeof counter, "");
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		pthread_t t[2];
		pid_t child = *line == 'f' ? fork() : 0;
		if (child) {
			wait(NULL);
			return 0;
		}
		for (int i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, add, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		printf(*line == 'f' ? "child %d\n" : "done\n", (int)getpid());
		fflush(stdout);
	}
	return 0;
}
END2
gcc -g -O1 -fsanitize=thread benign.c -o benign -pthread || exit 1
told=0
start "$racetrace" record --idle ./benign
parent=$pid
for process in parent child; do
	attach
	tell go
	detach
	"$racetrace" dump t.zst | grep -q ' benign ' || wrong "$process: what is benign is not told"
	[ "$(races)" = '' ] || wrong "$process: benign races: $(races)"
	[ $process = child ] && break
	tell fork
	pid=$(sed -n 's/^child //p' answers)
done
exec 3>&-
wait "$parent"

# A daemon closes what it has not opened.
cat >closes.c <<'END2'
#define _GNU_SOURCE
#include <pthread.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;
int main(int argc, char **argv)
{
	for (int fd = 3; fd < 1200 && strcmp(argv[1], "close") == 0; fd++)
		close(fd);
	for (int fd = 3; fd < 1200 && strcmp(argv[1], "dup2") == 0; fd++)
		dup2(0, fd);
	for (int fd = 3; fd < 1200 && strcmp(argv[1], "dup3") == 0; fd++)
		dup3(0, fd, O_CLOEXEC);
	if (strcmp(argv[1], "call") == 0)
		syscall(SYS_close_range, 3, ~0U, 0);
	if (strcmp(argv[1], "range") == 0)
		close_range(3, ~0U, 0);
	if (strcmp(argv[1], "from") == 0)
		closefrom(3);
	setvbuf(stdout, NULL, _IOLBF, 0);
	char number[16] = "";
	if (readlink("/proc/self", number, sizeof number - 1) > 0)
		printf("ready %s\n", number);
	for (;;) {
		pthread_mutex_lock(&lock);
		x++;
		pthread_mutex_unlock(&lock);
		puts("round");
		usleep(1000);
	}
}
END2
gcc -g -fsanitize=thread closes.c -o closes -pthread || exit 1
for how in close range from call dup2 dup3; do
	rm -f answers
	"$racetrace" record --idle ./closes $how >answers &
	pid=$!
	appears answers ready
	attach
	rounds
	detach
	"$racetrace" dump t.zst | grep -q ' acquire  *lock' || wrong "closed by $how: nothing is recorded"
	kill $pid
	wait $pid 2>/dev/null
done

# In a PID namespace where /proc is still the old one's: numbers differ from those in /proc. One process records at a time,
# whatever namespace it is in.
if unshare --fork --pid true 2>/dev/null; then
	rm -f answers stop
	# shellcheck disable=SC2016
	unshare --fork --pid bash -c '"$1" record --idle ./closes nothing >answers & echo $! >number; wait' bash "$racetrace" &
	appears answers round
	pid=$(sed -n 's/^ready //p' answers)
	number=$(cat number)
	within=(nsenter "--pid=/proc/$pid/ns/pid")
	[ "$number" != "$pid" ] || wrong "a PID namespace with the same numbers: $pid"
	attach
	"${within[@]}" "$racetrace" record --pid "$number" -o second.zst 2>err
	[ $? = 3 ] && grep -q "process $number is being recorded already" err || wrong "attached from another namespace: $(cat err)"
	detach
	rm -f t.zst said
	# shellcheck disable=SC2016
	"${within[@]}" bash -c '
		"$1" record --pid "$2" -o t.zst 2>said &
		for _ in $(seq 6000); do [ -e stop ] && break; sleep 0.05; done
		kill -INT $!
		wait $!' bash "$racetrace" "$number" &
	recorder=$!
	appears said "recording process $number"
	rounds
	touch stop
	wait $recorder || wrong "in a PID namespace: $(cat said)"
	"$racetrace" dump t.zst | grep -q ' acquire  *lock' || wrong "in a PID namespace: nothing is recorded"
	kill "$pid"
	wait
fi

# What cannot be recorded.
sleep 100 &
pid=$!
"$racetrace" record --pid $pid 2>err
[ $? = 3 ] && grep -q "process $pid: it was not started idle: start it with 'racetrace record --idle" err || wrong "$(cat err)"
kill $pid
"$racetrace" record --pid 2147483000 2>err
[ $? = 3 ] && grep -q 'there is none' err || wrong "$(cat err)"
# usage PATTERN ARGUMENT...
usage() {
	run 2 record "${@:2}"
	says "$1"
}
usage 'no program is started' --pid 1 ./server
usage '--serial does not go with --pid' --pid 1 --serial
usage '--values does not go with --idle' --idle --values ./server
usage '--time needs --pid' --time 3 ./server
usage 'a process id' --pid 0
usage 'of --trigger only finding goes with --pid' --pid 1 --trigger exit
usage '--trigger does not go with --idle' --idle --trigger finding ./server
exit $fail
