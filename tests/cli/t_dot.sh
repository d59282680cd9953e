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
exit $fail
