#!/bin/bash
# run.sh BUILD [NAME...]: builds, records and analyzes the samples and the cases (all, or those named), and compares what
# is found with what is expected: samples/README.md, tests/cases/expected.tsv. Needs bash, gcc and jq; what Clang
# compiles is tried if there is a Clang.
#
# RUNS: how often a seed of `record --serial` must give the same run of each sample (default 0; runs.tsv: those for which
# the outside world decides).
# JOBS: programs at a time (default: two a processor, as many of them sleep). KEEP=FOLDER: leaves binaries, traces and reports there.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/bugs.sh"
RUNS=${RUNS:-0}
TRIES=20 # recordings until every finding had its usual verdict, which on a busy machine may be rare
LIMIT=${LIMIT:-300} # seconds until a program counts as one that hangs: a busy machine takes a minute for what takes two seconds

# compile VARIANT SOURCE OUTPUT
compile() {
	local compiler=gcc cflags libs more=()
	[[ $2 == *.cpp ]] && compiler=g++ more+=(-std=c++20)
	grep -q '^#pragma omp' "$2" && more+=(-fopenmp)
	case $1 in
	case) $compiler -g -fsanitize=thread "${more[@]}" "$2" -o "$3" -lpthread ;;
	gcc-O*) $compiler -g "-${1#gcc-}" -fsanitize=thread -Wno-tsan "${more[@]}" "$2" -o "$3" -lpthread ;;
	binary) $compiler -g -O1 "${more[@]}" "$2" -o "$3" -lpthread -lm ;;
	clang)
		read -ra cflags < <("$racetrace" --cflags) && read -ra libs < <("$racetrace" --libs) &&
			clang -g -O1 "${cflags[@]}" -c "$2" -o "$3.o" && clang "$3.o" -o "$3" "${libs[@]}" -lpthread
		;;
	esac
}

# differences FOLDER SOURCE KINDS EXPECT CASE: records and analyzes FOLDER/app, prints what is not as expected.
differences() {
	local folder=$1 status due args options all=()
	# What is expected to be conditional or refuted has to be listed.
	grep -qE '^[a-z]* [a-z,]*(conditional|refuted)' "$4" && all=(--all)
	read -ra args < <(setting "$4" args)
	due=$(setting "$4" status)
	read -ra options < <(setting "$4" record)
	timeout "$LIMIT" "$racetrace" record "${options[@]}" -o "$folder/trace.zst" -- "$folder/app" "${args[@]}" >"$folder/out" 2>"$folder/err"
	status=$?
	[ $status = "${due:-0}" ] || echo "wrong: recorded program ended with status $status: $(tail -n 3 "$folder/err")"
	timeout "$LIMIT" "$racetrace" analyze --format json "${all[@]}" ${3:+--kinds "$3"} "$folder/trace.zst" >"$folder/report.json" 2>"$folder/err"
	status=$?
	jq -r -f "$here/compare.jq" --argjson status $status --rawfile source "$2" --arg name "${2##*/}" \
		--rawfile expect "$4" --arg case "$5" "$folder/report.json" 2>&1 ||
		echo "wrong: cannot compare the report of analyze, which ended with status $status: $(tail -n 3 "$folder/err")"
}

# same FOLDER SOURCE EXPECT: prints what differs between dumps of runs of one seed, byte by byte.
same() {
	local folder=$1 name=${2#"$top"/samples/} what args run
	what=$(awk -F'\t' -v name="${name%.*}" '$1 == name {print $2}' "$here/runs.tsv")
	[ "$what" != order ] || return 0
	read -ra args < <(setting "$3" args)
	for ((run = 1; run <= RUNS; run++)); do
		timeout "$LIMIT" "$racetrace" record --serial=7 --fix-time -o "$folder/same.zst" -- "$folder/app" "${args[@]}" >"$folder/out" 2>"$folder/err" </dev/null
		"$racetrace" dump "$folder/same.zst" 2>"$folder/err" | if [ "$what" = values ]; then sed -E 's/ =-?[0-9]+//'; else cat; fi >"$folder/dump.$((run > 1))"
		[ -s "$folder/dump.0" ] || { echo "wrong: --serial: no trace: $(tail -n 3 "$folder/err")"; return; }
		[ $run = 1 ] || cmp -s "$folder/dump.0" "$folder/dump.1" || {
			echo "wrong: --serial: run $run of a seed differs from the first: $(diff "$folder/dump.0" "$folder/dump.1" | head -n 2 | tail -n 1)"
			return
		}
	done
}

# too_many FOLDER EXPECT: prints if FOLDER/trace.zst has more findings at error than the sample has bugs.
too_many() {
	local most found
	most=$(findings_at_most "$2")
	found=$(timeout "$LIMIT" "$racetrace" analyze --format json "$1/trace.zst" 2>"$1/err" |
		jq -r '.findings[] | select(.level == "error" and .follows == null) | .title')
	[ "$(grep -c . <<<"$found")" -le "$most" ] || echo "wrong: more findings than bugs, which are $most: $found"
}

# check_sample VARIANT SOURCE FOLDER EXPECT: prints differences; tries again while a verdict is tolerated but unusual.
check_sample() {
	local source=$2 folder=$3 expect=$4 kinds found usual="" i
	kinds=$(setting "$expect" kinds)
	kinds=${kinds:-race}
	kinds=${kinds// /,}
	compile "$1" "$source" "$folder/app" 2>&1 || { echo "wrong: does not compile"; return; }
	if [ "$1" = gcc-O1 ] && [ "$expect" = "${source%.*}.expect" ]; then
		found=$(same "$folder" "$source" "$expect")
		[ -z "$found" ] || { echo "$found"; return; }
	fi
	for ((i = 0; i < TRIES; i++)); do
		found=$(differences "$folder" "$source" "$kinds" "$expect" "")
		[ "$1" != gcc-O1 ] || [ "$expect" != "${source%.*}.expect" ] || found+=$(too_many "$folder" "$expect")
		[ -n "$found" ] || return
		if [[ $'\n'$found == *$'\n'wrong:* ]]; then
			echo "$found"
			return
		fi
		# What was unusual in every try so far.
		found=$(sed 's/: [a-z]*$//' <<<"$found")
		[ $i = 0 ] && usual=$found || usual=$(grep -Fx "$found" <<<"$usual")
		[ -n "$usual" ] || return
	done
	echo "$usual (never the usual verdict in $TRIES runs)"
}

# beyond SOURCE DIFFERENCES: those that binary.tsv does not have for the sample, and which of it are none any more.
# A reason that begins with "at times" says that there need not be a difference.
beyond() {
	local name=${1#"$top"/samples/} sample what reason line key rest=$2
	while IFS=$'\t' read -r sample what reason; do
		[ "$sample" = "${name%.*}" ] || continue
		key="" line=""
		while IFS= read -r line; do
			[ "${line%%, found *}" = "wrong: $what" ] && key=$line && break
		done <<<"$2"
		if [ -n "$key" ]; then
			rest=$(grep -Fxv -- "$key" <<<"$rest")
		elif [[ $reason != "at times"* ]]; then
			rest+=$'\n'"wrong: no longer different: $what"
		fi
	done <"$here/binary.tsv"
	sed '/^$/d' <<<"$rest"
}

# check_case SOURCE FOLDER EXPECTED
check_case() {
	compile case "$1" "$2/app" 2>&1 || { echo "wrong: does not compile"; return; }
	differences "$2" "$1" "" /dev/null "$3"
}

# check VARIANT SOURCE EXPECTED: one test; leaves its differences in the results. What is expected is a file of
# expectations, or of a case one word.
check() {
	local name=${2#"$top"/} folder begin=$EPOCHREALTIME found
	[[ $3 == *.expect ]] && name=${3#"$top"/}
	name="${name%.*} ($1)"
	folder=$results/${name//[\/ ()]/_}
	mkdir "$folder"
	if [[ $3 == *.expect ]]; then
		found=$(check_sample "$1" "$2" "$folder" "$3")
		[ "$1" != binary ] || found=$(beyond "$2" "$found")
	else
		found=$(check_case "$2" "$folder" "$3")
	fi
	if [ -n "$found" ]; then
		printf '%s\n' "not ok: $name" "    ${found//$'\n'/$'\n'    }" | tee "$folder/result"
	else
		echo "ok: $name" >"$folder/result"
	fi
	[ -z "${VERBOSE-}" ] || echo "$name: $(((${EPOCHREALTIME/./} - ${begin/./}) / 1000)) ms"
}

if [ "${1-}" = --one ]; then
	racetrace=$2 results=$3
	check "${@:4}"
	done=$(find "$results" -mindepth 2 -name result | wc -l)
	[ $((done % 50)) != 0 ] || echo "$done of $(($(tr -dc '\0' <"$results/tests" | wc -c) / 3))"
	exit
fi

[ $# -ge 1 ] || { echo "usage: run.sh BUILD [NAME...]" >&2; exit 2; }
racetrace=$(cd "$1" && pwd)/bin/racetrace || exit 2
shift
results=${KEEP:-$(mktemp -d)}
mkdir -p "$results"
[ -n "${KEEP-}" ] || trap 'rm -rf "$results"' EXIT
unset TSAN_OPTIONS

export RUNS
# wanted SOURCE: is it among the names given?
wanted() {
	local base=${1##*/} name
	[ ${#names[@]} -gt 0 ] || return 0
	for name in "${names[@]}"; do
		[ "${name##*/}" = "${base%.*}" ] && return 0
	done
	return 1
}
names=("$@")
clang=
command -v clang >/dev/null && clang=clang

# BINARY=only: the samples without instrumentation, but those that cannot be built so ("-" in binary.tsv). SHARE=N: the
# first of each N.
binary_tests() {
	local source name n=0
	for source in "$top"/samples/*.c "$top"/samples/*/*.c "$top"/samples/*/*.cpp; do
		[ -e "${source%.*}.expect" ] && wanted "$source" || continue
		name=${source#"$top"/samples/}
		! cut -f1,2 "$here/binary.tsv" | grep -Fxq "${name%.*}"$'\t-' || continue
		[ $((n++ % ${SHARE:-1})) != 0 ] || printf '%s\0' binary "$source" "${source%.*}.expect"
	done
}

# Every test as three words: variant, source, what is expected of a case.
tests() {
	local source program expected expect what
	for source in "$top"/samples/*.c; do
		wanted "$source" || continue
		expect=${source%.c}.expect
		printf '%s\0' gcc-O1 "$source" "$expect" gcc-O2 "$source" "$expect"
		# What Clang compiles goes the same way from there on: the racy ones are enough.
		[ -n "$clang" ] && grep -q '^race' "$expect" && printf '%s\0' clang "$source" "$expect"
	done
	for source in "$top"/samples/*/*.c "$top"/samples/*/*.cpp; do
		[ -e "$source" ] || continue
		wanted "$source" || continue
		printf '%s\0' gcc-O1 "$source" "${source%.*}.expect"
		for expect in "${source%.*}".*.expect; do
			[ -e "$expect" ] && printf '%s\0' gcc-O1 "$source" "$expect"
		done
	done
	while IFS=$'\t' read -r program expected what; do
		[ "$program" = program ] || [ -z "$what" ] || ! wanted "$program" && continue
		source=$top/tests/cases/$program
		[ "$expected" = exact ] || printf '%s\0' case "$source" "$expected"
		# Without a file of expectations, one that does not exist is a test that fails.
		[ "$expected" != exact ] || for expect in "${source%.*}".*expect; do
			printf '%s\0' case "$source" "$expect"
		done
	done <"$top/tests/cases/expected.tsv"
}

if [ "${BINARY-}" = only ]; then binary_tests; else tests; fi >"$results/tests"
count=$(($(tr -dc '\0' <"$results/tests" | wc -c) / 3))
xargs -0 -n 3 -P "${JOBS:-$((2 * $(nproc)))}" bash "${BASH_SOURCE[0]}" --one "$racetrace" "$results" <"$results/tests"
passed=$(cat "$results"/*/result 2>/dev/null | grep -c '^ok: ')
failed=$((count - passed))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
