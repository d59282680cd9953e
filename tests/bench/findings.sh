#!/bin/bash
# How many findings a person is shown, and how many anomalies they are made of: samples and cases at -O1, SQLite and
# LevelDB if `make check-real` has left their traces. Beside them what ThreadSanitizer says of the same program: distinct
# pairs of the user's places that race, and distinct cycles of locks, of three runs together, or of one long one.
# "errors" are all findings of that level, and behind the stroke the bugs that a reader of the source counts. "races" are
# those of them that are data races or deadlocks, which ThreadSanitizer looks for, too: it finds what happened in its own
# runs. Behind the table are the programs whose errors and bugs differ, and how many of their findings are warnings, which no
# schedule proves. Figures, not verdicts; tests/cli/t_findings.sh and the samples' expectations have those.
#
# Usage: findings.sh BUILD [SOURCE...]. Prints the table and leaves it in BUILD/bench/findings.txt
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
shift
racetrace=$build/bin/racetrace
work=$build/bench/findings
. "$top/tests/e2e/bugs.sh"
mkdir -p "$work"
[ $# -gt 0 ] || set -- "$top"/samples/*.c "$top"/samples/pecan/*.c "$top"/samples/more/*.c "$top"/samples/more/*.cpp "$top"/samples/openmp/*.c "$top"/samples/adhoc/*.c "$top"/tests/cases/*.c "$top"/tests/cases/*.cpp
row='%-28s %9s %8s %8s %8s %8s %8s\n'

# compile SOURCE OUTPUT
compile() {
	local compiler=gcc more=()
	[[ $1 == *.cpp ]] && compiler=g++ && more+=(-std=c++20)
	grep -q '^#pragma omp' "$1" && more+=(-fopenmp)
	"$compiler" -g -O1 -fsanitize=thread -Wno-tsan "${more[@]}" "$1" -o "$2" -lpthread
}

# tsan RUNS COMMAND...: number of pairs and cycles that ThreadSanitizer reports
tsan() {
	local runs=$1
	shift
	rm -f "$work"/tsan.*
	for _ in $(seq "$runs"); do
		TSAN_OPTIONS="history_size=7 exitcode=0 log_path=$work/tsan" timeout 120 "$@" </dev/null >/dev/null 2>&1 || true
	done
	# Of each of the first two stacks the innermost frame that is the user's.
	cat /dev/null "$work"/tsan.* 2>/dev/null | awk '
		function flush() { if (kind != "") print kind, (side[1] < side[2] ? side[1] " " side[2] : side[2] " " side[1]); kind = "" }
		/^WARNING: ThreadSanitizer: / { flush(); stacks = 0; side[1] = side[2] = ""; kind = $3 " " $4 }
		/^SUMMARY: / { flush() }
		/^ *#0 / { stacks++ }
		/^ *#[0-9]+ / && stacks && stacks <= 2 && side[stacks] == "" && !/libsanitizer|\/usr\/include\/|\(libtsan|<null>/ { side[stacks] = $(NF - 1) }' |
		sort -u | grep -cE '^(data race|heap-use-after-free|lock-order-inversion)' || true
}

# count NAME TRACE TSAN BUGS: BUGS may be empty
count() {
	timeout 300 "$racetrace" analyze --format json --fail-on never "$2" >"$work/report.json" || { echo "$1: no report"; return; }
	# shellcheck disable=SC2046,SC2059
	printf "$row" "$1" $(jq -r '[.findings[] | select(.follows == null)] as $f | [(.anomalies | length)] +
		[["error", "warning", "note"][] as $w | [$f[] | select(.level == $w)] | length] +
		[[$f[] | select(.level == "error" and (.kinds | index("race") or index("deadlock")))] | length] | .[1] |= "\(.)\($bugs)" | @tsv' --arg bugs "${4:+/$4}" "$work/report.json") "$3"
}

{
	# shellcheck disable=SC2059
	printf "$row" program anomalies errors warnings notes races tsan
	for source in "$@"; do
		name=$(basename "${source%.*}")
		compile "$source" "$work/app" 2>/dev/null || { echo "$name: does not compile"; continue; }
		bugs=
		args=()
		options=()
		if [ -e "${source%.*}.expect" ]; then
			bugs=$(bugs "${source%.*}.expect")
			read -ra args < <(setting "${source%.*}.expect" args) || true
			read -ra options < <(setting "${source%.*}.expect" record) || true
		fi
		{ timeout 60 "$racetrace" record "${options[@]}" -o "$work/trace.zst" -- "$work/app" "${args[@]}" </dev/null >/dev/null 2>&1 || true; } 2>/dev/null
		count "$name" "$work/trace.zst" "$(tsan 3 "$work/app" "${args[@]}")" "$bugs"
	done
	for trace in "$build"/real/*.zst; do
		[ -e "$trace" ] || continue
		name=$(basename "${trace%.zst}")
		rm -rf "$work/db" && mkdir "$work/db"
		case $name in
		sqlite) count "$name" "$trace" "$(tsan 1 "$build/real/sqlite_tsan" "$work/db/sqlite" 50)" ;;
		leveldb) count "$name" "$trace" "$(tsan 1 "$build/real/leveldb_tsan" "$work/db/leveldb" 1500)" ;;
		*) count "$name" "$trace" - ;;
		esac
	done
} | tee "$build/bench/findings.txt" | awk '{ print } NF == 7 && $2 ~ /^[0-9]+$/ { for (i = 2; i <= 7; i++) sum[i] += $i }
	NF == 7 { bugs += substr($3, index($3, "/") + 1) * (index($3, "/") > 0) }
	NF == 7 && split($3, of, "/") == 2 && of[1] != of[2] { differ = differ "\n" $1 ": " of[1] " of " of[2] ", warnings: " $4 }
	END { printf "%-28s %9d %8s %8d %8d %8d %8d\n", "all", sum[2], sum[3] "/" bugs, sum[4], sum[5], sum[6], sum[7]; print "errors and bugs differ:" differ }'
