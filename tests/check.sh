#!/bin/bash
# check.sh BUILD: every test that `make check` stands for: each suite's time and processor time, at the end what failed, and one
# closing line for all of them.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/spent.sh"
build=$1
passed=0
failed=0
log=$build/check.log
: >"$build/check.failures"

# The lines that name failures in the log, and what follows them.
failures() {
	grep -E -A 12 '^not ok|: failed$|:[FE]:|ERROR:|runtime error' "$log" | head -n 100 | grep . || tail -n 20 "$log"
}

# suite NAME COMMAND...: the command's own closing line is "N passed, N failed"; without one it counts as one failure.
suite() {
	local name=$1 line p f status begin=$SECONDS before=$spent
	shift
	echo "== $name"
	"$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
	read -r p f < <(sed -E 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/' <<<"$line")
	p=${p:-0}
	f=${f:-0}
	if [ "$status" -ne 0 ] && [ "$f" = 0 ] || [ -z "$line" ]; then
		echo "$name: ended with status $status" >&2
		f=$((f + 1))
	fi
	spent "$build/check.times"
	echo "== $name: $((SECONDS - begin)) s, processor $((spent - before)) s"
	[ "$f" = 0 ] || { echo "== $name: what failed" && failures; } >>"$build/check.failures"
	passed=$((passed + p))
	failed=$((failed + f))
}

suite 'unit tests and golden traces' "$build/tests/unit"
suite 'command line' bash tests/cli/run.sh "$build"
suite 'samples, end to end' bash tests/e2e/run.sh "$build"
suite 'random programs' bash tests/differ/run.sh "$build" 1 10
echo "== all: $SECONDS s, processor $spent s"
cat "$build/check.failures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
