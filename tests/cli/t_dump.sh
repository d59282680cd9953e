#!/bin/bash
# racetrace dump: the text, each filter, JSON lines; nothing of a trace reaches the terminal unescaped.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >a.std <<'END'
T1|acq(L)|f.c:1
T1|w(x)|f.c:2|7
T1|rel(L)|f.c:3
T1|fork(T2)|f.c:4
T2|acq(L)|g
T2|r(x)|6
T2|w(q.y)|7
T2|rel(L)|8
END
# fields: the output without its columns' padding.
fields() {
	sed -E 's/ +/ /g; s/^ //; s/ $//' out
}
run 0 dump a.std
quiet
[ "$(fields)" = '1 T1 1 acquire L f.c:1
2 T1 2 write x [8] =7 f.c:2
3 T1 3 release L f.c:3
4 T1 4 fork T2 f.c:4
5 T2 1 acquire L g
6 T2 2 read x [8] 6
7 T2 3 write q.y [8] 7
8 T2 4 release L 8' ] || wrong "text: $(fields)"

# numbers ARGUMENT...: the events that the filters let through.
numbers() {
	run 0 dump "$@" a.std
	fields | cut -d ' ' -f 1 | paste -sd ' '
}
is() {
	[ "$1" = "$2" ] || wrong "'$1' is not '$2'"
}
is "$(numbers --thread T2)" '5 6 7 8'
is "$(numbers --cell x)" '2 6'
is "$(numbers --cell L)" '1 3 5 8'
is "$(numbers --cell q)" '7'
is "$(numbers --kind write)" '2 7'
is "$(numbers --kind lock,read)" '1 3 5 6 8'
is "$(numbers --range 3-5)" '3 4 5'
is "$(numbers --range 7-)" '7 8'
is "$(numbers --range -2)" '1 2'
is "$(numbers --range 4)" '4'
is "$(numbers --range 2-7 --thread T2 --kind memory --cell x)" '6'
is "$(numbers --range 90-)" ''

cat >b.jsonl <<'END'
{"schema":"racetrace.events/1"}
{"op":"write","object":"0x1000","arg":16}
{"op":"read","object":"0x100f","arg":1}
{"op":"read","object":"0x1010","arg":1}
{"op":"wait-begin","object":"0x3000","arg":"0x100f"}
{"op":"fork","object":"w\u001b[31m\u009b"}
{"op":"atomic-rmw","object":"n","order":"acq_rel","location":"\u202e"}
END
run 0 dump --cell 0x100f b.jsonl
is "$(fields | cut -d ' ' -f 1 | paste -sd ' ')" '1 2 4'
run 0 dump b.jsonl
grep -qF 'w\x1b[31m' out || wrong 'the escape is not shown'
fields | grep -qF 'atomic-rmw n [8] acq_rel' || wrong 'no memory order'
LC_ALL=C grep -qP '\x1b|\xc2\x9b|\xe2\x80\xae' out && wrong 'a control character reached the terminal'
run 0 dump --format jsonl b.jsonl
LC_ALL=C grep -qP '[^\x20-\x7e]' out && wrong 'JSON lines have more than ASCII'
holds '.'

run 0 dump -f jsonl a.std
is "$(jq -c 'select(.op) | [.number, .thread, .op]' out | head -n 2 | paste -sd ' ')" '[1,"T1","acquire"] [2,"T1","write"]'
is "$(jq -r 'select(.schema) | .events' out)" 8
run 0 dump -f jsonl --thread T2 a.std
is "$(jq -r 'select(.op) | .number' out | paste -sd ' ')" '5 6 7 8'
is "$(jq -r 'select(.schema) | .events' out)" null
cp out part.jsonl
run 0 dump part.jsonl
is "$(fields | cut -d ' ' -f 1 | paste -sd ' ')" '5 6 7 8'

head -c 300 b.jsonl >cut.jsonl
run 0 dump cut.jsonl
says "^racetrace: 'cut.jsonl' is incomplete: "

run 0 dump --help
grep -q 'Usage: racetrace dump' out || wrong 'no usage in --help'
run 2 dump
run 2 dump --kind jump a.std
says "'jump' is not a kind of event"
run 2 dump --range 5-3 a.std
says "'5-3' is not a range"
run 2 dump --range x a.std
run 2 dump --range 1-2-3 a.std
run 2 dump --range 1--3 a.std
run 2 dump --range - a.std
run 2 dump --thread T9 a.std
says "has no thread 'T9'"
run 3 dump missing
one_line
if [ -w /dev/full ]; then
	"$RACETRACE" dump a.std >/dev/full 2>err
	[ $? = 3 ] || wrong 'a full disk is no error'
	says 'cannot write to standard output'
fi
exit $fail
