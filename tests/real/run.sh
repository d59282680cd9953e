#!/bin/bash
# run.sh BUILD: records SQLite and LevelDB under load and analyzes the traces. Each must behave as it does unrecorded (it checks its own
# data), its trace must be whole, and what is found must be on the list beside this script, which says of each why.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
racetrace=$build/bin/racetrace
work=$build/real
passed=0
failed=0

ok() {
	echo "ok: $1"
	passed=$((passed + 1))
}
bad() {
	echo "FAILED: $1"
	failed=$((failed + 1))
}

bash "$here/build.sh" "$work" || {
	echo "cannot build SQLite and LevelDB"
	echo "0 passed, 1 failed"
	exit 1
}
cd "$work" || exit 1

# Races and deadlocks as lines "KIND FUNCTION FUNCTION" (sorted functions), those above `predicted` only.
findings() {
	jq -r '.anomalies[] | select(.kind == "race" or .kind == "deadlock")
		| select(.verdict == "observed" or .verdict == "proved")
		| "\(.kind) " + ([.events[].source | (.function // "?") | sub("\\(.*"; "")] | sort | join(" "))' "$1" | sort -u
}

check() { # NAME, COMMAND...
	local name=$1 status
	shift
	rm -rf db && mkdir db
	timeout 300 "$racetrace" record -o "$name.zst" -- "$@"
	status=$?
	[ $status = 0 ] && ok "$name ends well under record" || bad "$name ended with status $status under record"
	zstd -tq "$name.zst" && ok "$name.zst is a zstd file" || bad "$name.zst is not a zstd file"
	"$racetrace" info --format json "$name.zst" >"$name.info"
	if jq -e '.complete and .events > 100000 and (.threads | length) >= 5 and .lost == 0' "$name.info" >/dev/null; then
		ok "$name.zst is whole: $(jq -c '[.events, .bytes_per_event]' "$name.info") events, bytes an event"
	else
		bad "$name.zst: $(jq -c 'del(.kinds, .groups, .threads)' "$name.info")"
	fi
	timeout 600 "$racetrace" analyze --format json "$name.zst" >"$name.json"
	status=$?
	[ $status -le 1 ] && ok "$name analyzed: $(jq -c .summary "$name.json")" || bad "$name: analyze ended with status $status"
	findings "$name.json" >"$name.found"
	if unexpected=$(grep -vEf <(grep -v '^#' "$here/$name.expect") "$name.found"); then
		bad "$name: found and not on the list:"
		echo "$unexpected"
	else
		ok "$name: $(wc -l <"$name.found") kinds of findings, all of them explained"
	fi
}

check sqlite ./sqlite_tsan db/sqlite 50
check leveldb ./leveldb_tsan db/leveldb 1500
# SQLite's report has thousands of anomalies.
if said=$(bash "$here/report.sh" "$racetrace" sqlite.zst 2>&1); then
	ok 'axe and the SARIF multitool find nothing in the reports of SQLite, and the pages have less than 2 MB'
else
	bad "reports of SQLite: $said"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
