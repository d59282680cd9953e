#!/bin/bash
# t_strategies.sh [BUILD]: `record --serial --strategy`: what each strategy promises, with fixed seeds. RT_STRATEGY_RUNS:
# runs of what is counted. RT_STRATEGY_SAMPLES=all: the same seed gives the same run of each sample.
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/text.sh"
runs=${RT_STRATEGY_RUNS:-40}

# build FILE NAME [FLAG...]: at the same addresses each time.
build() {
	${CC:-gcc} -g -O1 -fsanitize=thread -Wno-tsan -no-pie "${@:3}" "$1" -o "$2" -pthread || exit 1
}

# at PROGRAM OP LINE: the position of that event of an ordinary run, as --at takes it.
at() {
	local pc
	[ -s "$1.jsonl" ] || {
		"$RACETRACE" record --serial -o "$1.zst" "./$1" >/dev/null 2>&1 </dev/null
		"$RACETRACE" dump --format jsonl "$1.zst" >"$1.jsonl"
	}
	pc=$(jq -rn --arg op "$2" --argjson line "$3" '[inputs] |
		(map(select(.position and .frames[0].line == $line)) | map(.position)) as $there |
		map(select(.op == $op and (.pc as $pc | $there | index($pc)))) | .[0].pc' <"$1.jsonl")
	[ "$pc" != null ] || wrong "$1: no $2 at line $3"
	printf '%s+%#x' "$1" $((pc - 0x400000))
}
# between MIN MAX NUMBER TEXT
between() {
	[ "$1" -le "$3" ] && [ "$3" -le "$2" ] || wrong "$4: $3, not $1 to $2"
}
# count RUNS PROGRAM PATTERN OPTION...: sets printed to the number of runs, by seeds from 1, that printed PATTERN, and
# created to that of those that created what they aim at. The last one's outcome is o.json.
count() {
	local seed
	printed=0
	rm -rf outcomes && mkdir outcomes
	for ((seed = 1; seed <= $1; seed++)); do
		"$RACETRACE" record --serial=$seed "${@:4}" --outcome="outcomes/$seed" -o r.zst "./$2" >out 2>err </dev/null
		[ $? != 2 ] || wrong "$2: $(cat err)"
		grep -q "$3" out && printed=$((printed + 1))
	done
	created=$(jq -s 'map(select(.created > 0)) | length' outcomes/*)
	cp "outcomes/$1" o.json
}

# RaceFuzzer's figure 1: (5,7) is created in each run and its error follows in half of them; (1,10) never is.
build "$top/samples/racefuzzer_fig1.c" fig1
count "$runs" fig1 ERROR1 --strategy=racefuzzer --at="$(at fig1 read 19)" --at="$(at fig1 write 27)"
between "$runs" "$runs" "$created" "figure 1, (5,7) created"
between $((runs * 3 / 10)) $((runs * 7 / 10)) "$printed" "figure 1, ERROR1"
jq -e '.creations[0] | (.threads | sort) == ["main.1", "main.2"] and .object == "z"' o.json >/dev/null ||
	wrong "figure 1: $(jq -c .creations o.json)"
count "$runs" fig1 ERROR2 --strategy=racefuzzer --at="$(at fig1 write 15)" --at="$(at fig1 read 30)"
between 0 0 "$created" "figure 1, (1,10) created"
between 0 0 "$printed" "figure 1, ERROR2"

# line FILE TEXT: its number.
line() {
	grep -nF "$2" "$1" | cut -d: -f1 | head -n 1
}
cases=$top/tests/cases

# Figure 2: created in each run and an error in half of them, however many statements are between.
for between in 5 5000; do
	file=$cases/racefuzzer_between.c name=between$between
	build "$file" $name -DBETWEEN=$between
	count "$runs" $name ERROR --strategy=racefuzzer --at="$(at $name read "$(line "$file" @8)")" \
		--at="$(at $name write "$(line "$file" @10)")"
	between "$runs" "$runs" "$created" "figure 2 with $between statements, created"
	between $((runs * 3 / 10)) $((runs * 7 / 10)) "$printed" "figure 2 with $between statements, ERROR"
done

# An atomicity violation, one of two locations, a deadlock: threads wait at their events until those between have come.
file=$cases/slots.c
for kind in 1 2 3; do
	build "$file" slots$kind -DKIND=$kind
done
slot() { # KIND OP TEXT
	at "slots$1" "$2" "$(line "$file" "@$3")"
}
count 10 slots1 WRONG --strategy=racefuzzer --pattern=sequence --at="0/0:$(slot 1 read read)" \
	--at="1/0:$(slot 1 write write)" --at="0/-:$(slot 1 acquire put)" --at="0/0:$(slot 1 write write)"
between 10 10 "$created" "atomicity violation, created"
between 10 10 "$printed" "atomicity violation, WRONG"
count 10 slots2 WRONG --strategy=racefuzzer --pattern=sequence --at="0/0:$(slot 2 write left)" \
	--at="1/-:$(slot 2 acquire gate)" --at="1/0:$(slot 2 read first)" --at="1/1:$(slot 2 read second)" \
	--at="0/-:$(slot 2 acquire enter)" --at="0/1:$(slot 2 write right)"
between 10 10 "$created" "violation of two locations, created"
between 10 10 "$printed" "violation of two locations, WRONG"
count 10 slots3 nothing --strategy=racefuzzer --pattern=deadlock --at="$(slot 3 acquire inner-b)" \
	--at="$(slot 3 acquire inner-a)"
between 9 10 "$created" "deadlock, created"
[ "$(jq -r .end o.json)" = deadlock ] || wrong "no deadlock: $(jq -c .end o.json)"

# PCT finds a bug of depth d with a probability of at least 1/(n k^(d-1)); n and k are those of a run before.
for depth in 1 2; do
	build $cases/pct_depth.c depth$depth -DDEPTH=$depth
	run 0 record --serial --strategy=pct --depth=$depth --outcome=first.json -o r.zst ./depth$depth
	n=$(jq .threads_created first.json)
	[ $depth = 1 ] || n=$((n * $(jq .steps first.json)))
	count $((runs * 2)) depth$depth BUG --strategy=pct --depth=$depth --learn=first.json
	[ $((printed * n * 10)) -ge $((runs * 2 * 8)) ] || wrong "pct, depth $depth: $printed of $((runs * 2)) runs, the bound is 1/$n"
done

# A thread that waits for a time again and again gives its lock to one that is lower.
build "$top/samples/more/c11.c" c11
timeout 60 "$RACETRACE" record --serial=7 --fix-time --strategy=pct -o r.zst ./c11 || wrong "pct, c11: status $?"

# A wait for a time that a signal ended long before it: no thread sleeps, and those that are held are not deadlocked.
build $cases/woken.c woken
sum="$(at woken read "$(line $cases/woken.c @sum)")"
for strategy in suspend racefuzzer; do
	for seed in 1 2 3 4 5; do
		run 0 record --serial=$seed --strategy=$strategy --at="$sum" --outcome=o.json -o r.zst ./woken
		[ "$(jq -r .end o.json)" = exit ] || wrong "$strategy, woken, seed $seed: $(jq -c .end o.json)"
	done
done

# Time that passes for a thread that pauses does not keep one that yielded from its turn.
build $cases/backoff.c backoff
for seed in 1 2 3 4 5; do
	run 0 record --serial=$seed -o r.zst ./backoff
done

# Where a sandbox forbids kill, a deadlocked program is ended otherwise.
build $cases/no_kill.c no_kill
timeout 60 "$RACETRACE" record --serial --outcome=o.json -o r.zst ./no_kill >/dev/null 2>err
[ "$(jq -c '[.end, .status]' o.json)" = '["deadlock",137]' ] || wrong "no_kill: $(cat o.json err)"

# DrFinder: both races of figure 2, and what section 3 makes of it, are observed in the runs after the first one.
observed() {
	"$RACETRACE" analyze --format json "$1" 2>/dev/null |
		jq -r '.anomalies[] | select(.kind == "race" and .verdict == "observed") | .variable.name'
}
build "$top/samples/drfinder_fig2.c" drfinder -O0
build $cases/drfinder_guarded.c guarded
for name in drfinder guarded; do
	want="x"
	[ $name = drfinder ] && want="x y"
	for seed in 1 2 3 4 5; do
		run 0 record --serial=$seed --strategy=drfinder --outcome=o1.json -o d.zst ./$name
		run 0 record --serial=$seed --strategy=drfinder --learn=o1.json --outcome=o2.json -o d1.zst ./$name
		run 0 record --serial=$seed --strategy=drfinder --learn=o2.json -o d2.zst ./$name
		races=$( (observed d1.zst && observed d2.zst) | sort -u | tr '\n' ' ')
		[ "${races% }" = "$want" ] || wrong "drfinder, $name, seed $seed: races on ${races:-nothing}, not on $want"
	done
done
jq -e '[.relations[] | select(.type == "k")] | length > 0' o2.json >/dev/null || wrong "no relation with lock k"

# Phase 1 needs no accesses: without them it has the same relations, which lead to both races of figure 2.
run 0 record --serial=1 --strategy=drfinder --outcome=o1.json -o d.zst ./drfinder
run 0 record --serial=1 --strategy=drfinder --sync-only --outcome=sync.json -o d.zst ./drfinder
[ "$(jq -cS .relations o1.json)" = "$(jq -cS .relations sync.json)" ] || wrong "other relations with --sync-only"
run 0 record --serial=1 --strategy=drfinder --learn=sync.json --outcome=o2.json -o d1.zst ./drfinder
run 0 record --serial=1 --strategy=drfinder --learn=o2.json -o d2.zst ./drfinder
[ "$( (observed d1.zst && observed d2.zst) | sort -u | tr '\n' ' ')" = "x y " ] || wrong "drfinder after --sync-only"

# A thread that waits for a condition is enabled only where the one that signals it, again and again, is about to lock.
build $cases/cond_wake_order.c woken
timeout 60 "$RACETRACE" record --serial=1 --strategy=drfinder -o d.zst ./woken >out 2>err || wrong "drfinder, woken: $? $(tail -n 2 err)"

# A lock is of the type of the structure whose member it is: in each element of a block, and in variables; without debug
# information it goes by where the block was allocated.
for heap in 0 1; do
	build $cases/lock_array.c lock_array$heap -O0 -DHEAP=$heap
	run 0 record --serial=1 --strategy=drfinder --sync-only --outcome=o1.json -o d.zst ./lock_array$heap
	jq -e '[.relations[] | select(.lock)] | length > 0 and all(.type == "item.lock")' o1.json >/dev/null ||
		wrong "types of locks: $(jq -c .relations o1.json)"
	run 0 record --serial=1 --strategy=drfinder --learn=o1.json --outcome=o2.json -o d1.zst ./lock_array$heap
	run 0 record --serial=1 --strategy=drfinder --learn=o2.json -o d2.zst ./lock_array$heap
	(observed d1.zst && observed d2.zst) | grep -qx x || wrong "lock_array$heap: no race on x"
done
jq -e '[.relations[].lock | select(.) | [.element, .offset]] | unique == [[48, 8]]' o1.json >/dev/null ||
	wrong "elements: $(jq -c .relations o1.json)"
build $cases/lock_array.c lock_array -O0 -g0
run 0 record --serial=1 --strategy=drfinder --sync-only --outcome=o1.json -o d.zst ./lock_array
jq -e '[.relations[] | select(.lock)] | length > 0 and all(.type == null and .lock.kind == "heap") and
	(map(.lock.offset) | unique == [8, 56, 104])' o1.json >/dev/null || wrong "types without debug information: $(jq -c .relations o1.json)"

# Options that make no sense.
run 2 record --strategy=pct ./fig1
says "^racetrace record: --strategy needs --serial"
run 2 record --serial --strategy=? ./fig1
says "there are native, random, noise"
run 2 record --serial --strategy=native ./fig1
for position in fig1 fig1+ fig1+x +0x1 1/99:fig1+0x1; do
	run 2 record --serial --at=$position ./fig1
	says "'.*' is not a position"
done
run 3 record --serial --learn="$top/README.md" ./fig1
says "^racetrace: .*README.md: not an outcome"
run 0 record --strategy=native --outcome=o.json ./fig1
[ "$(jq -c '[.strategy, .controlled, .end, .status]' o.json)" = '["native",false,"exit",0]' ] ||
	wrong "the outcome of a native run: $(cat o.json)"

# An order of turns comes about, whichever thread begins: a section of one thread between two of another.
cat >sections.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int state;
static void *sets(void *arg)
{
	pthread_mutex_lock(&m); // first
	state = 1;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m); // second
	state = 2;
	pthread_mutex_unlock(&m);
	return arg;
}
static void *gets(void *arg)
{
	pthread_mutex_lock(&m); // between
	if (state == 1)
		puts("BETWEEN");
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, sets, NULL);
	pthread_create(&t[1], NULL, gets, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
build sections.c sections
turn() {
	at sections acquire "$(line sections.c "// $1")"
}
first=$(turn first) second=$(turn second) middle=$(turn between)
count 10 sections BETWEEN --strategy=coverage --at="0/0:$first" --at="0/1:$middle" --at="0/0:$first" --at="0/1:$middle" --at="0/2:$second"
between 10 10 "$printed" "coverage: the section between two"

# The same strategy, seed and program: the same run, byte by byte.
programs=thread_pool_racy.c
[ "${RT_STRATEGY_SAMPLES-}" = all ] &&
	programs=$(cd "$top/samples" && ls ./*.c pecan/*.c adhoc/*.c systematic/*.c)
for program in $programs; do
	build "$top/samples/$program" app
	for strategy in random noise suspend pct pos coverage racefuzzer drfinder; do
		for again in 1 2 3; do
			timeout 60 "$RACETRACE" record --serial=3 --strategy=$strategy --at=all -o same.zst ./app >/dev/null 2>&1 </dev/null
			"$RACETRACE" dump same.zst | cksum
		done >sums
		[ "$(sort -u sums | wc -l)" = 1 ] || wrong "$program, $strategy: a seed gives different runs"
	done
done

exit $fail
