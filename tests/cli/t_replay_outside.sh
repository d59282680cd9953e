#!/bin/bash
# t_replay_outside.sh [BUILD]: a replay waits for what another process sends, and lets threads answer it of which the schedule says nothing.
# A call that passes data on tells of it before it waits in the recording, and behind the wait by turns.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# The child takes its time; it sends the byte that the reader waits for when it has the one of the writer.
cat >answers.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

int x;
static int to_child[2], from_child[2];

static void *reads(void *unused)
{
	char c;
	struct pollfd p = {from_child[0], POLLIN, 0};
	if (poll(&p, 1, -1) == 1 && read(from_child[0], &c, 1) == 1)
		x = 1;
	return unused;
}
static void *asks(void *unused)
{
	usleep(200000);
	if (write(to_child[1], "x", 1) != 1)
		_exit(1);
	return unused;
}
static void *races(void *unused)
{
	usleep(900000);
	x = 2;
	return unused;
}
int main(void)
{
	static void *(*const work[])(void *) = {reads, races, asks};
	pthread_t t[3];
	char c;
	if (pipe(to_child) || pipe(from_child))
		return 1;
	if (fork() == 0) {
		if (read(to_child[0], &c, 1) != 1)
			_exit(1);
		usleep(200000);
		_exit(write(from_child[1], &c, 1) != 1);
	}
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread answers.c -o answers -lpthread || wrong 'answers.c does not compile'
run 0 record --no-children -o answers.zst ./answers
run 0 replay --attempts 1 answers.zst
holds '[.anomalies[].replay | select(.)] | length == 1 and all(.outcome == "confirmed" and .confirmed == 2)'

# The data comes when the call that passes it on already waits for it.
cat >passes.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

int x;
static int in[2], out[2];

static void *passes_on(void *unused)
{
	if (splice(in[0], NULL, out[1], NULL, 1, 0) != 1)
		_exit(1);
	return unused;
}
static void *takes(void *unused)
{
	char c;
	if (read(out[0], &c, 1) != 1)
		_exit(1);
	x++;
	return unused;
}
int main(void)
{
	pthread_t passer, taker;
	if (pipe(in) || pipe(out))
		return 1;
	pthread_create(&passer, NULL, passes_on, NULL);
	pthread_create(&taker, NULL, takes, NULL);
	usleep(300000);
	if (write(in[1], "x", 1) != 1)
		return 1;
	x++;
	pthread_join(passer, NULL);
	return pthread_join(taker, NULL);
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread passes.c -o passes -lpthread || wrong 'passes.c does not compile'
run 0 record -o passes.zst ./passes
run 0 dump passes.zst
forked=$(awk '$2 == "main" && $4 == "fork" {n = $3} END {print n}' out)
run 0 schedule passes.zst --anomaly R1
jq --argjson forked "$forked" '(.steps[] | select(.thread == "main.1")) as $passes | (.steps[] | select(.thread == "main" and .to > $forked)) as $gives |
	.steps = [{thread: "main", from: 1, to: $forked}, $passes, ($gives | .from = $forked + 1), .steps[-1]]' out >passes.json
run 0 replay --attempts 1 --trace passes.zst passes.json
holds '.outcome == "confirmed"'

# Both that serve are held before they read what they update. One that only looks and sleeps again frees neither, and
# there is one outside, for which time passes: a search that waited for thousands of its naps ran into the time-out.
cat >naps.c <<'END'
#include <pthread.h>
#include <unistd.h>

static int served, quit, words[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *watches(void *unused)
{
	for (int ended = 0; !ended;) {
		usleep(20000);
		pthread_mutex_lock(&m);
		ended = quit;
		pthread_mutex_unlock(&m);
	}
	return unused;
}
static void *listens(void *unused)
{
	char c;
	return read(words[0], &c, 1) == 1 ? unused : NULL;
}
static void *serves(void *unused)
{
	served++;
	return unused;
}
int main(void)
{
	static void *(*const work[])(void *) = {watches, listens, serves, serves};
	pthread_t t[4];
	if (pipe(words))
		return 1;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work[i], NULL);
	pthread_join(t[2], NULL);
	pthread_join(t[3], NULL);
	pthread_mutex_lock(&m);
	quit = 1;
	pthread_mutex_unlock(&m);
	if (write(words[1], "x", 1) != 1)
		return 1;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread naps.c -o naps -lpthread || wrong 'naps.c does not compile'
run 0 record -o naps.zst ./naps
run 0 replay --attempts 1 naps.zst
holds '[.anomalies[].replay | select(.)] | length > 0 and all(.outcome == "confirmed")'

# Of races without a schedule the search holds the first thread until the second one comes, from where it is: outside in
# a call, in a spin, or in a wait that a timer's descriptor ends again and again.
cat >held.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int done;
static atomic_int turn;

static void *spins(void *me)
{
	for (int i = 0; i < 3; i++) {
		int seen;
		while ((seen = atomic_load(&turn)) % 2 != (int)(intptr_t)me)
			sched_yield();
		atomic_store(&turn, seen + 1);
	}
	done++;
	return NULL;
}
static void *waits(void *unused)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		usleep(20000);
		_exit(0);
	}
	waitpid(child, &status, 0);
	done++;
	return unused;
}
static void *counts(void *unused)
{
	done++;
	return unused;
}
static void ticks(void)
{
	struct itimerspec often = {{0, 3000000}, {0, 3000000}};
	struct pollfd p = {timerfd_create(CLOCK_MONOTONIC, 0), POLLIN, 0};
	uint64_t passed;
	timerfd_settime(p.fd, 0, &often, NULL);
	while (done < 2)
		if (poll(&p, 1, 100) == 1 && read(p.fd, &passed, sizeof passed) < 0)
			_exit(1);
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	void *(*work)(void *) = argc < 2 ? counts : strcmp(argv[1], "spins") ? waits : spins;
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	if (work == counts)
		ticks();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread held.c -o held -lpthread || wrong 'held.c does not compile'
for how in '' spins waits; do
	run 0 record --serial --no-children -o held.zst ./held $how
	run 0 replay --attempts 1 --resolve first --repeat 5 --timeout 10 held.zst
	holds '[.anomalies[].replay | select(.)] | length > 0 and all(.outcome == "confirmed" and .confirmed == .runs)'
done

# A wait that returns before its time was signalled. Out of time it returns something else, and the program goes
# another way: the write before the signal is never pending while the thread reads what it waited for.
cat >signalled.c <<'END'
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, used;

static void *waits(void *unused)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	pthread_mutex_lock(&m);
	int late = pthread_cond_timedwait(&c, &m, &until);
	pthread_mutex_unlock(&m);
	used = late ? -1 : ready;
	return unused;
}
int main(void)
{
	pthread_t t;
	struct timespec pause = {0, 200000000};
	pthread_create(&t, NULL, waits, NULL);
	nanosleep(&pause, NULL);
	ready = 1;
	pthread_mutex_lock(&m);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	return used != 1;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread signalled.c -o signalled -lpthread || wrong 'signalled.c does not compile'
for serial in '' --serial; do
	run 0 record $serial -o signalled.zst ./signalled
	run 0 analyze signalled.zst
	holds '[.summary.race | .observed, .proved] | add == 0'
done

# Only behind the end of the thread that held it a robust mutex says so, and only then this program reads what races.
cat >dead.c <<'END'
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m;
static int racy, used;

static void *writes(void *unused)
{
	racy = 1;
	return unused;
}
static void *dies(void *unused)
{
	pthread_mutex_lock(&m);
	return unused;
}
static void *takes(void *unused)
{
	usleep(100000);
	if (pthread_mutex_lock(&m) == EOWNERDEAD) {
		used = racy;
		pthread_mutex_consistent(&m);
	}
	pthread_mutex_unlock(&m);
	return unused;
}
int main(void)
{
	static void *(*const work[])(void *) = {writes, dies, takes};
	pthread_mutexattr_t a;
	pthread_t t[3];
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &a);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return used < 0;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread dead.c -o dead -lpthread || wrong 'dead.c does not compile'
run 0 record --serial -o dead.zst ./dead
run 0 replay --attempts 1 dead.zst
holds '[.anomalies[].replay | select(.)] | length == 1 and all(.outcome == "confirmed")'

# What no other thread could end: a mutex that its thread holds already, a signal that none sends, a pipe that none
# writes. The recorded run is its schedule.
cat >alone.c <<'END'
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, pipes[2];

static void *locks(void *unused)
{
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_lock(&m);
	return unused;
}
static void *waits(void *unused)
{
	pthread_mutex_lock(&m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return unused;
}
static void *reads(void *unused)
{
	char byte;
	return read(pipes[0], &byte, 1) == 1 ? &ready : unused;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argc;
	if (pipe(pipes))
		return 1;
	pthread_create(&t, NULL, argv[1][0] == 'l' ? locks : argv[1][0] == 'w' ? waits : reads, NULL);
	usleep(1000);
	if (argv[1][0] == 'w') {
		pthread_mutex_lock(&m);
		ready = 1;
		pthread_mutex_unlock(&m);
	}
	pthread_join(t, NULL);
	return 0;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread alone.c -o alone -lpthread || wrong 'alone.c does not compile'
for what in locks waits; do
	run 124 record --serial -o alone.zst ./alone $what
	run 0 replay --attempts 1 --format text alone.zst
	for line in 'confirmed, in 1 of 1 runs (it was observed)' 'confirmed; then: deadlock$' 'replay: racetrace replay alone.zst --finding F1'; do
		grep -q "$line" out || wrong "no '$line' in: $(cat out)"
	done
done
# No run of this one ends by itself, nor is it a deadlock to the scheduler: its trace says that it hangs, also where a
# thread has slept meanwhile.
timeout 3 "$RACETRACE" record --serial -o alone.zst ./alone reads 2>err
run 0 replay --attempts 1 --timeout 3 alone.zst
holds '[.anomalies[] | select(.replay)] | length == 1 and all(.kind == "hang" and .replay.outcome == "confirmed" and .replay.results[0].end == {"kind": "hang", "differs": false})'

# Tasks of a team of one thread never meet, and that is said.
cat >lone.c <<'END'
static int shared;

int main(void)
{
#pragma omp parallel num_threads(1)
	for (int i = 0; i < 2; i++) {
#pragma omp task
		shared += i;
	}
	return shared < 0;
}
END
"${CC:-gcc}" -g -O1 -fopenmp -fsanitize=thread lone.c -o lone || wrong 'lone.c does not compile'
run 0 record --serial -o lone.zst ./lone
run 1 replay --attempts 1 --verdict observed,proved lone.zst
holds '[.anomalies[].replay.results[]? | select(.outcome == "stuck") | .waits[] | select(.text == "has not begun: its team has one thread, which is in another task")] | length >= 1'

# Who drops the last reference to an exception acquires all that others did with it: an event of what the C++ library does
# inside, which is a step of a run as well. The store in the guard of a static local is none, and its event may be left out.
cat >dropped.cc <<'END'
#include <exception>
#include <pthread.h>
#include <unistd.h>

static int racy;

static void *drops(void *unused)
{
	std::exception_ptr p;
	try {
		throw 1;
	} catch (...) {
		p = std::current_exception();
	}
	p = nullptr;
	static const int made = getppid();
	static const int remade = made + getpid();
	racy += remade;
	return unused;
}
int main()
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], nullptr, drops, nullptr);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], nullptr);
	return racy < 0;
}
END
"${CXX:-g++}" -g -O1 -fsanitize=thread dropped.cc -o dropped -lpthread || wrong 'dropped.cc does not compile'
run 0 record --serial -o dropped.zst ./dropped
run 0 replay --attempts 1 --resolve first dropped.zst
holds '[.anomalies[] | select(.replay and .schedule)] | length >= 1 and all(.replay.outcome == "confirmed")'

# The thread is about to look when the signal comes, whose handler runs first: what the handler does is no turn of the
# spin that it was taken for, after which the thread waited for ever.
cat >handled.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static int began;
int later;
static sem_t begun;

static void handler(int sig)
{
	(void)sig;
	__atomic_fetch_add(&began, 1, __ATOMIC_RELAXED);
}
static void await(void)
{
	while (__atomic_load_n(&began, __ATOMIC_RELAXED) < 1)
		usleep(1000);
}
static void *idle(void *unused)
{
	sem_post(&begun);
	await();
	return unused;
}
static void *writes(void *unused)
{
	later = 1;
	return unused;
}
int main(void)
{
	pthread_t t, u;
	signal(SIGUSR2, handler);
	sem_init(&begun, 0, 0);
	pthread_create(&t, NULL, idle, NULL);
	sem_wait(&begun);
	pthread_kill(t, SIGUSR2);
	await();
	pthread_create(&u, NULL, writes, NULL);
	later = 2;
	pthread_join(u, NULL);
	return pthread_join(t, NULL);
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread handled.c -o handled -lpthread || wrong 'handled.c does not compile'
for seed in 1 2 3 4 5 6; do
	run 0 record --serial=$seed -o handled.zst ./handled
	run 0 replay --attempts 1 --resolve first handled.zst
	holds '[.anomalies[].replay | select(.)] | length > 0 and all(.outcome == "confirmed")'
done
exit $fail
