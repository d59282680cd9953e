#!/bin/bash
# t_recorder.sh [BUILD]: the recorder against a collector that only counts (tests/recorder/drain.c). Each program of
# tests/recorder/core_*.c prints what must have arrived: "expect NAME COUNT", "at-least ...", "at-most ...". RT_CANCELS:
# cancellations (600).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:-${BUILD:-$here/build}}" && pwd) || exit 1
recorder=$build/lib/racetrace/libtsan.so.2
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
fail=0

"${CC:-gcc}" -O2 -D_GNU_SOURCE -I"$here" "$here/tests/recorder/drain.c" "$here/tracefmt/event.c" -o "$tmp/drain" || exit 1
for source in "$here"/tests/recorder/core_*.c; do
	gcc -O1 -g -D_GNU_SOURCE -mcx16 -Wno-tsan -fsanitize=thread "$source" -o "$tmp/$(basename "$source" .c)" -pthread || exit 1
done

# counts STATUS DRAIN-OPTIONS PROGRAM ARGS...: runs, compares what the program printed with what arrived.
counts() {
	local status=$1 options=$2
	shift 2
	# shellcheck disable=SC2086
	timeout 600 "$tmp/drain" $options "$recorder" "$tmp/$1" "${@:2}" >"$tmp/out" 2>"$tmp/err"
	awk -v status="$status" '
		$1 == "expect" || $1 == "at-least" || $1 == "at-most" { n++; how[n] = $1; name[n] = $2; want[n] = $3; next }
		$1 == "broken" { print; bad = 1 }
		NF == 2 { got[$1] = $2 }
		END {
			n++; how[n] = "expect"; name[n] = "status"; want[n] = status
			if (n < 2) { print "it expects nothing"; bad = 1 }
			for (i = 1; i <= n; i++) {
				g = got[name[i]] + 0; w = want[i] + 0
				if (!(name[i] in got) || how[i] == "expect" && g != w || how[i] == "at-least" && g < w || how[i] == "at-most" && g > w) {
					print how[i], name[i], want[i] ", got " got[name[i]]; bad = 1
				}
			}
			exit bad
		}' "$tmp/out" >"$tmp/why" && [ ! -s "$tmp/err" ] && return
	fail=1
	echo "$*:"
	cat "$tmp/why" "$tmp/err"
}

counts 7 "" core_ends exit 10000
counts 7 "" core_ends _exit 10000
counts 134 "" core_ends abort 10000
counts 137 "" core_ends kill 10000
counts 139 "" core_ends fault 10000
counts 7 "" core_ends thread-_exit 10000
# Ends at each place in a block.
for n in $(seq 1 3 66); do
	counts 137 "-r 256" core_ends kill "$n"
done
counts 0 "" core_storm 1000000
counts 0 "-r 1024" core_storm 300000
counts 0 "-r 1024" core_threads once 1000
counts 0 "-r 256 -s 16" core_threads turn 10000
counts 0 "" core_endings
counts 0 "-r 256" core_tries
counts 0 "" core_fork
counts 0 "" core_sigaction
counts 0 "" core_handlers 5000
counts 0 "" core_cancel "${RT_CANCELS:-600}"
counts 0 "-r 256" core_cancel 300
counts 0 "-r 1024" core_atomics
counts 0 "" core_repeats

# The environment, with a preloaded library of the user's own and without; and what the program executes.
for preload in "" "$build/lib/racetrace/libracetrace.so.1"; do
	env -i A=1 ${preload:+LD_PRELOAD="$preload"} B=2 "$tmp/core_environment" twice >"$tmp/want" 2>&1
	env -i A=1 ${preload:+LD_PRELOAD="$preload"} B=2 "$tmp/drain" "$recorder" "$tmp/core_environment" twice >"$tmp/out"
	grep -E '^(A|B|LD_PRELOAD|RACETRACE_.*)=|^open' "$tmp/out" | diff - "$tmp/want" || fail=1
done

# The collector dies: the program goes on, with one message.
"$tmp/drain" -d -r 1024 "$recorder" "$tmp/core_threads" turn 3000 >"$tmp/out" 2>"$tmp/err"
for _ in $(seq 100); do
	grep -q '^expect threads' "$tmp/out" && break
	sleep 0.1
done
grep -q '^expect threads 3001' "$tmp/out" || { echo "without a collector the program did not end"; fail=1; }
[ "$(grep -c 'collector is gone' "$tmp/err")" = 1 ] || { echo "the message:"; cat "$tmp/err"; fail=1; }

# Without a channel it is a runtime that does nothing.
LD_PRELOAD=$recorder "$tmp/core_atomics" >"$tmp/out" 2>&1 && grep -q '^expect fence' "$tmp/out" || { cat "$tmp/out"; fail=1; }

# Whatever a program can refer to in GCC's runtime is in ours.
theirs=$(gcc -print-file-name=libtsan.so)
names() {
	nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' |
		grep -E '^(__tsan_|__sanitizer_|Annotate|WTFAnnotate|Valgrind|RunningOnValgrind)' | sort -u
}
if [ -e "$theirs" ]; then
	missing=$(comm -23 <(names "$theirs") <(names "$recorder"))
	[ -z "$missing" ] || { echo "not in the recorder: $missing"; fail=1; }
fi
exit $fail
