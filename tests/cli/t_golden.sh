#!/bin/bash
# t_golden.sh [BUILD]: on every golden trace, each order's set of unordered pairs equals the expected one, pair by pair,
# as read from the report of `analyze --every --all`.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
racetrace=${RACETRACE:-$(cd "${1:-${BUILD:-$top/build}}" && pwd)/bin/racetrace}
orders='["hybrid", "hb", "shb", "cp", "wcp", "syncp"]'
fail=0

# reports FOLDER: the reports of all its traces, one JSON text after the other.
reports() {
	local trace status
	for trace in "$1"/*.std; do
		"$racetrace" analyze --every --all --format json "$trace"
		status=$?
		[ $status -le 1 ] || echo "{\"trace\": {\"path\": \"$trace\"}, \"failed\": $status}"
	done
}

for folder in "$top"/tests/golden/hand "$top"/tests/golden/random; do
	differences=$(reports "$folder" | jq -rn --slurpfile expected "$folder/expected.jsonl" --argjson orders "$orders" '
		($expected | map({key: .trace, value: .}) | from_entries) as $by_name
		| [inputs] as $reports
		| (if ($reports | length) != ($expected | length) or ($reports | length) == 0
		   then "\($reports | length) traces, \($expected | length) expected" else empty end),
		  ($reports[] | (.trace.path | split("/") | last) as $name | $by_name[$name] as $want
		   | if .failed then "\($name): ended with status \(.failed)"
		     elif $want == null then "\($name): nothing is expected of it"
		     else . as $report | $orders[] as $order
		     | ([$report.anomalies[] | select(.kind == "race")]) as $races
		     | (if any($races[]; .evidence | has($order) | not) then "\($name): \($order) was not asked" else empty end),
		       ([$races[] | select(.evidence[$order]) | [.events[].event] | sort] | sort) as $got
		     | ($want[$order] | map(sort) | sort) as $should
		     | if $got == $should then empty
		       else "\($name): \($order): missing \($should - $got | tojson), too many \($got - $should | tojson)" end
		     end)') || fail=1
	if [ -n "$differences" ]; then
		echo "${folder##*/}:"
		echo "$differences"
		fail=1
	fi
done
exit $fail
