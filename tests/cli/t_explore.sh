#!/bin/bash
# t_explore.sh [BUILD]: many runs are one report: findings by fingerprint, in which runs, how the runs ended, the same for the same seed.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

build() {
	gcc -g -O1 -fsanitize=thread "$top/samples/$1.c" -o "$1" -pthread || exit 1
}
program() {
	gcc -g -O1 -fsanitize=thread -xc - -o "$1" -pthread || exit 1
}

# One race in each run is one finding, and its run stands for it.
build racefuzzer_fig1
for strategy in random native noise suspend pct pos drfinder; do
	run 1 explore --strategy $strategy --runs 4 -f json -- ./racefuzzer_fig1
	holds '.schema == "racetrace.report/1" and (.runs | length) == 4 and [.runs[].number] == [1, 2, 3, 4]'
	holds '(.findings | length) == 1 and .findings[0].seen.count == 4 and .findings[0].seen.first == 1'
	holds '.findings[0].level == "error" and .findings[0].seen.runs == [1, 2, 3, 4]'
	holds '([.anomalies[].id] | sort) == ([.findings[].anomalies[]] | sort) and all(.anomalies[]; .run <= 4)'
	holds '.runs[0].new == 1 and .runs[3].new == 0'
	holds ".runs[0].strategy == \"$strategy\""
done

# Every format is of all runs; no dot.
run 1 explore --strategy random --runs 2 -- ./racefuzzer_fig1
grep -q '^F1 error' out && grep -q 'seen in 2 of 2 runs, first in run 1: racetrace record --serial=1 -- ./racefuzzer_fig1' out ||
	wrong "text: $(cat out)"
run 1 explore --strategy random --runs 2 -f sarif -- ./racefuzzer_fig1
holds '(.runs[0].results | length) == 1'
run 1 explore --strategy random --runs 2 -f html -- ./racefuzzer_fig1
grep -q '2 of 2, first in run 1' out || wrong "html: $(head -c 2000 out)"
run 1 explore --strategy random --runs 2 -f gcc -- ./racefuzzer_fig1
grep -qE 'racefuzzer_fig1.c:[0-9]+:.*error: ' out || wrong "gcc: $(cat out)"
run 2 explore -f dot -- ./racefuzzer_fig1
says 'one trace'

# The same seed, the same report; what it says repeats a run does.
build racefuzzer_fig2
run 1 explore --strategy random --runs 8 --seed 5 -f json -- ./racefuzzer_fig2
mv out first
run 1 explore --strategy random --runs 8 --seed 5 -f json -- ./racefuzzer_fig2
jq -S 'del(.trace, .runs[].trace, .runs[].milliseconds, .anomalies[].schedule)' first >a
jq -S 'del(.trace, .runs[].trace, .runs[].milliseconds, .anomalies[].schedule)' out >b
cmp -s a b || wrong "the same seed, another report: $(diff a b | head -5)"
[ "$(jq '.runs | map(.seed) == [5, 6, 7, 8, 9, 10, 11, 12]' out)" = true ] || wrong "seeds: $(jq -c '[.runs[].seed]' out)"

# A command that repeats a run is one that a person copies, whatever the run aimed at.
program many <<C
#include <pthread.h>
static int $(printf 'v%d, ' $(seq 1 15)) v16;
static void *count(void *arg)
{
$(printf '	v%d++;\n' $(seq 1 16))
	return arg;
}
int main(void)
{
	pthread_t other;
	pthread_create(&other, 0, count, 0);
	count(0);
	return pthread_join(other, 0);
}
C
run 1 explore --runs 4 -f json -- ./many
holds '[.. | .repeat? // empty] | length > 1 and all(.[]; split(" ") | length < 20)'

# Nothing wrong, nothing found.
build racefuzzer_fig2_fixed
run 0 explore --strategy random --runs 5 -f json -- ./racefuzzer_fig2_fixed
holds '.findings == []'
quiet

# Nor if the end of children is ignored where the command is started: it waits for them all the same.
env --ignore-signal=CHLD "$RACETRACE" explore --strategy random --runs 1 --timeout 5 -f json -- ./racefuzzer_fig2_fixed >out 2>err </dev/null ||
	wrong "explore without SIGCHLD: $(cat out err)"
holds '.findings == [] and .runs[0].end == "exit status 0"'
program status <<'C'
int main(void)
{
	return 3;
}
C
env --ignore-signal=CHLD "$RACETRACE" run --no-confirm -- ./status >out 2>err </dev/null
[ $? = 3 ] || wrong "run without SIGCHLD: not the program's status"

# How runs end: a crash, an assertion, a status that differs, a hang, a deadlock; each repeats.
program ends <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int turn, *volatile nothing;
static pthread_mutex_t m;
static void *f(void *a)
{
	pthread_mutex_lock(&m);
	turn = 1;
	pthread_mutex_unlock(&m);
	return a;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_mutex_init(&m, NULL);
	pthread_create(&t, NULL, f, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	int first = !turn;
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	if (argc < 2 || !first)
		return 0;
	if (!strcmp(argv[1], "crash"))
		*nothing = 1;
	assert(strcmp(argv[1], "assert"));
	if (!strcmp(argv[1], "hang"))
		for (;;)
			sleep(1);
	if (!strcmp(argv[1], "lock")) {
		pthread_mutex_lock(&m);
		pthread_mutex_lock(&m);
	}
	return 7;
}
C
for kind in crash assertion:assert status deadlock:lock hang; do
	argument=${kind#*:}
	kind=${kind%:*}
	limit=20
	[ $kind = hang ] && limit=3
	run 1 explore --strategy random --runs 8 --timeout $limit -f json -- ./ends $argument
	holds "[.findings[] | select(.kinds == [\"$kind\"])] | length == 1"
	holds ".findings[] | select(.kinds == [\"$kind\"]) | .level == \"error\" and .seen.count < 8"
done
run 1 explore --strategy random --runs 8 -f json -- ./ends crash
holds '.findings[] | select(.kinds == ["crash"]) | .title == "the program is killed by signal 11 (Segmentation fault)"'
repeat=$(jq -r '.findings[0].seen.repeat' out)
# shellcheck disable=SC2086
{ (PATH=$(dirname "$RACETRACE"):$PATH && ${repeat/record/record -o again.zst}); } >/dev/null 2>&1
[ $? = 139 ] || wrong "'$repeat' does not repeat the crash"
# So does `replay`, by finding and by seed; a run that follows a schedule is repeated with all before it.
mv out crash.json
for strategy in random predict; do
	[ $strategy = random ] || run 1 explore --runs 8 -f json -o crash.json -- ./ends crash
	crash=$(jq -r '.findings[] | select(.kinds == ["crash"]) | .id' crash.json)
	run 0 replay -f json --finding $crash crash.json
	holds '.outcome == "confirmed" and .end == "killed by signal 11 (Segmentation fault)"'
	run 0 replay -f text --seed "$(jq '.runs[] | select(.end == "exit status 0") | .seed' crash.json | head -n 1)" crash.json
	grep -q 'exit status 0, as before' out || wrong "replay --seed: $(cat out err)"
done
sed 's/"end": "[^"]*"/"end": "exit status 9"/' crash.json >other.json
run 1 replay -f text --finding $crash other.json
grep -q '; it was: exit status 9' out || wrong "another end: $(cat out)"
sed 's/"repeat": "[^"]*"/"repeat": "rm -rf there"/' crash.json >other.json
run 3 replay --finding $crash other.json
says 'none of racetrace'
run 1 explore --strategy random --runs 8 -f json -- ./ends assert
holds '.findings[0].title | test("^an assertion fails: .*strcmp")'

# An end that is known, or suppressed, is left out.
cp out ends.json
run 0 explore --strategy random --runs 8 --baseline ends.json -f json -- ./ends assert
holds '.findings | length > 0 and all(.known)'
holds 'any(.findings[]; .kinds == ["assertion"])'
jq -r '.findings[] | "finding:" + .fingerprint' ends.json >rules
run 0 explore --strategy random --runs 8 --suppressions rules -- ./ends assert
grep -q 'suppressed' out && ! grep -q 'an assertion fails' out || wrong "a suppressed end: $(cat out)"
run 0 explore --strategy random --runs 8 --suppressions rules -f sarif -- ./ends assert
holds '.runs[0].results | length > 0 and all(.suppressions[0].kind == "external")'

# One that has not ended is a hang if it does the same again and again, not in the midst of its work.
# (Each thread rests now and then, unseen by the recorder, as millions of events would be recorded and read.)
program unended <<'C'
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned long count;
static int done;
__attribute__((no_sanitize("thread"))) static void rest(void)
{
	struct timespec t = {0, 100000};
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(&t), "S"(NULL) : "rcx", "r11", "memory");
}
static void *work(void *polls)
{
	int turns = 0;
	for (int end = 0; !end;) {
		pthread_mutex_lock(&m);
		if (polls)
			end = done;
		else
			count++;
		pthread_mutex_unlock(&m);
		if (polls)
			usleep(100);
		else if (++turns % 32 == 0)
			rest();
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, NULL, work, argc > 1 ? argv : NULL);
	work(argc > 1 ? argv : NULL);
	return pthread_join(t, NULL);
}
C
run 0 explore --strategy random --runs 1 --timeout 2 -f json -- ./unended
says '^racetrace: 1 of 1 runs were ended after 2 s while they made progress: such a run needs a larger --timeout, or less to do$'
holds '.findings == [] and .runs[0].end == "no end in time"'
run 1 explore --strategy random --runs 1 --timeout 2 -f json -- ./unended polls
holds '.findings | length == 1 and .[0].kinds == ["hang"]'

# A status that every run has is no finding.
program seven <<<'int main(void) { return 7; }'
run 0 explore --strategy random --runs 2 -f json -- ./seven
holds '.findings == [] and .runs[1].end == "exit status 7"'

# An interrupt ends it; the report is whole, and of what was run.
program slow <<<'#include <unistd.h>
int main(void) { usleep(200000); return 0; }'
"$RACETRACE" explore --strategy native --runs 1000000 --traces seen -f json -- ./slow >out 2>err &
explore=$!
for ((i = 0; i < 600; i++)); do
	[ -e seen/run-1.zst ] && break
	sleep 0.1
done
sleep 1
kill -INT $explore
wait $explore
status=$?
[ $status = 0 ] || wrong "an interrupt: status $status: $(cat err)"
says '^racetrace: interrupted: the report is about [0-9]+ run'
holds '(.runs | length) >= 1 and (.runs | length) < 1000000 and .findings == []'

# So with each strategy, in the midst of a run that waits for ever.
program waits <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
int x;
static void *other(void *a) { x = 1; return a; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	x = 2;
	pthread_join(t, NULL);
	if (open("first", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
		return 0;
	open("second", O_CREAT | O_WRONLY, 0600);
	open("nobody", O_RDONLY); /* a FIFO */
	return 0;
}
C
mkfifo nobody
for strategy in predict random native racefuzzer systematic drfinder pct pos noise suspend; do
	rm -f first second
	"$RACETRACE" explore --strategy $strategy --runs 1000 --timeout 600 -f json -- ./waits >out 2>err &
	explore=$!
	for ((i = 0; i < 600; i++)); do
		[ ! -e second ] && kill -0 $explore 2>/dev/null || break
		sleep 0.1
	done
	kill -INT $explore 2>/dev/null || wrong "$strategy ends after a run"
	wait $explore
	status=$?
	[ $status = 1 ] || wrong "an interrupt of $strategy: status $status: $(cat err)"
	says '^racetrace: interrupted: the report is about 1 run$'
	holds '(.runs | length) == 1 and (.findings | length) == 1'
done

# Each file of a folder is an input: an argument, or standard input.
program inputs <<'C'
#include <pthread.h>
#include <stdio.h>
int x;
static void *f(void *a) { x = 1; return a; }
int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
	pthread_t t;
	int c = in ? getc(in) : 0;
	pthread_create(&t, NULL, f, NULL);
	if (c == 'r')
		x = 2;
	pthread_join(t, NULL);
	return 0;
}
C
mkdir corpus
echo no >corpus/a
echo race >corpus/b
for argument in @@ ""; do
	# shellcheck disable=SC2086
	run 1 explore --strategy random --runs 2 --inputs corpus -f json -- ./inputs $argument
	holds '[.runs[].name] == ["a, run 1", "a, run 2", "b, run 3", "b, run 4"]'
	holds '(.findings | length) == 1 and .findings[0].seen.runs == [3, 4]'
	mv out inputs.json
	run 0 replay --seed 1 -f json inputs.json
	holds '.outcome == "confirmed" and (.repeat | test("corpus/a$"))'
done
# How many of them there was no time for is said.
program sleeps <<<'#include <unistd.h>
int main(void) { usleep(1200000); return 3; }'
run 0 explore --strategy native --runs 2 --time 900ms --inputs corpus -- ./sleeps
says '^racetrace: 1 of 2 inputs were not run: there was no time left$'
grep -q '^1 run, [0-9]* events, each ending with exit status 3' out || wrong "the end of each run is not said: $(tail -n 1 out)"
# A run under way when the time is over is ended, and is none that hangs.
program second <<'C'
#include <fcntl.h>
#include <unistd.h>
int main(void) { return open("second.ran", O_CREAT | O_EXCL, 0600) < 0 ? sleep(60) : 0; }
C
run 0 explore --strategy native --runs 2 --time 1500ms --timeout 4 -f json -- ./second
holds '(.runs | length) == 1 and .findings == []'
for time in 0 0.5x 1.2.3 -1; do
	run 2 explore --time $time ./sleeps
	says "the time limit must be a number of seconds, .* not '$time'"
done
# A run of an input is repeated by an exploration of that input alone, in which it has another number.
program aborts <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *arg) { shared = 1; return arg; }
int main(void)
{
	pthread_t t;
	if (getchar() != 'r')
		return 0;
	pthread_create(&t, NULL, other, NULL);
	pthread_mutex_lock(&lock);
	int seen = shared;
	pthread_mutex_unlock(&lock);
	if (seen)
		abort();
	return pthread_join(t, NULL);
}
C
run 1 explore --strategy systematic --inputs corpus -f json -- ./aborts
jq '([.runs[] | select(.end | contains("Aborted")) | .number] | last) as $run | .findings |= map(select(.kinds == ["crash"])) |
	del(.limits) | if $run and .findings != [] then .findings[0].seen.first = $run else error("none") end' \
	out >inputs.json 2>err || wrong "no run of an input to repeat: $(cat out err)"
run 0 replay --finding "$(jq -r '.findings[0].id' inputs.json)" -f json inputs.json
holds '.outcome == "confirmed" and .run > 1 and (.repeat | startswith("racetrace explore")) and (.end | test("Aborted"))'
# However long the command is, and with what the shell would take for a redirection.
run 1 explore --strategy random --runs 2 -f json -- ./ends crash "$(printf 'argument%.0s' {1..1000})" {1..2500} '<' x
holds '.runs[0].repeat | test("argument 1 2 3 .* 2500 .<. x$")'
mv out long.json
run 0 replay --seed 1 -f json long.json
holds '.outcome == "confirmed" and (.repeat | test(" 2500 .<. x$"))'
mkdir empty
run 2 explore --inputs empty -- ./inputs
says "^racetrace: there is no input in 'empty'"

# Each test of ctest is explored in its place. What prints the list is as good as ctest.
mkdir -p bin there
cat >bin/ctest <<SH
#!/bin/sh
[ "\$2" = --show-only=json-v1 ] || exit 1
cat <<JSON
{"kind": "ctestInfo", "tests": [
  {"name": "first", "command": ["$PWD/racefuzzer_fig1"], "properties": [{"name": "WORKING_DIRECTORY", "value": "$PWD/there"}]},
  {"name": "second", "command": ["$PWD/inputs", "$PWD/corpus/a"], "properties": [{"name": "ENVIRONMENT", "value": ["A=b"]}]}]}
JSON
SH
chmod +x bin/ctest
run 1 explore --strategy random --runs 2 -f json -- bin/ctest -V
holds '[.runs[].name] == ["first, run 1", "first, run 2", "second, run 3", "second, run 4"]'
holds '(.findings | length) == 1 and .findings[0].seen.runs == [1, 2]'
# The environment of one is not that of the next.
program environment <<'END'
#include <stdlib.h>
int main(void) { return getenv("RACETRACE_TEST_A") ? 5 : 0; }
END
cp bin/ctest bin/both
cat >bin/ctest <<SH
#!/bin/sh
cat <<JSON
{"kind": "ctestInfo", "tests": [
  {"name": "with", "command": ["$PWD/environment"], "properties": [{"name": "ENVIRONMENT", "value": ["RACETRACE_TEST_A=b"]}]},
  {"name": "without", "command": ["$PWD/environment"], "properties": []}]}
JSON
SH
run 0 explore --strategy random --runs 1 -f json -- bin/ctest
holds '[.runs[].end] == ["exit status 5", "exit status 0"]'
# Before the first run there is nothing to report; not even then a signal leaves anything behind.
cat >bin/ctest <<'SH'
#!/bin/sh
touch listing
for i in $(seq 600); do [ -e go ] && break; sleep 0.1; done
echo '{"kind": "ctestInfo", "tests": [{"name": "one", "command": ["./environment"], "properties": []}]}'
SH
mkdir scratch
TMPDIR=$PWD/scratch "$RACETRACE" explore --strategy random -f json -- bin/ctest >out 2>err &
explore=$!
for ((i = 0; i < 600; i++)); do
	[ -e listing ] && break
	sleep 0.1
done
kill -TERM $explore
touch go
wait $explore
status=$?
[ $status = 3 ] || wrong "a signal before the first run: status $status: $(cat err)"
says '^racetrace: interrupted before a run has ended: there is nothing to report$'
[ -z "$(ls scratch)" ] || wrong "left behind: $(ls scratch)"
mv bin/both bin/ctest
# What is given is not of their places.
run 1 explore --strategy random --runs 2 --traces of_tests --input corpus/a --source-root corpus -f json -- bin/ctest -V
quiet
[ "$(ls of_tests)" = run-1.zst ] || wrong "of_tests: $(ls of_tests)"
run 2 explore -- bin/ctest
says "^racetrace: 'bin/ctest' lists no tests"

# A program that cannot be run one thread at a time is explored all the same, and that is said.
mkdir -p broken/bin broken/lib
cp "$RACETRACE" broken/bin/racetrace
cp -r "$(dirname "$RACETRACE")/../lib/racetrace" broken/lib/
rm -r broken/lib/racetrace/controlled
for strategy in predict racefuzzer systematic; do
	broken/bin/racetrace explore --strategy $strategy --runs 2 -f json -- ./racefuzzer_fig1 >out 2>err
	[ $? = 1 ] || wrong "$strategy without the controlled recorder: $(cat err)"
	says 'cannot be run one thread at a time: its threads ran free'
	holds '(.findings | length) == 1 and .search.complete != true'
	if [ $strategy = systematic ]; then
		holds '[.runs[].strategy] == ["native"]'
	else
		holds '[.runs[].strategy] == ["native", "native"]'
	fi
done

# The threads of one without instrumentation take turns under Valgrind.
gcc -g -O1 "$top/samples/hidden.c" -o plain -pthread || exit 1
if [ -x "$(dirname "$RACETRACE")/../lib/racetrace/valgrind/racetrace-amd64-linux" ]; then
	run 1 explore --runs 3 -f json -- ./plain
	says "^racetrace: './plain' is not instrumented: Valgrind runs it"
	holds '([.runs[].strategy] | index("native") | not) and any(.findings[]; (.title | test("ready")) and .verdict == "confirmed")'
fi

# predict: what is hidden in the first run is what the second one does; a run that took it comes to new code, and so on.
build hidden
program steps <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a, b;
volatile int c, loops;
static void *f(void *arg)
{
	pthread_mutex_lock(&m);
	a = 1;
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 10000; i++)
		loops = i;
	pthread_mutex_lock(&m);
	b = 1;
	pthread_mutex_unlock(&m);
	return arg;
}
/* A race that no run comes to unless b is seen unset after a was seen set. */
static void *g(void *arg)
{
	int x, y = 1;
	pthread_mutex_lock(&m);
	x = a;
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 10000; i++)
		loops = i;
	if (x) {
		pthread_mutex_lock(&m);
		y = b;
		pthread_mutex_unlock(&m);
	}
	if (!y)
		c = 1;
	return arg;
}
static void *h(void *arg)
{
	c = 2;
	return arg;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], NULL, f, NULL);
	pthread_create(&t[1], NULL, g, NULL);
	pthread_create(&t[2], NULL, h, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
run 1 explore -f json -- ./hidden
holds '[.findings[] | select(.title | test("ready"))] | length == 1 and .[0].verdict == "confirmed" and .[0].seen.first == 1'
holds '[.anomalies[] | select(.replay.outcome == "confirmed")] | length >= 1'
holds '.runs[0].strategy == "random" and .runs[1].strategy == "predict"'
holds '(.runs | length) <= 10'
run 1 explore --runs 40 -f json -- ./steps
holds '.findings | any(.title | test("`loops`")) and any(.title | test("`c`"))'
holds '.findings[] | select(.title | test("`c`")) | .seen.first <= 10'
run 1 explore --strategy random --runs 15 -f json -- ./steps
holds 'any(.findings[]; .title | test("`c`")) | not'
run 0 explore -f json -- ./racefuzzer_fig2_fixed
holds '.findings == [] and (.runs | length) < 10'
# Two threads that read the same index are at a race of their own: a run that holds threads at the known races shows it.
gcc -g -O1 -fsanitize=thread "$top/samples/more/loop_variable.c" -o loop_variable -pthread || exit 1
run 1 explore --runs 3 -f json -- ./loop_variable
holds '.runs[0].strategy == "random" and any(.runs[]; .strategy == "racefuzzer")'
holds '[.findings[] | select(.title | test("`sum")) | .seen.first] | length == 1 and .[0] <= 3'

# No run takes the finding of another for its own: several here agree in variable and functions.
gcc -g -O1 -fsanitize=thread -Wno-tsan "$top/samples/more/stale_pointer.c" -o stale_pointer -pthread || exit 1
# Each finding of the first run is in one of all runs with all its anomalies, no two in the same one.
by_finding='.anomalies as $a | [.findings[] | [.anomalies[] as $i | $a[] | select(.id == $i) | [.events[].source.line] | sort]]'
run 1 explore --runs 1 -f json -- ./stale_pointer
jq -c "$by_finding" out >first
run 1 explore --runs 10 -f json -- ./stale_pointer
jq -e --slurpfile first first "$by_finding"' as $all | [$first[0][] as $f | [range($all | length) | select($f - $all[.] == [])][0]] |
	length > 2 and all(. != null) and length == (unique | length)' out >/dev/null || wrong "findings are lost: $(cat first; jq -c "$by_finding" out)"
holds '[.findings[].fingerprint] | length == (unique | length)'

# The depth is the strategy's, and is part of what repeats a run.
run 1 explore --strategy pct --depth 2 --runs 2 -f json -- ./racefuzzer_fig1
holds '.runs | map(.repeat | test(" --depth=2 ")) == [true, true]'
run 2 explore --strategy pct --depth 0 ./racefuzzer_fig1

# What a run forks is analyzed, and is a process of that run, not a run.
program forks <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int x;
static void *count(void *arg) { x++; return arg; }
int main(void)
{
	if (fork() == 0) {
		pthread_t t;
		pthread_create(&t, NULL, count, NULL);
		x++;
		pthread_join(t, NULL);
		_exit(0);
	}
	return wait(NULL) < 0;
}
C
run 1 explore --strategy random --runs 2 -- ./forks
grep -qF 'seen in 2 of 4 processes, first in run 1, process 2: ' out && grep -q '^4 processes of 2 runs, [0-9]* events; the last with anything new was run 1$' out ||
	wrong "processes: $(cat out)"

# Traces are kept where they are asked for.
run 1 explore --strategy random --runs 3 --traces kept -f json -- ./racefuzzer_fig1
[ "$(ls kept)" = run-1.zst ] || wrong "kept: $(ls kept)"
run 1 analyze kept/run-1.zst
# Also where the runs are on another file system.
if [ -w /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ]; then
	export TMPDIR=/dev/shm
	run 1 explore --strategy random --runs 3 --traces moved -f json -- ./racefuzzer_fig1
	unset TMPDIR
	[ "$(ls moved)" = run-1.zst ] || wrong "moved: $(ls moved)"
	run 1 analyze moved/run-1.zst
fi

# Wrong use, and what cannot be run.
run 2 explore
says '^racetrace explore: no program given: '
run 2 explore --strategy nonsense ./racefuzzer_fig1
says "'nonsense' is not a strategy: there are "
run 3 explore ./missing
says "cannot find './missing'|./missing"
echo nonsense >text && chmod +x text
run 3 explore ./text
says '^racetrace: no run could be recorded: '
# A finding has the anomalies of all runs, each once and with the strongest verdict that a run gives it. Findings of two runs that have an anomaly
# in common are one, whichever anomaly is the first in each.
gcc -g -O1 -fsanitize=thread "$top/samples/pecan/list.c" -o list -pthread || exit 1
run 1 explore --runs 3 -f json -- ./list
holds '[.anomalies[] | "\(.fingerprint) \([.events[].source.line])"] | length == (unique | length)'
holds '[.findings[].anomalies[]] | sort == (unique) and length > 10'
holds '[.anomalies[] | .run] | unique | length > 1'
# So it has them in each format.
mv out list.json
ids=$(jq -c '[.findings[].anomalies[]] | sort' list.json)
run 1 explore --runs 3 -f sarif -- ./list
holds "([.runs[0].results[].properties.anomalies[]] | sort) == $ids"
holds 'all(.runs[0].results[]; .occurrenceCount == 3 and (.message.text | test("Seen in 3 of 3 runs, first in run 1: racetrace record --serial=1 ")))'
holds '[.runs[0].invocations[0].toolExecutionNotifications[] | select(.level == "note")] | length == 1'
run 1 explore --runs 3 -f html -- ./list
[ "$(grep -oE '<tr><td>[RAS][0-9]+</td>.*<td>[0-9]+</td><td>[123]</td></tr>' out | grep -oE '^<tr><td>[A-Z0-9]*' | sed 's/.*>//' | jq -Rnc '[inputs] | sort')" = "$ids" ] ||
	wrong "the page has other anomalies: $(grep -o '<tr><td>.*' out)"
grep -qE "<td>$(jq '.findings[0].anomalies | length' list.json)</td><td>3 of 3, first in run 1" out || wrong "the list counts others: $(grep -o '<td>.* first in' out)"
grep -q '<p class="dim">3 runs, [0-9]* events; the last with anything new was run ' out || wrong 'the page does not say what the runs were'
run 1 explore --runs 3 -f gcc -- ./list
[ "$(grep -cE 'list.c:[0-9:]+: note: seen in 3 of 3 runs, first in run 1: racetrace record ' out)" = 2 ] || wrong "gcc: $(cat out)"
gcc -g -O1 -fsanitize=thread -fopenmp "$top/samples/openmp/locks_racy.c" -o locks_racy || exit 1
run 1 explore --runs 8 -f json -- ./locks_racy
holds '[.anomalies[] | select(.kind == "atomicity" and (.verdict == "confirmed" or .verdict == "observed"))] | length >= 3'
exit $fail
