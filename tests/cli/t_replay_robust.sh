#!/bin/bash
# t_replay_robust.sh [BUILD]: whatever a program does that replay runs, it ends, and all that it has made ends with it.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/replay.sh"

# Replays a race before which the program behaves.
robust() { # NAME: the program of this name, from standard input, with a race at its begin; and its trace of a run that ends.
	{
		cat <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int shared;
static void *other(void *arg) { shared = 1; return arg; }
static void misbehave(void);
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	pthread_create(&t, NULL, other, NULL);
	shared = 2;
	pthread_join(t, NULL);
	if (argc < 2)
		misbehave();
	return 0;
}
END
		cat
	} >"$1.c"
	build "$1" "$1.c"
	run 0 record -o "$1.zst" "./$1" quietly
}
# replays NAME [OPTION...]: the program that misbehaves, within 3 seconds; what it leaves is gone.
replays() {
	local begin=$SECONDS
	run 0 replay --timeout 3 --resolve first "${@:2}" "$1.zst" -- "./$1"
	[ $((SECONDS - begin)) -le 60 ] || wrong "$1: took $((SECONDS - begin)) seconds"
	left "\./$1"
}
robust forks <<'END'
static void misbehave(void)
{
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			signal(SIGTERM, SIG_IGN);
			setsid();
			if (fork())
				_exit(0);
			for (;;)
				pause();
		}
}
END
replays forks
holds '.anomalies[0].replay.results[0] | .outcome == "confirmed" and .end.kind == "status"'
robust stays <<'END'
static void misbehave(void)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	for (;;)
		pause();
}
END
replays stays
holds '.anomalies[0].replay.results[0] | .outcome == "confirmed" and .end.kind == "hang" and .end.differs'
robust spins <<'END'
static void misbehave(void)
{
	static volatile int go = 1;
	while (go)
		;
}
END
replays spins
robust prints <<'END'
static void misbehave(void)
{
	static char text[65536];
	memset(text, 'x', sizeof(text));
	for (;;)
		(void)!write(1, text, sizeof(text));
}
END
replays prints
holds '.anomalies[0].replay.results[0] | .outcome == "confirmed" and .end.kind == "hang" and (.output | length) <= 20000'
robust asks <<'END'
static void misbehave(void)
{
	char line[64];
	puts(fgets(line, sizeof(line), stdin) ? line : "nothing");
}
END
replays asks
holds '.anomalies[0].replay.results[0].output == "nothing\n"'
echo answer >answer
replays asks --input answer
holds '.anomalies[0].replay.results[0].output | startswith("answer\n")'
robust dies <<'END'
static void misbehave(void)
{
	abort();
}
END
replays dies
holds '.anomalies[0].replay.results[0] | .outcome == "confirmed" and .end == {"kind": "signal", "value": 6, "differs": true}'

# A run that never gets there is a timeout; one that ends on the way has diverged.
cat >late.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int shared;
static void *other(void *arg) { shared = 1; return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	if (argc > 1 && argv[1][0] == 'w')
		for (;;)
			pause();
	if (argc > 1 && argv[1][0] == 'e')
		exit(7);
	pthread_create(&t, NULL, other, NULL);
	shared = 2;
	pthread_join(t, NULL);
	return 0;
}
END
build late late.c
run 0 record -o late.zst ./late
run 1 replay --timeout 2 --attempts 1 late.zst -- ./late w
holds '.anomalies[0].replay.outcome == "timeout"'
left '\./late'
run 1 replay --attempts 1 late.zst -- ./late e
holds '.anomalies[0].replay | .outcome == "diverged" and (.results[0] | .thread == "main" and .end.value == 7 and (.why | test("exit status 7")))'

# A thread that yields until another one gives a lock that no hook shows, while that one is to wait: it is stuck, and soon.
cat >unseen.c <<'END'
#include <pthread.h>
#include <sched.h>
static int lock, counted;
static __attribute__((noinline)) int exchange(int *p, int v)
{
	__asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(*p)::"memory");
	return v;
}
static void *count(void *a)
{
	while (exchange(&lock, 1))
		sched_yield();
	counted++;
	exchange(&lock, 0);
	return a;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, count, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
build unseen unseen.c
run 0 record --serial=1 -o unseen.zst ./unseen
run 1 replay --all --timeout 60 unseen.zst
holds '[.anomalies[].replay.results[]] | any(.outcome == "stuck") and all(.end.kind == "status")'

# A server that never ends, of which only one may run at a time: run ends it, and no run meets another one.
cat >serves.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>
static int served;
static void *serve(void *arg) { served++; for (;;) pause(); return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	if (argc > 1 && argv[1][0] == 'd') {
		if (fork())
			return 0;
		setsid();
		signal(SIGTERM, SIG_IGN);
	} else if (flock(open("only", O_RDWR | O_CREAT, 0600), LOCK_EX | LOCK_NB) != 0)
		return 9;
	pthread_create(&t, NULL, serve, NULL);
	serve(&t);
	return 0;
}
END
build serves serves.c
run 1 run --time 0.5 --timeout 1 -f json ./serves
holds '[.anomalies[].replay | select(.) | .outcome] | length > 0 and all(. == "confirmed")'
holds '[.anomalies[].replay | select(.) | .results[].outcome] | all(. == "confirmed")'
left '\./serves'
# A daemon is what is reported, and ends, though it ignores what asks it to. So it is where run is told to end.
run 1 run --time 0.5 -f json ./serves daemon
holds '[.anomalies[] | select(.kind == "race")] | length > 0'
says "had one thread; the report is of process"
left '\./serves'
timeout -s TERM 6 "$RACETRACE" run -f json ./serves daemon >out 2>err
holds '[.anomalies[] | select(.kind == "race")] | length > 0'
says "'./serves' still runs after 5 s, and sleeps; an interrupt ends it"
left '\./serves'

# Interrupted, it takes all runs with it.
"$RACETRACE" replay --timeout 600 late.zst -- ./late w >out 2>err &
replay=$!
sleep 1
kill -TERM $replay
wait $replay
left '\./late'
exit $fail
