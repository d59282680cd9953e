#!/bin/bash
# t_shard.sh [BUILD]: the parts of an analysis make the very report of one process, and its exit status. Golden traces, of the
# random ones every tenth; RT_SHARD=all: all of them, each in 2, 3 and 7 parts.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

divide() { # TRACE N OPTION...
	local trace=$1 n=$2 whole merged i
	shift 2
	"$RACETRACE" analyze "$@" -o whole.json "$trace" 2>/dev/null
	whole=$?
	rm -f ./*.part
	for i in $(seq "$n"); do
		run 0 analyze "$@" --shard="$i/$n" -o "$i.part" "$trace"
	done
	"$RACETRACE" merge -o merged.json ./*.part 2>/dev/null
	merged=$?
	[ $merged = $whole ] || wrong "$trace in $n parts: status $merged, not $whole"
	cmp -s whole.json merged.json || wrong "$trace in $n parts $*: another report"
}
number=0
counts=(2 3 7)
for trace in "$top"/tests/golden/{hand,atomicity,values,ibm,random}/*.std*; do
	number=$((number + 1))
	if [ "${RT_SHARD:-}" = all ]; then
		for n in "${counts[@]}"; do divide "$trace" "$n" --all; done
	else
		case $trace in
		*/random/*) [ $((number % 10)) = 0 ] || continue ;;
		*) [ $((number % 3)) = 0 ] || continue ;;
		esac
		divide "$trace" "${counts[number / 3 % 3]}" --all
	fi
done
[ $number -gt 100 ] || wrong "only $number golden traces"
trace=$top/tests/golden/hand/30_syncp_two_round_no.std
divide "$trace" 3 --kinds race --guess --every
divide "$trace" 2 --exhaustive -j 2
divide "$trace" 2 --limit search_events=1

# What is wrong with parts.
rm -f ./*.part
run 0 analyze --shard=1/2 -o 1.part "$trace"
run 0 analyze --shard 2/2 -o2.part "$trace"
run 3 merge 1.part
says "part 2 of 2 is missing"
run 3 merge 1.part 1.part
says "is part 1 of 2, which another file is already"
run 0 analyze --shard=2/3 -o 4.part "$trace"
run 3 merge 1.part 4.part
says "'4.part' is part 2 of 3, but others are of 2"
run 3 merge 1.part none.part
says "cannot open"
run 0 analyze --all --shard=2/2 -o 3.part "$trace"
run 3 merge 1.part 3.part
says "its options differ"
cp "$top/tests/golden/hand/30_syncp_two_round_no.std" own.std
run 0 analyze --shard=1/2 -o 1.part own.std
run 0 analyze --shard=2/2 -o 2.part own.std
head -c -1 2.part >cut.part
run 3 merge 1.part cut.part
says "'cut.part' is no whole part"
echo "x" >text.part
run 3 merge 1.part text.part
says "'text.part' is no whole part"
cp "$top/tests/golden/hand/31_syncp_two_round_yes.std" own.std
run 3 merge 1.part 2.part
says "'own.std' has changed since"
run 0 analyze --shard=2/2 -o 3.part own.std
run 3 merge 1.part 3.part
says "'3.part' is a part of another analysis: its candidates differ"
run 2 analyze --shard=1/2 "$trace"
says "name it with --output"
run 2 analyze --shard=1/2 -o - "$trace"
says "name it with --output"
for shard in 0/2 3/2 1 1/ /2 x/2 1/0 1/2x; do
	run 2 analyze --shard=$shard -o 1.part "$trace"
done
run 2 merge

# A part with a wrong byte is refused, wherever it is.
damaged() { # AT: 2.part with a byte that is not the one there
	local byte
	byte=$(od -An -tu1 -j "$1" -N 1 2.part)
	{ head -c "$1" 2.part; printf "\\x$(printf %x $((byte ^ 255)))"; tail -c +$(($1 + 2)) 2.part; } >bad.part
}
cp "$top/tests/golden/hand/30_syncp_two_round_no.std" own.std
size=$(stat -c %s 2.part)
for at in $(seq 80 | awk -v size="$size" '{ print int(($1 - 1) * (size - 1) / 79) }'); do
	damaged "$at"
	"$RACETRACE" merge -o merged.json 1.part bad.part >out 2>err
	[ $? = 3 ] && grep -q "'bad.part'" err || wrong "a wrong byte at $at of $size: $(cat err)"
done
damaged 8
run 3 merge 1.part bad.part
says "'bad.part' is of another version of racetrace"
cat 2.part <(echo) >bad.part
run 3 merge 1.part bad.part
says "'bad.part' is no whole part"

# None makes merge crash, even with the checksum of its bytes. Those of the first result's numbers by threes: each is too
# large once. Then each number is -1, which the format itself uses.
cat >forge.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <xxhash.h>
int main(int argc, char **argv)
{
	static char bytes[1 << 20];
	FILE *f = fopen(argc > 1 ? argv[1] : "", "r+");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (n < 24)
		return 1;
	uint64_t sum = XXH3_64bits(bytes, n - 24);
	return fseek(f, -8, SEEK_END) || fwrite(&sum, sizeof sum, 1, f) != 1 || fclose(f);
}
END
${CC:-gcc} -o forge forge.c -lxxhash || wrong "forge.c does not compile"
cp 2.part bad.part
./forge bad.part && cmp -s 2.part bad.part || wrong "forge.c has another checksum than part.c"
for at in $(seq 0 3 247) $(seq 40 | awk -v size="$size" '{ print int($1 * size / 41) }'); do
	{ head -c $at 2.part; printf '\377'; tail -c +$((at + 2)) 2.part; } >bad.part
	./forge bad.part
	"$RACETRACE" merge -o merged.json 1.part bad.part >out 2>err
	[ $? -le 4 ] || wrong "a wrong byte at $at: $(cat err)"
done
for ((at = 0; at + 4 <= size; at += 4)); do
	{ head -c $at 2.part; printf '\377\377\377\377'; tail -c +$((at + 5)) 2.part; } >bad.part
	./forge bad.part
	"$RACETRACE" merge -o merged.json 1.part bad.part >out 2>err
	[ $? -le 4 ] || wrong "a wrong number at $at: $(cat err)"
done
exit $fail
