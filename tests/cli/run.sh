#!/bin/bash
# run.sh [BUILD [NAME...]]: runs every tests/cli/t_*.sh, or those named, each with RACETRACE (the program), BUILD and a scratch folder of its own as
# working folder. A test passes if it exits with 0; what a failed one wrote is shown.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-${BUILD:-$here/../../build}}
BUILD=$(cd "$build" && pwd) || exit 1
RACETRACE=$BUILD/bin/racetrace
export BUILD RACETRACE
[ -x "$RACETRACE" ] || {
	echo "$RACETRACE is not there: run make" >&2
	exit 1
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0
tests=("$here"/t_*.sh)
[ $# -lt 2 ] || tests=("${@:2}") tests=("${tests[@]/#/$here/t_}") tests=("${tests[@]/%/.sh}")
for t in "${tests[@]}"; do
	name=$(basename "$t" .sh)
	mkdir "$scratch/$name"
	begin=$SECONDS
	if (cd "$scratch/$name" && bash "$t" "$BUILD") >"$scratch/$name.log" 2>&1; then
		passed=$((passed + 1))
		echo "$name: ok ($((SECONDS - begin)) s)"
	else
		failed=$((failed + 1))
		echo "$name: failed"
		sed 's/^/    /' "$scratch/$name.log"
	fi
	rm -rf "${scratch:?}/$name"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
