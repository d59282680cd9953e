#!/bin/bash
# t_mutants.sh [BUILD]: every command that reads a trace, a report, a part or a schedule reads mutants of valid ones
# (tests/fuzz/mutant.c), in each format: it ends in time, within the memory that such small files allow, with one of its
# documented statuses; a refusal is a message; what it writes as JSON is JSON. RT_MUTANTS: mutants of each file (3); RT_SEED: which (1).
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
count=${RT_MUTANTS:-3}
seed=${RT_SEED:-1}
megabytes=600
sanitized && megabytes=unlimited # a sanitizer's shadow memory is larger than any limit
gcc -O1 -g -I"$top" -o mutant "$top/tests/fuzz/mutant.c" "$top/tracefmt/native/file.c" "$top/tracefmt/event.c" -ljansson -lzstd -lxxhash || exit 1

# reads STATUSES JSON ARGUMENT...: the last mutant, by a command. JSON: whether it writes that, or -.
runs=0
reads() {
	local may=$1 json=$2 status
	shift 2
	runs=$((runs + 1))
	(
		[ $megabytes = unlimited ] || ulimit -v $((megabytes * 1024))
		ulimit -t 60
		exec timeout 120 "$RACETRACE" "$@" >out 2>err </dev/null
	)
	status=$?
	case " $may " in
	*" $status "*) ;;
	*) wrong "$what: racetrace $*: status $status: $(head -n 5 err)" ;;
	esac
	[ $status -lt 2 ] || [ -s err ] || [ $status = 4 ] || wrong "$what: racetrace $*: status $status without a message"
	! grep -v '^racetrace: ' err | grep . || wrong "$what: racetrace $*: no message of racetrace's"
	! grep -iE 'no memory|internal' err || wrong "$what: racetrace $*"
	[ "$json" = - ] || [ $status -gt 1 ] || [ ! -s out ] || jq -es 'length > 0' out >/dev/null || wrong "$what: racetrace $*: its output is not JSON"
}

# The valid ones; hidden is a recording of samples/hidden.c, kept so that a seed makes the same mutants anywhere.
traces=()
for name in all small values destroyed hidden; do
	cp "$top/tests/fuzz/seeds_jsonl/$name" "$name.jsonl" || exit 1
	"$RACETRACE" convert -t racetrace -o "$name.zst" "$name.jsonl" 2>/dev/null || exit 1
	traces+=("$name.jsonl" "$name.zst")
done
for name in regions reentrant fork; do
	cp "$top/tests/fuzz/seeds_std/$name" "$name.std" || exit 1
	traces+=("$name.std")
done
golden=$top/tests/golden/hand/30_syncp_two_round_no.std
cp "$golden" golden.std
"$RACETRACE" convert -t racetrace -o golden.zst golden.std || exit 1
"$RACETRACE" analyze --all -f json -o report.json "$golden" 2>/dev/null
"$RACETRACE" analyze --shard 1/2 -o one.part "$golden" 2>/dev/null && "$RACETRACE" analyze --shard 2/2 -o two.part "$golden" 2>/dev/null || exit 1
traces+=(golden.std golden.zst)
"$RACETRACE" analyze -f json -o hidden.json hidden.zst 2>/dev/null
"$RACETRACE" schedule hidden.json >schedule.json 2>err || wrong "no schedule: $(cat err)"

formats=(json text sarif html gcc dot)
options=(--all --every "--kinds race,deadlock" --exhaustive "--orders hb,cp,syncp" "--max-memory 40M" --guess "--model sc")
number=0
for trace in "${traces[@]}"; do
	for i in $(seq "$count"); do
		number=$((number + 1))
		what="mutant $((seed + number)) of $trace"
		./mutant $((seed + number)) "$trace" >x || wrong "$what: none"
		format=${formats[number % 6]}
		json=- may="0 1 3 4"
		case $format in
		json | sarif) json=yes ;;
		dot) may="$may 2" ;; # unless there is one anomaly
		esac
		# shellcheck disable=SC2086
		reads "$may" $json analyze -f "$format" ${options[number % 8]} x
		reads "0 3" yes info -f json x
		reads "0 3" - dump x
		reads "0 3" yes dump -f jsonl x
		to=(jsonl std racetrace perfetto)
		reads "0 3" - convert -t "${to[number % 4]}" -o y x
		reads "0 3" - guards x
	done
done
for i in $(seq $((count * 8))); do
	number=$((number + 1))
	what="mutant $((seed + number)) of a document"
	./mutant $((seed + number)) report.json >x.json || wrong "$what: none"
	reads "0 1 2 3" - diff x.json report.json
	reads "0 1 2 3" - diff report.json x.json
	reads "0 2 3" - suppress x.json
	reads "0 1 2 3 4" yes analyze -f json --baseline x.json golden.std
	./mutant $((seed + number)) one.part >x.part || wrong "$what: none"
	reads "0 1 3 4" yes merge -f json x.part two.part
	./mutant $((seed + number)) hidden.json >x.json || wrong "$what: none"
	reads "0 1 2 3" - schedule x.json
	reads "0 1 2 3" - schedule --verify --trace hidden.zst x.json
	./mutant $((seed + number)) schedule.json >x.json || wrong "$what: none"
	reads "0 1 2 3" - schedule --expand --trace hidden.zst x.json
done
[ $runs -gt $((count * 100)) ] || wrong "only $runs runs"
exit $fail
