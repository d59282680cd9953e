#!/bin/bash
# Figures, not verdicts: programs without instrumentation, run plain, recorded by the Valgrind tool, and under Helgrind
# and DRD. Processor seconds are user + system of all processes; medians of RUNS runs, taken in turn. Findings: what
# racetrace calls observed or proved, in places; the peers' reports, in different contexts. Five programs as Debian has
# them are recorded too; what is not installed is left out.
#
# Usage: binary.sh BUILD; prints the table and leaves it in BUILD/bench/binary.txt
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/figures.sh"
build=$(cd "$1" && pwd)
racetrace=$build/bin/racetrace
RUNS=${RUNS:-3}
work=$build/bench
mkdir -p "$work"
cd "$work"
export LC_ALL=C
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.1f", (b > 0 ? a / b : 0)}'; }
# Contexts of a peer's reports.
contexts() { sed -n 's/.*ERROR SUMMARY: [0-9]* errors from \([0-9]*\) contexts.*/\1/p' "$1" | tail -n 1; }

measure() { # NAME PROGRAM ARGS...
	local name=$1 p r h d sure
	[ "${2#./}" = "$2" ] || shift
	: >p.t; : >r.t; : >h.t; : >d.t
	for _ in $(seq "$RUNS"); do
		cpu "$@" >>p.t
		cpu "$racetrace" record --recorder=valgrind -o "$name.binary.zst" -- "$@" >>r.t
		cpu valgrind --tool=helgrind --log-file=helgrind.log "$@" >>h.t
		cpu valgrind --tool=drd --log-file=drd.log "$@" >>d.t
	done
	p=$(median <p.t) r=$(median <r.t) h=$(median <h.t) d=$(median <d.t)
	sure=$("$racetrace" analyze --kinds race --fail-on never -f json "$name.binary.zst" |
		jq '[.findings[] | select(.verdict == "observed" or .verdict == "proved")] | length')
	printf '%-10s %8.2f %9.2f %9.2f %9.2f %8s %8s %6s %9s %6s\n' "$name" "$p" "$r" "$h" "$d" "$(ratio "$r" "$p")" \
		"$(ratio "$r" "$h")" "$sure" "$(contexts helgrind.log)" "$(contexts drd.log)"
}

installed() { # PROGRAM ARGS...
	! command -v "$1" >/dev/null || measure "$@"
}
for program in matrix counter queue; do
	gcc -O2 -g -o "${program}_plain" "$here/programs/$program.c" -lpthread
done
# Input of the programs of Debian's.
seq 1 150000 | awk '{print $1 * 7919 % 150001}' >lines
head -c 300000 lines >text
{
	printf '%-10s %8s %9s %9s %9s %8s %8s %6s %9s %6s\n' program 'plain s' 'record s' 'helgrind' 'drd' 'r/plain' 'r/helgr' sure helgrind drd
	measure matrix ./matrix_plain 400
	measure counter ./counter_plain 300000
	measure queue ./queue_plain 150000
	installed xz -T4 -0 --block-size=80000 -c text
	installed sort --parallel=4 -S 40M -o sorted lines
	installed pigz -p 4 -c text
	installed pbzip2 -p4 -b1 -1 -c text
	installed plzip -n 4 -0 -B 100KiB -c text
} | tee binary.txt
