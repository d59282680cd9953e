#!/bin/bash
# limits.sh RACETRACE man|markdown [FILE]: what `racetrace analyze --limits` prints, as the manual's section or as the
# table of docs/report-format.md; with a FILE, puts it in the place of the section there.
set -u

section() { # PROGRAM FORM
	[ "$2" = man ] || printf '\n| limit | default | option | when it is hit |\n| --- | --- | --- | --- |\n'
	"$1" analyze --limits | while IFS= read -r line; do
		[[ $line =~ ^([a-z_]+)=([0-9]+)\ ([a-z ]+)\ \(([^\)]*)\):\ (.*)$ ]] || { echo "limits.sh: '$line'" >&2; return 1; }
		name=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]} unit=${BASH_REMATCH[3]} option=${BASH_REMATCH[4]} text=${BASH_REMATCH[5]}
		if [ "$2" = man ]; then
			printf '.TP\n.BR %s " (%s %s; %s)"\n%s\n' "$name" "$value" "$unit" "${option//-/\\-}" "${text//-/\\-}"
		else
			printf '| `%s` | %s %s | %s | %s |\n' "$name" "$value" "$unit" "$option" "$text"
		fi
	done || return 1
	[ "$2" = man ] || echo
}

[ $# -ge 3 ] || { section "$1" "$2"; exit; }
section "$1" "$2" >limits.section &&
	awk '/The end of LIMITS/ { within = 0 } !within { print } /Made by tests\/cli\/limits.sh/ { within = 1; while ((getline line < "limits.section") > 0) print line }' \
		"$3" >limits.file && cp limits.file "$3" && rm limits.section limits.file
