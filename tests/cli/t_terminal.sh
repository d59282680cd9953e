#!/bin/bash
# t_terminal.sh [BUILD]: what is printed on a terminal: places side by side where it is wide enough, words broken at its
# width, colors unless they are refused, and progress while something takes long.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
command -v script >/dev/null || { echo "no script(1): nothing is tested"; exit 0; }
unset NO_COLOR
export TERM=xterm

# terminal COLUMNS ARGUMENT...: racetrace on a terminal of that width, into out, without carriage returns.
terminal() {
	local columns=$1
	shift
	script -qec "stty cols $columns rows 50; $racetrace $*" /dev/null </dev/null | tr -d '\r' >out
}
# has WHAT REGEX / hasnt WHAT REGEX
has() {
	grep -qE "$2" out || wrong "$1: no '$2' in: $(head -c 2500 out)"
}
hasnt() {
	grep -qE "$2" out && wrong "$1: '$2' in: $(head -c 2500 out)"
	return 0
}

cat >sides.c <<'EOF'
#include <pthread.h>
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int queue_length;
static void *look(void *unused)
{
	(void)unused;
	queue_length--; /* without the lock */
	return 0;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, look, 0);
	pthread_mutex_lock(&queue_lock);
	queue_length++;
	pthread_mutex_unlock(&queue_lock);
	pthread_join(t, 0);
	return 0;
}
EOF
gcc -g -O1 -fsanitize=thread sides.c -o sides -pthread || wrong "cannot build sides.c"
timeout 60 "$racetrace" record -o sides.zst ./sides >/dev/null 2>&1

# Wide: both places and their source lines are in one row each.
terminal 130 analyze --color=never sides.zst
has wide '^  sides\.c:(7|15) in (look|main) +\| sides\.c:(7|15) in (look|main)$'
has wide '^  .*holding (no lock|queue_lock) +\| .*holding (no lock|queue_lock)$'
has wide '^ +(7|15) \| queue_length(--|\+\+).* \|  +(7|15) \| queue_length(--|\+\+)'
# A row is never wider than the terminal, and columns align.
sed -n '/^  sides\.c:/,/^ *\(called\|.*declared\)/p' out | grep ' | ' | grep -v '^ *[0-9]* |[^|]*$' >rows
[ "$(wc -l <rows)" -ge 2 ] || wrong "no rows: $(cat out)"
[ "$(awk '{ print (length > 130) }' rows | sort -u)" = 0 ] || wrong "wider than the terminal: $(cat rows)"
# Narrow: one below the other, as in a file.
terminal 90 analyze --color=never sides.zst
has narrow '^  sides\.c:(7|15) in (look|main): main(\.1)? (updates|writes|reads|reads and writes), holding'
hasnt narrow ' \| sides\.c'
"$racetrace" analyze -f text sides.zst >out
hasnt "a file" ' \| sides\.c'
"$racetrace" analyze --color=never -f text sides.zst >plain
# Headlines are broken at words; nothing of them is lost.
terminal 60 analyze --color=never sides.zst
has "the uses" '^  used by '
hasnt "the uses at 60 columns" '^  used by .{51}'
[ "$(sed -n '/^F1/,/^  sides/{/^  sides/!p}' out | awk 'length > 60')" = "" ] ||
	wrong "a headline is wider than the terminal: $(head -n 3 out)"
[ "$(sed -n '/^F1/,/^  sides/{/^  sides/!p}' out | tr -s ' \n' ' ')" = "$(head -n 1 plain | tr -s ' \n' ' ')" ] ||
	wrong "words are lost: $(head -n 3 out), not $(head -n 1 plain)"

# Nor is any other line, but for commands, which are copied.
[ "$(grep -v '^  replay: ' out | awk 'length > 60')" = "" ] || wrong "wider than the terminal: $(awk 'length > 60' out)"
grep -q '^  replay: racetrace replay sides\.zst --finding F1$' out || wrong "the command is broken: $(grep -A 1 replay out)"
terminal 40 analyze --color=always --anomalies sides.zst
sed 's/\x1b\[[0-9;]*m//g' out >bare
[ "$(awk 'length > 40 && / [^ ]+ /' bare)" = "" ] || wrong "anomalies are wider than the terminal: $(awk 'length > 40' bare)"

# What reads the trace next is named if there is one.
terminal 90 run --no-confirm --trace=kept.zst ./sides
has kept "next: racetrace analyze kept\.zst$"
has kept '^kept\.zst: [0-9]+ events'
terminal 90 run --no-confirm ./sides
has unkept '^the trace, which is not kept: [0-9]+ events'
hasnt unkept 'next: |trace\.zst|--all|--anomal|racetrace replay'
"$racetrace" run --no-confirm -f html ./sides >out 2>err
has "unkept, html" '>the trace, which is not kept: [0-9]+ events'
hasnt "unkept, html" 'trace\.zst|racetrace (replay|schedule)'

# Colors: on a terminal, unless NO_COLOR or --color=never; elsewhere only if asked for.
escape=$'\033\\['
terminal 130 analyze sides.zst
has colors "$escape"
NO_COLOR=1 terminal 130 analyze sides.zst
hasnt NO_COLOR "$escape"
terminal 130 analyze --color=never sides.zst
hasnt never "$escape"
"$racetrace" analyze -f text sides.zst >out
hasnt "no terminal" "$escape"
"$racetrace" analyze -f text --color=always sides.zst >out
has always "$escape"

# Progress: the trace comes from a pipe, and goes on only when the line is there.
printf '%s\n' 'A|w(x)|1' 'B|w(x)|2' >late.std
# fed LINE ARGUMENTS: what is on the terminal is in shown, what is printed in printed.
fed() {
	rm -f shown pipe
	mkfifo pipe
	{
		for _ in $(seq 600); do
			grep -q "$1" shown 2>/dev/null && break
			sleep 0.1
		done
		cat late.std
	} >pipe &
	script -qfec "$racetrace $2 >printed" shown </dev/null >/dev/null
	wait $!
}
for command in 'analyze -f json' 'info' 'convert -t jsonl' 'dump'; do
	fed 'reading the trace' "$command - <pipe"
	grep -qE 'reading the trace( \(step 1 of 6\))?, [0-9]+ s \.\.\.' shown || wrong "$command: no progress: $(head -c 300 shown)"
	tr '\r' '\n' <shown | grep -v '^Script' | tail -n 1 | grep -q 'reading' && wrong "$command: the line stays: $(tail -c 200 shown | od -c | tail -n 5)"
	[ -s printed ] || wrong "$command: nothing printed"
	grep -q reading printed && wrong "$command: progress in the output"
	$racetrace $command late.std 2>err >/dev/null
	[ -s err ] && wrong "$command: messages without a terminal: $(cat err)"
done

fed 'analyzing traces' "analyze -f json late.std pipe late.std"
grep -qE 'analyzing traces, 1 of 3, [0-9]+ s \.\.\.' shown || wrong "several: no progress: $(head -c 300 shown)"

# None over a pager, which shows what comes through a pipe. The trace comes later than progress would.
for command in 'dump' 'convert -t jsonl'; do
	rm -f shown pipe
	mkfifo pipe
	{ sleep 3 && cat late.std; } >pipe &
	script -qfec "$racetrace $command - <pipe | cat >printed" shown </dev/null >/dev/null
	wait $!
	grep -q reading shown && wrong "$command: progress over a pager: $(head -c 300 shown)"
	[ -s printed ] || wrong "$command: nothing printed"
done
exit $fail
