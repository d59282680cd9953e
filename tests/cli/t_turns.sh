#!/bin/bash
# t_turns.sh [BUILD]: bugs without a race, in which another thread's turn has to come between two that a thread has at one lock or atomic variable: predict tries those
# that no run had.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

program() {
	gcc -g -O1 -fsanitize=thread -xc - -o "$1" -pthread || exit 1
}

# The signal comes after the flag was seen unset, and before the wait.
program missed <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t set = PTHREAD_COND_INITIALIZER;
static int ready;
static void *waits(void *arg)
{
	pthread_mutex_lock(&m);
	int seen = ready;
	pthread_mutex_unlock(&m);
	if (!seen) {
		pthread_mutex_lock(&m);
		pthread_cond_wait(&set, &m);
		pthread_mutex_unlock(&m);
	}
	return arg;
}
static void *sets(void *arg)
{
	for (volatile int i = 0; i < 100; i++)
		continue;
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&set);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, waits, NULL);
	pthread_create(&t[1], NULL, sets, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
for seed in 1 2 3 4 5 6; do
	run 1 explore --runs 3 --seed $seed -f json -- ./missed
	holds 'any(.runs[]; .end == "deadlock") and (.findings | length) == 1'
done

# Three changes of threads: each thread leaves a state that only the other one goes on from.
program states <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int state;
static void *first(void *arg)
{
	pthread_mutex_lock(&m);
	if (state == 0)
		state = 1;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	pthread_mutex_lock(&m);
	state = state == 2 ? 3 : 0;
	pthread_mutex_unlock(&m);
	return arg;
}
static void *second(void *arg)
{
	pthread_mutex_lock(&m);
	if (state == 1)
		state = 2;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	pthread_mutex_lock(&m);
	if (state == 3)
		abort();
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, second, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
for seed in 1 2 3 4 5 6; do
	run 1 explore --runs 3 --seed $seed -f json -- ./states
	holds 'any(.findings[]; .kinds == ["crash"])'
done

# The order of two turns matters if a section reads what the other one writes: fifty sections in which the threads share nothing are not tried one by one.
program unset <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int *set, value;
static void *sets(void *arg)
{
	pthread_mutex_lock(&m);
	set = &value;
	pthread_mutex_unlock(&m);
	return arg;
}
static void *uses(void *arg)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&other);
		value++;
		pthread_mutex_unlock(&other);
	}
	pthread_mutex_lock(&m);
	int *use = set;
	pthread_mutex_unlock(&m);
	*use = 1;
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, sets, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	pthread_create(&t[1], NULL, uses, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
for seed in 1 2 3 4 5 6; do
	run 1 explore --runs 3 --seed $seed -f json -- ./unset
	holds 'any(.findings[]; .kinds == ["crash"])'
done

# The flag is set before the value. What cannot come about, as a lock is held all the while, keeps no thread from what can: a look at the flag between the second look
# under the lock and the store.
program early <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int ready, value;
static int get(void)
{
	if (!atomic_load(&ready)) {
		pthread_mutex_lock(&m);
		if (!atomic_load(&ready)) {
			atomic_store(&ready, 1);
			atomic_store(&value, 42);
		}
		pthread_mutex_unlock(&m);
	}
	return atomic_load(&value);
}
static void *checks(void *arg)
{
	if (get() != 42)
		abort();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, checks, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
for seed in 1 2 3 4 5 6; do
	run 1 explore --runs 3 --seed $seed -f json -- ./early
	holds 'any(.findings[]; .kinds == ["crash"])'
done

# main does not wait for its threads: they come to their turns before it ends the process, and may wait for each other meanwhile.
program left <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance, paid, taken;
static void *pays(void *arg)
{
	pthread_mutex_lock(&m);
	balance += 2;
	paid = 1;
	pthread_mutex_unlock(&m);
	return arg;
}
static void *takes(void *arg)
{
	pthread_mutex_lock(&m);
	balance--;
	taken = 1;
	pthread_mutex_unlock(&m);
	return arg;
}
static void *checks(void *arg)
{
	pthread_mutex_lock(&m);
	if (paid && taken && balance == 1)
		abort();
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	static void *(*const all[])(void *) = {checks, pays, takes};
	pthread_t t;
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, all[i], NULL);
	return 0;
}
C
for seed in 1 2 3 4 5 6; do
	run 1 explore --runs 3 --seed $seed -f json -- ./left
	holds 'any(.findings[]; .kinds == ["crash"])'
done

# Accesses that race have turns, too: there are runs for all of their orders at once.
program races <<'C'
#include <pthread.h>
static volatile int a, b;
static void *sets(void *arg)
{
	a = 1;
	b = -1;
	return arg;
}
static void *checks(void *arg)
{
	return a == 1 && b == 0 ? NULL : arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, sets, NULL);
	pthread_create(&t[1], NULL, checks, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
run 1 explore --runs 8 -f json -- ./races
holds 'any(.runs[]; .strategy == "coverage" and (.repeat | test("--at=0/0:races")))'

# A wrong entry to a critical section: three changes of threads, in an order that no run by chance is likely to have, and in which each read before sees what it saw.
program entry <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int first, second, inside;
static void *one(void *arg)
{
	first = 1;
	if (!second) {
		assert(++inside == 1);
		inside--;
	}
	first = 0;
	return arg;
}
static void *other(void *arg)
{
	if (!first) {
		second = 1;
		assert(++inside == 1);
		inside--;
	}
	second = 0;
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, one, NULL);
	pthread_create(&t[1], NULL, other, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
for seed in 1 2 3; do
	run 1 explore --runs 3 --seed $seed -f json -- ./entry
	holds 'any(.findings[]; .kinds == ["assertion"])'
done

# Two threads look for a file, and both make it.
program both <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *makes(void *a)
{
	if (access("made", F_OK) != 0) {
		int fd = open("made", O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0)
			abort(); /* the other one has */
		close(fd);
	}
	return a;
}
int main(void)
{
	pthread_t t[2];
	unlink("made");
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, makes, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
for seed in 1 2 3 4 5 6; do
	run 1 explore --runs 3 --seed $seed -f json -- ./both
	holds 'any(.findings[]; .kinds == ["crash"])'
done

# ABA: while one thread takes the top of a stack another takes two and gives the first back.
program aba <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node {
	struct node *next;
	int id;
};
static struct node pool[3];
static _Atomic(struct node *) top;
static _Atomic int taken[3];
static struct node *pop(void)
{
	struct node *first, *next;
	do {
		first = atomic_load(&top);
		if (!first)
			return NULL;
		next = first->next;
	} while (!atomic_compare_exchange_strong(&top, &first, next));
	return first;
}
static void push(struct node *n)
{
	struct node *first = atomic_load(&top);
	do
		n->next = first;
	while (!atomic_compare_exchange_strong(&top, &first, n));
}
static void take(struct node *n)
{
	if (n && atomic_fetch_add(&taken[n->id], 1))
		abort();
}
static void *takes(void *arg)
{
	take(pop());
	take(pop());
	return arg;
}
static void *gives_back(void *arg)
{
	struct node *n = pop();
	take(pop());
	if (n)
		push(n);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 3; i++) {
		pool[i].id = i;
		push(&pool[i]);
	}
	pthread_create(&t[0], NULL, takes, NULL);
	pthread_create(&t[1], NULL, gives_back, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
run 1 explore --runs 20 -f json -- ./aba
holds 'any(.findings[]; .kinds == ["crash"])'

# What the last thread reads has to come between two writes of the first, before those of all others: a run that is one before it up to the second write, from where the
# last thread comes first.
program between <<'C'
#include <pthread.h>
#include <stdlib.h>
static volatile int begun, done;
static void *sets(void *arg)
{
	begun = 1;
	done = 1;
	return arg;
}
static void *looks(void *arg)
{
	if (begun && !done)
		abort();
	return arg;
}
int main(void)
{
	enum { THREADS = 24 };
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, i + 1 < THREADS ? sets : looks, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
for seed in 1 2 3 4 5 6; do
	run 1 explore --runs 10 --seed $seed -f json -- ./between
	holds 'any(.findings[]; .kinds == ["crash"])'
done

# A device is stopped between a user's look at it and his use of it. By turns as they come it happens in one of many runs; the second run is made for it.
program stopped <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int stopping, users = 1, freed;
static void leave(void)
{
	if (atomic_fetch_sub(&users, 1) == 1)
		atomic_store(&freed, 1);
}
static void *stop(void *arg)
{
	atomic_store(&stopping, 1);
	leave();
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, stop, NULL);
	if (!atomic_load(&stopping)) {
		atomic_fetch_add(&users, 1);
		assert(!atomic_load(&freed));
		leave();
	}
	return pthread_join(t, NULL);
}
C
for seed in 1 2 3 4; do
	run 1 explore --runs 3 --seed $seed -f json -- ./stopped
	holds 'any(.findings[]; .kinds == ["assertion"])'
done

# A ring whose threads spin on an atomic variable and look at a plain one meanwhile: such a run ended by its time where the thread that came first spun.
program ring <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
enum { EACH = 3, PLAYERS = 3 };
struct ring {
	unsigned long room;
	atomic_ulong turns[2], head, tail;
};
static atomic_int begun;
static void wait_for(struct ring *r, unsigned long ticket, unsigned long half)
{
	while (ticket / r->room * 2 + half != atomic_load_explicit(&r->turns[ticket % r->room], memory_order_acquire))
		continue;
}
static void *put(void *arg)
{
	struct ring *r = arg;
	while (!atomic_load(&begun))
		continue;
	for (int i = 0; i < EACH; i++) {
		unsigned long ticket = atomic_fetch_add(&r->head, 1);
		wait_for(r, ticket, 0);
		atomic_store(&r->turns[ticket % r->room], ticket / r->room * 2 + 1);
	}
	return NULL;
}
static void *take(void *arg)
{
	struct ring *r = arg;
	while (!atomic_load(&begun))
		continue;
	for (int i = 0; i < EACH; i++) {
		unsigned long ticket = atomic_fetch_add(&r->tail, 1);
		wait_for(r, ticket, 1);
		atomic_store(&r->turns[ticket % r->room], ticket / r->room * 2 + 2);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[2 * PLAYERS];
	struct ring *r = calloc(1, sizeof *r);
	r->room = 2;
	for (int i = 0; i < PLAYERS; i++) {
		pthread_create(&t[i], NULL, put, r);
		pthread_create(&t[PLAYERS + i], NULL, take, r);
	}
	atomic_store(&begun, 1);
	for (int i = 0; i < 2 * PLAYERS; i++)
		pthread_join(t[i], NULL);
	free(r);
	return 0;
}
C
for seed in 2 3; do
	run 0 explore --runs 8 --seed $seed -f json -- ./ring
	holds 'all(.runs[]; .end == "exit status 0") and .findings == []'
done

# A wait under `if`: a thread that woke finds that another one has taken what was there. Only the order in which they have the mutex again shows it.
program under_if <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;
static void *take(void *arg)
{
	pthread_mutex_lock(&m);
	if (!items)
		pthread_cond_wait(&filled, &m);
	items--;
	assert(items >= 0);
	pthread_mutex_unlock(&m);
	return arg;
}
static void *put(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		items++;
		pthread_cond_broadcast(&filled);
		pthread_mutex_unlock(&m);
	}
	return arg;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], NULL, take, NULL);
	pthread_create(&t[1], NULL, take, NULL);
	pthread_create(&t[2], NULL, put, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return items;
}
C
for seed in 1 2 3 4 5; do
	run 1 explore --runs 8 --seed $seed -f json -- ./under_if
	holds 'any(.findings[]; .kinds == ["assertion"])'
done
# Of two variables a new value and an old one, each of which the reader has seen with its like.
program torn <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint changes;
static atomic_int first, second;
static void *change(void *arg)
{
	for (int i = 1; i < 3; i++) {
		atomic_fetch_add(&changes, 1);
		atomic_store(&first, i);
		atomic_store(&second, i);
		atomic_fetch_add(&changes, 1);
	}
	return arg;
}
static void *look(void *arg)
{
	unsigned before;
	int a, b;
	do {
		before = atomic_load(&changes);
		a = atomic_load(&first);
		b = atomic_load(&second);
	} while (before & 1); /* and where it has changed since */
	assert(a == b);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, change, NULL);
	pthread_create(&t[1], NULL, look, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}
C
for seed in 1 2 3; do
	run 1 explore --runs 30 --seed $seed -f json -- ./torn
	holds 'any(.findings[]; .kinds == ["assertion"])'
done
exit $fail
