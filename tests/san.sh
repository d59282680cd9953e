#!/bin/bash
# san.sh BUILD: the unit tests and the command line's tests with a program built under AddressSanitizer and UndefinedBehaviorSanitizer
# (the recorder itself lives in other programs and is not instrumented).
set -u
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1
passed=0
failed=0
for suite in "$1/tests/unit" "bash tests/cli/run.sh $1"; do
	log=$($suite 2>&1)
	status=$?
	echo "$log"
	read -r p f < <(grep -E '^[0-9]+ passed, [0-9]+ failed' <<<"$log" | tail -n 1 | sed -E 's/ passed,| failed//g')
	if [ "$status" -ne 0 ] && [ "${f:-0}" = 0 ]; then f=1; fi
	passed=$((passed + ${p:-0}))
	failed=$((failed + ${f:-0}))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
