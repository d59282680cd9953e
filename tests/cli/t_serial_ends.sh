#!/bin/bash
# t_serial_ends.sh [BUILD]: `record --serial`: what threads and other processes wait for comes, and each run ends as the program does by itself.
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

build() {
	local compiler=${CC:-gcc} more=()
	case $1 in *.cpp) compiler=${CXX:-g++} ;; esac
	grep -q '^#pragma omp' "$1" && more=(-fopenmp)
	$compiler -g -O1 -fsanitize=thread -Wno-tsan "${more[@]}" "$1" -o "$2" -pthread -lm || exit 1
}

# Pipes and futexes between threads, cancelled waits, a lock that sleeps in the kernel unseen.
cat >waits.c <<'END'
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ends[2], word, hidden, cleaned, count;

static void clean(void *held)
{
	cleaned++;
	if (held)
		pthread_mutex_unlock(held);
}
static void *on_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(clean, &mutex);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}
static void *on_semaphore(void *unused)
{
	pthread_cleanup_push(clean, NULL);
	for (;;)
		sem_wait(&semaphore);
	pthread_cleanup_pop(1);
	return unused;
}
static void *on_sleep(void *unused)
{
	pthread_cleanup_push(clean, NULL);
	for (;;)
		sleep(1000);
	pthread_cleanup_pop(1);
	return unused;
}
static void cancelled(void)
{
	void *(*waits[])(void *) = {on_condition, on_semaphore, on_sleep};
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, waits[i], NULL);
	usleep(50000);
	for (int i = 0; i < 3; i++) {
		pthread_cancel(t[i]);
		pthread_join(t[i], NULL);
	}
	printf("%d\n", cleaned);
}

static void *reads(void *unused)
{
	char byte = 0;
	struct pollfd p = {.fd = ends[0], .events = POLLIN};
	while (read(ends[0], &byte, 1) == 1 && byte != 'z')
		count++;
	poll(&p, 1, 100000); /* nothing comes any more */
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	return unused;
}
static void piped(void)
{
	pthread_t t;
	pthread_create(&t, NULL, reads, NULL);
	for (char c = 'a'; c <= 'z'; c++)
		if (write(ends[1], &c, 1) != 1)
			return;
	close(ends[1]);
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	pthread_join(t, NULL);
	printf("%d\n", count);
}

static long raw(long number, void *at, long operation, long value)
{
	long result;
	register long timeout __asm__("r10") = 0;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(at), "S"(operation), "d"(value), "r"(timeout) : "rcx", "r11", "memory");
	return result;
}
__attribute__((no_sanitize("thread"))) static void *on_hidden(void *unused)
{
	while (!__atomic_load_n(&hidden, __ATOMIC_ACQUIRE))
		raw(SYS_futex, &hidden, FUTEX_WAIT, 0);
	return unused;
}
__attribute__((no_sanitize("thread"))) static void foreign(void)
{
	pthread_t t;
	pthread_create(&t, NULL, on_hidden, NULL);
	sleep(1);
	__atomic_store_n(&hidden, 1, __ATOMIC_RELEASE);
	raw(SYS_futex, &hidden, FUTEX_WAKE, 1);
	pthread_join(t, NULL);
	puts("came");
}

static void forked(void)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		cancelled();
		fflush(stdout);
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
}

static void *counts(void *for_ever)
{
	do {
		pthread_mutex_lock(&mutex);
		count++;
		pthread_mutex_unlock(&mutex);
	} while (for_ever);
	return NULL;
}

int main(int argc, char **argv)
{
	struct timespec t;
	pthread_t thread;
	sem_init(&semaphore, 0, 0);
	if (argc < 2 || pipe(ends) != 0)
		return 2;
	if (!strcmp(argv[1], "cancelled"))
		cancelled();
	else if (!strcmp(argv[1], "piped"))
		piped();
	else if (!strcmp(argv[1], "foreign"))
		foreign();
	else if (!strcmp(argv[1], "forked"))
		forked();
	else if (!strcmp(argv[1], "clock")) {
		sleep(5);
		clock_gettime(CLOCK_REALTIME, &t);
		printf("%ld\n", (long)t.tv_sec);
	} else if (!strcmp(argv[1], "itself")) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_lock(&mutex);
	} else if (!strcmp(argv[1], "alive")) { /* ends while a thread runs for ever */
		pthread_create(&thread, NULL, counts, &mutex);
		return 3;
	} else if (!strcmp(argv[1], "left")) { /* the main thread ends first */
		pthread_create(&thread, NULL, counts, NULL);
		pthread_exit(NULL);
	} else if (!strcmp(argv[1], "crash")) {
		pthread_create(&thread, NULL, counts, &mutex);
		usleep(1000);
		__builtin_trap();
	} else if (!strcmp(argv[1], "quick")) {
		pthread_create(&thread, NULL, counts, &mutex);
		_exit(5);
	}
	return 0;
}
END
build waits.c waits
# ends WHAT EXPECTED OPTION...: it prints that.
ends() {
	local what=$1 expected=$2
	shift 2
	timeout 300 "$RACETRACE" record --serial=3 "$@" -o w.zst ./waits "$what" >out 2>err </dev/null
	[ "$(cat out)" = "$expected" ] || wrong "waits $what prints '$(cat out)', not '$expected': $(head -3 err)"
}
ends cancelled 3
ends piped 25
ends foreign came
ends forked $'3\n7'
ends clock 1000000005 --fix-time

# Pauses that take no time have passed by the program's clocks, also where they are nothing to the strategy; and a time that is computed from them is one to wait for.
cat >slept.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static sem_t never;
static double at(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void *waits(void *arg)
{
	struct timespec t;
	double began = at(CLOCK_MONOTONIC);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 40;
	int result = sem_timedwait(&never, &t);
	double took = at(CLOCK_MONOTONIC) - began;
	if (!result || took < 39.99 || took > 300)
		printf("a wait of 40 s took %f s\n", took);
	return arg;
}
int main(void)
{
	pthread_t thread;
	struct timeval before, after;
	double since = at(CLOCK_MONOTONIC), day = at(CLOCK_REALTIME), work = at(CLOCK_PROCESS_CPUTIME_ID);
	time_t second = time(NULL);
	gettimeofday(&before, NULL);
	pthread_create(&thread, NULL, waits, NULL);
	sleep(30);
	usleep(500000);
	gettimeofday(&after, NULL);
	if (at(CLOCK_MONOTONIC) - since < 30.5 || at(CLOCK_REALTIME) - day < 30.5 || time(NULL) - second < 30 || after.tv_sec - before.tv_sec < 30)
		puts("the clocks are behind");
	if (at(CLOCK_PROCESS_CPUTIME_ID) - work > 25)
		puts("pauses count as work");
	pthread_join(thread, NULL);
	return 0;
}
END
build slept.c slept
for strategy in random coverage pct racefuzzer; do
	begin=$SECONDS
	timeout 60 "$RACETRACE" record --serial=1 --strategy=$strategy -o w.zst ./slept >out 2>err </dev/null || wrong "slept by $strategy: status $?"
	[ ! -s out ] || wrong "slept by $strategy: $(cat out)"
	[ $((SECONDS - begin)) -lt 25 ] || wrong "slept by $strategy takes real time"
done

# outcome WHAT END STATUS SIGNAL: how the run ends.
outcome() {
	timeout 300 "$RACETRACE" record --serial --outcome=outcome.json -o w.zst ./waits "$1" >out 2>err </dev/null
	[ "$(jq -r '"\(.end) \(.status) \(.signal)"' outcome.json)" = "$2 $3 $4" ] || wrong "waits $1: $(head -c 300 outcome.json) $(head -3 err)"
}
outcome itself deadlock null null
outcome alive exit 3 null
outcome left exit 0 null
outcome quick exit 5 null
(ulimit -c 0; outcome crash died null 4; exit $fail) 2>/dev/null || fail=1

# A thread that spins while the end of the process waits for others, one of which is in a call, does not do so for long.
cat >spins_on.c <<'END'
#include <pthread.h>
#include <unistd.h>
static volatile int never;
static void *spins(void *unused)
{
	while (!never)
		;
	return unused;
}
static void *pauses(void *unused)
{
	pause();
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, pauses, NULL);
	pthread_create(&t, NULL, spins, NULL);
	return 3;
}
END
build spins_on.c spins_on
timeout 300 "$RACETRACE" record --serial --outcome=outcome.json -o w.zst ./spins_on 2>err
jq -e '.status == 3 and .steps < 3000' outcome.json >/dev/null || wrong "spins_on: $(jq -c '[.end, .status, .steps]' outcome.json)"

# What another process may give is waited for: a semaphore that the child posts, a mutex and a lock that it holds. But a
# mutex of this kind that this thread holds itself comes from nobody.
cat >shared.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
struct shared {
	pthread_mutex_t mutex;
	pthread_rwlock_t lock;
	sem_t held, soon, last;
} *shared;
static void child(void)
{
	pthread_mutex_lock(&shared->mutex);
	pthread_rwlock_wrlock(&shared->lock);
	sem_post(&shared->held);
	usleep(20000);
	pthread_mutex_unlock(&shared->mutex);
	usleep(20000);
	pthread_rwlock_unlock(&shared->lock);
	usleep(20000);
	sem_post(&shared->soon);
	sem_post(&shared->last);
	_exit(0);
}
static void *none(void *unused)
{
	return unused;
}
int main(int argc, char **argv)
{
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t lock;
	pthread_t t;
	struct timespec until;
	(void)argv;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &mutex);
	pthread_rwlockattr_init(&lock);
	pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->lock, &lock);
	sem_init(&shared->held, 1, 0);
	sem_init(&shared->soon, 1, 0);
	sem_init(&shared->last, 1, 0);
	if (argc > 1) {
		pthread_mutex_lock(&shared->mutex);
		pthread_mutex_lock(&shared->mutex);
	}
	if (fork() == 0)
		child();
	pthread_create(&t, NULL, none, NULL);
	sem_wait(&shared->held);
	pthread_mutex_lock(&shared->mutex);
	pthread_rwlock_rdlock(&shared->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	if (sem_timedwait(&shared->soon, &until) == 0)
		puts("in time");
	sem_wait(&shared->last);
	pthread_join(t, NULL);
	wait(NULL);
	return 0;
}
END
build shared.c shared
for seed in 1 2; do
	timeout 300 "$RACETRACE" record --serial=$seed -o w.zst ./shared >out 2>err
	prints 'in time'
done
run 124 record --serial -o w.zst ./shared itself
says "^racetrace: deadlock:"

# Nor does one of a high priority keep others from going on for ever.
cat >loops.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void add(void)
{
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
}
static void *loops(void *unused)
{
	for (;;)
		add();
	return unused;
}
int main(void)
{
	pthread_t t;
	atexit(add);
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, loops, NULL);
	usleep(1000);
	return 3;
}
END
build loops.c loops
for seed in 1 2 3 4; do
	timeout 300 "$RACETRACE" record --serial=$seed --strategy=pct --exit-sleep=1 -o w.zst ./loops >out 2>err
	status=$?
	[ $status = 3 ] || wrong "loops, pct, seed $seed: status $status: $(head -n 3 err)"
done

# Threads that sleep in a library's pool do nothing more, however long the end waits for others.
${CC:-gcc} -g -O1 -fopenmp -fsanitize=thread -Wno-tsan "$top/samples/openmp/locks.c" -o pool || exit 1
timeout 60 "$RACETRACE" record --serial --exit-sleep=600000 -o w.zst ./pool >out 2>err || wrong "a pool at the end: $? $(tail -n 2 err)"

# Ends and interruptions, under strategies that keep threads waiting as well.
${CC:-gcc} -g -O1 -fsanitize=thread -Wno-tsan "$top/tests/cases/serial_robust.c" -o robust -pthread || exit 1
# By these seeds of pct a thread that counts for ever has the highest priority.
declare -A seeds=([asynchronous,pct]=4 [alive,pct]=5)
# survives WHAT PRINTED END
survives() {
	local strategy
	for strategy in random pct; do
		(ulimit -c 0; timeout 300 "$RACETRACE" record --serial=${seeds[$1,$strategy]:-1} --strategy=$strategy --exit-sleep=50 --outcome=outcome.json -o w.zst ./robust "$1") \
			>out 2>err </dev/null
		[ "$(cat out) $(jq -r .end outcome.json)" = "$2 $3" ] ||
			wrong "robust $1, $strategy: '$(cat out)' and $(jq -r .end outcome.json), not '$2' and $3"
	done
}
survives cancel free exit
survives asynchronous canceled exit
survives robust 'owner dead, consistent' exit
survives lost '' deadlock
survives alive bye exit
survives execute executed exec
survives handler handled exit
survives woken woken exit
survives aborted '' died 2>/dev/null
exit $fail
