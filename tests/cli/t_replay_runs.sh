#!/bin/bash
# t_replay_runs.sh [BUILD]: what replay runs: another build of the program, with the recorded input; with each of its options.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
CC=${CC:-gcc}

# compiled NAME SOURCE [OPTION...]: an instrumented program.
compiled() {
	$CC -g "${@:3}" -fsanitize=thread -Wno-tsan "$2" -o "$1" -lpthread || wrong "$2 does not compile"
}
# all_confirmed: everything that was replayed by a schedule is.
all_confirmed() {
	jq -e '[.anomalies[] | select(.replay and .schedule)] | length >= 1 and all(.verdict == "confirmed" and .replay.results[0].outcome == "confirmed" and .replay.results[0].way == "schedule")' out >/dev/null ||
		wrong "$1: $(jq -c '[.anomalies[] | [.id, .verdict, .replay]]' out | head -c 1500)"
}

# --- Another build: a function was added in front, so that code and variables are elsewhere, and lines are others.
mkdir rebuilt
for name in hidden racefuzzer_fig1 pecan_fig1; do
	compiled $name "$top/samples/$name.c"
	run 0 record --serial -o $name.zst ./$name
	{
		printf 'int added[1000];\nint add(int x)\n{\n\tadded[x] = 1;\n\treturn added[x / 2];\n}\n'
		cat "$top/samples/$name.c"
	} >rebuilt/$name.c
	compiled rebuilt/$name rebuilt/$name.c
	run 0 replay --attempts 1 $name.zst -- rebuilt/$name
	says "rebuilt/$name' is not the build that was recorded"
	all_confirmed "rebuilt $name"
done
# Other levels of optimisation: functions are inlined several times, loops unrolled, and accesses are one with another or in registers.
for name in semaphore_lock_racy singleton_racy pecan/account pecan/list more/check_act more/orders_racy; do
	for levels in "O0 O2" "O2 O0" "O1 O2"; do
		read -r before now <<<"$levels"
		app=$(basename $name)
		for level in $levels; do
			[ -x "$app.$level" ] || compiled "$app.$level" "$top/samples/$name.c" "-$level"
		done
		[ -s "$app.$before.zst" ] || run 0 record --serial -o "$app.$before.zst" "./$app.$before"
		run 0 replay --attempts 1 --resolve first "$app.$before.zst" -- "./$app.$now"
		all_confirmed "$app, $before replayed as $now"
	done
done
# A thread that waits for ever is where it would take the lock, at a place of its own where the call is inlined.
cat >twice.c <<'END'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void inner(void)
{
	pthread_mutex_lock(&m);
	n++;
	pthread_mutex_unlock(&m);
}
static void *work(void *p)
{
	inner();
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	pthread_mutex_lock(&m);
	inner();
	return n;
}
END
compiled twice twice.c -O1
compiled twice.O2 twice.c -O2
run 124 record --serial -o twice.zst ./twice
run 0 replay --attempts 1 twice.zst -- ./twice.O2
all_confirmed "twice, O1 replayed as O2"
# The same build under another name.
cp hidden renamed
run 0 replay --attempts 1 hidden.zst -- ./renamed
all_confirmed renamed
# One in which the racing line is no more.
grep -v 'ready = ' "$top/samples/hidden.c" >rebuilt/gone.c
compiled rebuilt/hidden rebuilt/gone.c
run 1 replay --attempts 1 hidden.zst -- rebuilt/hidden
holds '.anomalies[0].replay | .outcome == "failed" and (.results[0].why | test("the other build has no .*hidden.c:[0-9]+"))'

# --- A schedule without its trace: its places are those of any run.
for name in hidden pecan_fig1 racefuzzer_fig1; do
	run 0 record -o $name.zst ./$name
	run 0 schedule --anomaly R1 $name.zst
	cp out $name.json
	jq -e '.goal[0].at | .file and .function and .line' $name.json >/dev/null || wrong "no places: $(cat $name.json)"
	rm $name.zst
	run 0 replay $name.json -- ./$name
	jq -e '.outcome == "confirmed"' out >/dev/null || wrong "$name without its trace: $(cat out)"
done
# That of a wait that never ends has them, too. Another compiler leaves out an access at which threads change.
run 0 schedule twice.zst
cp out twice.json
rm twice.zst
run 0 replay twice.json -- ./twice.O2
holds '.outcome == "confirmed"'
if command -v clang >clang_path; then
	compiled pool "$top/samples/thread_pool_racy.c" -O1
	run 0 record --serial -o pool.zst ./pool
	run 0 schedule pool.zst
	cp out pool.json
	rm pool.zst
	read -ra cflags < <("$RACETRACE" --cflags) && read -ra libs < <("$RACETRACE" --libs)
	clang -g -O1 "${cflags[@]}" -c "$top/samples/thread_pool_racy.c" -o pool.o && clang pool.o -o pool_clang "${libs[@]}" -lpthread ||
		wrong "clang does not compile thread_pool_racy.c"
	run 0 replay pool.json -- ./pool_clang
	holds '.outcome == "confirmed"'
fi
# Without places there is nothing to go by.
jq 'del(.goal[].at)' hidden.json >bare.json
run 3 replay bare.json -- ./hidden
says 'the schedule has no places'
run 2 replay bare.json
says "does not name its trace: give it with --trace, or the program after '--'"
# A report whose trace is gone, as an exploration's mostly is.
run 0 record -o hidden.zst ./hidden
run 1 analyze -f json -o kept.json hidden.zst
rm hidden.zst
run 2 replay kept.json --anomaly R1
says "the trace of 'kept.json' is gone"

# --- Searching for an atomicity violation: its schedule does not apply, since the other thread writes only when it is told to; a second
# round of the loop, which the recorded run did not have, lets it.
cat >rounds.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, told;
static int rounds = 1;
static void *reads(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		int once = x;
		int again = x; /* differs? */
		pthread_mutex_unlock(&lock);
		told = once == again;
		usleep(1000);
	}
	return arg;
}
static void *writes(void *arg)
{
	usleep(50000);
	for (int i = 0; i < 20; i++) {
		if (told)
			x = 1;
		usleep(500);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	(void)argv;
	rounds = argc > 1 ? 40 : 1;
	pthread_create(&a, NULL, reads, NULL);
	pthread_create(&b, NULL, writes, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
compiled rounds rounds.c
run 0 record --serial -o rounds.zst ./rounds
run 0 replay --verdict conditional,predicted rounds.zst -- ./rounds twice
holds '[.anomalies[] | select(.kind == "atomicity" and .replay)] | length >= 1 and all(.verdict == "confirmed")'
holds '[.anomalies[] | select(.kind == "atomicity") | .replay.results[] | select(.way == "search" and .outcome == "confirmed")] | length >= 1'

# --- Standard input is the file that the recorded run read, if it was one.
cat >reads.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int shared;
static void *other(void *arg) { shared = 1; return arg; }
int main(void)
{
	pthread_t t;
	char line[64] = "nothing\n";
	(void)!fgets(line, sizeof(line), stdin);
	pthread_create(&t, NULL, other, NULL);
	shared = 2;
	pthread_join(t, NULL);
	fputs(line, stdout);
	return 0;
}
END
compiled reads reads.c
echo 'from a file' >input
"$RACETRACE" record -o file.zst ./reads <input >/dev/null
run 0 info --format json file.zst
holds '.input | endswith("/input")'
run 0 replay --resolve first file.zst
quiet
holds '.anomalies[0].replay.results[0].output == "from a file\n"'
echo 'from a pipe' | "$RACETRACE" record -o pipe.zst ./reads >/dev/null
run 0 replay --resolve first pipe.zst
says "the recorded run read 'pipe'.*--input"
holds '.anomalies[0].replay.results[0].output == "nothing\n"'
run 0 replay --resolve first --input input pipe.zst
quiet
holds '.anomalies[0].replay.results[0].output == "from a file\n"'

# --- Options. What comes after the schedule is the seed's to choose, and the same each time.
cat >after.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *arg)
{
	shared = 1;
	for (int i = 0; i < 30; i++) {
		pthread_mutex_lock(&lock);
		putchar(*(char *)arg);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, other, "a");
	pthread_create(&t[1], NULL, other, "b");
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
END
compiled after after.c
run 0 record --serial -o after.zst ./after
outputs=
for seed in 1 2 3 4 5 6 1; do
	run 0 replay --seed $seed --resolve first --anomaly R1 after.zst
	outputs+="$(jq -r '.anomalies[0].replay.results[0].output' out) "
done
[ "$(tr ' ' '\n' <<<"$outputs" | sort -u | grep -c .)" -ge 3 ] || wrong "seeds make no difference: $outputs"
[ "${outputs%% *}" = "$(tr ' ' '\n' <<<"$outputs" | grep . | tail -n 1)" ] || wrong "a seed does not repeat: $outputs"
run 0 replay --repeat 4 --resolve first after.zst
holds '.anomalies[0].replay | .runs == 4 and .confirmed == 4 and ([.results[].same] | add) == 4'
# Some of many, the same ones by the same seed.
compiled pecan_fig1 "$top/samples/pecan_fig1.c"
run 0 record --serial -o pecan_fig1.zst ./pecan_fig1
run 0 replay --all --sample 1 pecan_fig1.zst
holds '[.anomalies[] | select(.replay)] | length == 1'
run 0 replay --all --sample 100 --jobs 3 pecan_fig1.zst
holds '[.anomalies[] | select(.replay)] | length >= 2'
# One finding keeps its name when it is confirmed.
run 1 analyze --finding F2 --confirm -f json pecan_fig1.zst
holds '[.findings[] | [.id, .verdict]] == [["F2", "confirmed"]]'
# A time limit starts nothing after it.
cat >slow.c <<'END'
#include <pthread.h>
#include <time.h>
static int one, two, three;
static void *other(void *arg) { one = 1; two = 1; three = 1; return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	struct timespec begin, now;
	(void)argv;
	pthread_create(&t, NULL, other, NULL);
	one = 2; two = 2; three = 2;
	pthread_join(t, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (argc > 1 && now.tv_sec - begin.tv_sec < 2);
	return 0;
}
END
compiled slow slow.c
run 0 record --serial -o slow.zst ./slow
run 0 replay --time-limit 1 --resolve first slow.zst -- ./slow slowly
says 'the time limit is over: [1-9] of [0-9] were not replayed'
holds '[.anomalies[] | select(.replay)] | length >= 1 and length < 3'
# Nor does it repeat what was confirmed.
run 0 replay --time-limit 1 --repeat 30 --resolve first slow.zst -- ./slow slowly
holds '[.anomalies[].replay | select(.)] | map(.runs) | add < 10'

# --- An interrupt leaves a report of what was replayed so far. The first run is recorded, the second confirms a race, and
# a later one waits for the interrupt.
cat >blocks.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
int x, y;
static void *work(void *arg)
{
	x = 1;
	y = 1;
	return arg;
}
int main(void)
{
	struct stat runs;
	pthread_t thread;
	int file = open("blocks.runs", O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (file < 0 || write(file, "r", 1) != 1 || fstat(file, &runs) != 0)
		return 1;
	if (runs.st_size > 2)
		open("held", O_RDONLY); /* a FIFO without a writer */
	pthread_create(&thread, NULL, work, NULL);
	x = 2;
	y = 2;
	pthread_join(thread, NULL);
	return 0;
}
END
compiled blocks blocks.c
mkfifo held
run 0 record --serial -o blocks.zst ./blocks
"$RACETRACE" replay --resolve first --timeout 600 -f json blocks.zst -- ./blocks >out 2>err &
replay=$!
await $replay larger 2 blocks.runs
kill -INT $replay
wait $replay || wrong "an interrupted replay: status $?: $(cat err)"
holds '[.anomalies[] | select(.verdict == "confirmed")] | length == 1'
says 'interrupted: 1 of 2 were not replayed'
rm blocks.runs
"$RACETRACE" run --serial --timeout 600 -f json -- ./blocks >out 2>err &
replay=$!
await $replay larger 2 blocks.runs
kill -INT $replay
wait $replay
[ $? = 1 ] || wrong "an interrupted run: $(cat err)"
holds '.summary.race | .confirmed == 1 and .observed == 1'

# --- `run` with each of its options.
run 1 run -f json -o report.json -- ./pecan_fig1
[ -z "$(grep '^{' out)" ] || wrong "run -o writes to standard output too"
jq -e '.summary.race.confirmed >= 1' report.json >/dev/null || wrong "run -o: nothing confirmed"
run 1 run --no-confirm -f json -o report.json --trace kept.zst -- ./pecan_fig1
jq -e '.summary.race | has("confirmed") | not' report.json >/dev/null || wrong "--no-confirm confirms"
run 0 info kept.zst
run 1 run --serial=7 --jobs 2 --timeout 30 -f json -o report.json --trace kept.zst -- ./pecan_fig1
jq -e '.trace.order == "exact" and .summary.race.confirmed >= 1' report.json >/dev/null || wrong "run --serial is not exact"
run 2 run --serial=x -- ./pecan_fig1
# What is conditional, the program decides: here nothing depends on the read that would see another write.
cat >looks.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count, last, seen;
static void *user(void *arg)
{
	last = 1;
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, user, NULL);
	usleep(1000);
	pthread_mutex_lock(&lock);
	seen = count;
	pthread_mutex_unlock(&lock);
	last = 2;
	pthread_join(thread, NULL);
	return 0;
}
END
compiled looks looks.c
run 0 run --serial --time-limit 0 -f json -o report.json -- ./looks
jq -e '.summary.race | (.confirmed // 0) == 0 and .conditional == 1' report.json >/dev/null || wrong "it is not conditional: $(jq -c .summary report.json)"
run 1 run --serial -f json -o report.json -- ./looks
jq -e '.findings | length == 1 and .[0].verdict == "confirmed" and (.[0].title | test("`last`"))' report.json >/dev/null ||
	wrong "run does not confirm what is conditional: $(jq -c .summary report.json)"
run 1 run --serial -f text -- ./looks
grep -q '^F1 error, confirmed' out && ! grep -q 'no proof' out || wrong "run: the text: $(cat out)"
# What is certain is replayed however long it takes; what the program prints is asked for once, by two runs.
cat >certain.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count, last, seen, one, two;
static void *user(void *arg)
{
	last = 1;
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
	one = 1;
	two = 1;
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	int file = open("certain.runs", O_WRONLY | O_CREAT | O_APPEND, 0600);
	(void)argv;
	if (file < 0 || write(file, "r", 1) != 1)
		return 1;
	pthread_create(&thread, NULL, user, NULL);
	usleep(1000);
	pthread_mutex_lock(&lock);
	seen = count;
	pthread_mutex_unlock(&lock);
	last = 2;
	one = 2;
	two = 2;
	pthread_join(thread, NULL);
	if (argc > 1)
		syscall(SYS_nanosleep, &(struct timespec){.tv_sec = 1}, NULL); /* turns of threads do not cut it short */
	return 0;
}
END
compiled certain certain.c
run 1 run --serial --time-limit 1 -f json -o report.json -- ./certain slowly
jq -e '[.findings[] | select(.verdict == "confirmed" and (.title | test("`one`|`two`")))] | length == 2' report.json >/dev/null ||
	wrong "the time limit of run is for what is certain, too: $(jq -c .summary report.json)"
rm certain.runs
run 1 run --serial -f json -o report.json -- ./certain
jq -e '.summary.race.confirmed == 3' report.json >/dev/null || wrong "run confirms other races: $(jq -c .summary report.json)"
[ "$(stat -c %s certain.runs)" = 9 ] || wrong "not one recorded run, two of each race and two without a schedule: $(stat -c %s certain.runs) runs"
# An observed race that has no schedule is looked for.
compiled statistic "$top/samples/more/statistic.c"
run 0 record -o statistic.zst ./statistic
run 1 analyze --confirm --limit observed_steps_total=1 -f json statistic.zst
holds '[.anomalies[] | select(.kind == "race" and (.follows | not))] | length > 0 and all(.schedule == null and .verdict == "confirmed")'
# Both orders of one line are told apart by the threads; what a header does, by the line that calls it.
cat >same.cpp <<'END'
#include <thread>
#include <utility>
int last;
static void set(int value)
{
	last = value; /* @set */
}
static int from = 1, to;
int main()
{
	std::thread other([] { set(1); std::swap(from, to); });
	set(2);
	std::swap(from, to); /* @swap */
	other.join();
}
END
g++ -g -O0 -fsanitize=thread same.cpp -o same -pthread || wrong "cannot build same.cpp"
run 1 run --serial -f text -- ./same
for thread in main main.1; do
	grep -q "write of line $(sed -n '/@set/=' same.cpp) by $thread first: confirmed" out || wrong "no order by $thread: $(cat out)"
done
grep -q "of line $(sed -n '/@swap/=' same.cpp) first: confirmed" out || wrong "no order by the line that calls the header: $(cat out)"
"$RACETRACE" run -f json -o report.json -- ./reads <input >out 2>err
grep -q '^from a file$' out || wrong "run does not give the program its input"
jq -e '[.anomalies[].replay.results[]?.output] | index("from a file\n")' report.json >/dev/null || wrong "its replays do not read it"

# --- A debugger, each thread right before its event.
compiled hidden "$top/samples/hidden.c"
run 0 record --serial -o hidden.zst ./hidden
run 2 replay --debugger hidden.zst
says '--debugger needs --anomaly'
if command -v gdb >/dev/null; then
	run 0 replay --anomaly R1 --debugger='gdb -batch' -o report.json hidden.zst
	if ! grep -qi 'ptrace\|could not attach' out err; then
		says 'main\.1 \(LWP [0-9]+\) is about to: write of ready at .*hidden.c:[0-9]+ \(publish\)'
		says 'main\.2 \(LWP [0-9]+\) is about to: read of ready at .*hidden.c:[0-9]+ \(consume\)'
		grep -q 'in publish .*hidden.c:' out || wrong "gdb does not show publish: $(tail -n 5 out)"
		grep -q 'in consume .*hidden.c:' out || wrong "gdb does not show consume: $(tail -n 5 out)"
		[ "$(grep -c '^\$[12] = 0$' out)" = 2 ] || wrong "gdb does not show ready: $(tail -n 5 out)"
	fi
	jq -e '.anomalies[] | select(.id == "R1") | .verdict == "confirmed"' report.json >/dev/null || wrong "held and not confirmed"
fi
# Without a debugger it says the same, and is there until it is continued.
rm -f err # of the run before
"$RACETRACE" replay --anomaly R1 --hold --timeout 300 -o report.json hidden.zst >out 2>err </dev/null &
held=$!
for _ in {1..3000}; do # on a busy machine a replay begins late
	grep -qs 'main.2 (LWP' err || ! kill -0 $held && break
	sleep 0.1
done
says 'main\.1 \(LWP [0-9]+\) is about to: write of ready at .*hidden.c:[0-9]+ \(publish\)'
kill -CONT "$(sed -n "s/.*: PID //p" err)" || wrong "nothing is held: $(cat err)"
wait $held || wrong "what is held and continued is not confirmed: $(cat err)"
run 0 replay --anomaly R1 --debugger=true -o report.json hidden.zst
# Of a sequence the events are over then.
run 0 replay --anomaly A1 --debugger=true -o report.json account.O1.zst
says 'main\.[1-4] \(LWP [0-9]+\) has done: write of accounts.*account.c:[0-9]+ \(transfer\)'
# What does not come there is ended.
cat >waits.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int shared;
static void *other(void *arg) { shared = 1; return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	while (argc > 1)
		pause();
	pthread_create(&t, NULL, other, NULL);
	shared = 2;
	return pthread_join(t, NULL);
}
END
compiled waits waits.c
run 0 record --serial -o waits.zst ./waits
run 3 replay --anomaly R1 --hold --timeout 2 waits.zst -- ./waits forever
says "'R1' was not reached within 2 seconds"
exit $fail
