#!/bin/bash
# How each stage of an analysis grows, on made-up traces: with the number of events at 8 threads (EVENTS: 1, 10 and 100 million
# if not given), with the number of threads (THREADS: 2 to 256) at the fewest events, and with the size of traces that are large in
# one way (SIZES: 250 thousand to 4 million events; SHAPES: all that gen_shape makes). An exponent of 1 is linear; what is not over
# 0.01 s has none. Times are of the processor.
#
# Usage: growth.sh BUILD; prints the figures and leaves them in BUILD/bench/growth.txt
set -eu
build=$1
work=$build/bench
mkdir -p "$work"
read -ra events <<<"${EVENTS:-1000000 10000000 100000000}"
read -ra threads <<<"${THREADS:-2 16 64 256}"

read -ra sizes <<<"${SIZES:-250000 1000000 4000000}"
read -ra shapes <<<"${SHAPES:-sections locks section recursion alone threads nested blocks writes phases conditions ring atomics interpreter}"

# row EVENTS THREADS: of one analysis of a trace of gen_trace.
row() {
	local trace=$work/grown-$1-$2.zst
	[ -f "$trace" ] || "$build/bin/gen_trace" -n "$1" -t "$2" "$trace" >/dev/null
	stages "$trace"
}
# shape NAME EVENTS: the same of one of gen_shape.
shape() {
	local trace=$work/shape-$1-$2.zst
	[ -f "$trace" ] || "$build/bin/gen_shape" "$1" "$2" "$trace"
	stages "$trace"
}
# stages TRACE: "load 0.1 search 0.2 ..."
stages() {
	"$build/bin/racetrace" analyze --no-cache --stats --fail-on never --format json -o "$work/grown.json" "$1" 2>&1 |
		sed -n 's/^\(load\|search\|orders\|prepare\|prove\|report\)-seconds /\1 /p; s/^\(model-bytes-an-event\|memory-bytes\) /\1 /p' | tr '\n' ' '
}
# table WHAT ROW...: each row is "SIZE name value name value ..."
table() {
	printf '%s\n' "${@:2}" | awk -v what="$1" '{
		size[NR] = $1
		for (i = 2; i < NF; i += 2) {
			if (NR == 1) name[n++] = $i
			value[NR, $i] = $(i + 1)
		}
	}
	END {
		printf "%-22s", what
		for (r = 1; r <= NR; r++) printf " %12s", size[r]
		print "   exponents"
		for (k = 0; k < n; k++) {
			printf "%-22s", name[k]
			for (r = 1; r <= NR; r++) printf " %12s", value[r, name[k]]
			printf "  "
			for (r = 2; r <= NR; r++) {
				a = value[r - 1, name[k]]; b = value[r, name[k]]
				grown = (a > 0.01 && b > 0.01) ? sprintf("%.2f", log(b / a) / log(size[r] / size[r - 1])) : "-"
				printf " %5s", grown
			}
			print ""
		}
	}'
}
{
	rows=()
	for n in "${events[@]}"; do rows+=("$n $(row "$n" 8)"); done
	table events "${rows[@]}"
	rows=()
	for t in "${threads[@]}"; do rows+=("$t $(row "${events[0]}" "$t")"); done
	table threads "${rows[@]}"
	for name in "${shapes[@]}"; do
		rows=()
		for n in "${sizes[@]}"; do rows+=("$n $(shape "$name" "$n")"); done
		table "events of '$name'" "${rows[@]}"
	done
} | tee "$work/growth.txt"
