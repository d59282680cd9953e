#!/bin/bash
# t_dot.sh [BUILD]: `analyze --format dot` draws one anomaly's surroundings, in a form that Graphviz takes.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# drawn FILE: Graphviz takes it.
drawn() {
	command -v dot >/dev/null || return 0
	dot -Tsvg "$1" >svg 2>dot.err && [ -s svg ] && [ ! -s dot.err ] || wrong "dot refuses $1: $(cat dot.err)"
}
command -v dot >/dev/null || echo "no Graphviz here: that it takes the output is not tested"

# Names that want to be markup, escapes or the end of the string.
cat >trace.std <<'END'
T0|fork(T1)|1
T0|fork(T"2\n<b>&amp;)|2
T1|acq(L)|a"b\l.c:3
T1|w(x)|4
T1|rel(L)|5
T"2\n<b>&amp;|acq(M)|6
T"2\n<b>&amp;|w(x)|<7>
T"2\n<b>&amp;|r(x)|8
T"2\n<b>&amp;|rel(M)|9
T0|join(T1)|10
END
"$racetrace" analyze --format dot --anomaly R1 trace.std >r1.dot 2>err
[ $? = 1 ] || wrong "status: $(cat err)"
drawn r1.dot
if [ -s svg ]; then
	grep -q 'T&quot;2\\n&lt;b&gt;&amp;amp;' svg || wrong "a name is not what it was: $(grep 'T&quot;' svg)"
fi
grep -q '^digraph R1 {$' r1.dot && grep -q '^}$' r1.dot || wrong "no graph"
[ "$(grep -c 'subgraph cluster_' r1.dot)" = 3 ] || wrong "not three columns"
[ "$(grep -c 'penwidth=2' r1.dot)" = 2 ] || wrong "the race's two events do not stand out"
grep -q '	e1 -> e3 \[class=por\]' r1.dot || wrong "no solid edge from the fork to what it begins"
grep -q '	e2 -> e6 \[class=por\]' r1.dot || wrong "no solid edge from the other fork"
grep -q '	e4 -> e7 \[class=tor, style=dashed' r1.dot || wrong "no dashed edge along the cell"
grep -q '	e7 -> e8 \[class=tor, style=dashed' r1.dot || wrong "no dashed edge in the thread"
grep 'class=por' r1.dot | grep -qE 'e5|e9' && wrong "a lock's release has a solid edge"
# A node of each edge is drawn, and each node once.
grep -oE '^	*e[0-9]+ -> e[0-9]+' r1.dot | grep -oE 'e[0-9]+' | sort -u >ends
grep -oE '^	*e[0-9]+ \[label' r1.dot | grep -oE 'e[0-9]+' | sort >nodes
[ "$(uniq -d nodes)" = '' ] || wrong "a node is drawn twice"
comm -23 ends <(sort -u nodes) | grep . && wrong "an edge's end is not drawn"

# What is left out in a thread is counted.
{
	echo 'T1|w(x)|1'
	for i in $(seq 2 40); do echo "T1|r(x)|$i"; done
	for i in $(seq 41 80); do echo "T1|w(y)|$i"; done
	echo 'T2|w(x)|81'
	echo 'T2|r(y)|82'
} >long.std
"$racetrace" analyze --format json long.std >long.json
for id in $(jq -r '.anomalies[].id' long.json | head -n 3); do
	"$racetrace" analyze --format dot --anomaly "$id" long.std >long.dot
	drawn long.dot
	[ "$(grep -c '\[label="[0-9]*: ' long.dot)" -lt 40 ] || wrong "$id: everything is drawn"
done
grep -q 'label="[0-9]* more"' long.dot || wrong "what is left out is not said"

# The end of a wait acquires the mutex again: it is drawn as the acquire, however far before.
{
	echo '{"schema":"racetrace.events/1"}'
	for t in 1 2; do echo '{"op":"fork","thread":"main","object":"main.'$t'"}'; done
	echo '{"op":"acquire","thread":"main.1","object":"m"}'
	echo '{"op":"wait-begin","thread":"main.1","object":"c","arg":"m"}'
	echo '{"op":"signal","thread":"main.2","object":"c"}'
	echo '{"op":"wait-end","thread":"main.1","object":"c","arg":"m"}'
	for i in $(seq 30); do echo '{"op":"write","thread":"main.1","object":"y'$i'"}'; done
	echo '{"op":"write","thread":"main.1","object":"x"}'
	echo '{"op":"release","thread":"main.1","object":"m"}'
	for i in $(seq 30); do echo '{"op":"read","thread":"main.2","object":"y'$i'"}'; done
	echo '{"op":"write","thread":"main.2","object":"x"}'
} >wait.jsonl
run 1 analyze --every wait.jsonl
id=$(jq -r '.anomalies[] | select([.events[].event] == [37, 69]) | .id' out)
run 1 analyze --every --format dot --anomaly "$id" wait.jsonl
grep -q '	e6 \[label="[0-9]*: end of a wait' out || wrong "$id: the end of the wait is not drawn: $(grep label out)"

# A recorded program.
gcc -g -fsanitize=thread "$top/samples/pecan_fig1.c" -o program && "$racetrace" record -o program.zst ./program >/dev/null
"$racetrace" analyze --format json program.zst >program.json
for id in $(jq -r '.anomalies[].id' program.json); do
	"$racetrace" analyze --format dot --anomaly "$id" program.zst >program.dot
	drawn program.dot
	grep -q 'pecan_fig1.c:[0-9]* thread' program.dot || wrong "$id: no positions"
done

# Which one?
"$racetrace" analyze --format dot long.std >out 2>err
[ $? = 2 ] && grep -q 'say which by --anomaly' err || wrong "many anomalies are drawn as one: $(cat err)"
"$racetrace" analyze --format dot --anomaly R99 long.std >out 2>err
[ $? = 2 ] && grep -q "there is no anomaly 'R99'" err || wrong "R99: $(cat err)"
"$racetrace" analyze --anomaly R2 long.std >out
jq -e '[.anomalies[].id] == ["R2"]' out >/dev/null || wrong "--anomaly does not pick in JSON"

# A finding: its own events alone, and what is wrong with them.
cat >own.std <<'END'
T0|w(z)|1
T1|w(x)|2
T1|r(z)|3
T1|w(y)|4
T2|w(y)|5
T2|w(x)|6
T3|r(u)|7
END
"$racetrace" analyze -f json own.std >own.json
first=$(jq -r '.findings[] | select(.id == "F1") | .anomalies[0]' own.json)
"$racetrace" analyze -f dot --finding F1 own.std >own.dot
drawn own.dot
[ "$(grep -c '\[label="[0-9]*: ' own.dot)" = 2 ] || wrong "not the finding's events alone: $(cat own.dot)"
grep -q "^digraph $first {" own.dot || wrong "not its first anomaly: $(head -n 1 own.dot)"
grep -q 'class=own, .*label="not ordered", dir=none' own.dot || wrong "what is not ordered is not drawn: $(cat own.dot)"
grep -q 'class=tor' own.dot && wrong "more than its own is drawn"
for i in 1 2 3; do
	echo "T$i|acq(L$i)|1$i"
	echo "T$i|acq(L$((i % 3 + 1)))|2$i"
	echo "T$i|rel(L$((i % 3 + 1)))|3$i"
	echo "T$i|rel(L$i)|4$i"
done >cycle.std
"$racetrace" analyze -f json cycle.std >cycle.json
jq -e '.findings | length == 1 and .[0].kinds == ["deadlock"]' cycle.json >/dev/null || wrong "no deadlock: $(jq -c .findings cycle.json)"
"$racetrace" analyze -f dot --finding F1 cycle.std >cycle.dot
drawn cycle.dot
[ "$(grep -c '\[label="[0-9]*: acquire' cycle.dot)" = 6 ] || wrong "not the six acquires: $(cat cycle.dot)"
[ "$(grep -c 'class=own, .*label="waits for"' cycle.dot)" = 3 ] || wrong "no cycle: $(cat cycle.dot)"
# From the acquire that waits to the one that holds: round and round.
for i in 1 5 9; do
	grep -qE "	e$((i + 1)) -> e$((i == 9 ? 1 : i + 4)) \[class=own" cycle.dot || wrong "e$((i + 1)) waits for another one: $(grep own cycle.dot)"
done
"$racetrace" analyze -f json --finding F1 own.std >one.json
jq -e --slurpfile all own.json '.findings | length == 1 and .[0].id == "F1" and .[0].fingerprint == $all[0].findings[0].fingerprint' one.json >/dev/null ||
	wrong "--finding: $(jq -c .findings one.json)"
jq -e --slurpfile all own.json '[.anomalies[].id] == $all[0].findings[0].anomalies' one.json >/dev/null || wrong "--finding: $(jq -c '[.anomalies[].id]' one.json)"
"$racetrace" analyze -f text --finding F1 own.std | grep -q '^F1 error' || wrong "--finding has no text"
"$racetrace" analyze --finding F9 own.std >out 2>err
[ $? = 2 ] && grep -q "there is no finding 'F9'" err || wrong "a finding that is not there: $(cat err)"
"$racetrace" analyze -f dot own.std >out 2>err
grep -q 'say which by --anomaly, or --finding' err || wrong "$(cat err)"
exit $fail
