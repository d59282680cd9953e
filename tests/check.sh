#!/bin/bash
# check.sh BUILD: every test that `make check` stands for, and one closing line for all of them.
set -u
build=$1
passed=0
failed=0
log=$build/check.log

# suite NAME COMMAND...: the command's own closing line is "N passed, N failed"; without one it counts as one failure.
suite() {
	local name=$1 line p f status
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
	passed=$((passed + p))
	failed=$((failed + f))
}

suite 'unit tests and golden traces' "$build/tests/unit"
suite 'command line' bash tests/cli/run.sh "$build"
suite 'samples, end to end' bash tests/e2e/run.sh "$build"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
