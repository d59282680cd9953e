#!/bin/bash
# t_serial.sh [BUILD]: `record --serial`: one thread at a time. The same seed gives the same run, another one may give
# another; deadlocks are told and ended, spin loops end, and pauses take no time.
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/text.sh"

build() {
	local compiler=${CC:-gcc} more=()
	case $1 in *.cpp) compiler=${CXX:-g++} ;; esac
	grep -q '^#pragma omp' "$1" && more=(-fopenmp)
	$compiler -g -O1 -fsanitize=thread -Wno-tsan "${more[@]}" "$1" -o "$2" -pthread -lm || exit 1
}

# same PROGRAM RUNS: dumps of as many runs of a seed are equal byte by byte.
same() {
	local run first="" sum
	rm -f same.zst
	for ((run = 1; run <= $2; run++)); do
		timeout 90 "$RACETRACE" record --serial=7 -o same.zst "./$1" >out 2>err </dev/null
		"$RACETRACE" dump same.zst >same.dump 2>/dev/null
		sum=$(cksum <same.dump)
		[ -n "$first" ] || cp same.dump first.dump
		: "${first:=$sum}"
		[ "$sum" = "$first" ] || {
			wrong "$1: run $run of a seed differs from the first: $(diff first.dump same.dump | head -n 4)"
			return
		}
	done
	[ -s same.dump ] || wrong "$1: nothing was recorded"
}

for name in bounded_queue ring_buffer semaphore_lock singleton survey_fig4 thread_pool refcount; do
	build "$top/samples/$name.c" $name
	same $name "${RT_SERIAL_RUNS:-5}"
done

# Nor do the digits of a process id, where they can be chosen.
for last in 500 15000; do
	echo $last >/proc/sys/kernel/ns_last_pid
	run 0 record --serial=7 -o pid.zst ./refcount
	"$RACETRACE" dump pid.zst | cksum
done >sums 2>/dev/null
[ "$(sort -u sums | wc -l)" = 1 ] || wrong "the process id's length changes the run"

# Nor does what a controlled child is told of the recording.
cat >parent.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status;
	if (fork() == 0) {
		execl("./refcount", "./refcount", (char *)0);
		_exit(9);
	}
	return wait(&status) < 0 || status;
}
END
gcc -g -fsanitize=thread parent.c -o parent || wrong "parent does not compile"
for i in 1 2 3 4 5; do
	rm -f child.zst*
	run 0 record --serial=7 --children=controlled -o child.zst ./parent
	"$RACETRACE" dump child.zst.[0-9]* | cksum
done >sums
[ "$(sort -u sums | wc -l)" = 1 ] || wrong "five runs of a controlled child differ: $(cat sums)"
! grep -q ' 0$' sums || wrong "there is no trace of a controlled child"

# Some two of a few seeds differ.
for seed in 1 2 3 4 5; do
	run 0 record --serial=$seed -o seed.zst ./ring_buffer
	"$RACETRACE" dump seed.zst | cksum
done >sums
[ "$(sort -u sums | wc -l)" -gt 1 ] || wrong "five seeds give the same run of ring_buffer"

# The order is exact, and info says so.
run 0 record --serial -o a.zst ./bounded_queue
"$RACETRACE" analyze --format json a.zst | jq -e '.trace.order == "exact"' >/dev/null || wrong "the order is not exact"

# A deadlock: told, ended, and in the trace.
build "$top/tests/cases/real_deadlock.c" deadlock
run 124 record --serial --outcome=outcome.json -o d.zst ./deadlock
says "^racetrace: deadlock: none of the 2 threads can go on"
"$RACETRACE" analyze --format json d.zst | jq -e '[.anomalies[] | select(.kind == "deadlock" and .verdict == "observed")] | length == 1' \
	>/dev/null || wrong "analyze does not see the deadlock"

[ "$(jq -c '[.end, .status, [.threads[] | [.thread, .state, .operation, .object, .locks[0]]]]' outcome.json)" = \
	'["deadlock",null,[["main","blocked","acquire","b","a"],["main.1","blocked","acquire","a","b"]]]' ] ||
	wrong "the outcome of the deadlock: $(cat outcome.json)"
broken=$(jq -nr --slurpfile schema "$top/docs/outcome.schema.json" --slurpfile value outcome.json -f "$top/tests/cli/schema.jq" 2>&1)
[ -z "$broken" ] || wrong "the outcome is not of its schema: $(head -n 5 <<<"$broken")"
jq -e '.threads[0].stack[0] | test("real_deadlock.c:24")' outcome.json >/dev/null || wrong "no stack in the outcome"
run 2 record --outcome=outcome.json ./deadlock
run 2 record --fix-time ./deadlock

cat >spin.c <<'END'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile int plain;
static atomic_int flag, lock, done;
static int count;
static void *spins(void *unused)
{
	while (!atomic_load(&flag)) /* until main stores it */
		;
	while (!plain)
		;
	for (int i = 0; i < 20; i++) {
		while (atomic_exchange(&lock, 1))
			;
		count++;
		atomic_store(&lock, 0);
	}
	atomic_fetch_add(&done, 1);
	return unused;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, spins, NULL);
	sleep(100); /* in no time */
	atomic_store(&flag, 1);
	plain = 1;
	while (atomic_load(&done) < 3)
		sched_yield();
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", count);
	return 0;
}
END
build spin.c spin
for seed in 1 2 3; do
	timeout 90 "$RACETRACE" record --serial=$seed -o s.zst ./spin >out 2>err
	[ "$(cat out)" = 60 ] || wrong "seed $seed: spin loops print '$(cat out)', not 60: $(head -3 err)"
done
same spin 3

# OpenMP: teams come back from libgomp together.
for name in locks loops_racy; do
	build "$top/samples/openmp/$name.c" omp_$name
	same omp_$name 3
done
# A thread ends in libgomp while others begin.
build "$top/samples/openmp/teams.c" omp_teams
for seed in 2 3 4; do
	timeout 90 "$RACETRACE" record --serial=$seed -o t.zst ./omp_teams >out 2>err
	prints $'4\n12 2016 85344 126'
done

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
	timeout 90 "$RACETRACE" record --serial=3 "$@" -o w.zst ./waits "$what" >out 2>err </dev/null
	[ "$(cat out)" = "$expected" ] || wrong "waits $what prints '$(cat out)', not '$expected': $(head -3 err)"
}
ends cancelled 3
ends piped 25
ends foreign came
ends forked $'3\n7'
ends clock 1000000005 --fix-time

# outcome WHAT END STATUS SIGNAL: how the run ends.
outcome() {
	timeout 90 "$RACETRACE" record --serial --outcome=outcome.json -o w.zst ./waits "$1" >out 2>err </dev/null
	[ "$(jq -r '"\(.end) \(.status) \(.signal)"' outcome.json)" = "$2 $3 $4" ] || wrong "waits $1: $(head -c 300 outcome.json) $(head -3 err)"
}
outcome itself deadlock null null
outcome alive exit 3 null
outcome left exit 0 null
outcome quick exit 5 null
(ulimit -c 0; outcome crash died null 4; exit $fail) 2>/dev/null || fail=1

# A signal that a thread is sent before its first event is handled behind that.
cat >sent.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
static sem_t handled;
static void handle(int sig)
{
	(void)sig;
	sem_post(&handled);
}
static void *waits(void *unused)
{
	sem_wait(&handled);
	return unused;
}
int main(void)
{
	pthread_t t[8];
	sem_init(&handled, 0, 0);
	signal(SIGUSR1, handle);
	for (int i = 0; i < 8; i++) {
		pthread_create(&t[i], NULL, waits, NULL);
		pthread_kill(t[i], SIGUSR1);
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
build sent.c sent
same sent 5
[ "$("$RACETRACE" dump same.zst | grep -c sem-post)" = 8 ] || wrong "sent: not each of eight handlers was recorded"

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
timeout 90 "$RACETRACE" record --serial --outcome=outcome.json -o w.zst ./spins_on 2>err
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
	timeout 90 "$RACETRACE" record --serial=$seed -o w.zst ./shared >out 2>err
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
	timeout 90 "$RACETRACE" record --serial=$seed --strategy=pct --exit-sleep=1 -o w.zst ./loops >out 2>err
	status=$?
	[ $status = 3 ] || wrong "loops, pct, seed $seed: status $status: $(head -n 3 err)"
done

# In an exact trace a read sees the last write before it. For a copy GCC calls the hook of the write before that of the
# read: no other thread comes in between.
cat >copies.c <<'END'
#include <pthread.h>
static struct cell { long value; } cells[2];
static void __attribute__((noinline)) copy(struct cell *to, const struct cell *from) { *to = *from; }
static void *worker(void *own)
{
	struct cell next = {(long)own};
	for (int i = 0; i < 25000; i++) {
		next.value += 2;
		copy(&cells[0], &next);
		copy(&cells[1], &cells[0]);
	}
	return 0;
}
int main(void)
{
	pthread_t threads[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
END
build copies.c copies
run 0 record --serial=1 -o copies.zst ./copies
"$RACETRACE" dump --format jsonl copies.zst 2>err | sed -nE 's/.*"op":"(read|write)","object":"([^"]*)".*"value":([0-9]+).*/\1 \2 \3/p; t; s/.*"op":"write".*/write without value/p' >values
awk '$1 == "write" { last[$2] = $3 } $1 == "read" && ($2 in last) && last[$2] != $3 { wrong++ } END { exit wrong > 0 }' values ||
	wrong 'a read does not see the last write before it'
[ "$(wc -l <values)" -gt 150000 ] || wrong "only $(wc -l <values) values"
grep -c 'without value' values >none
[ "$(cat none)" = 0 ] || wrong "$(cat none) writes have no value"

# Waits for conditions that end without a signal: if asked for.
for kind in 1 2 3 4 5; do
	${CC:-gcc} -g -O1 -fsanitize=thread -Wno-tsan -DKIND=$kind "$top/tests/cases/serial_kinds.c" -o kind$kind -pthread || exit 1
done
for seed in 1 2 3 4 5 6 7 8 9 10; do
	"$RACETRACE" record --serial=$seed -o k.zst ./kind1
done >out 2>&1
[ ! -s out ] || wrong "without --spurious: $(head -n 1 out)"
for seed in 1 2 3 4 5 6 7 8 9 10; do
	"$RACETRACE" record --serial=$seed --spurious -o k.zst ./kind1
done >out 2>&1
grep -q EARLY out || wrong "--spurious: each wait had its signal"
run 2 record --spurious ./kind1

# What is mapped at two addresses is one object, for turns too.
for seed in 1 2 3; do
	run 0 record --serial=$seed -o k.zst ./kind5
done

# System V semaphores are known: their threads wait by turns. A child may give one as well.
"$RACETRACE" record -o k.zst ./kind2 >out 2>&1
if [ $? != 77 ]; then
	for again in 1 2 3; do # the trace has the system's number of the semaphores
		run 0 record --serial --outcome=outcome.json -o k.zst ./kind2
		prints 8
		jq -c '[.steps, .decisions]' outcome.json
	done >decisions
	[ "$(sort -u decisions | wc -l)" = 1 ] || wrong "semop: a seed gives different runs"
	run 0 record --serial -o k.zst ./kind4
fi

# Children, free or controlled.
for how in free controlled; do
	rm -f k.zst*
	run 0 record --serial=3 --children=$how -o k.zst ./kind3
	for trace in k.zst*; do
		"$RACETRACE" analyze --format json $trace | jq -r .trace.order
	done >orders
	[ "$(wc -l <orders)" = 2 ] || wrong "--children=$how: $(wc -l <orders) traces"
	[ "$how" = controlled ] && want=2 || want=1
	[ "$(grep -c exact orders)" = $want ] || wrong "--children=$how: $(tr '\n' ' ' <orders)"
done
for again in 1 2 3; do
	rm -f k.zst*
	run 0 record --serial=3 --children=controlled -o k.zst ./kind3
	for trace in k.zst*; do
		"$RACETRACE" dump $trace | cksum
	done | sort
done >sums
[ "$(sort -u sums | wc -l)" = 2 ] || wrong "--children=controlled: a seed gives different runs"
run 2 record --serial --children=some ./kind3

# A controlled child's run does not depend on what its parent's scheduler did before.
cat >before.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count, rounds;
static void *counts(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		count++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}
static void two(int n)
{
	pthread_t t[2];
	rounds = n;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, counts, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}
int main(int argc, char **argv)
{
	(void)argc;
	two(atoi(argv[1]));
	if (fork() == 0) {
		two(40);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
build before.c before
for strategy in random pct racefuzzer; do
	for n in 1 5 40 400; do
		rm -f k.zst*
		run 0 record --serial=3 --strategy=$strategy --children=controlled -o k.zst ./before $n
		jq -c '[.[] | .thread]' <("$RACETRACE" dump --format jsonl k.zst.* 2>err | sed 1d | jq -s .) | cksum
	done >sums
	[ "$(sort -u sums | wc -l)" = 1 ] || wrong "$strategy: a child's run depends on its parent's: $(tr '\n' ' ' <sums)"
done

# Ends and interruptions, under strategies that keep threads waiting as well.
${CC:-gcc} -g -O1 -fsanitize=thread -Wno-tsan "$top/tests/cases/serial_robust.c" -o robust -pthread || exit 1
# survives WHAT PRINTED END
survives() {
	local strategy
	for strategy in random pct; do
		(ulimit -c 0; timeout 60 "$RACETRACE" record --serial=2 --strategy=$strategy --exit-sleep=50 --outcome=outcome.json -o w.zst ./robust "$1") \
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
