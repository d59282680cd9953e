#!/bin/bash
# t_killed.sh BUILD: the collector is killed, or stopped, or interrupted by itself. What was recorded more than a second
# before is in the trace, with its positions, and the program runs to its own end.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
gcc -g -O1 -Wl,--build-id -fsanitize=thread "$top/tests/process/ticks.c" -o ticks -pthread || exit 1

# begin OPTION...: the program is recorded, in the background, for a moment.
begin() {
	rm -rf n n.end t.zst*
	env --default-signal=INT "$racetrace" record "$@" -o t.zst ./ticks n >out 2>err & # the shell has it ignored
	recorder=$!
	for _ in $(seq 300); do
		[ "$(number)" -gt 1500 ] && break
		sleep 0.05
	done
	[ "$(number)" -gt 1500 ] || wrong "it does not begin: $(cat err)"
	program=$(grep -l "^PPid:[[:space:]]$recorder\$" /proc/[0-9]*/status 2>/dev/null | cut -d / -f 3)
}
number() { [ -s n ] && od -An -td4 n | tr -d ' ' || echo 0; }
# ended: the program does, when it is told to.
ended() {
	touch n.end
	for _ in $(seq 200); do
		[ -e "/proc/$program" ] || return 0
		sleep 0.1
	done
	wrong "$way: the program did not end"
	kill -9 "$program"
}
cells() { "$racetrace" dump "$1" 2>/dev/null | grep -c " write .*$2\\b.*ticks.c:"; }

way='kill -9'
begin
before=$(number)
kill -9 $recorder
wait $recorder 2>/dev/null
ended
[ -e t.zst.part ] || wrong "$way: $(ls)"
# In a second the program does at most 1000 of them; a block that is not full has 64 records.
[ "$(cells t.zst.part cells)" -ge $((before - 1100)) ] || wrong "$way: $(cells t.zst.part cells) of $before"
[ "$(cells t.zst.part others)" -ge 136 ] || wrong "$way: $(cells t.zst.part others) of the other thread's 200"
"$racetrace" info t.zst.part 2>/dev/null | grep -q '^complete *no' || wrong "$way: it is complete"
"$racetrace" analyze --allow-incomplete --format json t.zst.part >report 2>err
jq -e '.trace.complete == false' report >/dev/null || wrong "$way: analyze: $(cat err)"

# Another program under the name: no position is known of it.
echo 'int main(void){return 0;}' | gcc -g -x c - -Wl,--build-id -o ticks
[ "$(cells t.zst.part cells)" = 0 ] || wrong "$way: positions of another program"
[ "$("$racetrace" dump t.zst.part 2>/dev/null | grep -c ' write ')" -ge $((before - 1100)) ] || wrong "$way: writes without positions"
gcc -g -O1 -Wl,--build-id -fsanitize=thread "$top/tests/process/ticks.c" -o ticks -pthread || exit 1

# A collector that is stopped holds the program up for some seconds, when its ring is full; then it goes on unrecorded.
way='kill -STOP'
begin -r 4
kill -STOP $recorder
for _ in $(seq 300); do
	[ ! -s err ] || break
	sleep 0.1
done
touch n.end
for _ in $(seq 100); do
	grep -q '^State:.*Z' "/proc/$program/status" && break
	sleep 0.1
done
grep -q '^State:.*Z' "/proc/$program/status" || wrong "$way: the program hangs"
grep -q 'the program goes on unrecorded' err || wrong "$way: it says: $(cat err)"
kill -CONT $recorder
wait $recorder
[ $? = 5 ] || wrong "$way: status"
"$racetrace" info t.zst | grep -q '^complete *no' || wrong "$way: $("$racetrace" info t.zst)"
[ "$("$racetrace" dump --format jsonl t.zst | grep -c '"op":"lost","object":"0x2"')" -ge 1 ] || wrong "$way: no lost event"

# Signals that are sent to it go to the program.
way='kill -INT'
begin
kill -INT $recorder
for _ in $(seq 100); do
	kill -0 $recorder 2>/dev/null || break
	sleep 0.1
done
wait $recorder
[ $? = 130 ] || wrong "$way: status"
"$racetrace" info t.zst | grep -q '^exit *signal' || wrong "$way: $("$racetrace" info t.zst; cat err)"
[ "$(cells t.zst cells)" -ge 1500 ] || wrong "$way: $(cells t.zst cells)"
[ "$fail" = 0 ]
