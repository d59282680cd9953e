#!/bin/bash
# Loads, as tests/bench/programs/load.c makes them, recorded once each: processor seconds under libtsan and under
# `racetrace record`, events, bytes an event, the memory of `record` (the collector) at its peak, lost events. Numbers are
# THREADS at once (5000), TURNS (50000), FORKS (500), DESCRIPTORS (10000), ACCESSES (100000000), WALK (1000000000),
# SECONDS_LONG (60; 600 for the ten minutes).
#
# Usage: load.sh BUILD
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/figures.sh"
build=$(cd "$1" && pwd)
work=$build/bench
mkdir -p "$work"
cd "$work"
export TSAN_OPTIONS=report_bugs=0 LC_ALL=C
gcc -O2 -g -fsanitize=thread -o load "$here/programs/load.c" -lpthread
lost=0

# watched COMMAND...: its memory at its peak, in KiB, goes into the file "peak".
watched() {
	local pid key value rest peak=0
	"$@" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		while read -r key value rest; do
			[ "$key" != VmHWM: ] || peak=$value
		done 2>/dev/null <"/proc/$pid/status" || true
		sleep 0.05
	done
	echo "$peak" >peak
	wait $pid
}
measure() { # KIND N
	local tsan record events bytes missing peak
	tsan=$(cpu ./load "$@" | cut -d' ' -f1)
	rm -f load.zst load.zst.*
	record=$(cpu watched "$build/bin/racetrace" record -o load.zst -- ./load "$@" | cut -d' ' -f1)
	peak=$(cat peak)
	read -r events bytes missing < <(for trace in load.zst load.zst.*; do
		[ ! -e "$trace" ] || "$build/bin/racetrace" info --format json "$trace"
	done | jq -rs '"\(map(.events) | add) \((map(.bytes) | add) / (map(.events) | add)) \((map(.lost) | add) + (map(select(.complete | not)) | length))"')
	printf '%-12s %10d %10.2f %10.2f %12d %9.2f %10d %6d\n' "$@" "$tsan" "$record" "$events" "$bytes" "$peak" "$missing"
	lost=$((lost + missing))
	rm -f load.zst load.zst.*
}
printf '%-12s %10s %10s %10s %12s %9s %10s %6s\n' load N 'libtsan s' 'record s' events 'B/event' 'peak KiB' lost
measure once "${THREADS:-5000}"
measure turn "${TURNS:-50000}"
measure forks "${FORKS:-500}"
measure descriptors "${DESCRIPTORS:-10000}"
measure random "${ACCESSES:-100000000}"
measure walk "${WALK:-1000000000}"
measure long "${SECONDS_LONG:-60}"
[ "$lost" = 0 ]
