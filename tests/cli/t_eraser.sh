#!/bin/bash
# --orders lockset --only-orders lists what Eraser lists: the cell, and the access that left it without a lock; lockset0 does
# without Eraser's states.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# warns ORDER EXPECTED EVENT...: the cell and the line of the last access, for each warning.
warns() {
	local order=$1 expected=$2 found
	shift 2
	printf '%s\n' "$@" | awk '{ print $0 "|" NR }' >a.std
	"$RACETRACE" analyze --orders "$order" --only-orders --format json a.std >out 2>err
	found=$(jq -c '[.anomalies[] | .variable.name, .events[1].event]' out)
	[ "$found" = "$expected" ] || wrong "$order of $*: $found, not $expected"
}
# The survey's figure 3: one thread, two locks.
figure3=('T|acq(mtx1)' 'T|w(x)' 'T|rel(mtx1)' 'T|acq(mtx2)' 'T|w(x)' 'T|rel(mtx2)')
warns lockset0 '["x",5]' "${figure3[@]}"
warns lockset '[]' "${figure3[@]}"
# Another thread's lock: the states begin with it.
warns lockset '[]' 'A|w(x)' 'B|acq(L)' 'B|w(x)' 'B|rel(L)'
warns lockset0 '["x",1]' 'A|w(x)' 'B|acq(L)' 'B|w(x)' 'B|rel(L)'
warns lockset '["x",6]' 'A|w(x)' 'B|acq(L)' 'B|w(x)' 'B|rel(L)' 'A|acq(M)' 'A|r(x)' 'A|rel(M)'
# Ordered by fork and join, so no candidate of hybrid's; Eraser does not know.
warns lockset '["x",4]' 'A|w(x)' 'A|fork(B)' 'B|r(x)' 'B|w(x)' 'A|join(B)' 'A|w(x)'
warns hybrid '[]' 'A|w(x)' 'A|fork(B)' 'B|r(x)' 'B|w(x)' 'A|join(B)' 'A|w(x)'
# Shared, but only read; then written.
warns lockset '[]' 'A|w(x)' 'B|r(x)' 'C|r(x)'
warns lockset '["x",3]' 'A|w(x)' 'B|r(x)' 'C|w(x)'
# With another order beside it, that one's pairs and Eraser's cells.
printf 'A|w(x)|1\nB|w(x)|2\nB|w(x)|2\n' >two.std
run 1 analyze --orders lockset,hb --only-orders --format json two.std
holds '[.anomalies[].pattern] | sort == ["lockset", "w-w"]'
# Not asked for, it is not there.
run 1 analyze --format json two.std
holds '.anomalies[0].evidence | has("lockset") and (has("lockset0") | not)'
run 1 analyze --orders lockset0,hb --format json two.std
holds '.anomalies[0].evidence | .lockset0 == true'
exit $fail
