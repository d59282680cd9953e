#!/bin/bash
# Public programs whose authors say whether they race, beside ThreadSanitizer: DataRaceBench's micro-benchmarks, whose
# names end in -yes or -no, and Goblint's regression tests, whose comments say RACE! or NORACE. Tests that take less than
# C's races for one (volatile, free, functions that are atomic by their name) are left out, and those whose comments
# say that the analyser may be wrong (RACE).
#
# Usage: truth.sh BUILD FOLDER... Each program is compiled once, then recorded and analyzed, and run under ThreadSanitizer,
# RUNS times (1), LIMIT seconds each (20). A line a program, then the sums. T: a recording ran out of time, E: an analysis.
set -u
racetrace=$(cd "$1" && pwd)/bin/racetrace
shift
RUNS=${RUNS:-1}
LIMIT=${LIMIT:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

truth() {
	case $1 in
	*-yes.c | *-yes.cpp) echo racy && return ;;
	*-no.c | *-no.cpp) echo free && return ;;
	esac
	if grep -qE 'ana\.race|__VERIFIER_atomic|^// SKIP' "$1"; then
		echo unknown
	elif grep -qE '(//|/\*).*\bRACE!' "$1"; then
		echo racy
	elif grep -q NORACE "$1" && ! grep -qw RACE "$1"; then
		echo free
	else
		echo unknown
	fi
}

compile() {
	local compiler=gcc folder=${1%/*} more=()
	[[ $1 == *.cpp ]] && compiler=g++
	grep -q PolyBench "$1" && more=(-I"$folder/utilities" -I"$folder" "$folder/utilities/polybench.c" -DPOLYBENCH_NO_FLUSH_CACHE -D_POSIX_C_SOURCE=200112L)
	$compiler -O1 -g -w -fsanitize=thread -fopenmp "$1" "${more[@]}" -o "$work/program" -lm -lpthread 2>"$work/err"
}

limited() {
	timeout -k 1 "$LIMIT" "$@" </dev/null >"$work/out" 2>"$work/err"
}

ours() {
	local run late=
	for ((run = 0; run < RUNS; run++)); do
		limited "$racetrace" record -o "$work/trace.zst" -- "$work/program"
		[ $? != 124 ] || late+=T
		limited "$racetrace" analyze --kinds race --format json "$work/trace.zst"
		case $? in
		0) ;;
		1) echo "${late}found" && return ;;
		*) late+=E ;;
		esac
	done
	echo "${late}none"
}

theirs() {
	local run
	for ((run = 0; run < RUNS; run++)); do
		limited env TSAN_OPTIONS=exitcode=0 setarch -R "$work/program"
		grep -q 'WARNING: ThreadSanitizer: data race' "$work/err" && echo found && return
	done
	echo none
}

while read -r file; do
	is=$(truth "$file")
	[ "$is" != unknown ] && compile "$file" && echo "$is $(ours) $(theirs) $file"
done < <(find "$@" -name '*.c' -o -name '*.cpp' | sort) | tee "$work/rows"
awk '{ programs[$1]++; ours[$1] += $2 ~ /found/; theirs[$1] += $3 ~ /found/ }
     END { for (is in programs) printf "%s: %d programs, racetrace %d, ThreadSanitizer %d\n", is, programs[is], ours[is], theirs[is] }' "$work/rows"
