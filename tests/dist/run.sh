#!/bin/bash
# run.sh BUILD [NAME...]: every recipe for other people's builds, tests/dist/d_*.sh, or those named, each with PREFIX (an installed tree), TOP (the
# sources), BUILD and a scratch folder as working folder. A test passes if it exits with 0; what a failed one wrote is shown.
set -u
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "$1" && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
PREFIX=$scratch/prefix
export TOP BUILD PREFIX
env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$TOP" BUILD="$BUILD" PREFIX="$PREFIX" install >"$scratch/log" 2>&1 || {
	tail -n 5 "$scratch/log"
	exit 1
}
passed=0
failed=0
tests=("$TOP"/tests/dist/d_*.sh)
[ $# -lt 2 ] || tests=("${@:2}") tests=("${tests[@]/#/$TOP/tests/dist/d_}") tests=("${tests[@]/%/.sh}")
for t in "${tests[@]}"; do
	name=$(basename "$t" .sh)
	mkdir "$scratch/$name"
	if (cd "$scratch/$name" && env -u MAKEFLAGS -u MAKELEVEL bash "$t") >"$scratch/$name.log" 2>&1; then
		passed=$((passed + 1))
		echo "$name: ok"
	else
		failed=$((failed + 1))
		echo "$name: failed"
		tail -n 40 "$scratch/$name.log" | sed 's/^/    /'
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
