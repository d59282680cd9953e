#!/bin/bash
# GCC's other languages use the same runtime library: Fortran with OpenMP and D. Of each a racy program and a race-free one.
set -u
fail=0
# check COMPILER SOURCE STATUS
check() {
	local status
	# shellcheck disable=SC2086
	$1 -g -fsanitize=thread "$TOP/samples/languages/$2" -o program || {
		fail=1
		return
	}
	OMP_NUM_THREADS=3 "$PREFIX/bin/racetrace" record -o t.zst ./program || fail=1
	"$PREFIX/bin/racetrace" analyze -f json t.zst >report.json
	status=$?
	if [ $status != "$3" ] || ! jq -e --arg file "$2" '(.findings | length) == $status and all(.findings[].places[]; .file | endswith($file))' \
		--argjson status "$3" report.json >/dev/null; then
		echo "$2: status $status, not $3: $(jq -c '[.findings[].title]' report.json)"
		fail=1
	fi
}
check 'gfortran -fopenmp' sum_racy.f90 1
# Fortran's names are those of the source, too.
jq -e '.findings[0].title | test("^`main program \\(OpenMP region\\)` writes `sum` ")' report.json >/dev/null || {
	echo "Fortran: $(jq -c '[.findings[].title]' report.json)"
	fail=1
}
check 'gfortran -fopenmp' sum.f90 0
check 'gfortran -fopenmp' locks_racy.f90 1
check 'gfortran -fopenmp' locks.f90 0
check gdc count_racy.d 1
# D's names are those of the source.
jq -e '.findings[0].title | test("`count_racy.counter`")' report.json >/dev/null || {
	echo "D: $(jq -c '[.findings[].title]' report.json)"
	fail=1
}
check gdc count.d 0
exit $fail
