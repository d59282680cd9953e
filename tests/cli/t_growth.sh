#!/bin/bash
# What an analysis takes grows with the events of a trace, not with their square. Cachegrind counts the instructions, so that how busy the machine is does not matter.
# Usage: t_growth.sh BUILD, with RACETRACE in the environment.
set -u
command -v valgrind >/dev/null || exit 0
# A sanitizer and Valgrind do not go together.
! nm "$RACETRACE" | grep -q ' __\(asan\|ubsan\|tsan\)_' || exit 0

# Without what only a debugger reads, Valgrind starts sooner.
strip -o racetrace "$RACETRACE" || exit 1

# Each function writes a trace of SIZE in proportion.
header() {
	printf '{"schema":"racetrace.events/1","model":"sc","threads":["main"'
	for i in $(seq 1 "$1"); do printf ',"t%s"' "$i"; done
	echo ']}'
}
event() {
	printf '{"op":"%s","thread":"%s","object":"%s","location":"a.c:1"%s}\n' "$@"
}

# Threads asleep in the kernel, and annotations that wake none of them.
kernel() {
	header "$1"
	for i in $(seq 1 "$1"); do
		event hb-before "t$i" 0x1000 ',"arg":0'
		event hb-after "t$i" 0x1000 ',"arg":0'
	done
	for i in $(seq 1 "$1"); do event block "t$i" "$((20480 + i))" ',"for":"hb-after","value":1'; done
	event block main t1 ',"for":"join"'
}

# Each thread waits for a lock of the next one; the last one goes on.
chain() {
	header "$1"
	for i in $(seq 1 "$1"); do event acquire "t$i" "l$i" ''; done
	for i in $(seq 1 "$(($1 - 1))"); do event block "t$i" "l$((i + 1))" ',"for":"acquire"'; done
	event block main t1 ',"for":"join"'
}

# Tries that fail before a race, with schedules in which their lock is not held while another tried lock is taken often.
tries() {
	header "$1"
	event write t1 x ''
	event acquire t1 m ''
	event release t1 m ''
	event acquire t2 k ''
	for i in $(seq 4 "$1"); do
		event try-failed "t$i" k ',"for":"acquire"'
		event write "t$i" "own$i" ''
	done
	event release t2 k ''
	event acquire main m ''
	event release main m ''
	for i in $(seq 1 "$1"); do
		event acquire main l ''
		[ "$i" != 1 ] || event try-failed t2 l ',"for":"acquire"'
		event release main l ''
	done
	event fork main t3 ''
	event write t3 x ''
}

# Each thread makes the next one, and takes the lock of them all once.
short() {
	header "$1"
	local parent=main
	for i in $(seq 1 "$1"); do
		event fork $parent "t$i" ''
		parent=t$i
		event acquire "t$i" l ''
		event read "t$i" x ''
		event write "t$i" x ''
		event release "t$i" l ''
	done
	event write t1 y ''
	event write t2 y ''
}

# Sections of twelve accesses of four variables, each at a place of its own.
regions() {
	local ops=(write read read)
	header 2
	for i in $(seq 1 "$(($1 / 14 + 2))"); do
		event region-begin "t$((i % 2 + 1))" r ''
		for k in $(seq 1 12); do
			printf '{"op":"%s","thread":"t%s","object":"x%s","location":"a.c:%s"}\n' \
				${ops[i * k % 3]} $((i % 2 + 1)) $(((i + k * k) % 7 % 4)) $((12 * i + k))
		done
		event region-end "t$((i % 2 + 1))" r ''
	done
}

# Copies of 256 words or pages at 64 places.
copies() {
	header 2
	for i in $(seq 1 600); do
		event acquire "t$((i % 2 + 1))" l ''
		printf '{"op":"write","thread":"t%s","object":%s,"arg":%s,"location":"a.c:2"}\n' \
			$((i % 2 + 1)) $((0x10000000 + $1 * (i * 7 % 64))) $(($1 * 256))
		event release "t$((i % 2 + 1))" l ''
	done
}

# instructions SHAPE SIZE: of an analysis, without what the smallest one takes.
instructions() {
	"$1" "$2" >"$1.$2.jsonl"
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --vex-guest-chase=no ./racetrace analyze --no-cache --fail-on never --limit access_pairs=1000 --limit anomalies=100 -o "$1.$2.json" "$1.$2.jsonl" 2>&1 >/dev/null |
		sed -n 's/.*I *refs: *//p' | tr -d ,
}

failed=0
for shape in kernel chain tries short regions; do
	least=$(instructions $shape 5) small=$(instructions $shape 150) large=$(instructions $shape 600)
	[ -n "$least" ] && [ -n "$small" ] && [ -n "$large" ] || exit 1
	# 4.1 times as much where each event takes the same.
	[ $((large - least)) -lt $((5 * (small - least))) ] || {
		echo "$shape: 4 times the events take $((large - least)) instructions instead of $((small - least))"
		failed=1
	}
done
# Threads find nearly all of each page as they left it.
words=$(instructions copies 8) pages=$(instructions copies 4096)
[ "$pages" -lt $((2 * words)) ] || {
	echo "copies: of pages take $pages instructions, and of words $words"
	failed=1
}
exit $failed
