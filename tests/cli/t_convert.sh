#!/bin/bash
# racetrace convert: every format into every other one and back.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# Golden traces go round by way of each format; they keep threads, order, operations, locations and values.
count=0
for trace in "$top"/tests/golden/{hand/*,atomicity/*,ibm/*,values/*,random/*7}.std*; do
	case $trace in *reentrant*) continue ;; esac # inner levels are no events
	count=$((count + 1))
	sed 's/|$//' "$trace" >want.std
	run 0 convert "$trace"
	cmp -s want.std out || wrong "$trace: STD differs"
	[ $((count % 10)) = 0 ] || continue # a sample for the rest
	run 0 convert -o a.jsonl "$trace"
	run 0 convert -o a.zst a.jsonl
	run 0 convert -o b.jsonl a.zst
	run 0 convert -o a.std b.jsonl
	cmp -s want.std a.std || wrong "$trace: STD differs after JSON lines and trace.zst"
	cmp -s a.jsonl b.jsonl || wrong "$trace: JSON lines differ after trace.zst"
done
[ "$count" -gt 80 ] || wrong "only $count golden traces: this test is broken"

# What is predicted by values survives too.
for trace in "$top"/tests/golden/values/*.stdv; do
	"$RACETRACE" analyze --every --all -f json "$trace" | jq -c '[.anomalies[] | [.verdict, .evidence.values.event]]' >want
	run 0 convert -o a.jsonl "$trace"
	run 0 convert -o a.zst a.jsonl
	for copy in a.jsonl a.zst; do
		"$RACETRACE" analyze --every --all -f json $copy |
			jq -c '[.anomalies[] | [.verdict, .evidence.values.event]]' >got
		cmp -s want got || wrong "$trace as $copy: $(cat got), not $(cat want)"
	done
done
"$RACETRACE" analyze -f json "$top/tests/golden/values/v03_silent_write.stdv" >report.json
jq -e '.anomalies[0] | .verdict == "proved" and .evidence.values == {
	reads: 1, event: 6, source: {file: null, line: 6, column: null, function: null, text: "6"}}' report.json >jq.log ||
	wrong 'the report does not name the read that sees another write'
"$RACETRACE" analyze -f text "$top/tests/golden/values/v03_silent_write.stdv" >out
grep -q 'in it 1 read sees another write of the value that was seen, the first at event 6$' out ||
	wrong "the text does not: $(cat out)"

# A trace with everything.
cat >all.jsonl <<'END'
{"schema":"racetrace.events/1","command":["./a"],"exit":{"status":3},"duration_ns":5,"pid":9,"order":"stamped","values":true,"threads":["main",{"name":"main.1","label":"w","parent":"main"}]}
{"variable":"x","address":"0x1000","size":4,"file":"a.c","line":3}
{"position":"0x400","frames":[{"function":"f","file":"a.c","line":4,"column":2},{"function":"main","module":"a"}]}
{"op":"begin","object":"0x7000","arg":4096}
{"op":"write","object":"x","arg":4,"pc":"0x400","value":-1,"flags":["volatile"]}
{"op":"fork","object":"main.1"}
{"op":"acquire-shared","object":"0x2000","thread":"main.1"}
{"op":"atomic-cas","object":"0x1008","arg":8,"thread":"main.1","order":"acq_rel","ordinal":9}
{"op":"release","object":"0x2000","thread":"main.1"}
END
run 0 convert --to jsonl all.jsonl
cp out one.jsonl
run 0 convert --to racetrace -o all.zst one.jsonl
zstd -tq all.zst || wrong 'zstd does not accept the file'
# The file works out itself what was left out: a gap in the ordinals.
run 0 convert --to jsonl all.zst
jq -c 'select(.op)' one.jsonl >want
jq -c 'select(.op)' out >got
cmp -s want got || wrong "events differ: $(diff want got)"
head -n 1 out | jq -e '.exit == {status: 3} and .command == ["./a"] and .pid == 9 and .duration_ns == 5' >jq.log ||
	wrong 'the header differs'
run 0 convert all.jsonl
says '^racetrace: STD cannot express all of .all.jsonl.: 2 events became critical sections, 1 were omitted: atomic-cas 1, acquire-shared 1, begin 1$'
[ "$(wc -l <err)" = 1 ] || wrong 'more than one warning'
grep -q '^main|w(x)|a.c:4:2|-1$' out || wrong "no write: $(cat out)"
cp out all.std
run 0 info -f json all.std
holds '.threads | length == 2'

# The examples of the format pages are traces.
sed -n '/^    {"schema/,/^$/s/^    //p' "$top/docs/jsonl-format.md" >example.jsonl
run 0 info -f json example.jsonl
holds '.events == 3 and .kinds == {fork: 1, write: 1, read: 1}'
sed -n '/^    T1|/s/^    //p' "$top/docs/std-format.md" >example.std
run 0 info -f json example.std
holds '.events == 3 and .kinds == {acquire: 1, write: 1, release: 1}'

# The target goes by the name of the output, --to wins.
run 0 convert -o c.std all.jsonl
run 0 info -f json c.std
holds '.format == "std"'
run 0 convert --to jsonl -o c.std all.jsonl
run 0 info -f json c.std
holds '.format == "jsonl"'

# What goes wrong leaves nothing behind that looks whole.
run 2 convert
run 2 convert --to racetrace all.std
says 'give -o FILE'
run 2 convert --to xml all.std
says "'xml' is not a format"
run 3 convert -o missing/x.std all.std
one_line
says "cannot write 'missing/x.std': No such file"
run 3 convert -o missing/x.zst all.std
one_line
run 3 convert missing
one_line
printf 'T1|w(x)|1\nT1|foo|2\n' >bad.std
run 3 convert -o new.jsonl bad.std
[ ! -e new.jsonl ] && [ ! -e new.jsonl.part ] || wrong 'a failed conversion left a file'
if [ -w /dev/full ]; then
	run 3 convert -o /dev/full all.jsonl
	says "cannot write '/dev/full': No space left"
	# What fails in the middle of a long output is not forgotten until its end.
	run 3 analyze --shard 1/2 -o /dev/full all.jsonl
	says "cannot write '/dev/full': No space left"
	run 3 analyze -f html -o /dev/full all.jsonl
	says "cannot write '/dev/full': No space left"
	"$RACETRACE" analyze -f html all.jsonl >/dev/full 2>err
	says 'cannot write to standard output: No space left'
fi
run 0 convert -o /dev/null --to std all.std
run 0 convert --help
grep -q 'Usage: racetrace convert' out || wrong 'no usage in --help'

# Thread-local variables keep their names on the way.
cat >local.c <<'END'
#include <pthread.h>
static _Thread_local struct {
	int calls, errors[4];
} mine;
static int *shared;
static void *user(void *arg)
{
	shared[1] = 2;
	return arg;
}
int main(void)
{
	pthread_t t;
	shared = mine.errors;
	pthread_create(&t, 0, user, 0);
	shared[1] = 1;
	return pthread_join(t, 0);
}
END
gcc -g -fsanitize=thread local.c -o local -lpthread && "$RACETRACE" record -o local.zst -- ./local || exit 1
run 0 convert -o local.jsonl local.zst
run 0 convert -o back.zst local.jsonl
for copy in local.zst local.jsonl back.zst; do
	"$RACETRACE" analyze --kinds race -f json $copy |
		jq -e '[.anomalies[].variable | [.name, .kind, .declared.line]] == [["mine.errors[1] of thread main", "tls", 4]]' >jq.log ||
		wrong "$copy: thread-local variable: $("$RACETRACE" analyze --kinds race -f json $copy | jq -c '[.anomalies[].variable]')"
done

# What is cut short stays so on the way, and says why.
head -c 2000 local.zst >cut.zst
run 0 info cut.zst
why=$(grep '^complete ' out)
[[ $why = *"no: cut short"* ]] || wrong "a cut trace: $why"
run 0 convert -o cut.jsonl cut.zst
run 0 convert -o cut2.zst cut.jsonl
run 0 convert -o cut3.zst cut.zst
for copy in cut.jsonl cut2.zst cut3.zst; do
	run 0 info $copy
	[ "$(grep '^complete ' out)" = "$why" ] || wrong "$copy: $(grep '^complete ' out), not: $why"
done
exit $fail
