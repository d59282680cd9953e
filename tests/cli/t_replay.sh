#!/bin/bash
# t_replay.sh [BUILD]: replay makes samples do what was found in them, and says where a schedule does not apply.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/replay.sh"

# --- What is proved or observed happens, in both orders. Recorded by turns, so that each trace is exact.
recorded hidden --serial
run 0 replay hidden.zst
quiet
holds '[.anomalies[] | select(.replay)] | length >= 1 and all(.verdict == "confirmed" and .replay.confirmed == .replay.runs)'
holds '.anomalies[] | select(.variable.name == "ready") | .replay | .was == "proved" or .was == "observed"'
holds '.anomalies[] | select(.variable.name == "ready") | [.replay.results[].resolve] | sort == ["first", "second"]'
# With the read first there are no jobs to print. What runs without a schedule print is known if two of them print the
# same: on a busy machine the race may happen in one.
for _ in 1 2 3; do
	jq -e 'any(.anomalies[].replay.results[]?; .output_differs)' out >/dev/null && break
	run 0 replay hidden.zst
done
holds '.anomalies[] | select(.variable.name == "ready") | .events as $e | .replay.results[] | select(.output_differs) |
	$e[if .resolve == "first" then 0 else 1 end].op == "read" and (has("output") | not)'
holds '.summary.race.confirmed >= 1'
run 0 replay hidden.zst --anomaly R1 --resolve second --repeat 3
holds '.anomalies[0].replay | .runs == 3 and .confirmed == 3 and (.results | length) == 1 and .results[0].resolve == "second" and .results[0].same == 3'

# The recorded order is free: what is proved has a schedule all the same.
recorded hidden
run 0 replay -f text hidden.zst
grep -q "^F1 error, confirmed: .publish. writes .ready." out || wrong "no confirmed race: $(head -n 3 out)"
grep -q "replay: confirmed, in 2 of 2 runs" out || wrong "not confirmed twice: $(grep -A3 replay: out)"

# RaceFuzzer, figure 1: z's race leads to the error; x has none, so its schedule does not apply.
recorded racefuzzer_fig1 --serial
run 0 replay --all --attempts 1 racefuzzer_fig1.zst
holds '[.anomalies[] | select(.variable.name == "z")] | length >= 1 and all(.verdict == "confirmed") and any(.[].replay.results[]; .output | test("ERROR1"))'
holds '[.anomalies[] | select(.variable.name == "x" and .replay)] | all(.replay.outcome == "diverged" and .verdict != "confirmed" and
	(.replay.results[0] | .thread and .expected and .actual))'

# PECAN, figure 1: the third race leads to the error.
recorded pecan_fig1
run 0 replay --all pecan_fig1.zst
holds '[.anomalies[] | select(.kind == "race")] | length >= 2 and all(.verdict == "confirmed")'
holds '[.anomalies[].replay.results[].output // ""] | any(test("ERROR"))'

# The second thread takes the locks the other way round only if it finds `m` taken. The first one takes them while it holds `m`, or before.
# `m` is a mutex, or a semaphore.
cat >tries.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static pthread_mutex_t g = PTHREAD_MUTEX_INITIALIZER, h = PTHREAD_MUTEX_INITIALIZER;
#ifdef SEMAPHORE
static sem_t m;
#define LOCK sem_wait
#define TRY sem_trywait
#define UNLOCK sem_post
#else
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock
#define TRY pthread_mutex_trylock
#define UNLOCK pthread_mutex_unlock
#define sem_init(m, shared, value)
#endif
static int meets;
static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}
static void *holds(void *unused)
{
	if (!meets)
		both(&g, &h);
	LOCK(&m);
	if (meets)
		both(&g, &h);
	usleep(200000);
	UNLOCK(&m);
	return unused;
}
static void *tries(void *unused)
{
	usleep(50000);
	if (TRY(&m))
		both(&h, &g);
	else
		UNLOCK(&m);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	(void)argv;
	meets = argc > 1;
	sem_init(&m, 0, 1);
	pthread_create(&a, NULL, holds, NULL);
	pthread_create(&b, NULL, tries, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
END
{
	echo '#define SEMAPHORE'
	cat tries.c
} >tries_semaphore.c
for tries in tries tries_semaphore; do
	build $tries $tries.c
	run 0 record -o never.zst ./$tries
	"$RACETRACE" dump never.zst | grep -q try-failed || wrong "the try does not fail: $(cat err)"
	run 0 analyze -f json --fail-on never never.zst
	holds '[.anomalies[] | select(.kind == "deadlock")] | length == 1 and .[0].verdict == "predicted" and any(.[0].reasons[]; .reason == "failed-try")'
	run 0 schedule never.zst
	mv out never.json
	run 1 schedule --verify never.json --trace never.zst
	grep -q 'a try fails though nobody holds' out || wrong "the schedule is not refused: $(cat out)"
	run 0 record -o meets.zst ./$tries meets
	run 0 replay meets.zst -f json
	holds '[.anomalies[] | select(.kind == "deadlock")] | length == 1 and .[0].verdict == "confirmed" and .[0].replay.was == "proved"'
done

# PECAN, figure 5: the paper's schedule stops at node 6, where the lock is held; its twin is real.
recorded pecan_fig5 --serial
cat >fig5.json <<'END'
{"schema": "racetrace.schedule/1", "kind": "race",
 "steps": [{"thread": "main", "from": 1, "to": FORK}, {"thread": "main.1", "from": 1, "to": UNLOCK}],
 "goal": [{"thread": "main", "ordinal": WRITE3}, {"thread": "main.1", "ordinal": WRITE8}]}
END
ordinal() { # THREAD OPERATION: in the trace.
	"$RACETRACE" dump pecan_fig5.zst | awk -v t="$1" -v op="$2" '$2 == t && $4 == op { print $3; exit }'
}
write() { # THREAD: its first write of x
	"$RACETRACE" dump pecan_fig5.zst | awk -v t="$1" '$2 == t && $4 == "write" && $5 == "x" { print $3; exit }'
}
sed -i "s/FORK/$(ordinal main fork)/; s/UNLOCK/$(ordinal main.1 release)/; s/WRITE3/$(write main)/; s/WRITE8/$(write main.1)/" fig5.json
run 1 replay fig5.json --trace pecan_fig5.zst
holds '.outcome == "stuck" and .confirmed == 0'
holds '[.results[0].waits[] | select(.thread == "main.1")][0].text | test("waits: acquire of lock.*which main holds")'
# Of a schedule alone there are two formats.
run 2 replay fig5.json --trace pecan_fig5.zst -f html
says 'the replay of a schedule has no html: give text or json'
# Without a mark of its own, no other event counts as the goal's.
cat >nowhere.json <<END
{"schema": "racetrace.schedule/1", "kind": "sequence",
 "steps": [{"thread": "main", "from": 1, "to": $(ordinal main fork)}],
 "goal": [{"thread": "main", "ordinal": 99999}]}
END
run 3 replay nowhere.json --trace pecan_fig5.zst
says "'nowhere.json': event 99999 of thread 'main' is nothing that a run can be stopped at"
recorded pecan_fig5_racy
run 0 replay pecan_fig5_racy.zst
holds '.anomalies[0] | .verdict == "confirmed" and .replay.was != "refuted"'

# What no correct reordering proves may happen all the same: survey, figure 2.
recorded survey_fig2
run 0 replay --all survey_fig2.zst
holds '[.anomalies[] | select(.variable.name == "y")] | length >= 1 and all(.verdict == "confirmed")'
recorded more/snapshot
run 0 replay snapshot.zst
holds '[.anomalies[] | select(.replay)] | length >= 1 and all(.verdict == "confirmed")'
# What a thread reads need not decide where it goes: then what is conditional happens. Where it does decide, it does not.
recorded more/independent_read --serial
run 0 replay --all independent_read.zst
holds '.anomalies | length == 1 and .[0].verdict == "confirmed" and .[0].replay.was == "conditional"'
recorded more/independent_read_fixed --serial
run 1 replay --all --attempts 2 independent_read_fixed.zst
holds '[.anomalies[] | select(.replay)] | length == 1 and .[0].verdict == "conditional" and .[0].replay.outcome == "diverged" and
	(.[0].replay.results[0].actual == "its end")'
# A race by the language alone, which no interleaving shows.
recorded more/relaxed_flag --serial
run 1 replay --anomaly R1 --attempts 1 relaxed_flag.zst
holds '.anomalies[0] | .verdict == "observed" and .replay.outcome == "diverged"'

# A deadlock, an atomicity violation, an ASV, a use of freed memory.
cat >inversion.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *arg)
{
	usleep(50000);
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	pthread_join(t, NULL);
	return 0;
}
END
build inversion inversion.c
run 0 record -o inversion.zst ./inversion
run 0 replay inversion.zst
holds '.anomalies[0] | .kind == "deadlock" and .verdict == "confirmed" and .replay.was == "proved" and .replay.results[0].end == {"kind": "deadlock", "differs": true}'
# A schedule that does not say its kind has that of its goal.
run 0 schedule inversion.zst
jq 'del(.kind)' out >inversion.json
run 0 replay inversion.json --trace inversion.zst
holds '.outcome == "confirmed" and .results[0].end.kind == "deadlock"'
recorded pecan/event_queue
run 0 replay event_queue.zst
holds '[.anomalies[] | select(.replay and .kind == "atomicity")] | length >= 1 and all(.verdict == "confirmed")'
recorded pecan/shop
run 0 replay shop.zst
holds '[.anomalies[] | select(.replay and .kind == "asv")] | length >= 1 and all(.verdict == "confirmed")'
# What the last event of a sequence sees may lead its thread elsewhere: that comes after the sequence.
recorded pecan/string_buffer --serial
run 0 replay --attempts 1 string_buffer.zst
holds '[.anomalies[] | select(.replay)] | length >= 1 and all(.verdict == "confirmed")'
# The trace of a run that left its schedule has a schedule of its own.
cat >helped.h <<'END'
#include <pthread.h>
static void *helper(void *arg) { return arg; }
static void help(void)
{
	pthread_t t;
	if (pthread_create(&t, NULL, helper, NULL) == 0)
		pthread_join(t, NULL);
}
END
sed 's/^\t\tlist_add(&to/\t\thelp(), list_add(\&to/' "$top/samples/pecan/list.c" >helped.c
gcc -g -fsanitize=thread -include ./helped.h -I"$top/samples/pecan" helped.c -o helped || wrong "helped does not compile"
run 0 record --serial -o helped.zst ./helped
run 0 replay --all --attempts 2 helped.zst
holds '[.anomalies[].replay.results[]? | select(.way == "rerun" and .outcome == "confirmed")] | length >= 1'
# What a timer or a connection decides: critical sections that the recording does not have, or that this run does not.
cat >ticks.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ticks, shared;
static void tick(void)
{
	if (access("tick", F_OK) != 0)
		return;
	pthread_mutex_lock(&lock);
	ticks++;
	pthread_mutex_unlock(&lock);
}
static void *other(void *arg)
{
	tick();
	shared = 1;
	return arg;
}
int main(void)
{
	pthread_t t;
	tick();
	pthread_create(&t, NULL, other, NULL);
	shared = 2;
	pthread_join(t, NULL);
	return 0;
}
END
build ticks ticks.c
run 0 record --serial -o silent.zst ./ticks
touch tick
run 0 record --serial -o ticking.zst ./ticks
run 0 replay --attempts 1 silent.zst
holds '[.anomalies[] | select(.variable.name == "shared")] | length >= 1 and all(.verdict == "confirmed")'
rm tick
run 0 replay --attempts 1 ticking.zst
holds '[.anomalies[] | select(.variable.name == "shared")] | length >= 1 and all(.verdict == "confirmed")'
# A wait that ended early is none that time passes to; a call that makes an event or not, by what state an object is in.
recorded more/kernel_racy --serial
run 0 replay --attempts 1 --resolve first kernel_racy.zst
holds '[.anomalies[] | select(.variable.name == "waited" or .variable.name == "whole")] | length >= 2 and all(.verdict == "confirmed")'
# A timer's signals interrupt a thread that waits for a semaphore; what their handler does is before it waits again.
recorded more/handlers_racy --serial
run 0 replay --attempts 1 --resolve first handlers_racy.zst
holds '[.anomalies[] | select(.replay)] | length >= 4 and all(.verdict == "confirmed")'
# A library makes a thread for itself when it gets to that: it is waited for.
recorded more/requests_racy --serial
run 0 replay --attempts 1 --resolve first requests_racy.zst
holds '[.anomalies[] | select(.replay)] | length >= 5 and all(.verdict == "confirmed")'
# A spin may have fewer turns than in the recording, also where the schedule changes threads in one of them.
g++ -std=c++20 -g -fsanitize=thread -Wno-tsan "$top/samples/more/shared_config_racy.cpp" -o shared_config_racy -lpthread || wrong "shared_config_racy does not compile"
for seed in 2 11; do
	run 0 record --serial=$seed -o shared_config_racy.zst ./shared_config_racy
	run 0 replay --attempts 1 --resolve first shared_config_racy.zst
	holds '[.anomalies[] | select(.replay)] | length >= 1 and all(.verdict == "confirmed")'
done
# Both accesses are pending on one memory, at two addresses.
recorded more/two_addresses_racy --serial
run 0 replay --attempts 1 --resolve first two_addresses_racy.zst
holds '[.anomalies[] | select(.kind == "race" and .verdict == "confirmed")] | length >= 5'
recorded refcount_racy
run 0 replay refcount_racy.zst
holds '[.anomalies[] | select(.replay)] | length >= 1 and all(.verdict == "confirmed")'

# --- The other ways to ask.
run 1 analyze --confirm --fail-on confirmed hidden.zst
holds '.anomalies[0].verdict == "confirmed"'
run 0 replay hidden.zst --all --jobs 2 -o report.json
holds '.summary.race.confirmed >= 1' report.json
run 0 replay hidden.zst -- ./hidden
build pecan_fig5
run 1 run -f json -- ./hidden
# The program's own output comes first.
sed -n '/^{/,$p' out >report.json
holds '.anomalies[0].verdict == "confirmed"' report.json
# So does the text, which lists findings.
run 1 run -- ./hidden
grep -q '^F1 error, confirmed: ' out || wrong "run does not say what was confirmed: $(head -n 3 out)"
run 0 replay hidden.zst --finding F1
holds '.anomalies[0].verdict == "confirmed"'
# It keeps its name, though it is the only one that is listed.
run 1 replay racefuzzer_fig1.zst --attempts 1 --finding F2
holds '.findings | length == 1 and .[0].id == "F2"'
run 2 replay hidden.zst --finding F9
says "there is no finding 'F9' in 'hidden.zst' that can be replayed"
# A library that the program loads itself.
cat >plugin.c <<'END'
int shared;
void touch(int value) { shared = value; }
END
cat >host.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
static void (*touch)(int);
static void *work(void *arg) { touch(1); return arg; }
int main(void)
{
	pthread_t t;
	void *plugin = dlopen("./plugin.so", RTLD_NOW);
	touch = (void (*)(int))dlsym(plugin, "touch");
	pthread_create(&t, 0, work, 0);
	touch(2);
	return pthread_join(t, 0);
}
END
${CC:-gcc} -g -O1 -fsanitize=thread -shared -fPIC plugin.c -o plugin.so && ${CC:-gcc} -g -O1 -fsanitize=thread host.c -o host -pthread -ldl || exit 1
run 0 record -o host.zst ./host
run 0 replay host.zst
holds '[.anomalies[] | select(.replay)] | length >= 1 and all(.verdict == "confirmed")'
run 0 run -- ./pecan_fig5
grep -q '^no deadlocks' out || wrong "run prints no report: $(head -n 5 out)"
run 3 run -- ./there_is_none
says there_is_none
[ -z "$(ls temporary)" ] || wrong "left: $(ls temporary)"

# --- Wrong use.
run 2 replay hidden.zst --anomaly R99
says "no anomaly 'R99'"
run 2 replay hidden.zst --resolve third
run 2 replay hidden.zst --verdict great
run 2 replay hidden.zst --hold
run 2 replay
run 3 replay there_is_none.zst
printf 'T0|w(x)|1\nT1|w(x)|2\n' >two.std
run 2 replay --all two.std
says "does not say which program"
run 1 replay hidden.zst -- ./there_is_none
holds '.anomalies[0].replay.outcome == "failed"'

# Behind the goal, a signal wakes one of several waiters of which the schedule says nothing.
cat >waiters.c <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static int shared, waiting, passes, passed;
static void *waiter(void *arg)
{
	pthread_mutex_lock(&lock);
	waiting++;
	while (!passes)
		pthread_cond_wait(&woken, &lock);
	passes--;
	passed++;
	pthread_mutex_unlock(&lock);
	return arg;
}
static void *other(void *arg)
{
	shared = 1;
	return arg;
}
int main(void)
{
	pthread_t t[4];
	int n = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, waiter, NULL);
	while (n < 3) {
		pthread_mutex_lock(&lock);
		n = waiting;
		pthread_mutex_unlock(&lock);
	}
	pthread_create(&t[3], NULL, other, NULL);
	shared = 2;
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		passes++;
		pthread_cond_signal(&woken);
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%d passed\n", passed);
	return passed != 3;
}
END
build waiters waiters.c
run 0 record --serial -o waiters.zst ./waiters
run 0 replay waiters.zst
holds '.anomalies[] | select(.variable.name == "shared") | .replay | .outcome == "confirmed" and
	all(.results[]; .end == {"kind": "status", "value": 0, "differs": false})'

# A thread that waits at a barrier is not yet at its goal right behind it, but on its way.
cat >behind.c <<'END'
#include <pthread.h>
static pthread_barrier_t all_here;
static int done;
static void *worker(void *arg)
{
	pthread_barrier_wait(&all_here);
	done = 1;
	return arg;
}
int main(void)
{
	pthread_t t[3];
	pthread_barrier_init(&all_here, NULL, 3);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return !done;
}
END
build behind behind.c
run 0 record --serial -o behind.zst ./behind
run 0 replay --attempts 1 behind.zst
holds '[.anomalies[] | select(.variable.name == "done")] | length >= 1 and all(.verdict == "confirmed")'

# A run finds what the one before has written, unless that is removed.
cat >once.c <<'END'
#include <fcntl.h>
#include <pthread.h>
static int shared;
static void *other(void *arg)
{
	shared = 1;
	return arg;
}
int main(void)
{
	pthread_t t;
	if (open("written", O_CREAT | O_EXCL, 0600) < 0)
		return 3;
	pthread_create(&t, NULL, other, NULL);
	shared = 2;
	pthread_join(t, NULL);
	return 0;
}
END
build once once.c
run 0 record -o once.zst ./once
run 1 replay --attempts 1 once.zst
holds '.anomalies[0].replay | .outcome == "diverged" and .results[0].end.value == 3'
run 0 replay --attempts 1 --before 'echo cleaning; rm -f written' once.zst
quiet
holds '.anomalies[0].replay | .outcome == "confirmed" and .confirmed == 2 and (.results[0] | has("output") | not)'
run 1 replay --attempts 1 --before 'exit 4' once.zst
holds '.anomalies[0].replay | .outcome == "failed" and (.results[0].why | test("--before failed: .exit 4."))'
run 1 run -j 4 --before 'rm -f written' -f json ./once
holds '.anomalies[0].verdict == "confirmed" and .anomalies[0].replay.confirmed == 2'
run 3 run --before 'exit 4' ./once
says "the command of --before failed: 'exit 4'"
run 1 explore --runs 4 -j 4 --before 'rm -f written' -f json -- ./once
holds '[.runs[].end] == ["exit status 0", "exit status 0", "exit status 0", "exit status 0"]'
holds "any(.runs[].repeat; startswith(\"racetrace explore\") and contains(\" --before 'rm -f written' \"))"

# Each finding has one anomaly tried before any has two: what the time does not suffice for is another way to a bug that was shown. The interrupt
# comes before the third anomaly; the first run is for comparison, and the one that is interrupted is the fifth.
cat >two.c <<'END'
#include <pthread.h>
int a, b;
static void *f(void *unused)
{
	a++;
	b++;
	return unused;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, f, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
build two two.c
run 0 record -o two.zst ./two
(
	echo "$BASHPID" >pid
	exec "$RACETRACE" replay --resolve first --attempts 1 -f json --before 'echo >>runs; [ "$(wc -l <runs)" -lt 5 ] || kill -INT "$(cat pid)"' -o out two.zst 2>err
)
says 'interrupted: 2 of 4 were not replayed'
holds '(.findings | length) == 2 and ([.anomalies[] | select(.replay) | .id] | length == 2) and
	([.anomalies[] | select(.replay) | .id] as $tried | all(.findings[]; any(.anomalies[]; IN($tried[]))))'

exit $fail
