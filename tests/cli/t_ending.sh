#!/bin/bash
# t_ending.sh [BUILD]: other threads have a moment when main ends; record --vary makes another run of it.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE tmp=$SCRATCH
cd "$top" || exit 1
for program in ending first; do
	"${CC:-gcc}" -g -O1 -D_GNU_SOURCE -fsanitize=thread "tests/recorder/$program.c" -o "$tmp/$program" -pthread || exit 1
done

# ends OUTPUT MS THREADS HOW: with at most MS milliseconds at exit. What must not last has hours.
ends() {
	got=$(timeout 100 "$racetrace" record --exit-sleep="$2" -o "$tmp/trace" -- "$tmp/ending" "$3" "$4") &&
		[ "$(tr '\n' ' ' <<<"$got")" = "$1 " ] && return
	echo "--exit-sleep=$2 $3 $4: status $?, '$got'"
	fail=1
}
for how in return exit; do
	ends "worked at exit" 100000000 work $how
	ends "at exit" 100000000 wait $how
	ends "at exit" 1 sleep $how
	ends "at exit" 0 sleep $how
done
ends "" 100000000 sleep _exit

# Each order comes up, and the trace says by which seed.
for seed in $(seq 40); do
	"$racetrace" record --vary="$seed" -o "$tmp/trace" -- "$tmp/first" || fail=1
	[ "$("$racetrace" info --format json "$tmp/trace" | jq .vary)" = "$seed" ] || { echo "seed $seed is not in the trace"; fail=1; }
done >"$tmp/orders"
awk '{ n[$1]++ } END { exit !(n["main"] > 5 && n["thread"] > 5 && NR == 40) }' "$tmp/orders" || { sort "$tmp/orders" | uniq -c; fail=1; }
"$racetrace" record --vary -o "$tmp/trace" -- "$tmp/first" >/dev/null
"$racetrace" info "$tmp/trace" | grep -Eq '^vary +[1-9][0-9]*$' || { echo "no seed of its own"; fail=1; }
exit $fail
