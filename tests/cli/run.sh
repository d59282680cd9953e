#!/bin/bash
# run.sh [BUILD [NAME...]]: runs every tests/cli/t_*.sh, or those named, each with RACETRACE (the program), BUILD and a scratch folder of its own as
# working folder. A test passes if it exits with 0; what a failed one wrote is shown. JOBS: tests at a time (two a processor, as many of them wait). LIMIT: seconds until a test
# counts as one that hangs (900, as the machine may be busy).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../spent.sh"
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
tests=("$here"/t_*.sh)
[ $# -lt 2 ] || tests=("${@:2}") tests=("${tests[@]/#/$here/t_}") tests=("${tests[@]/%/.sh}")

# try TEST: runs it, and says how it ended.
try() {
	local name begin=$SECONDS
	name=$(basename "$1" .sh)
	mkdir "$scratch/$name"
	if (cd "$scratch/$name" && bash "$here/../limit.sh" "${LIMIT:-900}" bash "$1" "$BUILD") >"$scratch/$name.log" 2>&1; then
		spent "$scratch/$name.times"
		echo "$name: ok ($((SECONDS - begin)) s, processor $spent s)"
		echo "$name" >>"$scratch/passed"
	else
		printf '%s\n' "$name: failed"$'\n'"$(sed 's/^/    /' "$scratch/$name.log")"
	fi
	rm -rf "${scratch:?}/$name"
}

jobs=${JOBS:-$((2 * $(nproc)))}
touch "$scratch/passed"
running=0
for t in "${tests[@]}"; do
	if [ "$running" -ge "$jobs" ]; then
		wait -n
	else
		running=$((running + 1))
	fi
	try "$t" &
done
wait
passed=$(wc -l <"$scratch/passed")
failed=$((${#tests[@]} - passed))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
