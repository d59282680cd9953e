#!/bin/bash
# Every command reads a trace or a report from a pipe and from standard input; what a trace should not have is a warning and a count.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

printf '%s\n' 'T1|fork(2)|1' 'T1|w(x)|2' 'T2|r(x)|3' 'T1|fork(2)|4' 'T2|w(y)|5' 'T1|w(y)|6' >a.std
"$RACETRACE" convert --to jsonl a.std >a.jsonl 2>err || wrong "convert: $(cat err)"
"$RACETRACE" convert -o a.zst a.std 2>err || wrong "convert: $(cat err)"

# same FILE ARGUMENT...: the command says the same of the file, of a pipe and of standard input.
same() {
	local file=$1 want
	shift
	"$RACETRACE" "$@" "$file" >want 2>/dev/null
	want=$?
	"$RACETRACE" "$@" <(cat "$file") >piped 2>/dev/null
	[ $? = $want ] || wrong "$* of a pipe with $file: another status than $want"
	cat "$file" | "$RACETRACE" "$@" - >input 2>err
	[ $? = $want ] || wrong "$* - with $file: another status than $want: $(cat err)"
	"$RACETRACE" "$@" - <"$file" >redirected 2>/dev/null
	[ -s want ] || wrong "$* $file writes nothing"
	for found in piped input redirected; do
		# The name is said, and a file's size.
		diff <(sed "s,$file,NAME,g" want) <(sed -E 's,/dev/fd/[0-9]+,NAME,g; s,"-",,; s,^-:,NAME:,; s,trace      -,trace      NAME,; s,racetrace replay - ,racetrace replay NAME ,' $found) >difference ||
			[ "$(grep -c '^[<>]' difference)" -le 2 ] || wrong "$* $file: $found is another: $(cat difference)"
	done
}
for file in a.std a.jsonl a.zst; do
	same $file info
	same $file info --format json
	same $file dump
	same $file convert --to jsonl
	same $file analyze --format json --fail-on never
	same $file analyze --format text
	same $file schedule --anomaly R1
	same $file schedule --expand --anomaly R1
done

# So it reads reports.
"$RACETRACE" analyze --format json --fail-on never a.zst >report.json
echo '{"schema": "racetrace.report/1", "findings": []}' >none.json
same report.json suppress
same report.json diff none.json
"$RACETRACE" diff report.json none.json >want
"$RACETRACE" diff - none.json <report.json >input 2>err || wrong "diff of standard input: $(cat err)"
cmp want input || wrong "diff of standard input is another: $(cat input)"

# says_same FILE ARGUMENT...: the command says the same whichever of the three the argument @ stands for.
says_same() {
	local file=$1 want
	shift
	"$RACETRACE" "${@/@/$file}" >want 2>/dev/null </dev/null
	want=$?
	[ -s want ] || wrong "$* with $file writes nothing"
	"$RACETRACE" "${@/@//dev/fd/3}" 3< <(cat "$file") >piped 2>err </dev/null
	[ $? = $want ] || wrong "$* with a pipe: another status than $want: $(cat err)"
	cat "$file" | "$RACETRACE" "${@/@/-}" >input 2>err
	[ $? = $want ] || wrong "$* with standard input: another status than $want: $(cat err)"
	# The name is said, that of a run's own trace, and how long it took.
	local runs='s,/[^"]*/run-,run-,g; s/"milliseconds": [0-9]+//; s, --input=[^ ]*,,; s, < [^"]*,,'
	for found in piped input; do
		diff <(sed -E "s,\\b$file\\b,NAME,g; $runs" want) <(sed -E "s,/dev/fd/3,NAME,g; s,^-:,NAME:,; s,replay - ,replay NAME ,; $runs" $found) >difference ||
			wrong "$* with $file: $found is another: $(head -n 4 difference)"
	done
}
jq '.findings = [.findings[0]]' report.json >one.json
"$RACETRACE" suppress report.json >rules
printf 'pattern lost\nE = a - b\nT = s - t\nSV = x - x\nAR = u - v\nAT = w - *\n' >lost.pattern
echo '[]' >commands.json
for i in 1 2; do
	"$RACETRACE" analyze --shard=$i/2 -o part$i a.zst 2>err || wrong "part $i: $(cat err)"
done
"$RACETRACE" schedule --anomaly R1 a.zst >script
says_same one.json analyze --baseline=@ a.zst
says_same rules analyze --suppressions=@ a.zst
says_same lost.pattern analyze --pattern=@ a.zst
says_same part1 merge @ part2
says_same part2 merge part1 @
says_same script schedule --trace a.zst @
says_same a.zst schedule --trace @ script
says_same commands.json guards --compile-commands=@ a.zst

# The commands that run a program read their --input like that, too, and each run is given all of it.
cat >reads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int shared;
static char text[8];

static void *add(void *unused)
{
	shared++;
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, add, NULL);
	shared++;
	pthread_join(t, NULL);
	return read(0, text, sizeof text) == 5 ? 0 : abort(), 0;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread reads.c -o reads -pthread || exit 1
echo text >text
"$RACETRACE" record -o reads.zst -- ./reads <text 2>err || wrong "record: $(cat err)"
"$RACETRACE" analyze --format json --fail-on never reads.zst >reads.json
"$RACETRACE" schedule --anomaly R1 reads.zst >reads.script
"$RACETRACE" suppress reads.json >reads.rules
says_same reads.zst replay --format text --input=text @
says_same reads.json replay --anomaly R1 --input=text @
says_same reads.script replay --trace reads.zst --input=text @
says_same text replay --repeat=2 --format text --input=@ reads.zst
jq -e '.anomalies[0].replay.outcome == "confirmed"' <("$RACETRACE" replay --format json --input=<(cat text) reads.zst) >/dev/null || wrong 'no replay with an input from a pipe'
says_same text explore --runs=3 --format json --input=@ -- ./reads
says_same reads.json explore --strategy=racefuzzer --runs=2 --format json --input=text --pairs=@ -- ./reads
says_same reads.rules explore --runs=2 --format text --input=text --suppressions=@ -- ./reads

# From where standard input stands.
{ read -r _; run=$("$RACETRACE" info --format json - 2>err | jq .events); } < <(cat <(echo skipped) a.std)
[ "$run" = 6 ] || wrong "what is left of a pipe has $run events: $(cat err)"

run 1 analyze --format json a.std
says "^racetrace: warning: 'a.std' line 4: thread 'T2' is forked a second time, after line 1$"
one=$(wc -l <err)
[ "$one" = 1 ] || wrong "not one warning: $(cat err)"
holds '.trace.warnings == [{kind: "forked-again", count: 1, first: 4, text: "thread '\''T2'\'' is forked a second time, after line 1"}]'
holds '[.anomalies[] | [.events[].event]] == [[2, 3], [5, 6]] or ([.anomalies[] | [.events[].event]] | sort) == [[2, 3], [5, 6]]'
run 3 analyze --strict a.std
one_line
says "line 4: thread '2' is forked a second time"

# A later fork is an edge.
printf '%s\n' 'A|w(x)|1' 'B|w(z)|2' 'A|fork(B)|3' 'B|r(x)|4' 'B|w(y)|5' 'A|w(y)|6' 'A|r(z)|7' >later.std
run 1 analyze --format json later.std
holds '[.anomalies[] | [.events[].event]] | sort == [[2, 7], [5, 6]]'
run 0 info later.std
says 'is forked after it acted, in line 2'
# So it is of a thread that has ended, and in another format.
printf '%s\n' 'A|fork(B)|1' 'B|w(x)|2' 'A|join(B)|3' 'A|w(x)|4' 'A|fork(B)|5' 'B|w(x)|6' 'A|join(B)|7' 'A|w(x)|8' >again.std
run 0 analyze --format json again.std
"$RACETRACE" convert -o again.zst again.std 2>/dev/null
run 0 analyze again.zst
quiet

printf 'T|w(x)|1\nT|lock(m)|2\nT|lock(m)|3\n' >unknown.std
run 3 info unknown.std
one_line
says "'lock\(m\)' is not an STD operation.*--skip-unknown"
run 0 info --skip-unknown --format json unknown.std
says "line 2: 'lock\(m\)' is not an STD operation and is left out \(and 1 more such events\)"
holds '.events == 1 and .warnings[0].count == 2'

: | "$RACETRACE" info - >out 2>err
[ $? = 3 ] || wrong 'an empty pipe is a trace'
one_line
says "^racetrace: '-' is empty"
TMPDIR=/nowhere "$RACETRACE" info <(cat a.std) >out 2>err && wrong 'there is no folder for temporary files'
one_line
says "cannot make a temporary file for '/dev/fd/[0-9]*': No such file or directory"
exit $fail
