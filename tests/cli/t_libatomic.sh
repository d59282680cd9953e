#!/bin/bash
# t_libatomic.sh BUILD: libatomic's functions are atomic operations like those that compilers make themselves.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
# GCC's library may be there without the link by which it is found.
library=$(gcc -print-file-name=libatomic.so)
[ -e "$library" ] || { echo "no libatomic"; exit 0; }
gcc -g -O1 -fsanitize=thread "$top/tests/process/libatomic.c" -o app -pthread "$library" || exit 1

# observed ARGS...: the variables that race, in a line.
observed() {
	timeout 60 "$racetrace" record -o t.zst ./app "$@" 2>err || wrong "$*: not its own status: $(cat err)"
	"$racetrace" analyze --format json t.zst |
		jq -r '[.anomalies[] | select(.verdict == "observed" or .verdict == "proved") | .variable.name] | unique | join(" ")'
}
got=$(observed)
[ -z "$got" ] || wrong "what a release orders races: $got"
got=$(observed racy)
[ "$got" = "added exchanged exchanged_4 stored stored_8 stored_any" ] || wrong "what a relaxed operation hands over: $got"
exit $fail
