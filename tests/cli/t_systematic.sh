#!/bin/bash
# t_systematic.sh [BUILD]: explore --strategy=systematic makes all executions of small programs. RT_SYSTEMATIC: of which racy
# ones without reduction, too: few, most, or all, and of more programs, which takes minutes; few: and of no larger ones at all.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

build() {
	gcc -g -O1 -fsanitize=thread "$top/samples/$1.c" -o "$1" -pthread || exit 1
}
build racefuzzer_fig1
build racefuzzer_fig2_fixed

# systematic: the races of all executions, none of a false alarm, whatever the order of the search; a bound is said.
for options in "" "--search bfs" "--search random" "--reduction full"; do
	# shellcheck disable=SC2086
	run 1 explore --strategy systematic $options -f json -- ./racefuzzer_fig1
	holds '.search.complete and .search.races == 1 and (.findings | length) == 1 and .findings[0].verdict == "observed"'
done
run 1 explore --strategy systematic --preemptions 0 -f json -- ./racefuzzer_fig1
holds '.search.complete and .search.preemptions == 0 and .search.executions < 20'
run 1 explore --strategy systematic --runs 3 -- ./racefuzzer_fig1
grep -q '^not all executions: 3 runs, ' out || wrong "a limit of runs: $(tail -n 5 out)"
run 0 explore --strategy systematic -f json -- ./racefuzzer_fig2_fixed
holds '.search.complete and .search.races == 0 and (.runs | length) == 1'
run 2 explore --strategy systematic --reduction some ./racefuzzer_fig1
says "'some' is not a reduction: there are none, partial, full"

# A status that the first execution alone has is a finding, though the others show nothing new.
gcc -g -O1 -fsanitize=thread -xc - -o first -pthread <<'C' || exit 1
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *f(void *a)
{
	x = 1;
	return a;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, f, NULL);
	int early = !x;
	pthread_join(t, NULL);
	return early ? 0 : 7;
}
C
run 1 explore --strategy systematic -f json -- ./first
holds '.search.complete and .search.races == 0 and .runs[0].end == "exit status 7"'
holds '[.findings[].kinds] == [["status"]] and .findings[0].seen.runs == [range(1; (.runs | length) + 1)]'

# Another thread may come between a write and the read behind it: both see what the other has written, in a race each.
gcc -g -O1 -fsanitize=thread -xc - -o between -pthread <<'C' || exit 1
#include <pthread.h>
static volatile struct { int value; long apart[8]; } x, y;
static int saw[2];
static void *f(void *a)
{
	x.value = 1;
	saw[0] = y.value;
	return a;
}
static void *g(void *a)
{
	y.value = 1;
	saw[1] = x.value;
	return a;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, f, NULL);
	pthread_create(&t[1], NULL, g, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return saw[0] && saw[1] ? 7 : 0;
}
C
for reduction in none partial; do
	run 1 explore --strategy systematic --reduction $reduction -f json -- ./between
	holds '.search.complete and .search.races == 2 and any(.runs[]; .end == "exit status 7")'
done

# Its subjects: no race in any execution; with a race the same ones are found without and with partial reduction.
race_free="producer_consumer semaphore cigarette_smokers"
racy="producer_consumer semaphore"
case ${RT_SYSTEMATIC-} in
few) race_free=$racy ;;
most | all) race_free="$race_free sleeping_barber readers_writers" ;;&
most) racy="$racy cigarette_smokers" ;;
all) racy="$racy cigarette_smokers readers_writers sleeping_barber" ;;
esac
for subject in $race_free; do
	gcc -g -O1 -fsanitize=thread "$top/samples/systematic/$subject.c" -o subject -pthread || exit 1
	run 0 explore --strategy systematic --jobs 2 -f json -- ./subject 1
	holds '.search.complete and .search.races == 0'
done
for subject in $racy; do
	gcc -g -O1 -DRACY -fsanitize=thread "$top/samples/systematic/$subject.c" -o racy -pthread || exit 1
	run 1 explore --strategy systematic --jobs 2 --reduction partial -f json -- ./racy
	holds '.search.complete and .search.races > 0'
	jq -c '[([.anomalies[] | .fingerprint] | unique), .search.races]' out >partial
	states=$(jq .search.states out)
	run 1 explore --strategy systematic --jobs 2 --reduction none -f json -- ./racy
	jq -c '[([.anomalies[] | .fingerprint] | unique), .search.races]' out >none
	cmp -s partial none || wrong "$subject: other races by partial reduction: $(cat partial none)"
	holds ".search.complete and .search.states > $states"
done

# Made-up programs: without reduction and with the partial one the races and the ends are the same; with the full one there are no others.
seeds="8 13"
[ "${RT_SYSTEMATIC-}" = all ] && seeds=$(seq 1 20)
for seed in $seeds; do
	bash "$(dirname "${BASH_SOURCE[0]}")/small_program.sh" "$seed" >small.c
	gcc -g -O1 -fsanitize=thread small.c -o small -pthread || exit 1
	for reduction in none partial full; do
		"$RACETRACE" explore --strategy systematic --jobs 2 --reduction $reduction -f json -- ./small >out 2>err
		holds '.search.complete'
		jq -r '.search.races, (.anomalies[] | select(.kind == "race") | .fingerprint)' out | sort -u >races.$reduction
		jq -r '.runs[].end' out | sort -u >ends.$reduction
	done
	cmp -s races.none races.partial || wrong "small program $seed: other races by partial reduction: $(cat races.none races.partial)"
	cmp -s ends.none ends.partial || wrong "small program $seed: other ends by partial reduction: $(cat ends.none ends.partial)"
	[ -z "$(comm -13 ends.none ends.full)" ] || wrong "small program $seed: ends by full reduction alone: $(comm -13 ends.none ends.full)"
done
exit $fail
