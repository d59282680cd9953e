#!/bin/bash
# t_merged.sh [BUILD]: several traces are one report, each finding with the traces that show it; diff tells two reports apart; suppressions
# leave findings out, and those that match nothing are reported.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

mkdir runs
printf '%s\n' 'main|fork(T1)|1' 'main|w(x)|2' 'T1|w(x)|3' >runs/1.std
printf '%s\n' 'main|w(y)|4' 'T1|r(y)|5' | cat runs/1.std - >runs/2.std
sed '1a main|w(z)|6\nT1|w(z)|7' runs/1.std >runs/10.std
printf 'main|w(x)|2\n' >clean.std

run 1 analyze runs/1.std runs/2.std runs/10.std
holds '[.runs[].trace] == ["runs/1.std", "runs/2.std", "runs/10.std"] or [.runs[].name] == ["runs/1.std", "runs/2.std", "runs/10.std"]'
holds '(.findings | length) == 3 and ([.findings[].seen.count] | sort) == [1, 1, 3]'
holds '[.findings[] | select(.seen.count == 3).seen.runs] == [[1, 2, 3]]'
mv out several
# A folder is its traces, in the order of their numbers; what else is in it is no trace.
echo text >runs/notes.txt
run 1 analyze runs
cmp -s out several || wrong "the folder is another report than its traces: $(diff out several | head -n 3)"
run 1 analyze -f text runs/1.std runs/2.std
grep -q 'seen in 2 of 2 runs, first in runs/1.std' out || wrong "text: $(cat out)"
grep -q '^findings: 2 errors' out || wrong "text: $(tail -n 3 out)"
run 0 analyze clean.std clean.std
echo '{"schema":"racetrace.events/1"}' >none.jsonl
run 4 analyze clean.std none.jsonl
run 0 analyze --allow-incomplete clean.std none.jsonl
run 2 analyze --anomaly R1 runs
says 'several traces are one list of findings'
run 2 analyze -f dot runs
says "the format 'dot' is of one trace"
mkdir empty
run 3 analyze empty
says "there is no trace in the folder 'empty'"
# What cannot be read is said; the others are reported.
echo 'no trace' >bad.std
run 3 analyze runs/1.std bad.std runs/2.std
says "bad.std"
holds '(.findings | length) == 2'
run 3 analyze bad.std none.zst
says "none.zst"

# Several at once: what is written and said is the same, in each format, and whatever is wrong with some of them.
mkdir crowd
for i in $(seq 12); do
	sed "s/(z)/(z$((i % 5)))/" runs/10.std >crowd/$i.std
	[ $((i % 4)) = 0 ] && printf '%s\n' 'main|odd(q)|9' >>crowd/$i.std
done
"$RACETRACE" convert -t jsonl -o crowd/13.jsonl runs/2.std && sed -i '$d' crowd/13.jsonl && printf '{"op":' >>crowd/13.jsonl
cp bad.std crowd/0.std
cp none.jsonl crowd/14.jsonl
for format in json text sarif html gcc; do
	run 3 analyze -f $format --skip-unknown crowd
	mv out one && mv err one.err
	for jobs in 2 3 40; do
		run 3 analyze -f $format --skip-unknown --jobs $jobs crowd
		cmp -s out one || wrong "$format, $jobs jobs: $(diff one out | head -n 3)"
		cmp -s err one.err || wrong "$format, $jobs jobs, standard error: $(diff one.err err | head -n 5)"
	done
done
# None makes a process then: what another thread holds at that moment, the process would wait for.
cat >forks.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
pid_t fork(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	close(open("forked", O_CREAT | O_WRONLY, 0600));
	return real();
}
END
gcc -shared -fPIC forks.c -o forks.so || exit 1
LD_PRELOAD=$PWD/forks.so run 1 analyze --jobs 2 runs/10.std
[ -e forked ] || wrong 'the provers of one trace are in one process'
rm -f forked
LD_PRELOAD=$PWD/forks.so run 3 analyze --skip-unknown --jobs 40 crowd
[ ! -e forked ] || wrong 'a thread makes a process'
run 3 analyze -f gcc --skip-unknown crowd
[ "$(grep -c "^racetrace: warning: 'crowd/[0-9]*.std'" err)" = 3 ] || wrong "warnings: $(cat err)"
grep -q "^racetrace: 'crowd/0.std'" err || grep -q '^racetrace: .*crowd/0.std' err || wrong "the unreadable one is not named: $(cat err)"
# Each format begins with what is incomplete, also if a later trace is, and one that shows nothing new.
head -n 1 crowd/13.jsonl >empty.jsonl
for format in text gcc json html sarif; do
	run 4 analyze -f $format clean.std clean.std empty.jsonl none.jsonl
	case $format in
	sarif) holds '.runs[0].invocations[0].executionSuccessful == false' ;;
	html) sed -n '/<header>/,/<h1>/p' out >first ;;
	*) head -n 1 out >first ;;
	esac
	[ $format = sarif ] && jq -r '.runs[0].invocations[0].toolExecutionNotifications[0].message.text' out >first
	grep -q '2 of 4 runs have an incomplete trace, first empty.jsonl: ' first || wrong "incomplete, $format: $(head -n 3 out)"
done
run 4 analyze clean.std none.jsonl
holds '.incomplete and (.runs[1].incomplete | length > 0) and (.runs[0] | has("incomplete") | not)'
# What is wrong with the command is said once.
run 2 analyze --jobs 3 --source-root none runs
one_line

# An interrupt: those that were begun are reported, also the one that is being read.
# interrupted JOBS PATTERN TRACE...: the first is read from a pipe, and the interrupt comes meanwhile.
interrupted() {
	local jobs=$1 pattern=$2 pid
	shift 2
	mkfifo late.std
	"$RACETRACE" analyze --jobs "$jobs" late.std "$@" >out 2>err &
	pid=$!
	exec 9>late.std # it reads
	kill -INT $pid
	cat runs/1.std >&9
	exec 9>&-
	wait $pid
	status=$?
	rm late.std
	[ $status = 1 ] || wrong "interrupted with $jobs jobs: status $status: $(cat err)"
	says "$pattern"
	holds '[.findings[].seen.runs[0]] | index(1) != null'
}
interrupted 1 '^racetrace: interrupted: the report is about 1 of 10 traces$' crowd/{1,2,3,5,6,7,9,10,11}.std
holds '.runs | length == 1'
interrupted 2 '^racetrace: interrupted: the report is about [1-4] of 10 traces$' crowd/{1,2,3,5,6,7,9,10,11}.std
interrupted 3 '^racetrace: interrupted: the report is about [1-6] of 10 traces$' crowd/{1,2,3,5,6,7,9,10,11}.std

# What is new, and gone.
"$RACETRACE" analyze -f json runs/1.std >1.json
"$RACETRACE" analyze -f json runs/2.std >2.json
run 1 diff 1.json 2.json
[ "$(grep -c '^+ F' out)" = 1 ] && grep -qx 'findings: 1 new, 0 gone, 1 unchanged' out || wrong "diff: $(cat out)"
grep '^+' out | grep -q '`y`' || wrong "not the new one: $(cat out)"
run 0 diff 2.json 1.json
grep '^-' out | grep -q '`y`' || wrong "not the one that is gone: $(cat out)"
run 1 diff -f json 1.json 2.json
holds '.schema == "racetrace.diff/1" and (.new | length) == 1 and .gone == [] and (.unchanged | length) == 1 and .new[0].level == "error"'
run 2 diff 1.json
says 'no second report given'
run 2 diff 1.json runs/1.std
says 'is not a JSON report'
run 2 diff 1.json 2.json 1.json
says 'too many arguments'
run 0 diff -o same.txt 1.json 1.json
[ "$(cat same.txt)" = 'findings: 0 new, 0 gone, 1 unchanged' ] || wrong "diff -o: $(cat same.txt)"

# Suppressions by fingerprint.
# A fingerprint is no text of its own lines.
jq '.findings[0].fingerprint = "0123456789abc\n*x"' 2.json >forged.json
run 0 suppress forged.json
[ "$(grep -c '^finding:' out)" = 1 ] && ! grep -q '^\*x' out || wrong "suppress of a forged report: $(cat out)"
run 0 suppress 2.json
[ "$(grep -c '^finding:[0-9a-f]*$' out)" = 2 ] && [ "$(grep -c '^# error, ' out)" = 2 ] || wrong "suppress: $(cat out)"
mv out both.txt
run 0 analyze --suppressions both.txt runs/2.std
quiet
holds '[.findings[] | select(.suppressed)] | length == 2'
holds 'all(.findings[]; has("known") | not)'
run 0 analyze -f text --suppressions both.txt runs/2.std
grep -qx 'findings: 0 errors, 0 warnings, 0 notes, 2 suppressed' out || wrong "text: $(cat out)"
run 0 analyze -f text --suppressions both.txt runs/1.std runs/2.std
grep -q '^findings: 0 errors, 0 warnings, 0 notes, 2 suppressed' out || wrong "text of two: $(cat out)"
run 0 analyze -f sarif --suppressions both.txt runs/2.std
holds '[.runs[0].results[].suppressions[].kind] == ["external", "external"]'
run 0 suppress -o one.txt 2.json F2
run 1 analyze --suppressions one.txt runs/2.std
holds '[.findings[] | .suppressed // false] == [false, true]'
run 2 suppress 2.json F9
says "there is no finding 'F9'"
run 0 analyze --suppressions one.txt --suppressions both.txt runs/1.std
says "warning: 'one.txt' line 2: 'finding:[0-9a-f]*' suppresses nothing"

# ThreadSanitizer's syntax, on a recorded program.
cat >two.c <<'C'
#include <pthread.h>
int first, second;
static void touch_first(void) { first++; }
static void touch_second(void) { second++; }
static void *work(void *unused)
{
	touch_first();
	touch_second();
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	work(0);
	return pthread_join(t, 0);
}
C
gcc -g -O0 -fsanitize=thread two.c -o two -pthread && "$RACETRACE" record -o two.zst ./two || exit 1
run 1 analyze two.zst
holds '.findings | length == 2'
# left RULE...: the rules leave these variables' findings.
left() {
	local want=$1
	shift
	printf '%s\n' "$@" >rules
	"$RACETRACE" analyze --suppressions rules two.zst >out 2>err
	[ "$(jq -r '[.findings[] | select(.suppressed | not).variable.name] | sort | join(" ")' out)" = "$want" ] ||
		wrong "$*: left are $(jq -c '[.findings[] | [.variable.name, .suppressed]]' out) $(cat err)"
}
left second 'race:touch_first'
left second '# comment' '' '  race:^touch_f*t$  '
left second 'race_top:touch_first'
left second 'race:^first$'
left '' 'race:work'
left 'first second' 'race_top:work'
left '' 'race:two.c'
left '' 'race:^two$' 'race:/two'
left 'first second' 'deadlock:touch_first' 'race:^irst' 'race:touch_firs$' 'race:touch*second*first'
left first 'race:touch*sec*d' 'mutex:x' 'thread:x' 'signal:x' 'called_from_lib:x'
says "warning: 'rules' line 2: 'mutex:x' suppresses nothing"
[ "$(grep -c 'suppresses nothing' err)" = 1 ] || wrong "reported: $(cat err)"
printf 'race:x\nrace\n' >rules
run 2 analyze --suppressions rules two.zst
says "'rules' line 2: 'race' is no suppression"
run 2 analyze --suppressions none two.zst
says "cannot open 'none'"
# A finding of two anomalies, each of which has its rule: both are needed.
cat >pair.c <<'C'
#include <pthread.h>
int shared;
static void touch(int how)
{
	if (how)
		shared = 1;
	else
		shared = 2;
}
static void call_a(void) { touch(1); }
static void call_b(void) { touch(0); }
static void call_main(void) { touch(1); }
static void *work(void *unused)
{
	call_a();
	call_b();
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	call_main();
	return pthread_join(t, 0);
}
C
gcc -g -O0 -fsanitize=thread pair.c -o pair -pthread && "$RACETRACE" record -o pair.zst ./pair || exit 1
printf '%s\n' race:call_a race:call_b >rules
run 0 analyze --suppressions rules pair.zst
holds '.findings | length == 1 and .[0].suppressed and (.[0].anomalies | length == 2)'
[ -s err ] && wrong "rules that suppress together: $(cat err)"
echo race:call_a >rules
run 1 analyze --suppressions rules pair.zst
says "warning: 'rules' line 1: 'race:call_a' suppresses nothing"
# The ids of a page of several runs are its own: a command that replays one of a trace is on that trace's page alone.
cp pair.zst other.zst
run 1 analyze -f html pair.zst
grep -q 'racetrace replay ' out || wrong "html of one: no command that replays"
run 1 analyze -f html two.zst pair.zst other.zst
grep -q 'racetrace replay ' out && wrong "html of several: $(grep 'racetrace replay ' out)"
# What follows from another finding is under that one, as in the report of one trace.
gcc -g -O1 -fsanitize=thread "$top/samples/more/publish.c" -o publish -pthread &&
	"$RACETRACE" record --serial=1 -o publish.zst ./publish >/dev/null && cp publish.zst again.zst || exit 1
run 1 analyze -f text -o merged.txt -f html=merged.html publish.zst again.zst
grep -q '^findings: 1 error, 0 warnings, 0 notes, 1 that follows from another$' merged.txt || wrong "what follows, of two runs: $(grep ^findings merged.txt)"
[ "$(grep -c '^F[0-9]* ' merged.txt)" = 1 ] || wrong "what follows is listed twice: $(grep ^F merged.txt)"
grep -q 'that follows from another' merged.html || wrong "what follows, on the page of two runs"
# Of run and explore, too.
echo 'race:two.c' >rules
run 0 run --no-confirm -f json --suppressions rules -- ./two
holds '.findings | length == 2 and all(.suppressed)'
run 1 run --no-confirm -f json -- ./two
run 0 explore --runs 2 -f json --suppressions rules -- ./two
holds '.findings | length == 2 and all(.suppressed)'
exit $fail
