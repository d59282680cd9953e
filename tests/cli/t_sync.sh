#!/bin/bash
# t_sync.sh [BUILD]: each program of tests/recorder is recorded, and what the trace says of the objects that it names is
# compared with the program's comments (tests/recorder/named.h). RECORD and DUMP may name other commands.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE tmp=$SCRATCH
cd "$top" || exit 1

# expected FILE: "THREAD: event, event" lines, one a thread.
expected() {
	sed -nE 's,^[[:space:]]*// expect ([^:]+): (.*)$,\1\t\2,p' "$1" |
		awk -F '\t' '{ all[$1] = all[$1] (all[$1] == "" ? "" : ", ") $2 } END { for (t in all) print t ": " all[t] }' | sort
}

# recorded NAMES EVENTS: the same, from the program's output and the trace as JSON lines. The thread's life and code are
# not what these tests are about, nor how much malloc rounds up, nor that the objects are memory (samples/more/objects.c).
recorded() {
	jq -rn --rawfile names "$1" '
		def decimal: if type == "number" then . else (ltrimstr("0x") | explode | reduce .[] as $c (0;
			. * 16 + (if $c > 57 then $c - 87 else $c - 48 end))) end;
		($names | split("\n") | map(select(. != "") | split(" ") | {(.[0]): .[1]}) | add) as $name
		| reduce (inputs | select(.op? and .object? and $name[.object | tostring])
			| select(.op | IN("block", "unblock", "try-failed") | not)
			| select((.op == "read" or .op == "write") and (.flags // [] | index("object")) | not)) as $e ({};
			.[$e.thread] += [
				$e.op + " " + $name[$e.object]
				+ (if $e.op != "free" and $e.arg and $e.arg != "0x0" then "=" + ($name[$e.arg | tostring] // ($e.arg | decimal | tostring)) else "" end)
				+ ([$e.flags // [] | .[] | select(. != "volatile" and . != "object") | "+" + .] | join(""))])
		| to_entries[] | .key + ": " + (.value | join(", "))' "$2" | sort
}

check() {
	local source=$1 name compiler=${CC:-gcc} options
	name=$(basename "${source%.*}")
	[ "${source##*.}" = cpp ] && compiler=${CXX:-g++}
	options=$(sed -n 's,^// options: ,,p' "$source")
	"$compiler" -g -O1 -D_GNU_SOURCE -fsanitize=thread -Wno-tsan $options "$source" -o "$tmp/$name" -pthread || return 1
	"$racetrace" record -o "$tmp/$name.trace" -- "$tmp/$name" >"$tmp/names" || {
		echo "$name: ended with status $?"
		return 1
	}
	"$racetrace" dump --format jsonl "$tmp/$name.trace" >"$tmp/events" || return 1
	expected "$source" >"$tmp/expected"
	[ -s "$tmp/expected" ] || { echo "$name expects nothing"; return 1; }
	recorded "$tmp/names" "$tmp/events" >"$tmp/got"
	diff -u <(sed 's/, /,\n  /g' "$tmp/expected") <(sed 's/, /,\n  /g' "$tmp/got") >"$tmp/diff" && return 0
	echo "$name: expected (-) and recorded (+) differ"
	cat "$tmp/diff"
	return 1
}

for source in tests/recorder/sync_*.c tests/recorder/sync_*.cpp; do
	check "$source" || fail=1
done
exit $fail
