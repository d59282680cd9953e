#!/bin/bash
# Table 1 of PECAN (Huang and Zhang 2011) for the programs of samples/pecan, run longer than the tests run them. Figures,
# not verdicts.
#
# slowdown: processor time of `racetrace record`, its collector included, over that of the same program built without
# instrumentation; medians of RUNS runs. search: the search for all patterns, processor seconds. ms/cand, ms/sched:
# building and judging schedules, and searching for more where PECAN's is none, divided by all candidates and by those
# that got a schedule. proved: of races, atomicity violations (AV) and ASVs those that are
# proved or observed; uncertain: those whose schedule is no proof, as a read in it may have seen another write; refuted are
# not counted as found.
#
# Usage: pecan.sh BUILD; SCALE=N runs N times as long. Prints the table and leaves it in BUILD/bench/pecan.txt
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/figures.sh"
build=$(cd "$1" && pwd)
racetrace=$build/bin/racetrace
sources=$here/../../samples/pecan
RUNS=${RUNS:-3}
SCALE=${SCALE:-1}
work=$build/bench/pecan
mkdir -p "$work"
cd "$work"
export LC_ALL=C

# stat NAME: of the last analysis.
stat() { awk -v name="$1" '$1 == name {v = $2} END {print v + 0}' stats; }

milliseconds() { awk -v s="$(stat "$1-seconds")" 'BEGIN {print s * 1000}'; }

header='%-14s %7s %6s %8s %9s %9s %9s %9s %6s %6s %6s %7s %8s\n'
row='%-14s %7d %6d %8d %9s %9.3f %9.1f %9.1f %6d %6d %6d %7d %8d\n'

measure() { # PROGRAM THREADS ROUNDS
	local program=$1 threads=$2 rounds=$(($3 * SCALE)) slowdown counts
	gcc -O1 -g -o "${program}_plain" "$sources/$program.c" -lpthread
	gcc -O1 -g -fsanitize=thread -o "${program}_tsan" "$sources/$program.c" -lpthread
	: >plain.t
	: >record.t
	for _ in $(seq "$RUNS"); do
		cpu "./${program}_plain" "$threads" "$rounds" >>plain.t
		cpu "$racetrace" record -o "$program.zst" -- "./${program}_tsan" "$threads" "$rounds" >>record.t
	done
	slowdown=$(awk -v p="$(median <plain.t)" -v r="$(median <record.t)" 'BEGIN {if (p >= 0.01) printf "%.1fx", r / p; else print "-"}')
	"$racetrace" analyze --stats --format json --fail-on never "$program.zst" >report.json 2>stats
	counts=$(jq -r '[.trace.threads | length] + [.summary | .race, .atomicity, .asv | .observed + .proved + .predicted] +
		[[.summary | .race, .atomicity, .asv | .observed + .proved] | add] +
		[[.anomalies[] | select(.verdict == "predicted" and .schedule != null)] | length] | @tsv' report.json)
	read -r threads races violations asvs proved uncertain <<<"$counts"
	# shellcheck disable=SC2059
	printf "$row" "$program" "$threads" "$(stat cells)" "$(stat events)" "$slowdown" "$(stat search-seconds)" \
		"$(milliseconds candidate)" "$(milliseconds schedule)" "$races" "$violations" "$asvs" "$proved" "$uncertain"
}

{
	# shellcheck disable=SC2059
	printf "$header" program threads cells events slowdown 'search s' ms/cand ms/sched races AVs ASVs proved uncertain
	measure account 8 8000
	measure critical 4 20000
	measure loader 4 12000
	measure manager 6 12000
	measure merge_sort 6 40000
	measure shop 6 12000
	measure string_buffer 4 12000
	measure list 4 4000
	measure set 4 4000
	measure tree 4 2000
	measure multiplexer 4 20000
	measure event_queue 6 8000
	measure cache 6 16000
	measure crawler 9 8000
} | tee "$build/bench/pecan.txt"
