#!/bin/bash
# limit.sh SECONDS COMMAND...: runs a command that may hang. If it has not ended by then, prints which of its processes are
# there and what each of them waits for, and exits with 124; else with the command's status. Kills what is left of it.
set -u
limit=$1
shift
# Its processes are known by their environment, whatever groups and sessions they have made.
mark=RT_LIMIT_$$_$RANDOM
processes() {
	grep -lsaz "^$mark=" /proc/[0-9]*/environ | cut -d / -f 3
}
describe() { # PID
	echo "    $1 ($(sed -n 's/^State:\t//p' "/proc/$1/status"), waits in '$(cat "/proc/$1/wchan")'): $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -c 1-300)"
}

# (What a shell runs beside itself ignores the terminal's signals.)
env --default-signal=INT,QUIT "$mark=1" "$@" &
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
	status=124
else
	wait $command
	status=$?
fi
for _ in 1 2 3 4 5; do # one that is killed may have made another meanwhile
	left=$(processes)
	[ -n "$left" ] || break
	kill -KILL $left
	sleep 0.1
done 2>/dev/null
exit $status
