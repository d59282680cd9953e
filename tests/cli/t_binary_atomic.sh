#!/bin/bash
# t_binary_atomic.sh BUILD: what machine code does not tell from atomic accesses is never shown by a run, whatever the
# analysis calls it: here two relaxed accesses of which one would have to see another write.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0
cat >app.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int made, *cached;
static int *get(void)
{
	if (!__atomic_load_n(&cached, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&m);
		__atomic_store_n(&cached, &made, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&m);
	}
	return __atomic_load_n(&cached, __ATOMIC_RELAXED); /* @again */
}
static void *drop(void *arg)
{
	pthread_mutex_lock(&m);
	__atomic_store_n(&cached, (int *)0, __ATOMIC_RELAXED); /* @drop */
	pthread_mutex_unlock(&m);
	return arg;
}
static void *use(void *arg)
{
	usleep(50000);
	int *got = get();
	printf("%d\n", got == &made);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	get();
	pthread_create(&a, NULL, drop, NULL);
	pthread_create(&b, NULL, use, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
gcc -g -O0 app.c -o app -pthread || exit 1
line() {
	grep -n "@$1 \*/" app.c | cut -d: -f1
}
"$racetrace" run --time-limit 5 --trace=t.zst -f json -o run.json ./app >out 2>err
[ $? = 0 ] || wrong "run: $(cat out err)"
jq -e '[.anomalies[] | select(.verdict != "predicted" and .verdict != "conditional")] == []' run.json >/dev/null ||
	wrong "a run shows it: $(jq -c '.anomalies[] | [.verdict, [.events[].source.line]]' run.json)"
"$racetrace" analyze --all --kinds race -f json t.zst |
	jq -e --argjson drop "$(line drop)" --argjson again "$(line again)" \
		'[.anomalies[] | select([.events[].source.line] == [$drop, $again]) | .verdict] == ["conditional"]' >/dev/null ||
	wrong 'the second look is not conditional: this tests nothing'

# Atomic operations that no call is seen of: OpenMP's, of the line above, and LLVM's of a load and a store in one
# instruction. What else such an instruction or a string's does is certain.
cat >openmp.c <<'C'
#include <omp.h>
int flag, racy, seen;
int main(void)
{
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num()) {
#pragma omp atomic write
		flag = 1;
		racy = 1;
	} else {
		int f = 0;
		racy = 2;
		for (int i = 0; i < 100 && !f; i++) {
#pragma omp atomic read
			f = flag;
		}
		seen = f;
	}
	return 0;
}
C
cat >folded.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int flag;
int from[8], to[8], i;
static void *set(void *arg)
{
	atomic_store_explicit(&flag, atomic_load_explicit(&flag, memory_order_relaxed) + 1, memory_order_release);
	void *at = from;
	long n = 4;
	__asm__ volatile("rep stosq" : "+D"(at), "+c"(n) : "a"(1L) : "memory");
	return arg;
}
static void *get(void *arg)
{
	while (!atomic_load_explicit(&flag, memory_order_acquire))
		;
	to[i] = from[i];
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, set, NULL);
	pthread_create(&b, NULL, get, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
certain() { # the variables whose races are observed or proved; of those without a name the size of an access
	jq -r '[.anomalies[] | select(.verdict == "observed" or .verdict == "proved") | (.variable.name | strings | select(test("[+]0x") | not)) // "\(.events[0].size)" | sub("[[].*"; "")] | unique | join(" ")' "$1"
}
# Code by a compiler that does not name itself is not by GCC because GCC links it: such a file has a name of no language of
# GCC's, or where no symbols are constants that Rust's library has.
others=()
if command -v clang >/dev/null; then
	clang -O1 -fno-ident -S folded.c -o - | sed 's_^\t\.file\t.*_\t.file "folded.8797ad0b-cgu.0"_; /\.addrsig/d' >unnamed.s
	(cat unnamed.s && printf '\t.section .rodata\n\t.string "/library/core/src/option.rs"\n') | sed '/\.file/d' >stripped.s
	others=('gcc unnamed.s from' 'gcc -s stripped.s 8')
fi
for build in 'gcc -g -O0 -fopenmp openmp.c racy' 'gcc -g -O2 -fopenmp openmp.c racy' 'gcc -g -O1 folded.c from' 'clang -g -O1 folded.c from' "${others[@]}"; do
	command -v "${build%% *}" >/dev/null || continue
	${build% *} -o build -pthread || exit 1
	"$racetrace" record --recorder=valgrind -o b.zst ./build >out 2>err || wrong "$build: $(cat err)"
	"$racetrace" analyze --all --kinds race --fail-on never -f json b.zst >b.json
	[ "$(certain b.json)" = "${build##* }" ] || wrong "$build: certain of '$(certain b.json)'"
done

# What may be atomic needs no lock: one that its other thread never holds makes no unit of work of two looks.
cat >slots.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int slot;
static int sum;
static void *scan(void *unused)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&m);
		sum += atomic_load_explicit(&slot, memory_order_acquire);
		sum += atomic_load_explicit(&slot, memory_order_acquire);
		pthread_mutex_unlock(&m);
	}
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, scan, 0);
	usleep(20000);
	atomic_store_explicit(&slot, 1, memory_order_release);
	atomic_store_explicit(&slot, 2, memory_order_release);
	return pthread_join(t, 0);
}
C
gcc -O1 slots.c -o slots -pthread || exit 1
"$racetrace" record --recorder=valgrind --serial=1 -o t.zst ./slots 2>err || wrong "slots: $(cat err)"
"$racetrace" analyze -f json t.zst >report.json || wrong "slots: $(verdicts report.json)"
jq -e '[.anomalies[] | select(.kind == "atomicity") | .verdict, .reasons[].reason] | unique == ["predicted", "unguarded"]' report.json >/dev/null ||
	wrong "slots: $(jq -c '.anomalies[] | [.kind, .verdict, .reasons]' report.json)"

# Two words at once: an exchange of them is atomic, and so may be what AVX moves to or from aligned memory, and a load of one
# of the words. Other moves of 16 bytes are certain.
cat >pair.c <<'END'
#include <emmintrin.h>
#include <pthread.h>
static long long pair[2] __attribute__((aligned(16))), other[2] __attribute__((aligned(16)));
static __int128 both;
long long seen;
#define LOAD(instruction, from, to) __asm__ volatile(instruction " %1, %0" : "=x"(to) : "m"(from) : "memory")
#define STORE(instruction, to) __asm__ volatile(instruction " %1, %0" : "=m"(to) : "x"(v) : "memory")
static void *set(void *arg)
{
	__m128i v = {1, 2};
	STORE("vmovdqa", *(__m128i *)pair);
	STORE("movups", *(__m128i *)other);
	__sync_bool_compare_and_swap(&both, 0, 0);
	return arg;
}
static void *get(void *arg)
{
	__m128i v, w;
	LOAD("vmovdqa", *(__m128i *)pair, v);
	LOAD("movups", *(__m128i *)other, w);
	seen = v[0] + w[0] + __atomic_load_n((long long *)&both + 1, __ATOMIC_RELAXED);
	seen += __atomic_load_n((long long *)&both, __ATOMIC_RELAXED);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, set, NULL);
	pthread_create(&b, NULL, get, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
END
if grep -qw avx /proc/cpuinfo; then
	gcc -g -O1 -mcx16 pair.c -o pair -pthread || exit 1
	"$racetrace" record --recorder=valgrind -o b.zst ./pair >out 2>err || wrong "pair: $(cat err)"
	"$racetrace" analyze --all --kinds race --fail-on never -f json b.zst >b.json
	[ "$(certain b.json)" = other ] || wrong "of two words at once: certain of '$(certain b.json)'"
fi

# What a call accesses is no atomic operation, however few of its bytes another thread accesses.
cat >range.c <<'END'
#include <pthread.h>
#include <string.h>
char text[64] = "a text of some length", copy[64];
static void *copies(void *arg)
{
	strcpy(copy, text); /* @copy */
	return arg;
}
static void *changes(void *arg)
{
	text[3] = 'x'; /* @change */
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, copies, NULL);
	pthread_create(&b, NULL, changes, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
END
gcc -g -O0 -fno-builtin range.c -o range -pthread || exit 1
"$racetrace" record --recorder=valgrind -o g.zst ./range >out 2>err || wrong "range: $(cat err)"
"$racetrace" analyze --fail-on never -f json g.zst | jq -r '.anomalies[] | "\(.kind) \(.verdict) \(.variable.name)"' >got
grep -qx 'race observed text\[3\]' got || wrong "a call's access is not certain: $(cat got)"

# What reads variables of which another thread changes one by a locked instruction mostly reads atomics, as std::shared_ptr
# does both its counts at once: a note. Of a load and a store machine code tells nothing: a warning.
cat >count.c <<'END'
#include <pthread.h>
static union {
	struct {
		int uses, others;
	};
	long long both;
} count;
static int flag;
static void *changes(void *arg)
{
	__atomic_add_fetch(&count.uses, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
	return arg;
}
int main(void)
{
	pthread_t a;
	pthread_create(&a, NULL, changes, NULL);
	long long seen = __atomic_load_n(&count.both, __ATOMIC_RELAXED) + __atomic_load_n(&flag, __ATOMIC_RELAXED);
	pthread_join(a, NULL);
	return seen > 2;
}
END
gcc -O1 count.c -o count -pthread || exit 1
"$racetrace" record --recorder=valgrind -o b.zst ./count >out 2>err || wrong "count: $(cat err)"
"$racetrace" analyze -f json b.zst >b.json || wrong "count: status $?"
levels=$(jq -r '[.findings[] | .variable.name + " " + .level] | sort | join(", ")' b.json)
[ "$levels" = 'count note, flag warning' ] || wrong "levels: $levels"
exit $fail
