#!/bin/bash
# t_hostile.sh BUILD: names from traces, file names and arguments reach neither a terminal nor a page as they are: escape
# sequences, control characters of both sets, characters that turn the direction of writing, line separators.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
bad=$'\x1b[31m\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xff'

# clean FILE WHAT: no character that steers is in it.
clean() {
	if LC_ALL=C grep -qaP '\x1b|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|[\x00-\x08\x0b-\x1f]' "$1"; then
		wrong "$2 has what steers a terminal: $(LC_ALL=C grep -aP '\x1b|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81' "$1" | head -n 2 | cat -v)"
	fi
}

# A racy program, all of whose names are hostile.
cat >app.c <<'END_C'
#include <pthread.h>
int counter;
static void *work(void *arg) { counter++; return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	counter++;
	return pthread_join(t, 0);
}
END_C
gcc -g -fsanitize=thread app.c -o app || exit 1
"$racetrace" record -o t.zst ./app || wrong "record: $?"
"$racetrace" dump --format jsonl t.zst >plain.jsonl || wrong "dump: $?"
sed 's/counter/&\\u001b[31m\\u009b\\u202e\\u2028\\u2066/g; s/"work/&\\u001b[31m\\u009b\\u202e\\u2028/g; s/"main\(\.1\)*"/"m\\u001b[31m\\u009b\\u202e\\u2028\1"/g; s/app\.c/\\u001b[31m\\u009b\\u202e\\u2028&/g; s/\.\/app/&\\u001b[31m\\u009b\\u202e\\u2028/g' \
	plain.jsonl >"hostile$bad.jsonl"
trace="hostile$bad.jsonl"
"$racetrace" analyze --kinds race --format json "$trace" | jq -e '[.anomalies[].variable.name | contains("\u202e")] | any' >/dev/null ||
	wrong 'the hostile names are not in the report: this test is broken'
for format in text json sarif html gcc dot svg; do
	one=()
	[[ $format != @(dot|svg) ]] || one=(--anomaly R1)
	"$racetrace" analyze --all "${one[@]}" --format $format "$trace" >out 2>err
	[ $? -le 1 ] || wrong "analyze --format $format: $(cat -v err)"
	[ -s out ] || wrong "$format: no report"
	clean out "analyze --format $format"
	clean err "what analyze --format $format says"
done
for command in info 'info --format json' dump 'dump --format jsonl' 'convert --to jsonl' 'convert --to std' guards \
	'schedule --anomaly R1' 'schedule --anomaly R1 --expand'; do
	"$racetrace" $command "$trace" >out 2>err || wrong "$command: $(cat -v err)"
	clean out "$command"
	clean err "what $command says"
done
"$racetrace" convert -o back.zst "$trace" && "$racetrace" dump --format jsonl back.zst >back.jsonl || wrong 'the way to a file and back'
clean back.jsonl 'a dump of a file'
# STD has no escapes: what steers is replaced, also on the way from STD.
printf 'm%s|w(x%s)|a%s:1\nm%s|r(x%s)|b:2\n' "$bad" "$bad" "$bad" "$bad" "$bad" >hostile.std
for command in info dump 'dump --format jsonl' 'convert --to std' 'convert --to jsonl' 'analyze --format text --all'; do
	"$racetrace" $command hostile.std >out 2>err || wrong "$command: $(cat -v err)"
	[ -s out ] || wrong "$command: nothing"
	clean out "$command of STD"
	clean err "what $command of STD says"
done

# Messages.
for command in analyze info dump convert schedule "analyze --format" "analyze --kinds" "record -o x" "record -o" "dump --thread" "analyze --$bad" "$bad"; do
	"$racetrace" $command "$bad" x >out 2>err </dev/null
	[ $? -gt 1 ] || wrong "'$command' is not refused"
	[ -s err ] || wrong "'$command' says nothing"
	clean err "what '$command' says"
done
[ ! -e x ] || rm -f x
exit $fail
