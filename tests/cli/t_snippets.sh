#!/bin/bash
# t_snippets.sh BUILD: source lines are shown of files that are as the recording saw them, and of what is below
# --source-root; a trace that names other files gets none of their lines.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
mkdir src other
cat >src/app.c <<'END_C'
#include <pthread.h>
int counter;
static void *work(void *arg) { counter++; return arg; } /* line three */
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	counter++; /* line eight */
	return pthread_join(t, 0);
}
END_C
gcc -g -fsanitize=thread src/app.c -o app || exit 1
"$racetrace" record -o t.zst ./app || wrong "record: $?"
"$racetrace" dump --format jsonl t.zst >t.jsonl
"$racetrace" convert -o back.zst t.jsonl

# shows PATTERN YES|NO ARGUMENT...: does the report in text, and in HTML, have the pattern?
shows() {
	local pattern=$1 want=$2 format got
	shift 2
	for format in text html; do
		"$racetrace" analyze --format $format "$@" >out 2>err
		[ $? = 1 ] || wrong "$*: $(cat err)"
		got=no
		grep -q "$pattern" out && got=yes
		[ $got = "$want" ] || wrong "$format $*: '$pattern' is shown: $got"
	done
}
for trace in t.zst t.jsonl back.zst; do
	shows 'line three' yes $trace
	shows 'line eight' yes $trace
done

# The file has changed since.
sed -i 's/line three/line 3/' src/app.c
for trace in t.zst t.jsonl; do
	shows 'line 3' no $trace
	shows 'line eight' no $trace
	shows 'line 3' yes --source-root src $trace
	shows 'line 3' yes --source-root "$PWD" $trace
	shows 'line 3' no --source-root other $trace
done

# Traces that name other files: with and without a digest, by way of .. and of a link.
echo secret >other/secret
ln -s ../other/secret src/link
folder=$PWD
for name in "$folder/other/secret" "$folder/src/../other/secret" "$folder/src/link" ../other/secret; do
	sed "s|$folder/src/app.c|$name|g; s|\"line\":[0-9]*|\"line\":1|g" t.jsonl >hostile.jsonl
	grep -q secret hostile.jsonl || grep -q src/link hostile.jsonl || wrong 'the file is not named: this test is broken'
	shows '^ *1 | secret\|secret$\|>secret<' no hostile.jsonl
	shows '^ *1 | secret\|secret$\|>secret<' no --source-root src hostile.jsonl
done
run 2 analyze --source-root nowhere t.zst
says "cannot open the folder 'nowhere': No such file or directory"
exit $fail
