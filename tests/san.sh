#!/bin/bash
# san.sh BUILD: the unit tests, then the command line's tests, two at a time, with a program built under AddressSanitizer and
# UndefinedBehaviorSanitizer (the recorder itself lives in other programs and is not instrumented).
set -u
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1
# All of them are looked at without the sanitizers; so are all runs of a recorder, which is the same here.
export RT_RANDOM_TRACES=${RT_RANDOM_TRACES:-4000} RT_ORDER_RUNS=${RT_ORDER_RUNS:-20} RT_FLAG_RUNS=${RT_FLAG_RUNS:-2}
passed=0
failed=0
"$1/tests/unit" >"$1/unit.log" 2>&1
unit_status=$?
JOBS=2 bash tests/cli/run.sh "$1" >"$1/cli.log" 2>&1
cli_status=$?
for suite in unit cli; do
	cat "$1/$suite.log"
	status=${suite}_status
	read -r p f < <(grep -E '^[0-9]+ passed, [0-9]+ failed' "$1/$suite.log" | tail -n 1 | sed -E 's/ passed,| failed//g')
	if [ "${!status}" -ne 0 ] && [ "${f:-0}" = 0 ]; then f=1; fi
	passed=$((passed + ${p:-0}))
	failed=$((failed + ${f:-0}))
	p=0 f=0
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
