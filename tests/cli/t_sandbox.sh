#!/bin/bash
# t_sandbox.sh BUILD: programs that confine themselves, by seccomp, namespaces, another root or user, run to their own
# end, and nothing of what they did is missing.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
gcc -g -O1 -D_GNU_SOURCE -fsanitize=thread "$top/tests/process/sandbox.c" -o app -pthread || exit 1
chmod 755 .

# recorded HOW [MESSAGE]: with small rings, so that threads have to wait for room. False: not on this machine.
recorded() {
	way=$1
	rm -rf t.zst* root
	timeout 60 "$racetrace" record -r 16 -o t.zst -- ./app "$1" >out 2>err
	status=$?
	[ $status = 77 ] && { echo "skipped: $way"; return 1; }
	[ $status = 5 ] && [ "$(cat err)" = "${2-}" ] || wrong "$way: status $status: $(cat err)"
	return 0
}

# cells TRACE: how many writes of the cells are in it.
cells() { "$racetrace" dump "$1" 2>/dev/null | grep -c ' write .*cells'; }

for how in closed strict denied raw-closed raw-strict; do
	recorded $how || continue
	[ "$(cells t.zst)" = 90000 ] || wrong "$way: $(cells t.zst) writes of 90000"
	[ $how = denied ] || "$racetrace" info t.zst | grep -q '^complete *yes' || wrong "$way: $("$racetrace" info t.zst)"
done

# A filter that is not seen forbids everything: threads that are made then need memory of the recorder's.
if recorded raw-denied; then
	"$racetrace" info t.zst | grep -q '^complete *no' || wrong "$way: $("$racetrace" info t.zst)"
fi

# A program that starts in a sandbox knows nothing of it: it runs unrecorded, which is said.
if recorded execute "racetrace: a program that was executed in a seccomp sandbox runs unrecorded"; then
	[ "$(ls t.zst*)" = t.zst ] || wrong "execute: $(ls)"
fi

# Nor does one find the collector from a PID namespace that has a /proc of its own.
if unshare --fork --pid --mount-proc true 2>/dev/null; then
	rm -f t.zst*
	timeout 60 "$racetrace" record -o t.zst -- ./app run unshare --fork --pid --mount-proc ./app none >out 2>err
	status=$?
	[ $status = 5 ] && [ "$(cat err)" = "racetrace: a process cannot reach the collector; it runs unrecorded" ] || wrong "run: status $status: $(cat err)"
fi

for how in none namespace root nobody undumpable filter; do
	recorded $how || continue
	n=0
	for trace in t.zst t.zst.*; do
		n=$((n + $(cells "$trace")))
	done
	[ "$(ls t.zst*)" != t.zst ] && [ $n = 90000 ] || wrong "$way: $n writes of 90000: $(ls)"
done

# Valgrind cannot run a program that confines itself: that fails, as in a kernel without seccomp, and is said.
if [ -e "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ]; then
	gcc -g -O1 -D_GNU_SOURCE "$top/tests/process/sandbox.c" -o plain -pthread || exit 1
	for how in closed denied strict; do
		timeout -s KILL 120 "$racetrace" record --recorder=valgrind -o v.zst -- ./plain $how >out 2>err
		status=$?
		[ $status = 77 ] || wrong "$how under Valgrind: status $status: $(cat err)"
		[ $how = strict ] || [ "$(cat err)" = "racetrace: the program cannot confine itself by seccomp, as Valgrind runs it" ] || wrong "$how under Valgrind: $(cat err)"
	done
fi

# A new PID namespace in which /proc is still the old one's has other numbers than /proc. So have processes in a further
# one, where the first has the number that `record` has in the outer one.
if unshare --fork --pid true 2>/dev/null; then
	for how in none "run ./app none" "run unshare --fork --pid ./app none"; do
		rm -f t.zst*
		# shellcheck disable=SC2086
		timeout 60 unshare --fork --pid "$racetrace" record -r 16 -o t.zst -- ./app $how >out 2>err
		status=$?
		[ $status = 5 ] && [ ! -s err ] || wrong "/proc of another namespace, $how: status $status: $(cat err)"
		n=0
		for trace in t.zst t.zst.*; do
			n=$((n + $(cells "$trace")))
		done
		[ $n = 90000 ] || wrong "/proc of another namespace, $how: $n writes of 90000: $(ls)"
	done
fi

# Where /proc is not mounted there are no positions, which is said; all the rest is there.
rm -f t.zst*
unshare -m sh -c 'mount -t tmpfs none /proc || exit 1; exec timeout 60 "$1" record -r 16 -o t.zst -- ./app none' sh "$racetrace" >out 2>err
status=$?
if [ $status = 1 ]; then
	echo "skipped: without /proc: $(cat err)"
else
	[ $status = 5 ] && [ "$(cat err)" = "$(sed -n "/^racetrace: 't.zst' has no source positions: /p" err)" ] || wrong "without /proc: status $status: $(cat err)"
	for trace in t.zst t.zst.*; do
		"$racetrace" info "$trace" | grep -q '^complete *yes' || wrong "without /proc: $("$racetrace" info "$trace")"
		[ "$("$racetrace" dump "$trace" | grep -c ' write ')" -ge 30000 ] || wrong "without /proc: $trace"
	done
fi
[ "$fail" = 0 ]
