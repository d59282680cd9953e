#!/bin/bash
# t_model.sh BUILD: which races are observed is by the trace's model, or --model's; files and formats keep it.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# verdicts ARGS...: model and verdicts of what analyze lists, on one line.
verdicts() {
	"$racetrace" analyze --format json --kinds race --all "$@" | jq -c '[.trace.model, (.anomalies[] | .variable.name + " " + .verdict)]'
}

cat >app.c <<'EOF'
#include <pthread.h>
static int data, flag;
static void *set(void *arg)
{
	data = 1;
	__atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, set, 0);
	while (!__atomic_load_n(&flag, __ATOMIC_RELAXED))
		;
	data = 2;
	return pthread_join(t, 0);
}
EOF
gcc -g -fsanitize=thread app.c -o app -lpthread && "$racetrace" record -o trace.zst ./app || exit 1
[ "$(verdicts trace.zst)" = '["c11","data observed"]' ] || wrong "recorded: $(verdicts trace.zst)"
[ "$(verdicts --model c11 trace.zst)" = '["c11","data observed"]' ] || wrong "as c11: $(verdicts --model c11 trace.zst)"
[[ $(verdicts --model sc trace.zst) =~ ^'["sc","data '(predicted|refuted|conditional)'"]'$ ]] || wrong "as sc: $(verdicts --model sc trace.zst)"
"$racetrace" analyze --format json trace.zst >/dev/null
[ $? = 1 ] || wrong "an observed race does not fail"
[ "$("$racetrace" info --format json trace.zst | jq -r .model)" = c11 ] || wrong "info does not know the model"

# There and back.
"$racetrace" dump --format jsonl trace.zst >t.jsonl && "$racetrace" convert --to racetrace -o back.zst t.jsonl || exit 1
for file in t.jsonl back.zst; do
	[ "$(verdicts $file)" = '["c11","data observed"]' ] || wrong "$file: $(verdicts $file)"
done
# What does not say is sequentially consistent, in a file made of it as well.
sed '1s/"model": *"c11", *//' t.jsonl >plain.jsonl
"$racetrace" convert --to racetrace -o plain.zst plain.jsonl || exit 1
for file in plain.jsonl plain.zst; do
	[[ $(verdicts $file) == '["sc",'* ]] || wrong "$file: $(verdicts $file)"
done
sed '1s/"model": *"c11"/"model": "tso"/' t.jsonl >bad.jsonl
"$racetrace" info bad.jsonl 2>err >/dev/null
[ $? = 3 ] && grep -q "bad.jsonl.*'model' is neither" err || wrong "a wrong model: $(cat err)"
"$racetrace" analyze --model tso trace.zst 2>err >/dev/null
[ $? = 2 ] && grep -q "'tso' is not a model: there are c11, sc" err || wrong "a wrong --model: $(cat err)"

# An atomic operation that begins a stretch of its thread and is on memory of that thread alone is dropped.
cat >dropped.jsonl <<'EOF'
{"schema":"racetrace.events/1","order":"stamped","threads":["main",{"name":"a","parent":"main"}]}
{"op":"read","thread":"main","object":"0x9000","pc":16}
{"op":"atomic-rmw","thread":"main","object":"0x8000","arg":4,"order":"acq_rel","pc":32}
{"op":"atomic-rmw","thread":"a","object":"0x8004","arg":4,"order":"acq_rel","pc":48}
{"op":"write","thread":"a","object":"0x9000","pc":64}
EOF
run 1 analyze --format json --kinds race --model c11 dropped.jsonl
holds '[.anomalies[].verdict] == ["observed"]'
exit $fail
