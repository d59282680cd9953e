#!/bin/bash
# A divided analysis by make, GNU parallel and a Slurm of one node, as docs/cluster.md has it: its report is that of one process.
# What is not installed is left out, with a line that says so.
#
# Usage: run.sh BUILD [TRACE]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
racetrace=$(cd "$1" && pwd)/bin/racetrace
trace=$(realpath "${2:-$here/../golden/hand/30_syncp_two_round_no.std}")
work=$(mktemp -d)
trap '[ ! -d "$work/slurm" ] || bash "$here/slurm-one-node.sh" stop "$work/slurm"; sleep 1; rm -rf "$work"' EXIT
cd "$work"
export PATH=${racetrace%/*}:$PATH
cp "$trace" "trace.${trace##*.}"
trace=trace.${trace##*.}
status=0
racetrace analyze -o whole.json "$trace" || status=$?
fail=0

merged() { # NAME: the parts are there
	local merge=0
	racetrace merge -o merged.json [1-4].part || merge=$?
	if [ $merge = $status ] && cmp whole.json merged.json; then
		echo "$1: the same report"
	else
		echo "$1: another report"
		fail=1
	fi
	rm -f merged.json ./*.part
}
cat >Makefile <<'M'
N := 4
PARTS := $(shell seq -f '%g.part' $(N))
merged.json: $(PARTS)
M
printf '%%.part: %s\n\tracetrace analyze --shard=$*/$(N) -o $@ $<\n' "$trace" >>Makefile
make -s -j4
merged make
if command -v parallel >/dev/null; then
	parallel racetrace analyze --shard={}/4 -o {}.part "$trace" ::: 1 2 3 4
	merged parallel
else
	echo "GNU parallel is not installed: left out"
fi
if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null && [ "$(id -u)" = 0 ]; then
	eval "$(bash "$here/slurm-one-node.sh" start slurm 2>slurm.err | tail -n 1)"
	export SLURM_CONF
	# shellcheck disable=SC2016
	if sbatch --wait --array=1-4 --wrap="racetrace analyze --shard=\$SLURM_ARRAY_TASK_ID/4 -o \$SLURM_ARRAY_TASK_ID.part $trace" >/dev/null; then
		merged slurm
	else
		echo "slurm: the array failed: $(cat slurm.err slurm-*.out 2>/dev/null | tail -n 3)"
		fail=1
	fi
else
	echo "Slurm (slurm-wlm, munge) is not installed, or this is not root: left out"
fi
exit $fail
