#!/bin/bash
# t_analyze.sh [BUILD]: options, formats, exit statuses and messages of `racetrace analyze`.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# expect STATUS ARGUMENT...: runs analyze.
expect() {
	run "$1" analyze "${@:2}"
}

printf '%s\n' 'T1|w(x)|a.c:1' 'T2|w(x)|b.c:2' >observed.std
printf '%s\n' 'T1|acq(L)|1' 'T1|w(x)|2' 'T1|rel(L)|3' 'T2|acq(L)|4' 'T2|w(x)|5' 'T2|rel(L)|6' >clean.std
# Ordered by what the lock's sections leave behind, for hb and shb; hybrid sees no common lock.
printf '%s\n' 'T1|w(x)|1' 'T1|acq(L)|2' 'T1|rel(L)|3' 'T2|acq(L)|4' 'T2|rel(L)|5' 'T2|w(x)|6' >lock.std
# The read of f makes the order that locks alone do not: no run has this race, whichever prover knows it.
printf '%s\n' 'T1|w(x)|1' 'T1|acq(L)|2' 'T1|w(f)|3' 'T1|rel(L)|4' 'T2|acq(L)|5' 'T2|r(f)|6' 'T2|rel(L)|7' 'T2|w(x)|8' >flag.std
# One pair of positions, four pairs of events.
printf '%s\n' 'T1|w(x)|a' 'T1|w(x)|a' 'T2|w(x)|b' 'T2|w(x)|b' >loop.std

# Exit statuses.
expect 0 clean.std
holds '.anomalies == [] and .summary.race.observed == 0'
expect 1 observed.std
holds '.anomalies | length == 1 and .[0].id == "R1" and .[0].verdict == "observed"'
expect 1 --fail-on observed observed.std
expect 0 --fail-on never observed.std
holds '.anomalies | length == 1'
expect 0 flag.std
expect 1 --all --fail-on conditional flag.std
holds '.anomalies | length == 1 and .[0].verdict == "conditional"'
holds '.anomalies[0] | .needs_count == 1 and (.needs | length == 1) and .schedule != null'
expect 0 --all --fail-on predicted flag.std
expect 0 flag.std
holds '.anomalies == [] and .summary.race.conditional == 1'
expect 0 --format text flag.std
grep -q "^data races: 1 conditional$" out && grep -q -e "--all lists" out || wrong "what is hidden is not said: $(cat out)"
expect 2
says 'no trace given'

# Every state at once.
expect 1 --exhaustive lock.std
holds '.anomalies[0] | .verdict == "proved" and .evidence.witness == "exhaustive"'
holds '.limits.search_states | .hit == false and .visited > 0'
expect 0 --exhaustive --all flag.std
holds '.anomalies[0].verdict == "conditional" and .limits.search_states.hit == false'
expect 1 --exhaustive --budget 1,1 lock.std
holds '.limits.search_states.hit and .anomalies[0].evidence.witness != "exhaustive"'
cat >searched.std <<'END'
T1|acq(L)|1
T1|w(x)|2
T1|rel(L)|3
T2|acq(L)|4
T2|rel(L)|5
T2|w(x)|6
END
expect 0 --budget 1,1 --kinds race searched.std
holds '.limits.search_events.hit or .limits.search_events_total.hit'
holds '.anomalies[0] | .verdict == "predicted" and ([.reasons[].reason] | index("window") != null)'
expect 0 --budget 1,1 --kinds race --format text searched.std
grep -q '^limits hit: 1 events executed' out || wrong "the limit is not said: $(cat out)"
grep -q '^  only predicted: more events lie between its own' out || wrong "no reason: $(cat out)"
expect 1 --exhaustive --budget 1,1 --format text lock.std
grep -q '^warning: gave up visiting states' out || wrong "gave up without a word: $(cat out)"
expect 1 --exhaustive loop.std
holds '.anomalies | length == 1 and .[0].count == 4'
expect 1 --exhaustive --every --kinds race loop.std
holds '.anomalies | length == 4'
expect 0 --exhaustive --kinds atomicity lock.std
for i in 1 2; do for _ in {1..1001}; do echo "T$i|w(x)|$i"; done; done >pairs.std
expect 1 --exhaustive --kinds race pairs.std
holds '.limits.search_states == {"bound": 16777216, "hit": true, "visited": 0} and .anomalies[0].count == 1002001'
expect 2 --exhaustive --only-orders --orders hb lock.std
says 'exclude each other'
# How long it took, beside the report and not in it.
expect 1 --stats loop.std
holds '.schema == "racetrace.report/1"'
for name in events kept cells load-seconds search-seconds orders-seconds prepare-seconds prove-seconds report-seconds schedules; do
	says "^$name [0-9.]+\$"
done
says '^events 4$'
says '^built-recorded 1$'
cp out with_stats
expect 1 loop.std
cmp -s out with_stats || wrong '--stats changes the report'
[ -s err ] && wrong "without --stats: $(cat err)"
expect 2 --fail-on sometimes observed.std
says "'sometimes' is not a level or verdict: there are .*observed.*never.*error"
expect 2 --format xml observed.std
says "'xml' is not a format: there are text, json"
expect 2 --kinds race,livelock observed.std
says "'livelock' is not a kind: there are race, "
expect 2 --orders hb, observed.std
says "'' is not an order: there are hybrid, "
expect 2 --only-orders observed.std
says 'needs --orders'
expect 2 --no-such-option observed.std
expect 1 observed.std clean.std
expect 3 missing.std
says "^racetrace: cannot open 'missing.std': No such file"
mkdir folder
expect 3 folder
head -c 5000 /dev/zero >zeros
expect 3 zeros
[ "$(wc -l <err)" = 1 ] || wrong "more than one line for a file of zeros: $(cat err)"
: >empty
expect 3 empty
says "'empty' is empty"

# Formats: JSON into a pipe or file, text on a terminal, --format always.
expect 1 --format text --anomalies observed.std
grep -q '^R1 data race (w-w), observed: x$' out || wrong "no headline: $(cat out)"
expect 1 --format text observed.std
grep -q '^F1 error, observed: .* writes .x. while .* writes it, and nothing orders them$' out || wrong "no headline: $(cat out)"
grep -q '^data races: 1 observed$' out || wrong "no sum: $(cat out)"
terminal() {
	script -qec "$racetrace analyze $*" /dev/null </dev/null >out 2>err
}
if command -v script >/dev/null; then
	unset NO_COLOR
	export TERM=xterm
	terminal observed.std
	grep -q $'\033\\[1mF1 ' out || wrong "no colored text on a terminal"
	NO_COLOR=1 terminal observed.std
	grep -q 'F1 error, observed: ' out || wrong "no text on a terminal"
	grep -q $'\033' out && wrong "colors in spite of NO_COLOR"
	terminal --format json observed.std
	tr -d '\r' <out | jq -e .schema >/dev/null || wrong "no JSON on a terminal that asked for it"
fi

# What is there of a trace that was cut short is analyzed, and the report says that it is incomplete.
printf '%s\n' '{"schema":"racetrace.events/1","events":9}' '{"op":"fork","object":"main.1"}' \
	'{"op":"write","object":"x"}' '{"op":"write","object":"x","thread":"main.1"}' >cut.jsonl
expect 1 cut.jsonl
holds '.trace.complete == false and (.trace.incomplete_why | length > 0) and (.anomalies | length == 1)'
says "'cut.jsonl' is incomplete"
expect 1 --format text cut.jsonl
grep -q '^warning: the trace is incomplete: ' out || wrong "the text does not say that the trace is incomplete"

# -o: whole or not at all.
expect 1 -o report.json observed.std
[ -s out ] && wrong "-o writes to standard output too"
jq -e '.anomalies | length == 1' report.json >/dev/null || wrong "-o wrote no report"
[ -e report.json.part ] && wrong "-o leaves its part"
expect 3 -o missing/report.json observed.std
says "cannot write 'missing/report.json'"
expect 3 -o report2.json missing.std
[ -e report2.json ] || [ -e report2.json.part ] && wrong "a failed analysis leaves an output"
expect 1 -o /dev/null observed.std
[ -c /dev/null ] || wrong "/dev/null is no device any more"
"$racetrace" analyze observed.std >/dev/full 2>err
[ $? = 3 ] || wrong "a full disk is not noticed"

# --every, --all, --orders, --only-orders.
expect 1 loop.std
holds '.anomalies | length == 1 and .[0].count == 4'
expect 1 --every loop.std
holds '.anomalies | length == 4 and ([.[].events | map(.event)] | sort) == [[1, 3], [1, 4], [2, 3], [2, 4]]'
expect 1 --fail-on predicted lock.std
holds '.anomalies[0] | .verdict != "observed" and .evidence.hybrid == true and .evidence.hb == false'
expect 0 --orders hb --only-orders lock.std
holds '.anomalies == []'
expect 1 --orders hybrid --only-orders lock.std
holds '.anomalies | length == 1'
expect 0 --orders hybrid --only-orders --fail-on never lock.std
expect 1 --orders hb --only-orders --every loop.std
holds '.anomalies | length == 4'

# A recorded program: names, stacks, blocks, creation, and a fingerprint that neither another run nor moved lines change.
cat >program.c <<'END'
#include <pthread.h>
#include <stdlib.h>
struct { pthread_mutex_t mutex; int size; } queue = {PTHREAD_MUTEX_INITIALIZER, 0};
static __attribute__((noinline)) void touch(int *block) { *block = 1; }
static void *worker(void *block) { queue.size = 1; touch(block); return 0; }
int main(void)
{
	pthread_t thread;
	int *block = calloc(4, sizeof *block);
	pthread_create(&thread, 0, worker, block + 2);
	pthread_mutex_lock(&queue.mutex);
	queue.size = 2;
	touch(block + 2);
	pthread_mutex_unlock(&queue.mutex);
	return pthread_join(thread, 0);
}
END
mkdir moved
sed 's/^int main/\n\n&/' program.c >moved/program.c
for program in program moved/program; do
	gcc -g -fsanitize=thread $program.c -o $program && "$racetrace" record -o $program.zst -- ./$program ||
		wrong "cannot record $program"
	expect 1 --fail-on predicted $program.zst
	holds '[.anomalies[].variable.name | sub(":[0-9]+"; "")] | sort == ["heap block from main (program.c) + 8", "queue.size"]'
	holds '.anomalies[] | select(.variable.name == "queue.size") | [.events[].locks[].name] == ["queue.mutex"]'
	holds '.anomalies[] | select(.variable.kind == "heap") | .variable.allocated[0].function == "main" and
		([.events[].stack | map(.function)[:2]] | sort) == [["touch", "main"], ["touch", "worker"]]'
	holds '.trace.threads[1] | .created.by == "main" and .created.stack[0].function == "main"'
	jq -c '[.anomalies[].fingerprint] | sort' out >$program.fingerprints
done
cmp program.fingerprints moved/program.fingerprints || wrong "moved lines change fingerprints"

# The same trace, the same report; the schema; help.
"$racetrace" analyze --every loop.std >first
"$racetrace" analyze --every loop.std | cmp -s first - || wrong "two reports of one trace differ"

# What is only predicted has no schedule; with --guess PECAN's, and what is wrong with it.
guesses="--all --every --kinds asv --budget 1 $top/tests/golden/ibm/bubblesort.std"
expect 1 --fail-on predicted $guesses
holds '[.anomalies[] | select(.verdict == "predicted")] | length > 0 and all(.[]; .schedule == null and .evidence.guess == null)'
expect 1 --fail-on predicted --guess $guesses
holds '[.anomalies[] | select(.verdict == "predicted")] | length > 0 and
	all(.[]; (.schedule.steps | length > 0) and (.evidence.guess | length > 0) and .evidence.witness == null)'
holds 'all(.anomalies[]; .verdict == "predicted" or .evidence.guess == null)'
id=$(jq -r '[.anomalies[] | select(.evidence.guess)][0].id' out)
"$racetrace" schedule --verify --anomaly "$id" out >judged && wrong "a guess is valid"
grep -q "not valid" judged || wrong "no reason against a guess: $(cat judged)"

# However many processes decide, they say the same: with budgets that last, and with ones that run out on the way.
for budget in 500000 300,2000; do
	for jobs in 1 2 5; do
		expect 1 --fail-on refuted --every --all --jobs $jobs --budget $budget \
			"$top/tests/golden/raceinjector/hb_missed_arraylist_108.std"
		mv out jobs.$jobs
	done
	decided=$(jq '.anomalies | length' jobs.1)
	[ "$decided" -gt 20 ] || wrong "there is nothing for several jobs to do: $decided"
	cmp jobs.1 jobs.2 && cmp jobs.1 jobs.5 || wrong "verdicts depend on --jobs, with --budget $budget"
done
# With several, a trace.zst is read ahead: a whole one, and one that was cut.
"$racetrace" convert -t racetrace -o whole.zst "$top/tests/golden/raceinjector/hb_missed_arraylist_108.std" || wrong "no trace.zst"
head -c "$(($(stat -c %s whole.zst) * 2 / 3))" whole.zst >part.zst
for trace in whole part; do
	for jobs in 1 2; do
		"$racetrace" analyze --all --jobs $jobs --fail-on never --format json $trace.zst >jobs.$jobs 2>jobs.$jobs.err
	done
	cmp jobs.1 jobs.2 && cmp jobs.1.err jobs.2.err || wrong "the report of a $trace trace.zst depends on --jobs"
done
expect 2 --jobs 0 loop.std
says "the number of jobs must be a number from 1 to 1024, not '0'"

expect 0 --schema
holds '."$id" == "racetrace.report/1"'
cmp -s out "$top/docs/report.schema.json" || wrong "--schema is not docs/report.schema.json"
expect 0 --help
grep -q -- --fail-on out || wrong "--help does not tell of --fail-on"
# ---- A damaged or empty trace is no clean bill ----
"$racetrace" convert -t jsonl clean.std | head -n 1 >empty.jsonl
"$racetrace" convert -t racetrace -o whole.zst clean.std || wrong 'convert'
head -c "$(($(stat -c %s whole.zst) - 30))" whole.zst >cut.zst
"$racetrace" convert -t racetrace -o racy.zst observed.std || wrong 'convert'
head -c "$(($(stat -c %s racy.zst) - 30))" racy.zst >cutracy.zst
for trace in empty.jsonl cut.zst; do
	expect 4 $trace
	expect 0 --allow-incomplete $trace
	"$racetrace" analyze --format text $trace 2>/dev/null | head -n 1 | grep -q '^warning: the trace is incomplete: ' ||
		wrong "text does not begin with what $trace lacks"
	"$racetrace" analyze --format json $trace 2>/dev/null | head -n 1 | grep -q '"incomplete": "..*",$' ||
		wrong "JSON does not begin with what $trace lacks"
	"$racetrace" analyze --format json $trace 2>/dev/null | jq -e '.incomplete' >/dev/null || wrong "JSON of $trace"
	"$racetrace" analyze --format gcc $trace 2>/dev/null | head -n 1 | grep -q "^$trace: warning: the trace is incomplete: ..*" ||
		wrong "gcc of $trace"
	"$racetrace" analyze --format html $trace 2>/dev/null | grep -A 2 '^<body>' | grep -q 'the trace is incomplete' ||
		wrong "HTML does not begin with what $trace lacks"
	"$racetrace" analyze --format sarif $trace 2>/dev/null | jq -e '.runs[0].invocations[0].executionSuccessful | not' >/dev/null ||
		wrong "SARIF of $trace is successful"
done
expect 1 cutracy.zst
expect 1 --allow-incomplete cutracy.zst
"$racetrace" analyze --format dot --anomaly R1 cutracy.zst 2>/dev/null | head -n 1 | grep -q '^// the trace is incomplete: ' ||
	wrong 'dot does not begin with what the trace lacks'
exit $fail
