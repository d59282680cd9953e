#!/bin/bash
# run.sh BUILD [SEED [COUNT]]: makes COUNT random programs (20) from SEED (1) on, records runs of each, scripted and free ones, and holds
# what is reported of races and deadlocks against a model of the program:
# - a scripted run has exactly the observed races that the model's happens-before leaves unordered, and the observed
#   deadlocks that it ends in;
# - what is observed or proved is possible in some run of the model;
# - what is refuted is not, and what is possible is found, if all runs of the program have the same events and locks alone order them;
# - --exhaustive says the same but for limits; JSON lines made of the trace give the same report.
# KEEP=FOLDER leaves programs and reports there. Needs bash, gcc and jq.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd) || exit 2
racetrace=$build/bin/racetrace
seed=${2:-1}
count=${3:-20}
FREE_RUN=f$((seed * 7 + 1))
scratch=$(mktemp -d)
folder=${KEEP:-$scratch}
trap 'rm -rf "$scratch"' EXIT
# As in make.c: bits of the features that give runs different events, or order them by more than locks, forks and barriers.
OTHER_ORDER=$((2 | 8 | 32 | 64 | 128 | 256 | 512 | 1024 | 16384))
CONDITION=512

# findings TRACE OPTION...: "KIND VERDICT LINE LINE..." of each race and deadlock, lines in increasing order.
findings() {
	"$racetrace" analyze --all --format json --fail-on never "$@" >report.json 2>err || [ $? = 4 ] || { cat err >&2 && return 1; }
	jq -r '.anomalies[] | select(.kind == "race" or .kind == "deadlock") | select(all(.events[]; .op != "alloc")) |
		[.kind, .verdict, ([.events[] | [.source, .stack[]?] |
			map(select(. and (.file // "" | endswith("programs.c"))))[0].line // 0] | sort | map(tostring))[]] | join(" ")' report.json
}

# of VERDICT...: the findings of these verdicts, without the verdict, from standard input.
of() {
	awk -v wanted=" $* " 'index(wanted, " " $2 " ") { $2 = ""; $0 = $0; $1 = $1; print }' | sort -u
}

# said WHAT: says it of each line of standard input; true if there is none.
said() {
	! sed "s/^/program $n, run $run: $1: /" | grep .
}

# run N R HOW: records one run of program N in the current folder, and compares.
run() {
	local n=$1 run=$2 how=$3 seconds=10 status ok=0 shared=none
	[ "$run" != 3 ] || seconds=1
	"$racetrace" record -o trace.zst ../programs "$n" "$how" "$seconds" >out 2>err
	status=$?
	if [ "$status" = 142 ] && { [ "$run" = 3 ] || [ "$run" = free ]; }; then
		status=stuck
	elif [ "$status" != 0 ] || [ "$(cat out)" != ok ]; then
		echo "program $n, run $run: status $status, output '$(cat out)', $(cat err)"
		return 1
	fi
	findings trace.zst >all && sort -u all >found || return 1
	jq -e .trace.complete report.json >/dev/null || { echo "program $n, run $run: the trace is not complete" && return 1; }
	if [ "$run" != free ]; then
		# Of rings that share a thread one is reported.
		of observed <found >observed
		grep -q ^deadlock observed && shared=deadlock
		comm -13 observed <(sort -u "../$n.$run.observed") | grep -v "^$shared" | said 'not observed' || ok=1
		comm -23 observed <(sort -u "../$n.$run.observed") | said 'observed, but the run has it not' || ok=1
	fi
	[ -f "../$n.possible" ] || return "$ok"
	sort -u "../$n.possible" >possible
	of observed proved <found | comm -23 - possible | said 'observed or proved, but not possible' || ok=1
	((features & CONDITION)) || of refuted <found | comm -12 - possible | said 'refuted, but possible' || ok=1
	((features & OTHER_ORDER)) || [ "$status" = stuck ] ||
		of observed proved predicted conditional <found | comm -13 - possible | said 'possible, but not found' || ok=1
	[ "$run" = 0 ] || return "$ok"
	"$racetrace" convert -o trace.jsonl trace.zst && findings trace.jsonl | sort -u | diff found - | said 'from JSON lines' || ok=1
	findings trace.zst --exhaustive >all && sort -u all >exhaustive || return 1
	for i in found exhaustive; do
		of observed proved <$i >$i.real
		of conditional refuted <$i >$i.unreal
	done
	comm -12 found.real exhaustive.unreal | said 'only without --exhaustive' || ok=1
	comm -12 found.unreal exhaustive.real | said 'only with --exhaustive' || ok=1
	return "$ok"
}

# program N: all runs of program N; true if they are as they should be.
program() {
	local n=$1 ok=0 r features
	mkdir -p "$folder/$n" && cd "$folder/$n" || return 1
	features=$(cat "../$n.features")
	for r in 0 1 2 3; do
		[ ! -f "../$n.$r.how" ] || run "$n" "$r" "$(cat "../$n.$r.how")" || ok=1
	done
	run "$n" free "$FREE_RUN" || ok=1
	return "$ok"
}

mkdir -p "$folder" && rm -rf "$folder"/[0-9]*
"$build/tests/differ" "$seed" "$count" "$folder" || exit 1
gcc -g -O1 -w -fno-builtin -fno-strict-aliasing -fsanitize=thread "$folder/programs.c" -o "$folder/programs" -lpthread || exit 1
for ((n = 0; n < count; n++)); do
	while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-2}" ]; do wait -n; done
	{ program "$n" >"$folder/$n.said" 2>&1 && echo >"$folder/$n.ok"; } &
done
wait
for ((n = 0; n < count; n++)); do
	[ -f "$folder/$n.ok" ] || { sed "s/^/not ok: seed $((seed + n)), /" "$folder/$n.said" | grep . || echo "not ok: seed $((seed + n))"; }
done
passed=$(find "$folder" -maxdepth 1 -name '*.ok' | wc -l)
echo "$passed passed, $((count - passed)) failed"
[ "$passed" = "$count" ]
