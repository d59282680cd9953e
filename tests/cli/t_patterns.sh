#!/bin/bash
# t_patterns.sh [BUILD]: --pattern, the examples of racetrace-patterns(5), and --regions with the searches that ask for them.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

check() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || wrong "$1: '$2' is not '$3'"
}
# found TRACE OPTION...: pattern, verdict and events of what is found.
found() {
	local trace=$1
	shift
	"$racetrace" analyze --format json --fail-on never "$@" "$trace" |
		jq -r '.anomalies[] | "\(.pattern) \(.verdict) \([.events[].event] | join(" "))"' | sort
}
# std EVENT...: a trace, an event a line, each at a place of its own.
std() {
	local i=0
	for event; do echo "$event|$((++i))"; done
}

# The examples of the page, each part in a file of its own.
awk '/^\.EX/ {n++; next} /^\.EE/ {next} /^\./ {inside = 0} {if (n) print > ("example" n)}' \
	<(sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$top/docs/racetrace-patterns.5" |
		awk '/^\.EX/ {inside = 1} inside; /^\.EE/ {inside = 0}' | sed 's/\\-/-/g')
for i in 1 2 3; do
	[ -s example$i ] || { echo "the page has no example $i"; exit 1; }
done
check 'patterns of the first example' "$(grep -c ^pattern example1)" 3

std 'T1|acq(A)' 'T1|w(x)' 'T1|w(y)' 'T1|rel(A)' 'T2|acq(B)' 'T2|r(x)' 'T2|r(y)' 'T2|rel(B)' >race.std
check 'figure 2' "$(found race.std --pattern example1 --kinds pattern | tr '\n' ';')" \
	'ASV proved 2 6 7 3;data-race observed 6 2;data-race observed 7 3;'
std 'T1|acq(A)' 'T1|w(x)' 'T1|w(x)' 'T1|rel(A)' 'T2|r(x)' >atomicity.std
check 'figure 2, one cell' "$(found atomicity.std --pattern example1 --kinds pattern | cut -d' ' -f1-2 | uniq -c | tr -s ' \n' ' ')" \
	' 1 atomicity-violation proved 2 data-race observed '

std 'T1|acq(A)' 'T1|r(x)' 'T1|rel(A)' 'T1|acq(A)' 'T1|w(x)' 'T1|rel(A)' 'T2|acq(A)' 'T2|w(x)' 'T2|rel(A)' >stale.std
check 'stale value' "$(found stale.std --pattern example2)" 'stale-value proved 2 8 5'
check 'neither race nor atomicity violation' "$(found stale.std)" ''

std 'T1|acq(A)' 'T1|w(x)' 'T1|r(z)' 'T1|rel(A)' 'T2|acq(B)' 'T2|r(x)' 'T2|w(y)' 'T2|rel(B)' \
	'T3|acq(C)' 'T3|r(y)' 'T3|w(z)' 'T3|rel(C)' >circle.std
check 'circle' "$(found circle.std --pattern example3 --kinds pattern)" 'circle proved 2 6 7 10 11 3'

# w-w-w is off unless it is asked for.
std 'T1|acq(A)' 'T1|w(x)' 'T1|w(x)' 'T1|rel(A)' 'T2|acq(B)' 'T2|w(x)' 'T2|rel(B)' >www.std
check 'w-w-w off' "$(found www.std --kinds atomicity)" ''
check 'w-w-w on' "$(found www.std --kinds atomicity --pattern w-w-w)" 'w-w-w proved 2 6 3'

# Regions: what is between begin and end is one only where annotated ones are asked for, or added to those of locks.
std 'T1|begin(x)' 'T1|acq(A)' 'T1|r(x)' 'T1|rel(A)' 'T1|acq(A)' 'T1|w(x)' 'T1|rel(A)' 'T1|end(x)' \
	'T2|acq(A)' 'T2|w(x)' 'T2|rel(A)' >annotated.std
check 'annotated' "$(found annotated.std --regions annotated)" 'r-w-w proved 3 10 6'
std 'T1|acq(A)' 'T1|r(x)' 'T1|rel(A)' 'T1|acq(A)' 'T1|w(x)' 'T1|rel(A)' 'T2|acq(A)' 'T2|w(x)' 'T2|rel(A)' >locks.std
check 'critical sections' "$(found locks.std --regions locks)" ''

# Errors: one line that names the place; status 2.
printf 'pattern p\nE = a - b\nT = t - u\n  SV = s -- s\n' >bad
message=$("$racetrace" analyze --pattern bad race.std 2>&1 >/dev/null)
check 'status of a wrong file' $? 2
check 'message' "${message#*: }" "bad:4:11: expected a name: '-'"
message=$("$racetrace" analyze --pattern none race.std 2>&1 >/dev/null)
check 'status without the file' $? 2
check 'message without the file' "${message#*: }" "cannot open 'none': No such file or directory"
exit $fail
