#!/bin/bash
# How many findings a person is shown, and how many anomalies they are made of: samples and cases at -O1, SQLite and
# LevelDB if `make check-real` has left their traces. Figures, not verdicts; tests/cli/t_findings.sh has those.
#
# Usage: findings.sh BUILD [SOURCE...]. Prints the table and leaves it in BUILD/bench/findings.txt
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
shift
racetrace=$build/bin/racetrace
work=$build/bench/findings
mkdir -p "$work"
[ $# -gt 0 ] || set -- "$top"/samples/*.c "$top"/samples/pecan/*.c "$top"/tests/cases/*.c "$top"/tests/cases/*.cpp
row='%-28s %9s %8s %8s %8s\n'

# compile SOURCE OUTPUT
compile() {
	local compiler=gcc more=()
	[[ $1 == *.cpp ]] && compiler=g++ && more+=(-std=c++20)
	grep -q '^#pragma omp' "$1" && more+=(-fopenmp)
	"$compiler" -g -O1 -fsanitize=thread -Wno-tsan "${more[@]}" "$1" -o "$2" -lpthread
}

# count NAME TRACE
count() {
	timeout 300 "$racetrace" analyze --format json --fail-on never "$2" >"$work/report.json" || { echo "$1: no report"; return; }
	# shellcheck disable=SC2046,SC2059
	printf "$row" "$1" $(jq -r '[.findings[] | select(.follows == null) | .level] as $l | [(.anomalies | length)] +
		[["error", "warning", "note"][] as $w | [$l[] | select(. == $w)] | length] | @tsv' "$work/report.json")
}

{
	# shellcheck disable=SC2059
	printf "$row" program anomalies errors warnings notes
	for source in "$@"; do
		name=$(basename "${source%.*}")
		compile "$source" "$work/app" 2>/dev/null || { echo "$name: does not compile"; continue; }
		timeout 60 "$racetrace" record -o "$work/trace.zst" -- "$work/app" </dev/null >/dev/null 2>&1 || true
		count "$name" "$work/trace.zst"
	done
	for trace in "$build"/real/*.zst; do
		[ ! -e "$trace" ] || count "$(basename "${trace%.zst}")" "$trace"
	done
} | tee "$build/bench/findings.txt" | awk '{ print } NF == 5 && $2 ~ /^[0-9]+$/ { for (i = 2; i <= 5; i++) sum[i] += $i }
	END { printf "%-28s %9d %8d %8d %8d\n", "all", sum[2], sum[3], sum[4], sum[5] }'
