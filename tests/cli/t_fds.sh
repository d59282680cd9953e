#!/bin/bash
# t_fds.sh [BUILD]: threads that talk through descriptors are ordered by what they say, and by nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 1
racetrace=${1:-${BUILD:-build}}/bin/racetrace
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
"${CC:-gcc}" -g -O1 -D_GNU_SOURCE -fsanitize=thread tests/recorder/fds.c -o "$tmp/fds" -pthread || exit 1
"$racetrace" record -o "$tmp/trace" -- "$tmp/fds" || { echo "the program ended with status $?"; exit 1; }
"$racetrace" analyze --format json "$tmp/trace" >"$tmp/report"
got=$(jq -r '[.anomalies[] | .kind + " " + .variable.name] | unique | join(", ")' "$tmp/report")
[ "$got" = "race unrelated" ] && exit 0
echo "expected 'race unrelated', got '$got'"
exit 1
