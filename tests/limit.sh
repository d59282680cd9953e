#!/bin/bash
# limit.sh SECONDS COMMAND...: runs a command that may hang. If it has not ended by then, prints which of its processes are
# there and what each of them waits for, and exits with 124; else with the command's status. Kills what is left of it. The
# command's standard input is empty.
set -u
limit=$1
shift
# Its processes are those with this in their environment, whatever groups and sessions they have made, and their children,
# which may have another environment.
mark=RT_LIMIT_$$_$RANDOM
processes() {
	{
		grep -lsaz "^$mark=" /proc/[0-9]*/environ
		grep -s '^PPid:' /proc/[0-9]*/status
	} | awk -F '[/:\t]+' -v command="$command" '
		/PPid:/ { parent[$3] = $6; next }
		{ found[$3] }
		END {
			if (command in parent)
				found[command]
			do {
				more = 0
				for (pid in parent)
					if (!(pid in found) && parent[pid] in found) {
						found[pid]
						more = 1
					}
			} while (more)
			for (pid in found)
				print pid
		}'
}
describe() { # PID
	echo "    $1 ($(sed -n 's/^State:\t//p' "/proc/$1/status"), waits in '$(cat "/proc/$1/wchan")'): $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -c 1-300)"
}
kill_left() {
	local left
	for _ in 1 2 3 4 5; do # one that is killed may have made another meanwhile
		left=$(processes)
		[ -n "$left" ] || break
		kill -KILL $left
		sleep 0.1
	done 2>/dev/null
}
trap kill_left EXIT

# (What a shell runs beside itself ignores the terminal's signals.)
env --default-signal=INT,QUIT "$mark=1" "$@" </dev/null &
command=$!
end=$((SECONDS + limit))
pause=0.01 # many commands are short
while kill -0 $command 2>/dev/null && [ $SECONDS -lt $end ]; do
	sleep $pause
	pause=0.2
done
if kill -0 $command 2>/dev/null; then
	echo "limit.sh: not ended after $limit s: $*"
	for pid in $(processes); do
		describe "$pid" 2>/dev/null
	done
	exit 124
fi
wait $command
status=$?
command= # another process may have its number by now
exit $status
