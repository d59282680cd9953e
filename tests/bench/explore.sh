#!/bin/bash
# explore.sh BUILD: distinct races after 1 to RUNS (10) runs for each strategy of `racetrace explore`, over the samples, as
# DrFinder's figure 6 and table 2 have it; RaceFuzzer's table 1; systematic search's table. The curve goes to
# BUILD/bench-explore.svg. Environment: RUNS; STRATEGIES; SUBJECTS, sources; PROGRAMS, "NAME COMMAND" lines of programs
# built with -fsanitize=thread; SYSTEMATIC=no leaves out the last table.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 1
racetrace=$build/bin/racetrace
runs=${RUNS:-10}
read -ra strategies <<<"${STRATEGIES:-native noise pct random suspend pos racefuzzer drfinder predict}"
read -ra subjects <<<"${SUBJECTS:-$(cd "$top" && ls samples/*.c samples/pecan/*.c | tr '\n' ' ')}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# explore NAME STRATEGY COMMAND...: its races to all, as "strategy subject run fingerprint"; its runs to runs.
explore() {
	local name=$1 strategy=$2
	shift 2
	"$racetrace" explore --strategy "$strategy" --runs "$runs" -f json -- "$@" >report.json 2>err
	[ -s report.json ] || {
		echo "$name, $strategy: $(head -n 1 err)" >&2
		return
	}
	jq -r --arg s "$strategy" --arg n "$name" '.findings[] | select((.kinds | index("race")) and .seen.observed) |
		"\($s) \($n) \(.seen.observed) \(.fingerprint)"' report.json >>all
	jq -r --arg s "$strategy" '.runs[] | "\($s) \(.milliseconds) \(.postponed // 0) \(.thrashed // 0)"' report.json >>runs
	[ "$strategy" != racefuzzer ] || jq -r --arg n "$name" 'select(.trials) | .trials.patterns[] | select(.kind == "race") |
		"\($n) \(.runs) \(.created) \([.harm[].runs] | add // 0)"' report.json >>trials
}
: >all
: >runs
: >trials
plain=0
explore_all() {
	local begin strategy
	begin=$(date +%s%N)
	for ((i = 0; i < runs; i++)); do timeout 60 "${@:2}" >/dev/null 2>&1 </dev/null; done
	plain=$((plain + $(date +%s%N) - begin))
	for strategy in "${strategies[@]}"; do
		explore "$1" "$strategy" "${@:2}"
	done
}
count=0
for source in "${subjects[@]}"; do
	gcc -g -O1 -fsanitize=thread -Wno-tsan -I"$top/samples/pecan" "$top/$source" -o app -pthread 2>/dev/null || continue
	count=$((count + 1))
	explore_all "$(basename "$source" .c)" ./app
done
while read -r name command; do
	[ -n "$name" ] || continue
	count=$((count + 1))
	read -ra words <<<"$command"
	explore_all "$name" "${words[@]}"
done <<<"${PROGRAMS:-}"

echo "distinct races (findings, observed in a run) of $count programs after N runs with each strategy:"
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
	awk -v s="$strategy" -v only="$(comm -23 mine others | wc -l)" -v missed="$(comm -13 mine union | wc -l)" -v plain="$plain" \
		-v total="$((runs * count))" '
		$1 == s { ms += $2; n++; postponed += $3; thrashed += $4 }
		END { printf "%7d%8d%9.0f%10.2f%9.1f%%\n", only, missed, n ? ms / n : 0, n && plain ? (ms / n) / (plain / 1e6 / total) : 0,
			postponed ? 100 * thrashed / postponed : 0 }' runs
done
echo "all: $(wc -l <union)"
cat <<'PAPER'

DrFinder's own figures (Java, 10 runs): FastTrack 378, ConTest (noise) 372, PCT 385, DrFinder 448 races, 89 of them new; missed 96, 102, 89, 26;
slowdown 3.84 (FastTrack), 8.14 (ConTest), 8.7 (PCT), 6.49 (DrFinder; its first phase 1.39); thrashing 40.7 %.

PAPER

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
		"$racetrace" explore --strategy systematic --jobs 2 --time "${SYSTEMATIC_SECONDS:-120}" --reduction $reduction -f json -- ./app "$argument" >report.json 2>/dev/null
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
