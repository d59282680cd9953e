#!/bin/bash
# t_memory.sh BUILD: every reader and every search takes at most 64 MiB and 200 times the size of the trace, whatever is
# in it; and 4 KiB for each of the anomalies that are kept, whose bound the report names. Made-up families of traces, each
# in every format.
# (A sanitizer's shadow memory is larger than any limit.)
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
sanitized && { echo 'skipped: a sanitizer takes more'; exit 0; }

# make FAMILY N: writes N times what is typical of the family, as STD lines.
make() {
	awk -v family="$1" -v n="$2" '
	function event(thread, op, object, place) { print "T" thread "|" op "(" object ")|" place }
	BEGIN {
		srand(7)
		long = sprintf("%100s", ""); gsub(/ /, "y", long)
		if (family == "places") for (i = 0; i < n; i++) event(i % 2, "w", "x", i)
		if (family == "cells") for (i = 0; i < n; i++) event(i % 2, "w", "x" int(i / 2) % (int(n / 8) + 1), i)
		if (family == "threads") {
			for (i = 1; i <= n; i++) event(0, "fork", "T" i, 1)
			for (i = 1; i <= n; i++) event(i, "w", "x", 2)
		}
		if (family == "chain") for (i = 0; i < n; i++) { event(i, "w", "x" i % 10, i); event(i, "fork", "T" (i + 1), 7) }
		if (family == "locks") for (i = 0; i < n; i++) {
			event(i % 2, "acq", "L" i, 1); event(i % 2, "w", "x" int(i / 2), 2); event(i % 2, "rel", "L" i, 3)
		}
		if (family == "nested") for (t = 1; t < 3; t++) {
			for (i = 0; i < n; i++) event(t, "acq", "L" i, i)
			for (i = 0; i < n; i++) event(t, "w", "x", 2)
			for (i = n; i--;) event(t, "rel", "L" i, 3)
		}
		if (family == "names") for (i = 0; i < n; i++) event(i % 2, "w", "v" int(i / 2) long, long i ".c:" i)
		if (family == "line") { x = "x"; while (length(x) < n) x = x x; event(1, "w", x, 1); event(2, "w", x, 2) }
		if (family == "regions") for (t = 1; t < 3; t++) {
			for (i = 0; i < n; i++) event(t, "begin", "r" i, i)
			event(t, "w", "x", 5); event(t, "r", "x", 6)
			for (i = n; i--;) event(t, "end", "r" i, 7)
		}
		if (family == "cycles") for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (i != j) {
			event(i, "acq", "L" i, "a" i "." j); event(i, "acq", "L" j, "b" i "." j)
			event(i, "rel", "L" j, "c"); event(i, "rel", "L" i, "d")
		}
		if (family == "atomic") for (i = 0; i < n; i++) {
			t = i % 4
			event(t, "begin", "r" i % 7, 1); event(t, "r", "x", "a" i); event(t, "w", "y", "b" i)
			event(t, "r", "x", "c" i); event(t, "w", "y", "d" i); event(t, "end", "r" i % 7, 4)
		}
		if (family == "checks") for (i = 0; i < n; i++) {
			t = i % 4
			event(t, "acq", "L", 1); event(t, "r", "x" i % 9, "a" i); event(t, "rel", "L", 2)
			event(t, "acq", "L", 3); event(t, "w", "x" i % 9, "b" i); event(t, "rel", "L", 4)
		}
		if (family == "any") for (i = 0; i < n; i++)
			event(int(rand() * 8), rand() < 0.5 ? "r" : "w", "x" int(rand() * 200), int(rand() * 500))
	}'
}

# within SIZE STATUS ARGUMENT...: in the address space that a trace of this size allows, and its anomalies.
within() {
	local size=$1 want=$2
	shift 2
	(
		ulimit -v $((65536 + 200 * size / 1024 + 4 * anomalies))
		"$RACETRACE" "$@" >out 2>err
		status=$?
		[ $status = "$want" ] || { echo "$family: $* in 64 MiB and 200 times $size bytes: status $status: $(tail -n 1 err)"; exit 1; }
	) || fail=1
}

while read -r family n anomalies; do
	make "$family" "$n" >t.std
	"$RACETRACE" convert -t jsonl -o t.jsonl t.std 2>err || wrong "$family: $(cat err)"
	std=$(wc -c <t.std) native=0
	within "$std" 0 convert -t racetrace -o t.zst t.std
	native=$(zstd -dcq t.zst | wc -c)
	within "$std" 0 analyze --fail-on never --format json t.std
	limits out >limits
	jq -e --argjson n "$anomalies" '.limits.anomalies.hit == ($n > 0)' limits >/dev/null || wrong "$family: $(cat limits)"
	[ "$anomalies" = 0 ] || continue
	within "$(wc -c <t.jsonl)" 0 analyze --fail-on never --format sarif t.jsonl
	within "$native" 0 analyze --fail-on never --format json t.zst
	within "$native" 0 analyze --fail-on never --format html t.zst
	within "$native" 0 dump --format jsonl t.zst
	within "$native" 0 info t.zst
	within "$native" 0 convert -t std -o again.std t.zst
done <<-'END'
	places 3000 0
	cells 2000 0
	threads 4000 0
	chain 2000 0
	locks 5000 0
	nested 400 0
	names 2000 0
	line 500000 0
	regions 10000 0
	cycles 24 25000
	atomic 500 0
	checks 800 0
	any 2000 0
END
exit $fail
