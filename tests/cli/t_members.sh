#!/bin/bash
# t_members.sh [BUILD]: members of one block, and locks of one name, are told apart in findings.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
# Two members of one block that the same two functions share are two variables. A macro is given a pointer to one of them.
cat >members.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#define SET(p, value) (*(p) = (value))
struct job { int stop, done; };
static void *work(void *arg)
{
	struct job *j = arg;
	SET(&j->stop, 1);
	j->done = 1;
	return NULL;
}
static int look(struct job *j) { return j->done + j->stop; }
int main(void)
{
	pthread_t t;
	struct job *j = calloc(1, sizeof *j);
	pthread_create(&t, NULL, work, j);
	int seen = look(j);
	pthread_join(t, NULL);
	free(j);
	return seen > 2;
}
C
gcc -g -O1 -fsanitize=thread members.c -o members -pthread || exit 1
timeout 60 "$RACETRACE" record -o members.zst ./members >/dev/null 2>&1
"$RACETRACE" analyze -f json --fail-on never members.zst >out 2>err
holds '[.findings[].title | capture("`job::(?<m>[a-z]+)`").m] | sort == ["done", "stop"]'

# Locks of one name are told apart by the threads that hold them.
cat >three.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct fork { pthread_mutex_t m; } *forks[3];
static void *eat(void *p)
{
	long i = (long)p;
	usleep(20000 * i);
	struct fork *left = forks[i], *right = forks[(i + 1) % 3];
	pthread_mutex_lock(&left->m);
	pthread_mutex_lock(&right->m);
	pthread_mutex_unlock(&right->m);
	pthread_mutex_unlock(&left->m);
	return NULL;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++) {
		forks[i] = malloc(sizeof *forks[i]);
		pthread_mutex_init(&forks[i]->m, NULL);
	}
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, eat, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
gcc -g -O1 -fsanitize=thread three.c -o three -pthread || exit 1
timeout 60 "$RACETRACE" record --serial=1 -o three.zst ./three >/dev/null 2>&1
"$RACETRACE" analyze -f text --fail-on never three.zst >out 2>err
grep -qE '^F1 error, [a-z]+: main\.([123]) acquires `right->m`, which main\.([123]) holds; main\.\2 acquires `right->m`, which main\.([123]) holds; main\.\3 acquires `right->m`, which main\.\1 holds$' out || wrong "three locks: $(grep ^F out)"

# A block is known by the function that wants it, not by one that allocates for all.
cat >wrapper.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct a { int first; } *a;
struct b { int first; } *b;
static void *my_calloc(size_t n) { void *p = calloc(1, n); if (!p) abort(); return p; }
static struct a *make_a(void) { return my_calloc(sizeof *a); }
static struct b *make_b(void) { return my_calloc(sizeof *b); }
static void *work(void *arg) { a->first = 1; b->first = 1; return arg; }
int main(void)
{
	pthread_t t;
	a = make_a();
	b = make_b();
	pthread_create(&t, NULL, work, NULL);
	a->first = 1;
	b->first = 1;
	pthread_join(t, NULL);
	return 0;
}
C
gcc -g -O0 -fsanitize=thread wrapper.c -o wrapper -pthread || exit 1
timeout 60 "$RACETRACE" record -o wrapper.zst ./wrapper >/dev/null 2>&1
"$RACETRACE" analyze -f text --fail-on never wrapper.zst >out 2>err
[ "$(grep -c '^F[0-9]' out)" = 2 ] || wrong "two blocks of one wrapper: $(grep ^F out)"
grep -q 'heap block of 4 bytes, allocated at wrapper.c:6 in make_a by main' out && grep -q 'allocated at wrapper.c:7 in make_b by main' out || wrong "$(grep allocated out)"

# Two lines that race on a member are one bug, wherever its object was allocated, and whichever is the first in a run.
cat >sites.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct a { int set; } *early, *late;
static void put(struct a *x) { x->set = 1; }
static int get(struct a *x) { return x->set; }
static void *work(void *arg)
{
	put(early);
	return get(late) ? arg : NULL;
}
int main(void)
{
	pthread_t t;
	early = calloc(1, sizeof *early);
	late = calloc(1, sizeof *late);
	pthread_create(&t, NULL, work, NULL);
	int seen = get(early);
	put(late);
	pthread_join(t, NULL);
	return seen > 1;
}
C
gcc -g -O0 -fsanitize=thread sites.c -o sites -pthread || exit 1
timeout 60 "$RACETRACE" record -o sites.zst ./sites >/dev/null 2>&1
"$RACETRACE" analyze -f json --fail-on never sites.zst >out 2>err
holds '[.findings[].title] == ["`put` writes `a::set` while `get` reads it, and nothing orders them"]'

# Members of variables have their names in a program without instrumentation, too, also where what debuggers need is in a
# file of its own.
cat >variables.c <<'C'
#include <pthread.h>
static struct {
	pthread_mutex_t locks[2];
	struct { int used, room; } of[2];
} table = {{PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER}};
static void *work(void *arg)
{
	long i = (long)arg;
	pthread_mutex_lock(&table.locks[i]);
	table.of[1].room++;
	pthread_mutex_unlock(&table.locks[i]);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, (void *)1);
	work(NULL);
	return pthread_join(t, NULL);
}
C
gcc -g -O1 variables.c -o variables -pthread && objcopy --only-keep-debug variables variables.debug && cp variables whole &&
	objcopy --strip-debug --add-gnu-debuglink=variables.debug variables || exit 1
for program in whole variables; do
	timeout 60 "$RACETRACE" record -o variables.zst ./$program >/dev/null 2>&1
	"$RACETRACE" analyze -f json --fail-on never variables.zst >out 2>err
	holds '[.findings[] | .title, .variable.name] == ["`work` writes `table.of[1].room` while another thread in `work` reads it, under different locks", "table.of[1].room"]'
	holds '[.anomalies[].events[].locks[].name] | unique == ["table.locks[0]", "table.locks[1]"]'
done
exit $fail
