#!/bin/bash
# san.sh BUILD: the unit tests, then the command line's tests, with a program built under AddressSanitizer and
# UndefinedBehaviorSanitizer (the recorder itself lives in other programs and is not instrumented).
set -u
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1
# All of them are looked at without the sanitizers; so are all faults, and all runs of a recorder, which is the same here.
export RT_RANDOM_TRACES=${RT_RANDOM_TRACES:-4000} RT_ORDER_RUNS=${RT_ORDER_RUNS:-20} RT_FLAG_RUNS=${RT_FLAG_RUNS:-2} RT_FAULTS=${RT_FAULTS:-40}
export RT_SERIAL_RUNS=${RT_SERIAL_RUNS:-2} RT_SYSTEMATIC=${RT_SYSTEMATIC:-few}
# These do not run the program at all: they read sources, pages and libraries, or run the recorder without it.
left_out=(docs duplicates interceptors layers limit openmp_calls recorder valgrind words)
passed=0
failed=0

# suite NAME COMMAND...
suite() {
	local log=$1/$2.log status p f
	"${@:3}" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	read -r p f < <(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 | sed -E 's/ passed,| failed//g')
	if [ "$status" -ne 0 ] && [ "${f:-0}" = 0 ]; then f=1; fi
	passed=$((passed + ${p:-0}))
	failed=$((failed + ${f:-0}))
}

suite "$1" unit "$1/tests/unit"
mapfile -t names < <(printf '%s\n' tests/cli/t_*.sh | sed 's,.*/t_,,; s,\.sh$,,' | grep -vxFf <(printf '%s\n' "${left_out[@]}"))
suite "$1" cli bash tests/cli/run.sh "$1" "${names[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
