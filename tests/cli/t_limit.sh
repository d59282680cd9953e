#!/bin/bash
# t_limit.sh [BUILD]: tests/limit.sh keeps what the command's status says, and ends one that hangs with all of its processes,
# and only these; run.sh names a test that hangs.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
limit=$top/tests/limit.sh

# ends STATUS COMMAND...: within the limit.
ends() {
	local status
	echo input | bash "$limit" 600 "${@:2}" >out 2>err
	status=${PIPESTATUS[1]}
	[ "$status" = "$1" ] || wrong "status $status, not $1: ${*:2}"
}
ends 0 true
ends 7 bash -c 'exit 7'
ends 127 no-such-command
ends 137 bash -c 'kill -KILL $$'
ends 130 bash -c 'kill -INT $$; exit 3' # not ignored
ends 0 cat
prints ''

# (What is killed may still be waited for by nobody.)
gone() {
	! grep -qs '^State:[[:space:]][^ZX]' "/proc/$1/status"
}
sleep 1000 &
bystander=$!

# What the command leaves behind does not stay, though it has ended well.
ends 0 bash -c 'setsid sleep 1001 & echo $! >left'
await $$ gone "$(cat left)"

# Of a command that hangs: one of another session, one of another environment, one whose parent has ended.
cat >hangs.sh <<'END'
setsid sleep 1002 & echo $! >pids
env -i sleep 1003 & echo $! >>pids
bash -c 'sleep 1004 & echo $! >>pids'
echo $$ >>pids
wait
END
# named: the message names all that hang, and nothing else.
named() {
	local command
	grep -qx "limit.sh: not ended after $seconds s: bash hangs.sh" out || return 1
	for command in 'sleep 1002' 'sleep 1003' 'sleep 1004' 'bash hangs.sh'; do
		grep -qE "^    [0-9]+ \(.*\): $command $" out || return 1
	done
	[ "$(wc -l <out)" = 5 ]
}
for seconds in 1 10 100; do # until all are there, which on a busy machine may take long
	bash "$limit" $seconds bash hangs.sh >out 2>err
	status=$?
	! named || break
done
[ $status = 124 ] || wrong "one that hangs: status $status"
named || wrong "it says: $(cat out)"
while read -r pid; do
	await $$ gone "$pid"
done <pids
! gone $bystander || wrong 'another process is killed'
kill $bystander

# Tests, in a tree of their own.
mkdir -p tree/tests/cli
cp "$limit" "$top/tests/spent.sh" tree/tests
cp "$top/tests/cli/run.sh" tree/tests/cli
echo 'sleep 1005' >tree/tests/cli/t_hangs.sh
echo '[ -x "$RACETRACE" ]' >tree/tests/cli/t_passes.sh
LIMIT=1 bash tree/tests/cli/run.sh "${RACETRACE%/bin/*}" hangs >out 2>err && wrong 'a test that hangs passes'
grep -qx 't_hangs: failed' out && grep -q 'limit.sh: not ended after 1 s: bash .*/t_hangs\.sh' out || wrong "of a test that hangs: $(cat out)"
[ "$(tail -n 1 out)" = '0 passed, 1 failed' ] || wrong "$(tail -n 1 out)"
bash tree/tests/cli/run.sh "${RACETRACE%/bin/*}" passes >out 2>err || wrong "one that passes: $(cat out)"
[ "$(tail -n 1 out)" = '1 passed, 0 failed' ] || wrong "$(tail -n 1 out)"
exit $fail
