#!/bin/bash
# t_unrecorded.sh BUILD: a process that can no longer be recorded goes on as if nothing were; why is said once.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
gcc -g -O1 -fsanitize=thread "$top/tests/process/unrecorded.c" -o app -pthread || exit 1

# goes_on SAID TIMES: the program has gone on, with its own status; the message matches, TIMES times, and there is no other.
goes_on() {
	[ $status = 5 ] && [ "$(cat out)" = fine ] || wrong "$way: status $status: $(cat out)"
	[ "$(grep -cE "$1" err)" = "$2" ] && [ "$(wc -l <err)" = "$2" ] || wrong "$way: it says: $(cat err)"
}

way='a folder that moved'
mkdir folder
"$racetrace" record -o folder/t.zst ./app 3 folder moved >out 2>err
status=$?
goes_on "^racetrace: (cannot write 'folder/t.zst.[0-9]*': No such file or directory|2 more processes were not recorded either)$" 2
zstd -tq moved/t.zst || wrong "$way: the first trace: $(ls moved)"

# A folder that is removed is told while the program runs: nothing can be kept.
way='a folder that was removed'
gcc -g -O1 -fsanitize=thread -x c -o waits - <<'END' || exit 1
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	fclose(fopen("begun", "w"));
	while (access("stop", F_OK) != 0)
		usleep(1000);
	puts("fine");
	return 5;
}
END
mkdir folder
"$racetrace" record -o folder/t.zst ./waits >out 2>err &
recorder=$!
await $recorder [ -e begun ]
rm -rf folder
for _ in $(seq 600); do
	[ ! -s err ] || break
	sleep 0.1
done
[ -s err ] || wrong "$way: it is not told while the program runs"
: >stop
wait $recorder
status=$?
goes_on "^racetrace: cannot write 'folder/t.zst': it was removed$" 1

way='a name that is too long'
long=$(printf 'n%.0s' $(seq 249))
"$racetrace" record -o "$long" ./app 3 >out 2>err
status=$?
goes_on "^racetrace: (cannot write '$long.[0-9]*': File name too long|2 more processes were not recorded either)$" 2
zstd -tq -- "$long" || wrong "$way: the first trace"
rm -f n*

for limit in 24 64; do
	way="ulimit -n $limit"
	(ulimit -n $limit && exec "$racetrace" record -o t.zst ./app 12 >out 2>err)
	status=$?
	[ $status = 5 ] && [ "$(cat out)" = fine ] || wrong "$way: status $status: $(cat out)"
	# Each process has a trace, or is counted; why the first of those has none is said, with the limit.
	said=$(grep -cE "^racetrace: cannot (write 't.zst.[0-9]*'|record process [0-9]* any further): Too many open files \(ulimit -n\)$" err)
	more=$(sed -n 's/^racetrace: \([0-9]*\) more process.* not recorded either$/\1/p' err)
	[ $((said + (${more:-0} > 0))) = "$(wc -l <err)" ] && [ "$said" -le 1 ] || wrong "$way: it says: $(cat err)"
	[ $((said + ${more:-0} + $(ls t.zst.[0-9]* 2>/dev/null | grep -vc part))) = 12 ] || wrong "$way: not all are accounted for: $(cat err; ls)"
	rm -f t.zst*
done

# A quiet process that is left behind when the recording is interrupted.
way='a quiet daemon'
for _ in 1 2 3; do
	rm -f awake err
	"$racetrace" record -o t.zst ./app quiet awake 2>err &
	recorder=$!
	await $recorder grep -qs waiting err
	kill -TERM $recorder
	wait $recorder || wrong "$way: the recording's status is $?"
	grep -qx 'racetrace: the recording is interrupted; unrecorded from here on: process [0-9]*' err || wrong "$way: it says: $(cat err)"
	: >awake
	for _ in $(seq 300); do
		[ ! -s awake ] || break
		sleep 0.1
	done
	[ "$(cat awake)" = fine ] || wrong "$way: it has not gone on: $(cat awake)"
	rm -f t.zst*
done
exit $fail
