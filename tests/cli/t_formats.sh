#!/bin/bash
# t_formats.sh [BUILD]: the reports in SARIF and HTML say what the JSON one says, and nothing in a trace gets out of them.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# report TRACE: the three reports, which end with one status.
report() {
	local status
	"$racetrace" analyze --all --format json "$1" >json 2>err
	status=$?
	[ $status -le 1 ] || wrong "$1: $(cat err)"
	for format in sarif html; do
		"$racetrace" analyze --all --format $format "$1" >$format 2>err
		[ $? = $status ] || wrong "$1: $format: another status: $(cat err)"
	done
	check_sarif "$1"
	check_html "$1"
}
# so WHAT FILTER: true of the SARIF ($s) and the JSON ($j) report.
so() {
	jq -en --slurpfile ss sarif --slurpfile js json "(\$ss[0].runs[0]) as \$s | \$js[0] as \$j | $2" >/dev/null ||
		wrong "$trace: not so: $1"
}
check_sarif() {
	trace=$1
	jq -e '.version == "2.1.0" and (.runs | length == 1)' sarif >/dev/null || wrong "$1: no SARIF"
	so 'it says where to learn about the tool' '$s.tool.driver.informationUri | test("^[a-z]+:")'
	so 'every anomaly is a result' '[$s.results[].properties.id] == [$j.anomalies[].id]'
	so 'fingerprints are the same' '[$s.results[].fingerprints["racetrace/v1"]] == [$j.anomalies[].fingerprint]'
	so 'rules are those of the kinds' '$s.tool.driver.rules as $r | [$s.results[] | .ruleId == $r[.ruleIndex].id] | all'
	so 'related places differ' 'all($s.results[]; .relatedLocations | length == (unique | length))'
	so 'names of rules differ from their ids' 'all($s.tool.driver.rules[]; (.name | ascii_downcase) != .id)'
	so 'ruleId is the kind' '[$s.results[].ruleId] == [$j.anomalies[].kind]'
	so 'every event is a location' '[$s.results[].locations | length] == [$j.anomalies[].events | length]'
	so 'lines are the same' '[$s.results[].locations[].physicalLocation.region.startLine] ==
		[$j.anomalies[].events[].source | select(.file).line // null]
		or ([$j.anomalies[].events[].source.file] | any(. == null))'
	so 'files are the same' '[$s.results[].locations[].physicalLocation.artifactLocation.uri | select(.) |
		split("/")[-1]] == [$j.anomalies[].events[].source.file | select(.) | split("/")[-1] | @uri]'
	so 'stacks are as deep' '[$s.results[].stacks[].frames | length] == [$j.anomalies[].events[].stack | length]'
	so 'levels follow verdicts' '[$s.results[].level] == [$j.anomalies[].verdict |
		{observed: "error", proved: "error", predicted: "warning", conditional: "none", refuted: "none"}[.]]'
	so 'schedules are code flows' '[$s.results[] | has("codeFlows")] == [$j.anomalies[] | .schedule != null]'
	so 'the order of a flow is total' '[$s.results[].codeFlows // [] | .[] |
		[.threadFlows[].locations[].executionOrder] | sort == [range(1; length + 1)]] | all'
	so 'threads keep their order' '[$s.results[].codeFlows // [] | .[].threadFlows[].locations |
		map(.executionOrder) | . == sort] | all'
	so 'the events of the anomaly are essential' '[$s.results[] | select(.codeFlows) | .codeFlows[0] |
		[.threadFlows[].locations[] | select(.importance == "essential")] | length] ==
		[$j.anomalies[] | select(.schedule) | .events | length]'
}
# check_contrast: text has 4.5 times the light of what it is on, or the other way round, in both color schemes (WCAG 1.4.3).
check_contrast() {
	grep -oE ':root\{[^}]*\}' html | awk '
		function channel(x) { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ^ 2.4 }
		function digit(c) { return index("0123456789abcdef", c) - 1 }
		function light(hex,   i, n, sum, weight) {
			split("0.2126 0.7152 0.0722", weight, " ")
			n = length(hex) == 3 ? 1 : 2
			for (i = 0; i < 3; i++)
				sum += weight[i + 1] * channel(16 * digit(substr(hex, i * n + 1, 1)) + digit(substr(hex, i * n + n, 1)))
			return sum + 0.05
		}
		{
			schemes++
			for (n = split($0, parts, /[;{}]/); n; n--)
				if (parts[n] ~ /^--[a-z]+:#/) color[substr(parts[n], 3, index(parts[n], ":") - 3)] = light(substr(parts[n], index(parts[n], "#") + 1))
			for (n = split("ink paper ink soft ink mark ink goal dim paper dim soft dim mark link paper error paper warning paper", pair, " "); n; n -= 2) {
				ratio = color[pair[n]] / color[pair[n - 1]]
				ratio = ratio < 1 ? 1 / ratio : ratio
				if (ratio < 4.5) { print "scheme " schemes ": " pair[n - 1] " on " pair[n] " has a contrast of " ratio; bad = 1 }
			}
		}
		END { if (schemes != 2) { print schemes " color schemes"; bad = 1 } exit bad }' || wrong "contrast of the page"
}
# check_page TRACE: the page is well-formed, loads nothing, runs nothing but the script of its policy, and leads nowhere else.
check_page() {
	# As many ends of an element as beginnings, in the right order.
	grep -oE '</?[a-z][a-z0-9]*( [^<>]*)?/?>' html | grep -v '/>$' | awk '
		{ closing = sub(/^<\//, ""); sub(/^</, ""); sub(/[ >].*/, "") }
		closing { if (stack[--depth] != $0) { print "ends wrongly: " $0; exit 1 } next }
		{ stack[depth++] = $0 }
		END { if (depth) exit 1 }' || wrong "$1: the page is no tree"
	grep -oE '<[^<>]*>' html | grep -v '^<script>$' | grep -qiE '^<(script|img|iframe|link|object)| (on[a-z]*|src)=|javascript:' && wrong "$1: the page loads or runs something"
	grep -oE 'href="[^"]*"' html | grep -vE '^href="#([RASDPHF]|stack)[0-9]*"$' && wrong "$1: the page leads elsewhere"
	[ "$(grep -c '<script' html)" = 1 ] || wrong "$1: more than one script"
	digest=$(sed -n 's|^<script>\(.*\)</script>$|\1|p' html | tr -d '\n' | sha256sum | cut -d ' ' -f 1 | sed 's/../\\x&/g')
	digest=$(printf "$digest" | base64)
	grep -qF "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-$digest'; base-uri 'none'" html ||
		wrong "$1: the policy does not allow the script: sha256-$digest"
	[ -z "$(grep -oE ' id="[^"]*"' html | sort | uniq -d)" ] || wrong "$1: an id twice: $(grep -oE ' id="[^"]*"' html | sort | uniq -d)"
	grep -oE 'href="#[^"]*"' html | sed 's/.*#//; s/"//' | while read -r id; do
		grep -q " id=\"$id\"" html || echo "$id"
	done >missing
	[ ! -s missing ] || wrong "$1: links to what is not on the page: $(head -n 3 missing)"
	LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' html && wrong "$1: control characters on the page"
}
check_html() {
	local ids
	ids=$(jq -r '.anomalies[].id' json)
	for id in $ids; do
		grep -q "<section [^<>]*id=\"$id\">" html && grep -q "<a href=\"#$id\">" html || wrong "$1: $id is not on the page"
	done
	[ "$(grep -c '<svg class="schedule"' html)" = "$(jq '[.anomalies[] | select(.schedule)] | length' json)" ] ||
		wrong "$1: schedules are missing"
	check_page "$1"
}

for trace in "$top"/tests/golden/hand/{01,02,28,29,40}*.std "$top"/tests/golden/atomicity/a0[1-5]*.std; do
	report "$trace"
done

# Names that want to be markup or to steer a terminal.
printf '%s\n' '{"schema":"racetrace.events/1"}' '{"op":"fork","object":"main.1"}' \
	'{"op":"write","object":"<script>alert(1)</script>","location":"\u001b[31m\"/><img src=x onerror=alert(2)>&amp;"}' \
	'{"op":"write","object":"<script>alert(1)</script>","thread":"main.1","location":"'"'"'--><b>"}' >evil.jsonl
report evil.jsonl
check_contrast
[ "$(jq '.anomalies | length' json)" = 1 ] || wrong "evil.jsonl has no race"
grep -q '&lt;script&gt;alert(1)&lt;/script&gt;' html || wrong "the variable's name is not on the page"
grep -q '&amp;amp;' html || wrong "an entity is not what it was"

# A recorded program, in a file whose name is no URI; blocks and threads are related places.
mkdir 'a b'
cat >'a b/50%é.c' <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *worker(void *block) { *(int *)block = 1; return 0; }
int main(void)
{
	pthread_t thread;
	int *block = malloc(sizeof *block);
	pthread_create(&thread, 0, worker, block);
	*block = 2;
	return pthread_join(thread, 0);
}
END
gcc -g -fsanitize=thread 'a b/50%é.c' -o program && "$racetrace" record -o program.zst ./program || wrong "cannot record"
report program.zst
so 'the URI is one' '$s.results[0].locations[0].physicalLocation.artifactLocation.uri | endswith("a%20b/50%25%C3%A9.c")'
so 'places are related' '[$s.results[0].relatedLocations[].message.text] |
	any(test("allocated")) and any(test("main.1 was created"))'
grep -q '<pre><span class="dim">[0-9]*</span> .*\*(int \*)block = 1' html || wrong "no source line on the page"
[ "$(grep -oE 'class="name"[^>]*>[^<]*' html | sed 's/.*>//' | sort -u | xargs)" = 'main main.1' ] || wrong "no lanes: $(grep 'class="name"' html)"

# Without --all SARIF has a result for each finding: at the user's line, each related place once, below the source root.
"$racetrace" analyze --format json program.zst >json
"$racetrace" analyze --format sarif --source-root . program.zst >sarif
trace=program.zst
so 'every finding is a result' '[$s.results[].properties.id] == [$j.findings[].id]'
so 'levels are those of findings' '[$s.results[].level] == [$j.findings[].level]'
so 'fingerprints are those of findings' '[$s.results[].partialFingerprints["racetraceFinding/v1"]] == [$j.findings[].fingerprint]'
so 'messages are titles' '[$s.results[].message.text] as $m | [$j.findings[].title] as $t | all(range($t | length); . as $i | $m[$i] | startswith($t[$i]))'
so 'related places differ' 'all($s.results[]; .relatedLocations | length == (unique | length))'
so 'one location each' 'all($s.results[]; .locations | length == 1)'
so 'paths are relative' '[$s.results[].locations[].physicalLocation.artifactLocation] | unique == [{uri: "a%20b/50%25%C3%A9.c", uriBaseId: "SRCROOT"}]'
so 'the base is a folder' '$s.originalUriBaseIds.SRCROOT.uri | startswith("file:///") and endswith("/")'
so 'rules have help' 'all($s.tool.driver.rules[]; .fullDescription.text and .help.text and .name and (.helpUri // "https://" | startswith("https://")))'
so 'each result has a file and a line' 'all($s.results[].locations[]; .physicalLocation | .artifactLocation.uri and .region.startLine > 0)'
# Without --source-root paths are relative to the root of the sources around the working folder.
mkdir -p 'a b/build' && mkdir .git
(cd 'a b/build' && "$racetrace" analyze --format sarif ../../program.zst) >sarif
so 'paths are relative to the folder with .git' '[$s.results[].locations[].physicalLocation.artifactLocation] | unique == [{uri: "a%20b/50%25%C3%A9.c", uriBaseId: "SRCROOT"}]'
rmdir .git
touch 'a b/.racetrace'
(cd 'a b/build' && "$racetrace" analyze --format sarif ../../program.zst) >sarif
so 'or with .racetrace' '[$s.results[].locations[].physicalLocation.artifactLocation.uri] | unique == ["50%25%C3%A9.c"]'
rm 'a b/.racetrace'
# Of a trace without files, the line in the trace.
printf '%s\n' 'A|fork(B)|x' 'A|w(x)|y' 'B|w(x)|z' >plain.std
"$racetrace" analyze --format json plain.std >json
"$racetrace" analyze --format sarif plain.std >sarif
trace=plain.std
so 'the trace is the file' '[$s.results[].locations[].physicalLocation | [.artifactLocation.uri, .region.startLine]] == [["plain.std", 2]] or
	[$s.results[].locations[].physicalLocation | [.artifactLocation.uri, .region.startLine]] == [["plain.std", 3]]'
"$racetrace" analyze --format json program.zst >json
trace=program.zst

# A deadlock at one line: each thread's acquire is a related location, and the schedule has none in a header.
g++ -std=c++20 -g -O1 -fsanitize=thread -Wno-tsan "$top/tests/cases/philosophers.cpp" -o philosophers -pthread || exit 1
timeout 60 "$racetrace" record -o philosophers.zst ./philosophers >/dev/null 2>&1
"$racetrace" analyze --format sarif --fail-on never philosophers.zst >sarif
jq -e '.runs[0].results[0] | ([.relatedLocations[].message.text | select(test("acquires"))] | unique | length) == 4 and
	([.codeFlows[0].threadFlows[].locations[] | select(.importance == "essential").location.physicalLocation.artifactLocation.uri] |
		length == 5 and all(endswith("philosophers.cpp")))' sarif >/dev/null ||
	wrong "a deadlock in SARIF: $(jq -c '.runs[0].results[0].relatedLocations' sarif)"

# So has the page: a section for each error and warning, its places, and its first anomaly folded.
"$racetrace" analyze --format html program.zst >html
check_page program.zst
for id in $(jq -r '.findings[] | select(.level != "note").id' json); do
	grep -q "<section [^<>]*id=\"$id\"" html && grep -q "<a href=\"#$id\">" html || wrong "$id is not on the page"
done
[ "$(grep -c '<section class="finding"' html)" = "$(grep -c '^<details>$' html)" ] || wrong "anomalies are not folded below findings"
[ "$(grep -c '<div class="place">' html)" = "$(jq '[.findings[] | select(.level != "note").places[]] | length' json)" ] ||
	wrong "places are missing on the page"

grep -q '<mark><span class="dim"> *9</span>     \*block = 2;$' html ||
	wrong "the line is not among those around it: $(grep '<mark>' html)"
grep -q '<code>racetrace replay program.zst --finding F[0-9]*</code>' html || wrong 'how to replay it is not on the page'

# Many anomalies: all are listed, 50 of each kind in full; equal stacks are there once.
for i in $(seq 120); do
	echo "A|w(x$i)|$i"
done >many.std
for i in $(seq 120); do
	echo "B|w(x$i)|1$i"
done >>many.std
"$racetrace" analyze --anomalies --format html many.std >html
check_page many.std
[ "$(grep -c '<tr data-a=' html)" = 120 ] || wrong "many.std: $(grep -c '<tr data-a=' html) rows"
[ "$(grep -c '<section data-a=' html)" = 50 ] || wrong "many.std: $(grep -c '<section data-a=' html) sections"
grep -q '^<p>70 more anomalies are only listed' html || wrong 'many.std: what is left out is not said'

# Cut short: both say so.
printf '%s\n' '{"schema":"racetrace.events/1","events":9}' '{"op":"fork","object":"main.1"}' \
	'{"op":"write","object":"x"}' '{"op":"write","object":"x","thread":"main.1"}' >cut.jsonl
report cut.jsonl
so 'a notification' '$s.invocations[0].toolExecutionNotifications | length == 1'
grep -q 'the trace is incomplete' html || wrong "the page does not say that the trace is incomplete"
exit $fail
