#!/bin/bash
# Table 1 of PECAN (Huang and Zhang 2011) for the programs of samples/pecan, in a small and a large size. Figures, not
# verdicts.
#
# LOC: lines of the program; sync: synchronisation events. slowdown: processor time of `racetrace record`, its
# collector included, over that of the same program built without instrumentation; medians of RUNS runs. search: the
# search for all patterns, processor seconds. ms/pecan: one run of PECAN's algorithm for schedules. races, AVs, ASVs:
# those that are observed, proved or predicted, each combination of source positions once. REAL: those that a replay
# made happen; of proved: REAL and all of those tried that are observed or proved; EXP: those whose replay ended by a
# signal, in a deadlock or hang, or printed "ERROR"; F: those that none made happen; an observed race that only follows
# another has no schedule and is in none of them. Behind them the paper's REAL/EXP/F of the subject that the program is
# after.
#
# A replay is one run in each order of a race (the paper: one run). Of more than SAMPLE (100) anomalies as many are
# replayed, chosen by chance, and no more than begin within LIMIT seconds: tried says how many of how many. A row whose
# analysis takes more than LIMIT seconds of processor time says so. row s: what the row took. The large size runs each program longer, by SCALE times; its
# recordings are free.
# SQLite and LevelDB are there if `make check-real` has built them.
#
# Usage: pecan.sh BUILD; TABLES='small large real': those. Prints the tables and leaves them in BUILD/bench/pecan.txt
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/figures.sh"
build=$(cd "$1" && pwd)
racetrace=$build/bin/racetrace
sources=$here/../../samples/pecan
RUNS=${RUNS:-3}
SCALE=${SCALE:-1}
SAMPLE=${SAMPLE:-100}
JOBS=${JOBS:-$(nproc)}
TIMEOUT=${TIMEOUT:-30} # seconds a replay
LIMIT=${LIMIT:-60}     # seconds for the analysis of a program, by the processor's time, and for its replays
work=$build/bench/pecan
mkdir -p "$work"
cd "$work"
export LC_ALL=C

# stat NAME: of the last analysis.
stat() { awk -v name="$1" '$1 == name {v = $2} END {print v + 0}' stats; }

header='%-13s %5s %7s %6s %9s %9s %9s %9s %9s %6s %6s %6s %11s %9s %5s %5s %5s %8s %6s  %s\n'
row='%-13s %5d %7d %6d %9d %9d %9s %9.3f %9.3f %6d %6d %6d %11s %9s %5d %5d %5d %8s %6d  %s\n'

heading() {
	echo "$1"
	# shellcheck disable=SC2059
	printf "$header" program LOC threads cells events sync slowdown 'search s' ms/pecan races AVs ASVs tried 'of proved' REAL EXP F success 'row s' "paper's REAL/EXP/F"
}

# print NAME LOC SLOWDOWN PAPER [OPTION...]: replays, with these options, trace.zst of the command in it, and prints the row, which began at $began.
print() {
	local counts outcomes
	(ulimit -t "$LIMIT" && exec "$racetrace" analyze --stats --format json --fail-on never trace.zst) >report.json 2>stats || {
		printf '%-13s %5d no analysis in %d s of processor time\n' "$1" "$2" "$LIMIT"
		return
	}
	counts=$(jq -r '[.trace.threads | length] + [.summary | .race, .atomicity, .asv | .observed + .proved + .predicted] | @tsv' report.json)
	"$racetrace" replay --verdict observed,proved,predicted --attempts 1 --sample "$SAMPLE" --jobs "$JOBS" --timeout "$TIMEOUT" \
		--time-limit "$LIMIT" "${@:5}" --format json trace.zst >replay.json 2>replay.err </dev/null || true
	outcomes=$(jq -r '[.anomalies[]? | select(.replay and (.kind == "race" or .kind == "atomicity" or .kind == "asv")) | .replay] |
		(map(select(.outcome == "confirmed")) | length) as $real | map(select(.was != "predicted")) as $sure |
		["\($sure | map(select(.outcome == "confirmed")) | length)/\($sure | length)", $real, (map(select(.outcome == "confirmed" and any(.results[]; .outcome == "confirmed" and
			(.end.kind == "signal" or .end.kind == "hang" or .end.kind == "deadlock" or ((.output // "") | test("ERROR")))))) | length),
		length - $real, (if length == 0 then "-" else ($real / length * 100 | round / 100) end)] | @tsv' replay.json)
	read -r threads races violations asvs <<<"$counts"
	read -r sure real exp failed success <<<"${outcomes:-0/0 0 0 0 -}"
	sync=$("$racetrace" info --format json trace.zst | jq '[.groups | to_entries[] | select(.key | IN("atomic", "lock", "condition", "barrier", "semaphore", "once", "thread")) | .value] | add // 0')
	# shellcheck disable=SC2059
	printf "$row" "$1" "$2" "$threads" "$(stat cells)" "$(stat events)" "$sync" "$3" "$(stat search-seconds)" \
		"$(awk -v s="$(stat pecan-seconds)" -v n="$(stat pecan-asked)" 'BEGIN {print n ? s * 1000 / n : 0}')" \
		"$races" "$violations" "$asvs" "$((real + failed)) of $((races + violations + asvs))" "$sure" "$real" "$exp" "$failed" "$success" \
		$((SECONDS - began)) "$4"
}

# measure PROGRAM PAPER [THREADS ROUNDS]
measure() {
	local program=$1 slowdown=- loc began=$SECONDS
	local -a args=()
	[ $# -lt 4 ] || args=("$3" $(($4 * SCALE)))
	gcc -O1 -g -o "${program}_plain" "$sources/$program.c" -lpthread
	gcc -O1 -g -fsanitize=thread -o "${program}_tsan" "$sources/$program.c" -lpthread
	if [ $# -ge 4 ]; then
		: >plain.t
		: >record.t
		for _ in $(seq "$RUNS"); do
			cpu "./${program}_plain" "${args[@]}" >>plain.t
			cpu "$racetrace" record -o trace.zst -- "./${program}_tsan" "${args[@]}" >>record.t
		done
		slowdown=$(awk -v p="$(median <plain.t)" -v r="$(median <record.t)" 'BEGIN {if (p >= 0.01) printf "%.1fx", r / p; else print "-"}')
	else
		"$racetrace" record --serial -o trace.zst -- "./${program}_tsan" >/dev/null 2>record.err </dev/null || true
	fi
	loc=$(grep -cve '^\s*$' "$sources/$program.c")
	print "$program" "$loc" "$slowdown" "$2"
}

# real PROGRAM LOC ARGUMENT...: if it was built.
real() {
	[ -x "$build/real/$1_tsan" ] || return 0
	local began=$SECONDS
	rm -rf db
	mkdir db
	"$racetrace" record -o trace.zst -- "$build/real/$1_tsan" "db/$1" "${@:3}" >/dev/null 2>record.err </dev/null || true
	print "$1" "$2" - - --before 'rm -rf db; mkdir db'
}

# all [SIZE]: each program, after which subject; with SIZE its threads and rounds.
all() {
	while read -r program paper threads rounds; do
		if [ -n "${1:-}" ]; then
			measure "$program" "$paper" "$threads" "$rounds"
		else
			measure "$program" "$paper"
		fi
	done <<-END
		account Account:15/8/0 8 8000
		critical Critical:28/2/0 4 20000
		loader Loader:5/1/0 4 12000
		manager Manager:14/1/1 6 12000
		merge_sort MergeSort:8/1/10 6 40000
		shop Shop:4/1/0 6 12000
		string_buffer StringBuf:1/1/0 4 12000
		list ArrayList:11/2/0 4 4000
		set HashSet:10/5/0 4 4000
		tree TreeSet:10/4/0 4 2000
		multiplexer (figure-6) 4 20000
		event_queue (figure-7) 6 8000
		cache Cache4j:5/0/2 6 16000
		crawler Hedc:12/2/16 9 8000
	END
}

{
	for table in ${TABLES:-small large real}; do
		case $table in
		small)
			heading "Small: a run of one round, recorded one thread at a time"
			all
			;;
		large)
			heading "Large"
			all large
			;;
		real)
			heading "Real programs: of more than $SAMPLE anomalies $SAMPLE, chosen by chance"
			real sqlite "$(cat "$build"/real/sqlite/sqlite3.c 2>/dev/null | wc -l)" 20
			real leveldb "$(cat "$build"/real/leveldb/*/*.cc 2>/dev/null | wc -l)" 300
			;;
		esac
	done
} | tee "$build/bench/pecan.txt"
