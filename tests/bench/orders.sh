#!/bin/bash
# Figures of each order on made-up traces of EVENTS (1 and 10 million if not given) with 8 and 64 threads.
#
# Usage: orders.sh BUILD; prints the figures and leaves them in BUILD/bench/orders.txt
set -eu
build=$1
work=$build/bench
mkdir -p "$work"
traces=()
for events in ${EVENTS:-1000000 10000000}; do
	for threads in 8 64; do
		traces+=("$work/made-$events-$threads.zst")
		[ -f "${traces[-1]}" ] || "$build/bin/gen_trace" -n "$events" -t "$threads" "${traces[-1]}"
	done
done
for trace in "${traces[@]}"; do
	"$build/tests/bench_orders" "$trace"
done | tee "$work/orders.txt"
