#!/bin/bash
# Figures, not verdicts: each program plain, under libtsan (its reports off) and under `racetrace record`, then hybrid and hb
# over the trace, from the file to the report, without provers. Processor seconds are user + system of all processes, the
# collector included; medians of RUNS runs, taken in turn. values: the same of `record --values`, the ratio to `record`
# without, and its bytes an event.
# Then three of the programs by other ways of recording, and two sizes of --ring on a long run, as ratios of processor time.
#
# Usage: run.sh BUILD (the folder that holds bin/racetrace); prints the tables and leaves them in BUILD/bench/table.txt and ways.txt
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/figures.sh"
build=$(cd "$1" && pwd)
racetrace=$build/bin/racetrace
RUNS=${RUNS:-5}
work=$build/bench
mkdir -p "$work"
cd "$work"
export TSAN_OPTIONS=report_bugs=0 LC_ALL=C

# A new folder for the databases of each run.
fresh() {
	rm -rf db
	mkdir db
}
value() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.2f", (b > 0 ? a / b : 0)}'; }

header='%-10s %9s %9s %9s %8s %8s %12s %8s %9s %10s %9s %8s %12s %8s\n'
row='%-10s %9.3f %9.3f %9.3f %8.2f %8.2f %12d %8.3f %9.3f %10.1f %9.3f %8.2f %12d %8.3f\n'

measure() { # NAME, then the command with %V for "plain" or "tsan"
	local name=$1
	shift
	local plain=("${@//%V/plain}") tsan=("${@//%V/tsan}")
	: >plain.t; : >tsan.t; : >record.t; : >values.t
	for _ in $(seq "$RUNS"); do
		fresh; cpu "${plain[@]}" >>plain.t
		fresh; cpu "${tsan[@]}" >>tsan.t
		fresh; cpu "$racetrace" record -o "$name.zst" -- "${tsan[@]}" >>record.t
		fresh; cpu "$racetrace" record --values -o "$name.values.zst" -- "${tsan[@]}" >>values.t
	done
	rm -rf db
	local p t r v events bytes seconds valued valued_bytes
	p=$(median <plain.t)
	t=$(median <tsan.t)
	r=$(median <record.t)
	v=$(median <values.t)
	read -r events bytes < <("$racetrace" info --format json "$name.zst" | jq -r '"\(.events) \(.bytes_per_event)"')
	read -r valued valued_bytes < <("$racetrace" info --format json "$name.values.zst" | jq -r '"\(.events) \(.bytes_per_event)"')
	seconds=$(cpu "$racetrace" analyze --kinds race --orders hybrid,hb --only-orders --format json --fail-on never "$name.zst" | cut -d' ' -f1)
	# shellcheck disable=SC2059
	printf "$row" "$name" "$p" "$t" "$r" "$(value "$r" "$p")" "$(value "$r" "$t")" "$events" "$bytes" "$seconds" \
		"$(value "$(awk -v e="$events" 'BEGIN {print e / 1e6}')" "$seconds")" \
		"$v" "$(value "$v" "$r")" "$valued" "$valued_bytes"
}

for program in matrix counter queue; do
	gcc -O2 -g -o "${program}_plain" "$here/programs/$program.c" -lpthread
	gcc -O2 -g -fsanitize=thread -o "${program}_tsan" "$here/programs/$program.c" -lpthread
done
real=
if bash "$here/../real/build.sh" "$build/real" 2>real.err; then
	real=$build/real
else
	echo "SQLite and LevelDB are left out: $(tail -n 1 real.err)"
fi

{
	# shellcheck disable=SC2059
	printf "$header" program 'plain s' 'libtsan s' 'record s' 'r/plain' 'r/tsan' events 'B/event' 'analyze s' 'Mevents/s' 'values s' 'v/r' 'v events' 'vB/event'
	measure matrix ./matrix_%V 400
	measure counter ./counter_%V 300000
	measure queue ./queue_%V 150000
	if [ -n "$real" ]; then
		measure sqlite "$real/sqlite_%V" db/sqlite 200
		measure leveldb "$real/leveldb_%V" db/leveldb 20000
	fi
} | tee table.txt
awk 'NR > 1 && $6 > 0 {s += log($6); n++} END {printf "geometric mean of record/libtsan processor time: %.2f\n", exp(s / n)}' \
	table.txt | tee -a table.txt

# seconds COMMAND...: processor seconds, the median of RUNS runs.
seconds() {
	for _ in $(seq "$RUNS"); do cpu "$@"; done | median
}
gcc -O2 -g -fsanitize=thread -o long_run "$here/../process/long_run.c" -lpthread
{
	printf '\n%-10s %13s %12s %11s\n' program 'serial/record' 'idle/plain' 'idle/tsan'
	for run in 'matrix 300' 'counter 300000' 'queue 150000'; do
		read -r program size <<<"$run"
		idle=$(seconds "$racetrace" record --idle "./${program}_tsan" "$size")
		printf '%-10s %13s %12s %11s\n' "$program" \
			"$(value "$(seconds "$racetrace" record --serial -o ways.zst -- "./${program}_tsan" "$size")" \
				"$(seconds "$racetrace" record -o ways.zst -- "./${program}_tsan" "$size")")" \
			"$(value "$idle" "$(seconds "./${program}_plain" "$size")")" "$(value "$idle" "$(seconds "./${program}_tsan" "$size")")"
	done
	all=$(seconds "$racetrace" record -o ways.zst -- ./long_run 1500000)
	for ring in 1M 64M; do
		printf 'long_run, --ring=%s/record: %s\n' "$ring" \
			"$(value "$(seconds "$racetrace" record --ring="$ring" -o ways.zst -- ./long_run 1500000)" "$all")"
	done
} | tee ways.txt
