#!/bin/bash
# t_limits.sh BUILD: under a limit of the shell (ulimit) a recording works, or one line names the limit. The program's own
# output and status are as ever wherever it ran.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
if sanitized; then # which reserves more address space than any limit here
	exit 0
fi
gcc -g -fsanitize=thread "$top/samples/thread_pool.c" -o app -pthread || exit 1
./app >want || exit 1

# under LIMIT...: records under these limits.
under() {
	rm -f t.zst*
	(exec >out 2>err && ulimit "$@" && exec timeout 60 "$racetrace" record -o t.zst ./app)
	status=$?
}
works() {
	under "$@"
	[ $status = 0 ] && cmp -s out want || wrong "ulimit $*: status $status: $(cat err)"
	zstd -tq t.zst || wrong "ulimit $*: no whole trace"
	! grep -v '^racetrace: the limits of this process (ulimit) allow to record [0-9]* threads at once$' err || wrong "ulimit $*: it says more"
	"$racetrace" info --format json t.zst | jq -e '.complete and (.threads | length > 2)' >/dev/null ||
		wrong "ulimit $*: the trace is not whole"
}
refuses() {
	under "${@:2}"
	[ $status = 3 ] && grep -q "$1" err && [ ! -e t.zst ] || wrong "ulimit ${*:2}: status $status: $(cat err)"
	grep -v '^racetrace: the limits of this process (ulimit) allow' err | wc -l | grep -qx 1 || wrong "ulimit ${*:2}: not one line: $(cat err)"
}
works -s 64
works -c 0
works -l 0
works -f 1000000
works -v 1000000
works -v 3000000
works -d 60000
# The soft limit is the program's own: the recorder adds little to it, and the collector raises its own.
works -S -s 64 -d 4000
works -n 20
refuses '(ulimit -f)$' -f 4
refuses '(ulimit -f)$' -f 100
for n in 4 5 6 7; do
	refuses '(ulimit -n)$' -n $n
done
refuses '(ulimit -d)$' -d 8000

# What the recorder reserves leaves a program of two more threads room for their stacks, and so its own end. (Whether the
# collector has enough for the trace, too, it says itself.)
gcc -g -O1 -fsanitize=thread "$top/tests/faults/program.c" -o threads -pthread || exit 1
(ulimit -v 200000 && exec timeout 60 "$racetrace" record -o v.zst ./threads ran >out 2>err)
[ $? = 7 ] || wrong "two threads within ulimit -v 200000: $(cat err)"

# However little there is, record ends well. What it wrote is a trace, and its positions are found later if they could not be now: libdw
# does not survive an allocation that fails.
cat >race.c <<'C'
#include <pthread.h>
static int shared;
static void *add(void *arg)
{
	shared++;
	return arg;
}
int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, add, NULL))
		return 9;
	shared++;
	pthread_join(thread, NULL);
	return 8;
}
C
gcc -g -fsanitize=thread race.c -o race -pthread || exit 1
for kib in 30000 32000 34000 38000 42000 46000 50000 60000 70000 80000; do
	rm -f v.zst
	(ulimit -v $kib && exec timeout 60 "$racetrace" record -o v.zst ./race >out 2>err)
	status=$?
	if [ -e v.zst ]; then
		[ $status = 8 ] || [ $status = 9 ] || wrong "ulimit -v $kib: status $status: $(cat err)"
		"$racetrace" analyze --allow-incomplete -f text v.zst >report 2>&1
		[ $status = 9 ] || grep -q 'race.c:5' report || wrong "ulimit -v $kib: $(cat err report)"
	else
		grep -qE '\(ulimit -v\)|loading shared libraries' err && [ $status -lt 128 ] || wrong "ulimit -v $kib: status $status: $(cat err)"
	fi
done

# A limit on address space that the program sets itself: it has what it would have without the recorder, and is told
# the limit that it has set.
cat >own.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
enum { LIMIT = 400 << 20, MORE = 600 << 20 };
static int shared;
static void *work(void *arg)
{
	shared++;
	return arg;
}
static int limited(void)
{
	struct rlimit is[3] = {{0, 0}, {0, 0}, {0, 0}};
	pthread_t thread;
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 2;
	if (malloc(MORE))
		return 3;
	getrlimit(RLIMIT_AS, &is[0]);
	prlimit(getpid(), RLIMIT_AS, NULL, &is[1]);
	syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &is[2]);
	for (int i = 0; i < 3; i++)
		if (is[i].rlim_cur != LIMIT || is[i].rlim_max != RLIM_INFINITY)
			return 4 + i;
	return 0;
}
int main(int argc, char **argv)
{
	struct rlimit l = {LIMIT, RLIM_INFINITY}, old;
	int status = -1;
	(void)argc;
	if (*argv[1] == 's' ? setrlimit(RLIMIT_AS, &l) : *argv[1] == 'p' ? prlimit(0, RLIMIT_AS, &l, &old) : syscall(SYS_setrlimit, RLIMIT_AS, &l))
		return 1;
	int failed = limited();
	pid_t child = fork();
	if (child == 0)
		_exit(limited());
	if (failed || waitpid(child, &status, 0) != child || status)
		return failed ? failed : 10 + WEXITSTATUS(status);
	l.rlim_cur = RLIM_INFINITY;
	return setrlimit(RLIMIT_AS, &l) || !malloc(MORE) ? 7 : 8;
}
C
gcc -g -fsanitize=thread own.c -o own -pthread || exit 1
for how in setrlimit prlimit call; do
	rm -f o.zst*
	timeout 60 "$racetrace" record -o o.zst ./own $how >out 2>err
	status=$?
	[ $status = 8 ] && [ ! -s err ] || wrong "its own limit, by $how: status $status: $(cat err)"
	[ "$(ls o.zst* | wc -l)" = 2 ] || wrong "its own limit, by $how: not two traces"
done
# A shell under Valgrind, which could not go on with such a limit.
if [ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ]; then
	timeout 100 "$racetrace" record -o s.zst sh -c 'ulimit -v 400000; ulimit -v; ./race' >out 2>err
	status=$?
	[ "$(cat out)" = 400000 ] && { [ $status = 8 ] || [ $status = 9 ]; } || wrong "a shell's own limit: status $status: $(cat out err)"
	timeout 100 "$racetrace" record -o s.zst sh -c 'ulimit -n 100 && ulimit -Sn && ulimit -Hn && ./race' >out 2>err
	status=$?
	[ "$(cat out)" = $'100\n100' ] && [ $status = 8 ] || wrong "a shell's own limit of descriptors: status $status: $(cat out err)"
fi

# Other commands meet the size of a file as an error of write, not as a signal.
"$racetrace" record -o t.zst ./app >out || wrong 'record'
(ulimit -f 1 && exec "$racetrace" convert -t jsonl -o big.jsonl t.zst 2>err)
[ $? = 3 ] && grep -qx "racetrace: cannot write 'big.jsonl': File too large" err && [ ! -e big.jsonl ] ||
	wrong "convert beyond ulimit -f: $(cat err)"
exit $fail
