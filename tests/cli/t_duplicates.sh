#!/bin/bash
# t_duplicates.sh: no two places outside the tests have the same twelve lines, apart from spaces, comments and includes.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
cat >windows.awk <<'AWK'
FNR == 1 {
	count = 0
	within = 0
	files++
}
{
	line = $0
	if (within) {
		if (!match(line, /\*\//))
			next
		line = substr(line, RSTART + 2)
		within = 0
	}
	while (match(line, /\/\*/)) {
		before = substr(line, 1, RSTART - 1)
		rest = substr(line, RSTART + 2)
		if (!match(rest, /\*\//)) {
			within = 1
			line = before
			break
		}
		line = before substr(rest, RSTART + 2)
	}
	gsub(/[ \t]/, "", line)
	if (line == "" || line == "{" || line == "}" || line ~ /^#include/)
		next
	lines[count % size] = line
	places[count % size] = FNR
	if (++count < size)
		next
	window = ""
	for (i = 0; i < size; i++)
		window = window "\n" lines[(count + i) % size]
	here = FILENAME ":" places[count % size]
	if (window in first)
		print here " repeats " first[window]
	else
		first[window] = here
}
END {
	if (files < 1)
		print "no files were compared"
}
AWK
repeats() { # LINES FILE...
	local size=$1
	shift
	awk -v size="$size" -f "$SCRATCH/windows.awk" "$@"
}
cd "$top" || exit 1
files=$(find lib cmd tracefmt recorder -name '*.[ch]' | sort)
[ "$(wc -w <<<"$files")" -ge 300 ] || wrong "only $(wc -w <<<"$files") files are compared"
# shellcheck disable=SC2086
found=$(repeats 12 $files)
[ -z "$found" ] || wrong "the same twelve lines (one function for both, or a table): $found"
# The test finds what it is for: a file beside a copy of itself, with other spaces and comments.
cd "$SCRATCH" || exit 1
seq 1 12 | sed 's/^/call(/; s/$/);/' >one.c
seq 1 12 | sed 's/^/ call( /; s/$/); \/* again *\//' >two.c
[ "$(repeats 12 one.c two.c)" = 'two.c:1 repeats one.c:1' ] || wrong 'a copy is not found'
[ -z "$(repeats 13 one.c two.c)" ] || wrong 'lines of two files are taken as one place'
exit $fail
