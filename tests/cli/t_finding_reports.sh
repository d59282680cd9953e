#!/bin/bash
# t_finding_reports.sh [BUILD]: findings in a screen each, in colors, in long reports, of several runs, and beside an earlier report.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/findings.sh"

cp "$here/tests/cli/cache_miss.cpp" "$tmp"
record cache "$tmp/cache_miss.cpp" && record account "$here/samples/pecan/account.c" || exit 1

# Text lists findings, a screen each, and counts notes; --anomalies lists what they are made of.

# at TEXT: the line of the cache that has it.
at() {
	grep -nF "$1" "$tmp/cache_miss.cpp" | head -n 1 | cut -d: -f1
}
reads="($(at 'map_.find(')|$(at 'return it->second'))"
text "$tmp/cache.zst"
prints '^F1 error, observed: .Cache::get. calls '
prints "^  .*cache_miss\.cpp:$reads in Cache::get: main\.[0-9] reads in std::.*, holding no lock\$"
prints "^  fix: hold .Cache::mutex_. at cache_miss.cpp:$reads( and at cache_miss.cpp:$reads)?\$"
prints "^  [0-9]+ anomalies: R1, .*; '--anomaly R1' shows stacks and evidence$"
prints '^findings: 1 error, 0 warnings, 0 notes$'
[ "$(grep -c '^R[0-9]' "$tmp/out")" = 0 ] || { echo "text: anomalies among findings"; fail=1; }
timeout 60 "$racetrace" analyze -f gcc "$tmp/cache.zst" >"$tmp/out"
prints "^/[^:]*cache_miss\.cpp:$reads:[0-9]+: error: .Cache::get. calls .* \[F1, observed\]\$"
prints "^/[^:]*cache_miss\.cpp:$(at 'map_.emplace('):[0-9]+: note: Cache::get (writes|frees) here\$"
text --anomalies "$tmp/cache.zst"
prints '^R1 data race \(.*\), observed'

# A long report has each stack once, by number: with the numbers resolved it is the same.
resolved() {
	jq -S '. as $r | walk(if type == "object" then reduce ("stack", "acquired", "allocated") as $k (.;
		if has($k + "_id") then (if .[$k] != [] then error("twice") else . end) | .[$k] = $r.stacks[.[$k + "_id"] | tostring] | del(.[$k + "_id"]) else . end)
		else . end) | .limits.listed_calls = null | del(.stacks)' "$1"
}
for traces in "$tmp/cache.zst" "$tmp/cache.zst $tmp/account.zst"; do
	# shellcheck disable=SC2086
	"$racetrace" analyze -f json $traces >"$tmp/short.json"
	# shellcheck disable=SC2086
	"$racetrace" analyze -f json --limit listed_calls=1 $traces >"$tmp/out"
	is long '.limits.listed_calls.hit and (.stacks | length) > 1 and ([.. | .stack_id? // empty] | length) > (.stacks | length)'
	is "the first anomaly" '.findings[0].anomalies[0] as $first | .anomalies[] | select(.id == $first) | all(.events[]; .stack != [])'
	resolved "$tmp/out" >"$tmp/long" && resolved "$tmp/short.json" | cmp -s "$tmp/long" - || { echo "a long report of $traces is another one"; fail=1; }
	[ "$(wc -c <"$tmp/out")" -lt "$(wc -c <"$tmp/short.json")" ] || { echo "a long report is no shorter"; fail=1; }
done

# Of more anomalies than the limit each finding lists its first atomicity violations and ASVs and all others, and says how
# many it has; --anomalies lists all.
"$racetrace" analyze -f json "$tmp/account.zst" >"$tmp/all.json"
"$racetrace" analyze -f json --limit listed_anomalies=1 "$tmp/account.zst" >"$tmp/out"
is "anomalies left out" '.limits.listed_anomalies.hit and ([.anomalies[].id] | sort) == ([.findings[].anomalies[]] | sort) and
	any(.findings[]; .anomalies_count > (.anomalies | length))'
[ "$(jq -c '[.findings[] | .anomalies_count // (.anomalies | length)]' "$tmp/out")" = "$(jq -c '[.findings[].anomalies | length]' "$tmp/all.json")" ] ||
	{ echo "counts of what is left out: $(jq -c '[.findings[].anomalies_count]' "$tmp/out")"; fail=1; }
races='[.anomalies[] | select(.kind == "race") | .id]'
[ "$(jq -c "$races" "$tmp/out")" = "$(jq -c "$races" "$tmp/all.json")" ] || { echo "races are left out"; fail=1; }
for all in --anomalies "--finding F1"; do
	# shellcheck disable=SC2086
	"$racetrace" analyze -f json --limit listed_anomalies=1 $all "$tmp/account.zst" >"$tmp/out"
	is "all with $all" '(.limits.listed_anomalies.hit | not) and (.anomalies | length) > 1 and all(.findings[]; has("anomalies_count") | not)'
done
"$racetrace" analyze -f json --limit listed_anomalies=1 "$tmp/cache.zst" "$tmp/account.zst" >"$tmp/out"
is "anomalies of two traces" '.limits.listed_anomalies.hit and ([.anomalies[].id] | length) == ([.findings[].anomalies[]] | length)'
# The limit is one of them all: each of the two alone has fewer.
"$racetrace" analyze -f json "$tmp/cache.zst" "$tmp/account.zst" >"$tmp/all.json"
"$racetrace" analyze -f json --limit listed_anomalies="$(jq '(.anomalies | length) - 1' "$tmp/all.json")" "$tmp/cache.zst" "$tmp/account.zst" >"$tmp/out"
is "one limit of two traces" '.limits.listed_anomalies.hit and (.anomalies | length) <= .limits.listed_anomalies.bound'
# Those that another run alone has of a finding count, too.
cat >"$tmp/further.c" <<'END'
#include <pthread.h>
int x, seen;
static void use(int writes)
{
	if (writes)
		x = 1;
	else
		seen = x;
}
static void *run(void *arg) { use(1); return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	pthread_create(&t, NULL, run, NULL);
	use(argc > 1);
	return pthread_join(t, NULL);
}
END
gcc -g -O0 -fsanitize=thread "$tmp/further.c" -o "$tmp/further" && "$racetrace" record -o "$tmp/reads.zst" "$tmp/further" && "$racetrace" record -o "$tmp/writes.zst" "$tmp/further" 1
"$racetrace" analyze -f json --limit listed_anomalies=1 "$tmp/reads.zst" "$tmp/writes.zst" >"$tmp/out"
is "anomalies of another run" '(.findings | length) == 1 and .findings[0].anomalies_count == 2 and (.anomalies | length) == 1 and .limits.listed_anomalies.hit'

# Also where findings of two traces alternate.
printf '%s\n' 'main|fork(T1)|1' 'main|w(z)|2' 'main|w(z)|3' 'main|w(z)|4' 'main|acq(l)|5' 'main|rel(l)|6' 'main|w(x)|2' 'main|w(x)|3' \
	'main|w(x)|4' 'T1|acq(l)|7' 'T1|rel(l)|8' 'T1|w(z)|19' 'T1|w(x)|9' >"$tmp/first.std"
printf '%s\n' 'main|fork(T1)|21' 'main|w(y)|22' 'main|w(y)|23' 'main|w(y)|24' 'T1|w(y)|29' >"$tmp/second.std"
"$racetrace" analyze -f json --limit listed_calls=1 "$tmp/first.std" "$tmp/second.std" >"$tmp/out"
is alternating '[.findings[].variable.name] == ["x", "y", "z"] and (.stacks | length) == ([.stacks[]] | unique | length)'

# Colors, whole stacks, and what is read by people.
colored() {
	grep -q "$(printf '\033')" "$tmp/out"
}
text --color=always "$tmp/cache.zst"
colored || { echo "--color=always: no color"; fail=1; }
NO_COLOR=1 text --color=always "$tmp/cache.zst"
colored || { echo "--color=always goes before NO_COLOR"; fail=1; }
text --color=never "$tmp/cache.zst"
colored && { echo "--color=never: color"; fail=1; }
text "$tmp/cache.zst"
colored && { echo "color in a pipe"; fail=1; }
grep -q ' #0 ' "$tmp/out" && { echo "stacks without -v"; fail=1; }
text -v "$tmp/cache.zst"
prints '^     #0 std::'
# An anomaly's stacks have the calls within libraries in a line, and each of them with -v.
text --anomaly R1 "$tmp/cache.zst"
prints '^    #0-#[0-9]* std::.* calls within libraries)$'
text -v --anomaly R1 "$tmp/cache.zst"
grep -q 'within libraries' "$tmp/out" && { echo "-v: calls left out"; fail=1; }
# So has the page, where the line opens to them; the numbers of the calls go on behind it.
timeout 60 "$racetrace" analyze -f html "$tmp/cache.zst" >"$tmp/out"
grep -A1 '^<li value="[0-9]*"><details><summary>std::[^<]*calls within libraries)</summary>$' "$tmp/out" | grep -q '^<ol start="0">$' || { echo "page: nothing is folded"; fail=1; }
awk '/^<ol class="stack"/ { on = 1; n = 0 } on && /^<li value=/ { match($0, /[0-9]+/); last = substr($0, RSTART, RLENGTH) } on && /^<ol start=/ { match($0, /[0-9]+/); if (substr($0, RSTART, RLENGTH) != n) wrong++; inner = 1 }
	on && /^<li>/ { n++ } on && /^<\/ol><\/details>/ { if (n != last + 1) wrong++ } END { exit wrong > 0 || !inner }' "$tmp/out" || { echo "page: the numbers of folded calls"; fail=1; }
timeout 60 "$racetrace" analyze -v -f html "$tmp/cache.zst" >"$tmp/out"
grep -q 'within libraries' "$tmp/out" && { echo "page, -v: calls left out"; fail=1; }
CI=true timeout 60 "$racetrace" analyze -f auto "$tmp/cache.zst" >"$tmp/out"
prints '^F1 error, observed: '
CI='' timeout 60 "$racetrace" analyze -f auto "$tmp/cache.zst" >"$tmp/out"
is "auto, in a pipe" '.findings | length == 1'
(cd "$tmp" && CI=true timeout 60 "$racetrace" analyze -f auto -o auto.json cache.zst) && { echo "auto: status"; fail=1; }
jq -e .findings "$tmp/auto.json" >/dev/null || { echo "auto, by name: no JSON"; fail=1; }
# Paths are relative to the trace's folder.
text "$tmp/cache.zst"
prints '^  cache_miss\.cpp:[0-9]+ in Cache::get: '

# A line that reads what one thread alone writes is one bug, wherever that thread writes; two threads that write have two.
cat >"$tmp/owned.c" <<'C'
#include <pthread.h>
#include <unistd.h>
static struct { int used; } store, *pool = &store;
static int seen;
static void take(void) { pool->used++; }
static void give(void) { pool->used--; }
static void *work(void *both) { for (int i = 0; i < 20; i++) { take(); usleep(100); if (!both) give(); } return both; }
static void *returned(void *a) { for (int i = 0; i < 20; i++) { usleep(100); give(); } return a; }
static void *show(void *a) { for (int i = 0; i < 20; i++) { seen += pool->used; usleep(150); } return a; }
int main(int argc, char **argv)
{
	pthread_t t[3];
	pthread_create(&t[0], 0, work, argc > 1 ? argv : 0);
	pthread_create(&t[1], 0, show, 0);
	if (argc > 1)
		pthread_create(&t[2], 0, returned, 0);
	for (int i = 0; i < 2 + (argc > 1); i++)
		pthread_join(t[i], 0);
	return seen < 0;
}
C
gcc -g -O1 -fno-inline -fsanitize=thread "$tmp/owned.c" -o "$tmp/owned" -pthread && "$racetrace" record --serial -o "$tmp/owned.zst" "$tmp/owned" && "$racetrace" record --serial -o "$tmp/shared.zst" "$tmp/owned" 2
analyze 1 "$tmp/owned.zst"
is "one writer" '[.findings[] | [.places[].function] | unique] == [["give", "show", "take"]]'
analyze 1 "$tmp/shared.zst"
is "two writers" '.findings | length > 1'

exit $fail
