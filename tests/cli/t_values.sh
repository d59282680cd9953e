#!/bin/bash
# t_values.sh [BUILD]: `record --values`: the values in the trace are those of the accesses; memory that cannot be read does the program no harm.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# What the trace says of the cells, in the form of the program's notes.
values() {
	"$RACETRACE" dump --format jsonl --kind memory,atomic "$1" | jq -r --argjson from "$2" --argjson to "$3" '
		def number: if type == "string" then ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end)) else . end;
		select(.number and .op) | (.object | number) as $at | select($at >= $from and $at < $to) |
		"\(.thread) \(.op) \($at) \(.arg // 8) \(if has("value") then .value | number else "-" end)"'
}

for level in 0 1 2; do
	"${CC:-gcc}" -g -O$level -fsanitize=thread "$top/tests/recorder/values.c" -o values -pthread || exit 1
	"$RACETRACE" record --values -o v.zst ./values >notes || wrong "-O$level: the program ended with status $?"
	read -r from to < <(head -n 1 notes)
	sed 1d notes | sort >want
	values v.zst "$from" "$to" | sort >got
	[ "$(wc -l <want)" -gt 1000 ] || wrong "-O$level: too few notes"
	diff want got >difference || wrong "-O$level: values differ: $(head -n 5 difference)"
done
run 0 info v.zst
grep -q '^values  *recorded' out || wrong 'info does not tell of the values'

# As JSON lines and back nothing is lost; another file of its own has the same.
"$RACETRACE" convert --to jsonl -o v.jsonl v.zst && "$RACETRACE" convert -o again.zst v.jsonl || wrong 'no round trip'
values again.zst "$from" "$to" | sort | cmp - want || wrong 'values are lost on the way through JSON lines'

# Without the option there are none.
"$RACETRACE" record -o plain.zst ./values >notes
"$RACETRACE" dump --format jsonl plain.zst | grep -c '"value":' | grep -qx 0 || wrong 'values that were not requested'

"${CC:-gcc}" -g -O1 -fsanitize=thread "$top/tests/recorder/values_hard.c" -o hard || exit 1
"${CC:-gcc}" -g -O1 "$top/tests/recorder/values_hard.c" -o hard_plain || exit 1
{
for end in '' fault kill; do
	./hard_plain $end >want 2>/dev/null
	status=$?
	"$RACETRACE" record --values -o hard.zst ./hard $end >got 2>/dev/null
	[ $? = $status ] || wrong "hard $end: another status than $status"
	cmp want got || wrong "hard $end: it printed $(cat got)"
	for value in 71 72 73 74; do
		"$RACETRACE" dump --format jsonl hard.zst | jq -r 'select(.op == "write") | .value' | grep -qx $value || wrong "hard $end: no write of $value"
	done
	run 0 info --format json hard.zst
	jq -e '.complete and .lost == 0' out >/dev/null || wrong "hard $end: events are lost"
done
} 2>/dev/null # the shell's own words about what ends by a signal
# An access without a value, as it has more than 8 bytes, may see something new each time: none is left out as a repeat.
cat >wide.c <<'C'
#include <emmintrin.h>
#include <stdio.h>
#include <string.h>
char range[40];
volatile __m128i vector;
int main(void)
{
	volatile int sum = 0;
	printf("%p %p\n", (void *)range, (void *)&vector);
	for (int i = 0; i < 9; i++) {
		sum += memcmp(range, "another", (size_t)sum + sizeof range / 2);
		vector;
		sum = 0;
	}
	return 0;
}
C
recorded() { # TRACE ADDRESS
	"$RACETRACE" dump --format jsonl --kind memory "$1" | jq -rc --arg at "$2" 'select(.op == "read" and .object == $at) | .arg' | uniq -c | tr -s ' '
}
gcc -g -O1 -fno-builtin -fsanitize=thread wide.c -o wide && "$RACETRACE" record --values -o wide.zst ./wide >at 2>err || wrong "wide: $(cat err)"
[ "$(recorded wide.zst "$(cut -d' ' -f1 at)")" = ' 9 20' ] || wrong "a repeated range: $(recorded wide.zst "$(cut -d' ' -f1 at)")"
[ "$(recorded wide.zst "$(cut -d' ' -f2 at)")" = ' 9 16' ] || wrong "a repeated vector: $(recorded wide.zst "$(cut -d' ' -f2 at)")"
if [ -x "$(dirname "$RACETRACE")/../lib/racetrace/valgrind/racetrace-amd64-linux" ]; then
	gcc -g -O1 wide.c -o wide && "$RACETRACE" record -o wide.zst ./wide >at 2>err || wrong "wide, by Valgrind: $(cat err)"
	[ "$(recorded wide.zst "$(cut -d' ' -f2 at)")" = ' 9 16' ] || wrong "a repeated vector, by Valgrind: $(recorded wide.zst "$(cut -d' ' -f2 at)")"
fi
exit $fail
