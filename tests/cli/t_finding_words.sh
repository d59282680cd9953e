#!/bin/bash
# t_finding_words.sh BUILD: what findings say of mutexes that are destroyed, descriptors and streams that are closed,
# bit-fields, flags, objects that are destroyed and locks that are released by others.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >words.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t made, gone, lock = PTHREAD_MUTEX_INITIALIZER;
static volatile struct { unsigned open : 1, dirty : 1; } opened;
static volatile struct { int first, slots[4]; } ring;
static volatile int ready, one = 1;
static volatile size_t eight = 8; /* GCC writes a known few out, and does not instrument that */
char *text;
static int fds[2], *block, counter, round_number;
static __thread int own[2];
static int *others;
static void *early(void *a)
{
	pthread_mutex_init(&made, NULL);
	pthread_mutex_destroy(&gone);
	opened.open = 1;
	ring.slots[one] = 1;
	memset(text + 8, 1, eight);
	close(fds[0]);
	free(block);
	others[1] = 1;
	pthread_mutex_lock(&lock);
	counter++;
	if (round_number == 0)
		round_number = 1;
	pthread_mutex_unlock(&lock);
	while (!round_number)
		;
	ready = 1;
	return a;
}
static void *late(void *a)
{
	while (!ready)
		;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return a;
}
static void *use(void *a)
{
	if (!pthread_mutex_trylock(&made))
		pthread_mutex_unlock(&made);
	if (!pthread_mutex_trylock(&gone))
		pthread_mutex_unlock(&gone);
	opened.dirty = 1;
	ring.slots[1] = 2;
	memset(text + 8, 2, eight);
	close(fds[0]);
	counter++;
	return a;
}
int main(void)
{
	pthread_t t[3];
	if (pipe(fds))
		return 1;
	pthread_mutex_init(&gone, NULL);
	block = malloc(40);
	text = malloc(40);
	others = own;
	own[1] = 2;
	pthread_create(&t[0], NULL, early, NULL);
	pthread_create(&t[1], NULL, late, NULL);
	pthread_create(&t[2], NULL, use, NULL);
	own[1]++;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
gcc -g -O1 -fsanitize=thread words.c -o words -pthread || exit 1
timeout 60 "$RACETRACE" record --serial -o words.zst ./words >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never words.zst >out 2>err
# says TITLE [LINE]...: there is a finding of this title, and it has these lines.
says() {
	local title=$1 line
	awk -v title="$title" '/^F[0-9]/ { on = index($0, title) } on' out >finding
	[ -s finding ] || { wrong "no '$title' in: $(grep -E '^F|follow|^    F' out)"; return; }
	shift
	for line in "$@"; do
		grep -qF -- "$line" finding || wrong "no '$line' in: $(cat finding)"
	done
}
says '`early` initialises `made` while `use` may already use it' 'early: main.1 initialises, holding no lock' 'use: main.3 uses' \
	'  fix: initialise it before another thread can use it'
says '`early` destroys `gone` while `use` may still use it' 'early: main.1 destroys' '  fix: destroy it only after the last use'
says '` in the same bytes, and nothing orders them' 'early: main.1 writes' '  fix: guard both by one lock, or give each bytes of its own'
grep -qE '^F.*`opened\.(open|dirty)` while `(early|use)` writes `opened\.(open|dirty)` in' out || wrong "bit-fields: $(grep ^F out)"
grep -qE '^F.*: `(early|use)` closes descriptor [0-9]+, and `(early|use)` closes it, too$' out || wrong "closed twice: $(grep ^F out)"
# Two elements of one array may be one.
! grep -q '^F.*slots\[.*slots\[' out || wrong "elements: $(grep ^F out)"
says '`ring.slots[1]` while'
says 'the memory at `text + 8`'
says '`own[1]` of thread main'
says '`ready` while ' 'late: main.2 reads, holding no lock' '  fix: make it atomic: store it with release, load it with acquire; or wait'
says '`counter` without `lock`, which `early` holds while it ' 'main.3 reads and writes, holding no lock' 'main.1 reads and writes, holding lock'
# What is read behind the writes of its function is waited for, not checked beforehand.
! grep -q 'double-checked' out || wrong "double-checked: $(grep ^F out)"
timeout 60 "$RACETRACE" analyze -f json --fail-on never words.zst >report.json 2>err
jq -e '[.findings[].places[].does] | index("destroys") and index("initialises") and index("closes") and index("uses") and index("reads and writes")' \
	report.json >out || wrong "what is done at places: $(jq -c '[.findings[].places[].does] | unique' report.json)"
# From another folder than that of the trace, paths are relative to the root of the sources.
mkdir -p elsewhere && timeout 60 "$RACETRACE" record --serial -o elsewhere/words.zst ./words >/dev/null 2>&1
timeout 60 "$RACETRACE" analyze -f text --fail-on never elsewhere/words.zst >out 2>err
grep -qE '^  words\.c:[0-9]+ in ' out || wrong "relative paths: $(grep -m 3 'words.c:' out)"
timeout 60 "$RACETRACE" analyze -f html --fail-on never elsewhere/words.zst >page.html 2>err
grep -q ' at words\.c:[0-9]' page.html || wrong "relative paths on the page: $(grep -m 3 'words.c:' page.html)"
! grep -q "$PWD/words\.c" page.html || wrong "paths on the page: $(grep -m 3 "$PWD/words.c" page.html)"

# A stream by the line that opened it, an object by its vtable pointer, and a lock that another thread releases.
cat >more.cc <<'C'
#include <atomic>
#include <cstdio>
#include <new>
#include <pthread.h>
static volatile int lost, seen, last;
struct base {
	virtual ~base();
	virtual int kind() { return 1; }
};
__attribute__((noinline)) static int kind_of(base *b) { return b->kind(); }
base::~base() { last = kind_of(this); }
struct derived : base {
	int kind() override { return 2; }
};
static FILE *opened;
static base *object;
static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static std::atomic<int> used, taken, written;
static void *first(void *a)
{
	seen = object->kind();
	used.store(1, std::memory_order_relaxed);
	pthread_mutex_lock(&handed);
	lost = 1;
	taken.store(1, std::memory_order_relaxed);
	fputs("x", opened);
	written.store(1, std::memory_order_relaxed);
	return a;
}
static void *second(void *a)
{
	while (!used.load(std::memory_order_relaxed))
		sched_yield();
	object->~base();
	while (!taken.load(std::memory_order_relaxed))
		sched_yield();
	pthread_mutex_unlock(&handed);
	pthread_mutex_lock(&handed);
	lost = 2;
	pthread_mutex_unlock(&handed);
	while (!written.load(std::memory_order_relaxed))
		sched_yield();
	fclose(opened);
	return a;
}
int main()
{
	alignas(derived) static unsigned char room[sizeof(derived)];
	pthread_t t[2];
	opened = fopen("/dev/null", "w");
	object = new (room) derived;
	pthread_create(&t[0], nullptr, first, nullptr);
	pthread_create(&t[1], nullptr, second, nullptr);
	for (pthread_t one : t)
		pthread_join(one, nullptr);
	return 0;
}
C
g++ -g -O1 -fsanitize=thread -Wno-tsan more.cc -o more -pthread || exit 1
timeout 60 "$RACETRACE" record --serial -o more.zst ./more >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never more.zst >out 2>err
says '`second` closes the stream from main (more.cc:' 'second: main.2 closes' '  fix: close it only after the last use'
says 'writes the vtable pointer of `main' '  fix: let other threads use the object only after its constructor'
says 'writes it, though both hold `handed`' '  fix: hold one lock at both places; in between this one is released by another thread'

# What a smart pointer in a container points to is used, not checked. An atomic object's functions are in a header, and
# are the program's own operations.
cat >owners.cc <<'C'
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
struct item {
	int n = 0;
};
static std::vector<std::unique_ptr<item>> items;
static std::mutex m;
static std::atomic<int> head;
static int slot;
static void grow()
{
	{
		std::lock_guard<std::mutex> held(m);
		items.push_back(std::make_unique<item>());
	}
	slot = 1;
	head.store(1, std::memory_order_relaxed);
}
int main()
{
	items.push_back(std::make_unique<item>());
	std::thread t(grow);
	int n = items[0]->n;
	while (!head.load(std::memory_order_relaxed))
		std::this_thread::yield();
	n += slot;
	t.join();
	return n - 1;
}
C
for level in -O0 -O2; do
	g++ -g $level -fsanitize=thread owners.cc -o owners -pthread || exit 1
	timeout 60 "$RACETRACE" record --serial=1 -o owners.zst ./owners >out 2>err
	timeout 60 "$RACETRACE" analyze -f text --fail-on never owners.zst >out 2>err
	says '`grow` writes `slot` while `main` reads it' '  fix: `head` is relaxed: release and acquire would order it'
	says 'on `items[0]` without `m`' '  fix: hold `m` at owners.cc:26'
	! grep -q 'double-checked' out || wrong "double-checked: $(grep ^F out)"
done

# An atomic of a heap block is named by its operation, and said to lack the half that it lacks.
cat >half.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct chan { int data; atomic_int waiting, taken; };
static void *sender(void *arg)
{
	struct chan *c = arg;
	c->data = 1;
	atomic_fetch_sub_explicit(&c->waiting, 1, memory_order_acquire);
	while (!atomic_load_explicit(&c->taken, memory_order_relaxed))
		;
	c->data = 2;
	return NULL;
}
int main(void)
{
	pthread_t t;
	struct chan *c = calloc(1, sizeof *c);
	int got;
	c->waiting = 1;
	pthread_create(&t, NULL, sender, c);
	while (atomic_load_explicit(&c->waiting, memory_order_acquire))
		;
	got = c->data;
	atomic_store_explicit(&c->taken, 1, memory_order_release);
	pthread_join(t, NULL);
	return got - 1;
}
C
gcc -g -O1 -fsanitize=thread half.c -o half -pthread || exit 1
timeout 60 "$RACETRACE" record -o half.zst ./half >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never half.zst >out 2>err
says '`sender` writes `chan::data` while `main` reads it' '  fix: `c->waiting` is changed without release: that would order it'

# Tasks of OpenMP have names, and the lock of a dependence that of what they depend on.
cat >tasks.c <<'C'
static int sum, *cell;
int main(void)
{
	int local = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		cell = &local;
#pragma omp task depend(mutexinoutset : sum)
		sum += 1;
#pragma omp task depend(mutexinoutset : sum)
		sum += 2;
#pragma omp task
		sum += 3;
#pragma omp task depend(mutexinoutset : cell[0])
		cell[0] += 1;
#pragma omp task
		cell[0] += 2;
	}
	return local && sum ? 0 : 1;
}
C
gcc -g -O1 -fsanitize=thread -Wno-tsan -fopenmp tasks.c -o tasks || exit 1
timeout 60 "$RACETRACE" record -o tasks.zst ./tasks >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never tasks.zst >out 2>err
says 'without `depend(mutexinoutset: sum)`, which' '(task) reads and writes, holding depend(mutexinoutset: sum)' 'fix: hold `depend(mutexinoutset: sum)` at tasks.c:14'
grep -qE 'main(\.[0-9])?\.task3 \(task\) (reads|writes)' out || { echo "no name of a task: $(cat out)"; fail=1; }
grep -qE 'holding depend\(mutexinoutset: (0x[0-9a-f]+|.*local.*)\)' out || { echo "no name of a dependence on a stack: $(cat out)"; fail=1; }
timeout 60 "$RACETRACE" analyze -f json --fail-on never tasks.zst >out 2>err
jq -e '[.anomalies[].events[].locks[].name] | index("depend(mutexinoutset: sum)")' out >/dev/null || { echo "JSON has no name of it"; fail=1; }
# A schedule names them, too, and replay finds them by their number among tasks.
timeout 60 "$RACETRACE" replay --finding F1 -f json tasks.zst >out 2>err
grep -q '"confirmed"' out || { echo "not replayed: $(head -c 600 out) $(cat err)"; fail=1; }

# Found by reading reports as a stranger: an object of main's that its destructor frees behind the joins is guarded all the same; a lock that a
# wait took again has the name of the line that took it first; what is freed is the block.
cat >strange.cpp <<'C'
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>
class bank {
	std::mutex m_;
	std::unordered_map<int, long> balance_{{1, 100}};
public:
	long balance(int id) { std::lock_guard<std::mutex> l(m_); return balance_[id]; }
	void set(int id, long v) { std::lock_guard<std::mutex> l(m_); balance_[id] = v; }
	void withdraw(int id, long n)
	{
		long b = balance(id);
		if (b >= n)
			set(id, b - n);
	}
};
class mailbox {
	std::mutex door_;
	std::condition_variable cv_;
	bool closed_ = false;
public:
	void close() { closed_ = true; cv_.notify_all(); }
	void await()
	{
		std::unique_lock<std::mutex> l(door_);
		while (!closed_)
			cv_.wait_for(l, std::chrono::milliseconds(20));
	}
};
static char *message = strdup("start");
static void change() { message[0] = 'H'; }
static void drop() { free(message); }
int main()
{
	bank b;
	std::thread first([&] { b.withdraw(1, 30); }), second([&] { b.withdraw(1, 40); });
	first.join();
	second.join();
	mailbox box;
	std::thread waiting([&] { box.await(); });
	std::this_thread::sleep_for(std::chrono::milliseconds(50));
	box.close();
	waiting.join();
	std::thread changing(change);
	std::this_thread::sleep_for(std::chrono::milliseconds(50));
	drop();
	changing.join();
}
C
g++ -std=c++17 -g -O1 -fsanitize=thread -Wno-tsan strange.cpp -o strange -pthread || exit 1
timeout 60 "$RACETRACE" record -o strange.zst ./strange >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never strange.zst >out 2>err
says '`bank::withdraw` acts on what it read of `bank::balance_[id]` in an earlier critical section of `bank::m_`, and `bank::set` may write it' 'guard: `bank::m_` is held at 4 of 4'
says '`mailbox::close` writes `mailbox::closed_` without `mailbox::door_`, which `mailbox::await` holds while it reads it' 'fix: hold `mailbox::door_` at strange.cpp:'
says '`drop` frees `message` while `change` may still use it'

# A block is known by who had it allocated, and what is freed by who had it freed, not by functions that do so for others.
cat >arena.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct chunk { long size; int data[4]; };
static struct chunk *shared;
__attribute__((noinline)) static void *arena_alloc_(size_t size) { return malloc(size); }
__attribute__((noinline)) static void
arena_release(void *ptr)
{
	free(ptr);
	usleep(1);
}
static void *reader(void *arg)
{
	usleep(20000);
	arg = shared->data[1] ? arg : NULL;
	return arg;
}
static void *writer(void *arg)
{
	shared->data[1] = 2;
	return arg;
}
int main(void)
{
	pthread_t r, w;
	shared = arena_alloc_(sizeof *shared);
	shared->data[1] = 0;
	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r, NULL, reader, NULL);
	pthread_join(w, NULL);
	usleep(60000);
	arena_release(shared);
	pthread_join(r, NULL);
	return 0;
}
C
gcc -g -O1 -fsanitize=thread -Wno-tsan arena.c -o arena -pthread || exit 1
timeout 60 "$RACETRACE" record -o arena.zst ./arena >out 2>err
timeout 60 "$RACETRACE" analyze -f json --fail-on never arena.zst >report.json 2>err
jq -e '[.findings[].variable.name] | all(startswith("heap block from main (arena.c:"))' report.json >/dev/null ||
	wrong "allocated for others: $(jq -c '[.findings[].variable.name]' report.json)"
timeout 60 "$RACETRACE" analyze -f text --fail-on never arena.zst >out 2>err
says '`arena_release` frees `shared` while `reader` may still use it'

# A lock does not mend a thread's argument that changes before the thread reads it.
gcc -g -O1 -fsanitize=thread "$top/samples/more/loop_variable.c" -o handed -pthread || exit 1
timeout 60 "$RACETRACE" record -o handed.zst ./handed >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never handed.zst >out 2>err
says '`main` writes `i` while `worker` reads it' '  fix: give the other thread a copy of the value'

# A flag that a loop waits for may be a member, and on the stack.
cat >stopped.c <<'C'
#include <pthread.h>
#include <unistd.h>
struct worker { long rounds; int stop; };
static void *work(void *own)
{
	struct worker *w = own;
	for (;;) { while (!w->stop) usleep(1000); return own; }
}
int main(void)
{
	pthread_t t;
	struct worker w = {0};
	pthread_create(&t, NULL, work, &w);
	usleep(20000);
	w.stop = 1;
	return pthread_join(t, NULL);
}
C
gcc -g -O1 -fsanitize=thread stopped.c -o stopped -pthread || exit 1
timeout 60 "$RACETRACE" record -o stopped.zst ./stopped >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never stopped.zst >out 2>err
says ' while ' '  fix: make it atomic: store it with release, load it with acquire; or wait'

# The page says what the text says: which lock is acquired, and how many findings there are beside those that follow.
for i in 1 2; do echo "T0|fork(T$i)|cycle.c:$i"; done >page.std
printf 'T1|acq(left)|cycle.c:11\nT1|acq(right)|cycle.c:12\nT1|rel(right)|cycle.c:13\nT1|rel(left)|cycle.c:14\n' >>page.std
printf 'T2|acq(right)|cycle.c:21\nT2|acq(left)|cycle.c:22\nT2|rel(left)|cycle.c:23\nT2|rel(right)|cycle.c:24\n' >>page.std
timeout 60 "$RACETRACE" analyze -f html --fail-on never page.std >page.html 2>err
grep -q '<b>T1</b> acquires right, holding left' page.html || { echo "the page does not say what T1 acquires: $(grep '<b>T' page.html)"; fail=1; }
timeout 60 "$RACETRACE" analyze -f html=page.html -f text=page.txt --fail-on never strange.zst 2>err
errors=$(sed -n 's/^findings: \([0-9]*\) error.*/\1/p' page.txt)
grep -qE "<b class=\"[a-z]*\">$errors</b> errors?<" page.html || { echo "the page counts other errors than $errors: $(grep -A4 'class="counts"' page.html)"; fail=1; }
# An accumulator without a reduction is what the loop reads, whatever of a container the compiler puts its load into.
cat >dot.cpp <<'C'
#include <vector>
#include <omp.h>
static double dot(const std::vector<double> &x, const std::vector<double> &y)
{
	double result = 0;
#pragma omp parallel for num_threads(3)
	for (unsigned long i = 0; i < x.size(); i++)
		result += x[i] * y[i];
	return result;
}
int main()
{
	std::vector<double> x(30, 1.0);
	return dot(x, x) < 0;
}
C
g++ -g -O1 -fopenmp -fsanitize=thread dot.cpp -o dot && "$RACETRACE" record -o dot.zst -- ./dot >out 2>err
"$RACETRACE" analyze -f text --fail-on never dot.zst >out 2>err
grep -qE '^F1 error, .*: `dot` writes `result` while another thread in `dot` (reads|writes) it, and nothing orders them' out &&
	grep -q 'fix: give each thread its own (`private`, .*`reduction`' out || { echo "a reduction: $(head -20 out)"; fail=1; }

# A lock beside the variable is what a writer lacks though most accesses lack it. A member that a line names alone has its
# type's name. A check and an initialisation on one line are double-checked. Bits that are shared themselves need the lock.
# A line that lacks the lock of two objects of a type is one cause.
cat >beside.cpp <<'C'
#include <mutex>
#include <thread>
struct Visit {
	std::mutex mutex_;
	long last_ = 0;
	unsigned frozen_ : 1, audited_ : 1;
	void touch(long now) { last_ = now; }
	long last() { std::lock_guard<std::mutex> g(mutex_); return last_; }
	void freeze() { frozen_ = 1; }
	bool frozen() { std::lock_guard<std::mutex> g(mutex_); return frozen_; }
	void audit() { std::lock_guard<std::mutex> g(mutex_); audited_ = 1; }
};
struct Shape {
	struct { long red, green; } style_ = {0, 0};
	void paint(long n) { style_ = {n, n}; }
	long first() { std::lock_guard<std::mutex> g(mutex_); return style_.red; }
	long second() { std::lock_guard<std::mutex> g(mutex_); return style_.red; }
	std::mutex mutex_;
};
struct Stock {
	static Stock *only;
	static std::mutex made;
	static Stock &get()
	{
		if (!only) { std::lock_guard<std::mutex> g(made); if (!only) only = new Stock; }
		return *only;
	}
	int count_ = 1;
	int count() const { return count_; }
};
Stock *Stock::only;
std::mutex Stock::made;
int main()
{
	Visit visit;
	Shape *round = new Shape;
	Shape *square = new Shape;
	long sum = 0;
	std::thread a([&] { for (int i = 0; i < 20; i++) visit.touch(i); visit.freeze(); round->paint(1); square->paint(2); Stock::get(); });
	std::thread b([&] { sum += round->first() + square->second() + visit.last(); visit.audit(); sum += visit.frozen(); sum += Stock::get().count(); });
	a.join();
	b.join();
	return sum < 0;
}
C
g++ -g -O1 -fno-inline -fsanitize=thread beside.cpp -o beside -pthread || exit 1
timeout 60 "$RACETRACE" record --serial=2 -o beside.zst ./beside >out 2>err
timeout 60 "$RACETRACE" analyze -f text --fail-on never beside.zst >out 2>err
says '`Visit::touch` writes `Visit::last_` without `Visit::mutex_`, which `Visit::last` holds while it reads it' \
	'fix: hold `Visit::mutex_` at beside.cpp:7' 'holding Visit::mutex_'
says '`Visit::freeze` writes `Visit::frozen_` without `Visit::mutex_`, which' 'fix: hold `Visit::mutex_` at beside.cpp:9'
says 'double-checked initialisation: `Stock::get` reads `Stock::only` without `Stock::made`' \
	'fix: make it atomic: load it with acquire for the check'
[ "$(grep -cE '^F[0-9]+ ' out)" = 4 ] || wrong "four bugs: $(grep -E '^F[0-9]+ ' out)"
[ $fail = 0 ]
