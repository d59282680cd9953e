#!/bin/bash
# explore.sh BUILD: distinct races after 1 to RUNS (10) runs for each strategy of `racetrace explore`, over the samples in which
# something is to be found, SQLite and LevelDB, as DrFinder's figure 6 and table 3 have it; in how many runs predict finds what others observe; DrFinder's table 4,
# of depths; RaceFuzzer's table 1; systematic search's table. The curve goes to BUILD/bench-explore.svg.
#
# Most of the time programs sleep, or are stuck until their run's time is over; so there are twice as many of them at a time as processors. A program gets
# SECONDS_EACH for all runs of a strategy, and 5 for a run. After MINUTES (60) no further one begins, and the command says how many did not. The systematic searches
# behind that have SYSTEMATIC_SECONDS each, which few of them need.
#
# Environment: RUNS; STRATEGIES; DEPTHS of drfinder (the paper's; none: ""), and DEPTH_RUNS (3) with each; SUBJECTS, sources below samples; PROGRAMS=no leaves out
# SQLite and LevelDB, which need npm; SECONDS_EACH (20); MINUTES; SYSTEMATIC=no leaves out the last table, and SYSTEMATIC_SECONDS (120) is the time for a search; JOBS,
# explorations at a time.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 1
racetrace=$build/bin/racetrace
runs=${RUNS:-10}
jobs=${JOBS:-$((2 * $(nproc)))}
each=${SECONDS_EACH:-20}
minutes=${MINUTES:-60}
depth_runs=${DEPTH_RUNS:-3}
read -ra strategies <<<"${STRATEGIES:-native noise pct random suspend pos racefuzzer drfinder predict}"
read -ra depths <<<"${DEPTHS-2 4 6 8 10 12 14 16 18 20}"
# The samples of which something is expected.
samples() {
	local source expect
	for source in *.c {pecan,adhoc,more,openmp,systematic}/*.c more/*.cpp; do
		expect=${source%.*}.expect
		if [ ! -f "$expect" ] || grep -qE '^(race|atomicity|asv|deadlock|hang|kinds) ' "$expect"; then printf '%s ' "$source"; fi
	done
}
read -ra subjects <<<"${SUBJECTS:-$(cd "$top/samples" && samples)}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# Anomalies that a report has, as "RUN KEY": of this run and in these places. predict's may be proved without being observed.
anomalies='
	([.findings[] as $f | $f.anomalies[] | {key: ., value: $f}] | from_entries) as $of |
	(.anomalies[] | . as $a | $of[.id] | select(.level != "note") |
		(if $a.verdict == "observed" or $a.verdict == "confirmed" then (if $mine then .seen.first else .seen.observed end)
		 elif $mine and $a.verdict == "proved" then .seen.first else null end) | select(.) |
		"\(.) \($a.kind) \([$a.events[] | "\(.source.file // "?" | split("/") | last):\(.source.line // 0)"] | unique | join(","))"),
	(.findings[] | select(.anomalies == []) | "\(.seen.first) \(.kinds[0]) \(.title | gsub("[0-9]+"; "N") | gsub(" "; "_"))")'

# run STRATEGY RUNS OPTION... -- COMMAND...: the report is report.json.
run() {
	"$racetrace" explore --strategy "$1" --runs "$2" --time "$each" --timeout 5 -f json "${@:3}" >report.json 2>err </dev/null
	[ -s report.json ] || echo "$PWD: $(head -n 1 err)" >&2
	[ -s report.json ]
}

# plain NAME -- COMMAND...: its own time, to plain.
plain() {
	local begin n=0
	begin=$(date +%s%N)
	while [ $n -lt "$runs" ] && [ $((($(date +%s%N) - begin) / 1000000000)) -lt "$each" ]; do
		timeout 60 "${@:3}" >/dev/null 2>&1 </dev/null
		n=$((n + 1))
	done
	echo "$1 $((($(date +%s%N) - begin) / n))" >plain
}

# explore NAME STRATEGY -- COMMAND...: its observed races to all, as "strategy subject run places"; its runs to runs.
explore() {
	local name=$1 strategy=$2 mine=false
	run "$strategy" "$runs" "${@:3}" || return
	jq -r --argjson mine false "$anomalies" report.json | sed -n "s|^\([0-9]*\) race |$strategy $name \1 |p" >all
	jq -r --arg s "$strategy" --arg n "$name" '.runs[] | "\($s) \(.milliseconds) \(.postponed // 0) \(.thrashed // 0) \($n)"' report.json >runs
	[ "$strategy" = predict ] && mine=true
	jq -r --argjson mine $mine "$anomalies" report.json | sed "s|^|$strategy $name |" >found
	[ "$strategy" != racefuzzer ] || jq -r --arg n "$name" 'select(.trials) | .trials.patterns[] | select(.kind == "race") |
		"\($n) \(.runs) \(.created) \([.harm[].runs] | add // 0)"' report.json >trials
}

# explore_depth NAME DEPTH -- COMMAND...: drfinder's races to depths, as "depth subject run places".
explore_depth() {
	run drfinder "$depth_runs" --depth "$2" "${@:3}" || return
	jq -r --argjson mine false "$anomalies" report.json | sed -n "s|^\([0-9]*\) race |$2 $1 \1 |p" >depths
}

# begins COUNT: whether a program's explorations may still begin.
left_out=0
begins() {
	[ "$SECONDS" -ge $((60 * minutes)) ] || return 0
	left_out=$((left_out + $1))
	return 1
}
# begin FUNCTION ARGUMENT...: at the same time as others, in a folder of its own.
running=0
count=0
begin() {
	[ "$running" -lt "$jobs" ] || wait -n
	[ "$running" -lt "$jobs" ] && running=$((running + 1))
	count=$((count + 1))
	mkdir "$count"
	(cd "$count" && "$@") &
}
# A program that has begun is explored by all strategies: what some only were asked for would count as missed by the others.
explore_all() {
	local strategy
	begins "${#strategies[@]}" || return
	names+=("$1")
	for strategy in "${strategies[@]}"; do begin explore "$1" "$strategy" "${@:2}"; done
	begin plain "$@"
	[ ${#depths[@]} = 0 ] || later+=("$(printf '%q ' "$@")")
}
# explore_depths NAME -- COMMAND...: by drfinder alone, after all else.
explore_depths() {
	local depth
	begins "${#depths[@]}" || return
	deep=$((deep + 1))
	for depth in "${depths[@]}"; do begin explore_depth "$1" "$depth" "${@:2}"; done
}
sample() {
	local expect=$top/samples/${1%.*}.expect name=${1#./} arguments=()
	[ -f "$expect" ] && read -ra arguments < <(sed -n 's/^args //p' "$expect")
	explore_all "${name%.*}" -- "$2" "${arguments[@]}"
}
# compile SOURCE OUTPUT
compile() {
	local compiler=gcc flags=()
	[[ $1 == *.cpp ]] && compiler=g++ flags+=(-std=c++20)
	grep -q '^#pragma omp' "$1" && flags+=(-fopenmp)
	$compiler -g -O1 -fsanitize=thread -Wno-tsan "${flags[@]}" "$1" -o "$2" -pthread 2>/dev/null
}
names=()
later=()
deep=0
if [ "${PROGRAMS:-yes}" = yes ]; then
	bash "$top/tests/real/build.sh" "$build/real" >build.log 2>&1 || echo "without SQLite and LevelDB: $(tail -n 1 build.log)" >&2
	while read -r name command; do
		[ -x "$build/real/${command%% *}" ] || continue
		read -ra words <<<"$command"
		explore_all "$name" -- "$build/real/${words[0]}" "${words[@]:1}"
	done <<<"SQLite sqlite_tsan database 1
LevelDB leveldb_tsan database 50"
fi
mkdir samples
for source in "${subjects[@]}"; do
	app=${source%.*}
	app=$tmp/samples/${app//\//_}
	compile "$top/samples/$source" "$app" && sample "$source" "$app"
done
for command in "${later[@]}"; do
	eval "explore_depths $command"
done
wait
for file in all runs trials found plain depths; do cat ./*/$file >$file 2>/dev/null; done
echo "$count explorations of ${#names[@]} programs, $jobs at a time: $((SECONDS / 60)) minutes; $left_out did not begin within $minutes"


echo "distinct races (pairs of places, observed in a run) of ${#names[@]} programs after N runs with each strategy:"
echo
cut -d' ' -f2,4 all | sort -u >union
printf '%-11s' strategy
for ((i = 1; i <= runs; i++)); do printf '%4d' "$i"; done
printf '%7s%8s%9s%10s%10s\n' only missed ms/run slowdown thrashing
for strategy in "${strategies[@]}"; do
	printf '%-11s' "$strategy"
	: >"curve.$strategy"
	for ((i = 1; i <= runs; i++)); do
		n=$(awk -v s="$strategy" -v i="$i" '$1 == s && $3 <= i { print $2, $4 }' all | sort -u | wc -l)
		printf '%4d' "$n"
		echo "$n" >>"curve.$strategy"
	done
	awk -v s="$strategy" '$1 == s { print $2, $4 }' all | sort -u >mine
	awk -v s="$strategy" '$1 != s { print $2, $4 }' all | sort -u >others
	# The slowdown is the mean of the programs', as DrFinder has it.
	awk -v s="$strategy" -v only="$(comm -23 mine others | wc -l)" -v missed="$(comm -13 mine union | wc -l)" '
		FNR == NR { plain[$1] = $2 / 1e6; next }
		$1 == s { ms += $2; n++; postponed += $3; thrashed += $4; own[$5] += $2; times[$5]++ }
		END { for (p in own) if (plain[p]) { slow += own[p] / times[p] / plain[p]; programs++ }
			printf "%7d%8d%9.0f%10.2f%9.1f%%\n", only, missed, n ? ms / n : 0, programs ? slow / programs : 0,
			postponed ? 100 * thrashed / postponed : 0 }' plain runs
done
echo "all: $(wc -l <union)"
cat <<'PAPER'

DrFinder's own figures (Java, 10 runs): FastTrack 378, ConTest (noise) 372, PCT 385, DrFinder 448 races, 89 of them new; missed 96, 102, 89, 26;
slowdown 3.84 (FastTrack), 8.14 (ConTest), 8.7 (PCT), 6.49 (DrFinder; its first phase 1.39); thrashing 40.7 %.

PAPER

[ ${#depths[@]} = 0 ] || {
	echo "drfinder's races in $deep programs by the depth of the call stacks, and those of them that native, noise and pct do not find:"
	awk '$1 == "native" || $1 == "noise" || $1 == "pct" { print $2, $4 }' all | sort -u >known
	for depth in "${depths[@]}"; do
		awk -v d="$depth" '$1 == d { print $2, $4 }' depths | sort -u >mine
		printf '  %2d: %d (%d)' "$depth" "$(wc -l <mine)" "$(comm -23 mine known | wc -l)"
	done
	echo
	echo "  (the paper, depths 2 to 20: 391 (38), 423 (66), 423 (66), 427 (69), 428 (74), 448 (89), 404 (45), 379 (41), 361 (37), 391 (33):"
	echo "  best from 4 to 12)"
	echo
}

# What others observe, and when predict finds it.
awk -v runs="$runs" 'NF >= 4 { key = $2 " " $4 " " $5 }
	$1 == "predict" { if (!(key in mine) || $3 < mine[key]) mine[key] = $3; next }
	NF >= 4 { if (!(key in best) || $3 < best[key]) { best[key] = $3; by[key] = $1 } }
	END {
		for (key in best) {
			n++
			m = key in mine ? mine[key] : runs + 1
			after[m]++
			if (m > 3) late = late sprintf("  %s: %s in run %d of %s, %s\n", key, "observed", best[key], by[key],
				m > runs ? "not by predict" : "by predict in run " m)
		}
		for (key in mine)
			more += !(key in best)
		printf "anomalies and bad ends that other strategies observe within %d runs: %d; predict finds %d in its first run, %d in 2, %d in 3,",
			runs, n, after[1], after[2], after[3]
		for (i = 4; i <= runs; i++) later += after[i]
		printf " %d later, %d not;\nand %d that no other observes\n%s\n", later, after[runs + 1], more, late
	}' found

for name in SQLite LevelDB; do
	grep -q " $name\$" runs || continue
	printf '%s, races (runs):' "$name"
	for strategy in "${strategies[@]}"; do
		printf ' %s %d (%d)' "$strategy" "$(awk -v s="$strategy" -v p="$name" '$1 == s && $2 == p { print $4 }' all | sort -u | wc -l)" \
			"$(grep -c "^$strategy .* $name\$" runs)"
	done
	echo
done
awk '$1 == "predict" || $1 == "racefuzzer" || $1 == "drfinder" { ms[$1 " " $5] += $2; n[$1 " " $5]++ }
	FILENAME == "plain" { plain[$1] = $2 / 1e6 }
	END { for (k in n) { split(k, w, " "); if ((w[2] == "SQLite" || w[2] == "LevelDB") && plain[w[2]])
		printf "  %s, a run of %s: %.2f times the plain program\n", w[2], w[1], ms[k] / n[k] / plain[w[2]] } }' plain runs | sort
echo

# The curve, as figure 6 has it.
most=$(cat curve.* | sort -n | tail -n 1)
{
	colors=(gray olive teal black purple green orange blue red)
	echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" font-family="sans-serif" font-size="12">'
	echo '<path d="M40 20V320H480" fill="none" stroke="black"/>'
	echo "<text x='4' y='24'>$most</text><text x='440' y='340'>$runs runs</text>"
	for i in "${!strategies[@]}"; do
		points=$(awk -v most="${most:-1}" -v runs="$runs" '{ printf "%.1f,%.1f ", 40 + 440 * NR / runs, 320 - 300 * $1 / (most ? most : 1) }' "curve.${strategies[i]}")
		echo "<polyline points='$points' fill='none' stroke='${colors[i % 9]}'/>"
		echo "<text x='490' y='$((30 + 18 * i))' fill='${colors[i % 9]}'>${strategies[i]}</text>"
	done
	echo '</svg>'
} >"$build/bench-explore.svg"
echo "races after each run (drawn in $(basename "$build")/bench-explore.svg):"
for strategy in "${strategies[@]}"; do
	printf '%-11s' "$strategy"
	awk -v most="${most:-1}" '{ n = split("_ . : - = + * # @", c, " "); k = most ? int($1 / most * 8 + 0.5) + 1 : 1; printf "%s", c[k] } END { print "  " $1 }' "curve.$strategy"
done

echo
echo "RaceFuzzer's table 1: pairs that hybrid detection leaves unordered, those that are real, probability of creating a real one, runs with harm"
awk '{ pairs[$1]++; real[$1] += $3 > 0; if ($3 > 0) { p[$1] += $3 / $2 } harm[$1] += $4 }
	END { for (n in pairs) printf "  %-24s %4d %4d %6.2f %4d\n", n, pairs[n], real[n], real[n] ? p[n] / real[n] : 0, harm[n] }' trials | sort
echo "  (the paper, pairs, real, probability: moldyn 59 2 1.00, cache4j 18 2 1.00, hedc 9 1 0.86, weblech 27 2 0.83, jigsaw 547 36 0.90, vector 9 9 0.94,"
echo "  LinkedList 12 12 0.85, ArrayList 14 7 0.55, HashSet 11 11 0.54, TreeSet 13 8 0.41)"

[ "${SYSTEMATIC:-yes}" = yes ] || exit 0
echo
echo "systematic search: states by reduction, and ratios; the paper's beside them (partial/full, none/full)"
while read -r name argument ours theirs; do
	gcc -g -O1 -fsanitize=thread "$top/samples/systematic/$name.c" -o app -pthread || continue
	declare -A states=()
	for reduction in full partial none; do
		"$racetrace" explore --strategy systematic --jobs "$jobs" --time "${SYSTEMATIC_SECONDS:-120}" --reduction $reduction -f json -- ./app "$argument" >report.json 2>/dev/null
		states[$reduction]=$(jq 'if .search.complete then .search.states else 0 end' report.json)
	done
	awk -v n="$name" -v f="${states[full]}" -v p="${states[partial]}" -v a="${states[none]}" -v o="$ours" -v t="$theirs" '
		function ratio(x, y) { return x && y ? sprintf("%.2f", x / y) : "-" }
		BEGIN { printf "  %-18s full %6d  partial %6d  none %6d   %s (%s)  %s (%s)\n", n, f, p, a, ratio(p, f), o, ratio(a, f), t }'
done <<'SUBJECTS'
producer_consumer 1 1.49 3.97
readers_writers 1 1.19 3.30
sleeping_barber 1 1.33 6.16
cigarette_smokers 1 1.03 1.87
semaphore 1 - -
SUBJECTS
echo "  (0: not all executions in the time given)"
