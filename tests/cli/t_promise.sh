#!/bin/bash
# The first pair that CP and WCP leave unordered is marked, of badly nested locks there is one warning, and what the run's
# order hides says so.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# Of many traces: the first of all pairs that the order leaves unordered, by the list of these.
pairs=0
for file in "$top"/tests/golden/hand/*.std "$top"/tests/golden/random/*5.std; do
	"$RACETRACE" analyze --kinds race --orders cp,wcp --only-orders --every --fail-on never --format json "$file" >out 2>err
	for order in cp wcp; do
		jq -e ".promises.$order as \$first | [.anomalies[] | select(.evidence.$order) | [.events[].event] | sort] as \$pairs
			| if \$pairs == [] then \$first == null else \$first == (\$pairs | min_by([.[1], -.[0]])) and
			  ([.anomalies[] | select(.evidence.first // [] | index(\"$order\")) | [.events[].event] | sort] == [\$first]) end" out >/dev/null ||
			wrong "$file: the first pair of $order is not $(jq -c ".promises.$order" out)"
		[ "$(jq ".promises.$order != null" out)" = true ] && pairs=$((pairs + 1))
	done
done
[ $pairs -gt 60 ] || wrong "only $pairs first pairs were looked at"

# By source position, in text too.
printf '%s\n' 'A|acq(L)|1' 'A|w(y)|2' 'A|rel(L)|3' 'A|w(x)|4' 'B|w(x)|5' 'B|w(x)|6' >a.std
run 1 analyze --anomalies --format text --orders hb,cp,wcp a.std
grep -q 'unordered by hybrid, hb, cp, wcp; the first pair of cp, wcp$' out || grep -q '; the first pair of cp, wcp$' out || wrong 'text does not mark the first pair'
[ "$(grep -c 'the first pair of' out)" = 1 ] || wrong 'not one first pair'
quiet

# Hidden by the order of the run.
printf '%s\n' 'A|w(x)|1' 'A|acq(L)|2' 'A|rel(L)|3' 'B|acq(L)|4' 'B|rel(L)|5' 'B|w(x)|6' 'B|w(y)|7' 'A|w(y)|8' >hidden.std
run 1 analyze --format json hidden.std
holds '[.anomalies[] | [.variable.name, .evidence.hidden]] | sort == [["x", true], ["y", null]]'

# Hand over hand.
printf '%s\n' 'A|acq(L)|1' 'A|acq(M)|2' 'A|rel(L)|3' 'A|rel(M)|4' 'A|w(x)|5' 'B|w(x)|6' >nested.std
run 1 analyze --orders wcp --format json nested.std
one=$(wc -l <err)
[ "$one" = 1 ] || wrong "not one warning: $(cat err)"
says 'warning: locks are not well nested: event 3 releases the lock of event 1 while that of event 2 is held \(1 such releases\)'
holds '.promises == {wcp: [5, 6], not_nested: {count: 1, outer: 1, inner: 2, release: 3}}'
run 1 analyze --orders hb --format json nested.std
quiet
holds 'has("promises") | not'
exit $fail
