#!/bin/bash
# t_ring.sh BUILD: `record --ring` keeps the last part of a run. Its start is a known state, and nothing is reported falsely.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
gcc -g -O1 -fsanitize=thread "$top/tests/process/long_run.c" -o long_run -pthread || exit 1

# No more than the size, with room for what else is in a file: names, positions, the index.
"$racetrace" record -v --ring 64K -o t.zst ./long_run 20000 >out 2>said || wrong "record failed"
[ "$(cat out)" = 60002 ] || wrong "the program counted $(cat out)"
bytes=$(stat -c %s t.zst)
[ "$bytes" -lt $((128 << 10)) ] || wrong "the ring takes $bytes bytes"
zstd -qt t.zst || wrong "it is no zstd file"
"$racetrace" info --format json t.zst >info.json
jq -e '.complete and .dropped > 100000 and .lost == 0 and .exit.status == 0' info.json >jq.log || wrong "info: $(cat info.json)"
grep -q "t.zst: $(jq .events info.json) events," said || wrong "record and info count differently: $(cat said)"
"$racetrace" info --format text t.zst | grep -q "^dropped  .* before the trace's start" || wrong "info does not say what was dropped"
"$racetrace" dump t.zst >events || wrong "dump failed"

# The start: what the trace lacks comes first, then the lock that is held, the open call and the block that is used.
head -n 1 events | grep -q ' lost  *6' || wrong "first event: $(head -n 1 events)"
[ "$(grep -c ' acquire  *outer' events)" = 3 ] || wrong "the lock that was held at the start: $(grep -c ' acquire  *outer' events)"
grep -q ' alloc .*\[72\].* main' events || wrong "the block from before the start is gone"
grep -q ' write  *racy' events || wrong "the last events are gone"
[ "$(grep -c ' release  *outer' events)" = 3 ] || wrong "releases: $(grep -c ' release  *outer' events)"

# The race at the end is observed, in the block too, which has its allocation; no other is, though both threads wrote
# `guarded` under a lock that one of them took long before the start.
"$racetrace" analyze --format json t.zst >report.json
jq -r '.anomalies[] | select(.kind == "race") | "\(.verdict) \(.variable.name) \(.variable.kind) \(.variable.allocated[0].function)"' report.json | sort -u >races
jq -e '[.anomalies[] | select(.verdict == "observed") | .kind] | unique == ["race"]' report.json >jq.log || wrong "$(cat jq.log)"
grep -q '^observed racy global' races || wrong "races: $(cat races)"
grep -q '^observed .* heap main' races || wrong "the block has no name: $(cat races)"
! grep -q 'guarded\|total' races || wrong "a false race: $(cat races)"
! grep -q '^proved' races || wrong "proved: $(cat races)"

# Every way to write it keeps what it says.
"$racetrace" dump --format jsonl t.zst >t.jsonl && "$racetrace" convert -o again.zst t.jsonl || wrong "conversion failed"
[ "$("$racetrace" info --format json again.zst | jq .dropped)" = "$(jq .dropped info.json)" ] || wrong "the conversion lost 'dropped'"
"$racetrace" dump again.zst | cmp -s - events || wrong "the conversion changed events"

# A run that is shorter than the ring is whole.
"$racetrace" record --serial --ring 64M -o ring.zst ./long_run 100 >out
"$racetrace" record --serial -o whole.zst ./long_run 100 >out
"$racetrace" info --format json ring.zst | jq -e 'has("dropped") | not' >jq.log || wrong "something was dropped of a short run"
for f in ring whole; do "$racetrace" info --format json $f.zst | jq .events; done | uniq | wc -l | grep -q '^1$' ||
	wrong "events differ with a ring"

# Threads that ended before the start take no room.
cat >threads.c <<'END'
#include <pthread.h>
static void *nothing(void *arg)
{
	return arg;
}
int main(void)
{
	for (int i = 0; i < 3000; i++) {
		pthread_t t;
		pthread_create(&t, NULL, nothing, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
END
gcc -g -fsanitize=thread threads.c -o threads -pthread || exit 1
"$racetrace" record --ring 64K -o t.zst ./threads || wrong "record failed"
"$racetrace" dump t.zst | grep -c ' begin ' >begins
[ "$(cat begins)" -lt 1500 ] || wrong "$(cat begins) of 3000 threads have a beginning in the trace"

for size in 1 63K 5X K '' 1KK 99999999999999999999; do
	"$racetrace" record --ring "$size" ./long_run >out 2>err
	[ $? = 2 ] && grep -q 'ring must be at least 64K' err || wrong "--ring '$size': $(cat err)"
done

# A trigger: the trace is written if the program ends so, and the program's own end is passed on in any case.
cat >ends.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 2 && fork() == 0)
		return 0;
	if (argv[1][0] == 's')
		raise(SIGTERM);
	return atoi(argv[1]);
}
END
gcc -g -fsanitize=thread ends.c -o ends || exit 1
# triggered WRITTEN STATUS TRIGGER END
triggered() {
	rm -f t.zst*
	"$racetrace" record --ring 64K --trigger "$3" -o t.zst ./ends $4 >out 2>err
	local status=$?
	[ $status = "$2" ] || wrong "--trigger $3, end $4: status $status"
	[ "$(ls t.zst* 2>/dev/null | wc -l)" = "$1" ] || wrong "--trigger $3, end $4: $(ls)"
	if [ "$1" = 0 ]; then
		[ "$(wc -l <err)" = 1 ] && grep -q 'no trace is written' err || wrong "--trigger $3, end $4: $(cat err)"
	else
		"$racetrace" dump t.zst >out || wrong "--trigger $3, end $4: no trace"
	fi
}
triggered 0 0 failure 0
triggered 1 3 failure 3
triggered 1 3 exit 3
triggered 0 3 exit=4 3
triggered 1 0 exit=0 0
triggered 0 143 exit s
triggered 1 143 signal s
triggered 1 143 signal=TERM s
triggered 1 143 failure s
triggered 0 143 signal=SIGSEGV s
triggered 0 0 signal '0 child'
triggered 2 2 exit '2 child'
# Without a trace there is no outcome either, though another run's trace has that name.
"$racetrace" record --serial -o t.zst ./ends 3 >out 2>err
"$racetrace" record --serial --outcome outcome.json --trigger exit=4 -o t.zst ./ends 3 >out 2>err
[ $? = 3 ] && [ "$(wc -l <err)" = 1 ] && [ ! -e outcome.json ] || wrong "an outcome without a trace: $(cat err)"
for trigger in finding= finding=bad exit=256 exit=x exit= signal=NONE signal=; do
	"$racetrace" record --trigger "$trigger" ./ends 0 >out 2>err
	[ $? = 2 ] && grep -q 'a --trigger is failure' err || wrong "--trigger '$trigger': $(cat err)"
done

# A finding: the trace is kept if there is one, here or in a child.
cat >race.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int racing, x;
static void *add(void *arg)
{
	if (!racing)
		pthread_mutex_lock(&lock);
	x++;
	if (!racing)
		pthread_mutex_unlock(&lock);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	int status, child = argc > 2 ? fork() : 1;
	racing = atoi(argv[1]) && (argc == 2 || child == 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	if (argc > 2 && child)
		wait(&status);
	return 3;
}
END
gcc -g -fsanitize=thread race.c -o race -pthread || exit 1
# found KEPT TRIGGER ARGUMENT...
found() {
	rm -f t.zst*
	"$racetrace" record --serial --outcome o.json --trigger "$2" -o t.zst ./race "${@:3}" >out 2>err
	local status=$?
	[ $status = 3 ] || wrong "--trigger $*: status $status: $(cat err)"
	[ "$(ls t.zst* 2>/dev/null | wc -l)" = "$1" ] || wrong "--trigger $*: $(ls): $(cat err)"
	if [ "$1" = 0 ]; then
		[ "$(wc -l <err)" = 1 ] && grep -q 'no trace is written: an analysis has found nothing' err || wrong "--trigger $*: $(cat err)"
		[ ! -e o.json ] || wrong "--trigger $*: an outcome without a trace"
	fi
}
found 0 finding 0
found 1 finding 1
found 0 finding 0 child
found 2 finding 1 child
found 1 finding=note 1
"$racetrace" record --ring 64K --trigger finding -o t.zst ./race 0 >out 2>err
[ $? = 3 ] && [ ! -e t.zst ] || wrong "a ring without a finding: $(cat err)"
exit $fail
