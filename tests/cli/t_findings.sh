#!/bin/bash
# t_findings.sh [BUILD]: one finding for one bug, at the user's lines, with the level that the exit status goes by; its
# fingerprint outlives lines that are added above.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/findings.sh"

# One container, looked up without the lock: two dozen anomalies inside the library, one bug.
record cache "$here/tests/cli/cache_miss.cpp" || { echo "cannot record cache"; exit 1; }
analyze 1 "$tmp/cache.zst"
is cache '(.findings | length) == 1 and (.anomalies | length) > 1'
is cache '.findings[0] | .level == "error" and (.anomalies | length) > 1'
is cache '[.findings[0].places[].file | split("/")[-1]] | unique == ["cache_miss.cpp"]'
is cache '.findings[0].title | test("^.Cache::get. calls .* without .Cache::mutex_., which it holds at cache_miss.cpp:[0-9]+ while it calls .std::unordered_map<>::emplace.")'
is cache '([.findings[].anomalies[]] | sort) == ([.anomalies[].id] | sort)'

# The same, 7 lines further down: other lines, the same finding.
before=$(jq -r '.findings[0].fingerprint' "$tmp/out")
line=$(jq -r '.findings[0].places[0].line' "$tmp/out")
yes '//' | head -7 | cat - "$here/tests/cli/cache_miss.cpp" >"$tmp/cache_miss.cpp"
record cache "$tmp/cache_miss.cpp"
analyze 1 "$tmp/cache.zst"
is "cache, moved" ".findings[0].fingerprint == \"$before\" and .findings[0].places[0].line != $line"

# Two functions, two bugs.
record account "$here/samples/pecan/account.c"
analyze 1 "$tmp/account.zst"
is account '[.findings[] | select(.level == "error")] | length == 2'

# Of the places of a sequence the first two are not all, and may be of two variables.
for sample in manager set; do
	record $sample "$here/samples/pecan/$sample.c"
	timeout 60 "$racetrace" analyze -f text --fail-on never "$tmp/$sample.zst" >"$tmp/out"
	grep -q '^  used by ' "$tmp/out" && ! grep -qE 'reach(es)? (the|each)' "$tmp/out" || { echo "$sample: $(cat "$tmp/out")"; fail=1; }
done

# What GCC counts for --coverage is not the program's.
cat >"$tmp/counted.c" <<'EOF'
#include <pthread.h>
static void *f(void *unused)
{
	return unused;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, f, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
EOF
(cd "$tmp" && gcc -g -O1 -fsanitize=thread --coverage -fprofile-update=single -Wno-tsan counted.c -o counted -pthread &&
	"$racetrace" record -o counted.zst ./counted) || { echo "cannot record counted"; fail=1; }
analyze 0 "$tmp/counted.zst"
is counted '.summary.race.observed > 0 and all(.findings[]; .level == "note" and (.fix | test("-fprofile-update=atomic")))'

# A check and its act on one line of what a library calls, as std::thread does.
cat >"$tmp/bank.c" <<'EOF'
#include <pthread.h>
#include <search.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;
static long get(void)
{
	pthread_mutex_lock(&lock);
	long now = balance;
	pthread_mutex_unlock(&lock);
	return now;
}
static void set(long to)
{
	pthread_mutex_lock(&lock);
	balance = to;
	pthread_mutex_unlock(&lock);
}
static int withdraw(const void *a, const void *b)
{
	if (get() >= 40)
		set(get() - 40);
	return a == b;
}
static void *f(void *unused)
{
	size_t one = 1;
	return lfind(unused, "", &one, 1, withdraw);
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, f, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return get() != 20;
}
EOF
record bank "$tmp/bank.c"
analyze 0 "$tmp/bank.zst"
is bank '[.findings[] | [.level, (.title | test("^.withdraw. acts on what it read of .balance."))]] == [["warning", true]]'

# Sections of a counter's lock that another lock spans, as where the first reader keeps writers out: no unit of work, as the second one reads anew.
printf '%s\n' 'A|fork(B)|1' 'A|acq(m)|2' 'A|r(x)|3' 'A|w(x)|4' 'A|acq(k)|5' 'A|rel(m)|6' 'B|acq(m)|2' 'B|r(x)|3' 'B|w(x)|4' 'B|rel(m)|7' 'A|acq(m)|8' 'A|r(x)|9' \
	'A|w(x)|10' 'A|rel(k)|11' 'A|rel(m)|12' 'B|acq(m)|8' 'B|r(x)|9' 'B|w(x)|10' 'B|rel(m)|12' >"$tmp/spanned.std"
analyze 0 "$tmp/spanned.std"
is spanned '.summary.atomicity.observed > 0 and all(.findings[]; .level == "note")'

# Two sections of different locks, both in one call, under another lock: no unit of work either.
cat >"$tmp/pool.c" <<'C'
#include <pthread.h>
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER, job = PTHREAD_MUTEX_INITIALIZER, event = PTHREAD_MUTEX_INITIALIZER;
static int target = 1, done;
static __attribute__((noinline)) int has_target(void)
{
	pthread_mutex_lock(&job);
	int is = target;
	return pthread_mutex_unlock(&job) + is;
}
static __attribute__((noinline)) int is_done(void)
{
	pthread_mutex_lock(&event);
	int is = done;
	return pthread_mutex_unlock(&event) + is;
}
static __attribute__((noinline)) int look(void)
{
	pthread_mutex_lock(&pool);
	int all = has_target() + is_done();
	pthread_mutex_unlock(&pool);
	return all;
}
static void *work(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&job);
		target = -i;
		pthread_mutex_lock(&event);
		done = i;
		pthread_mutex_unlock(&event);
		pthread_mutex_unlock(&job);
	}
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	look();
	return pthread_join(t, 0);
}
C
record pool "$tmp/pool.c" --serial=1
analyze 0 "$tmp/pool.zst"
is pool '.summary.asv.proved > 0 and all(.findings[]; .level == "note")'

# Two critical sections of the guard in one call, under another lock: a unit of work.
record string_buffer "$here/samples/pecan/string_buffer.c"
analyze 1 "$tmp/string_buffer.zst"
is string_buffer '.findings | length == 1 and .[0].level == "error" and .[0].kinds == ["atomicity"]'

# A map that is asked in one critical section and changed in the next: the value of another thread is replaced. What
# inserts only where nothing is, or asks again, is no such act.
cat >"$tmp/check_put.cpp" <<'C'
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>
static class cache {
	std::mutex m;
	std::map<int, int> rows;
public:
	bool contains(int k)
	{
		std::lock_guard<std::mutex> g(m);
		return rows.find(k) != rows.end();
	}
	void put(int k, int v)
	{
		std::lock_guard<std::mutex> g(m);
		rows[k] = v; // @put
	}
} cache;
static void look_up(int k)
{
	if (!cache.contains(k))
		cache.put(k, k * k);
}
static void work(int from)
{
	for (int i = 0; i < 20; i++)
		look_up(from + i);
}
int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 3; i++)
		threads.emplace_back(work, i * 10);
	for (auto &t : threads)
		t.join();
}
C
sed 's/std::map</std::unordered_map</' "$tmp/check_put.cpp" >"$tmp/check_hash.cpp"
sed 's/rows\[k\] = v;/rows.emplace(k, v);/' "$tmp/check_put.cpp" >"$tmp/check_emplace.cpp"
sed 's/rows\[k\] = v;/if (rows.find(k) == rows.end()) &/' "$tmp/check_put.cpp" >"$tmp/check_again.cpp"
for name in put hash; do
	record check_$name "$tmp/check_$name.cpp" --serial=1 # running free, threads may not meet: then it is predicted
	analyze 1 "$tmp/check_$name.zst"
	is check_$name '.findings | length == 1 and .[0].level == "error"'
	is check_$name '.findings[0].title | test("^`look_up` acts on what it read of `cache.rows` in an earlier critical section of `cache.m`, and `cache::put` may write it in between$")'
done
for name in emplace again; do
	record check_$name "$tmp/check_$name.cpp" --serial=1
	analyze 0 "$tmp/check_$name.zst"
	is check_$name '.findings == []'
done

# Readers do not exclude one another: the lock that they hold guards no write.
record readers "$here/samples/more/rwlock.c"
analyze 1 "$tmp/readers.zst"
is readers '.findings | length == 1 and .[0].title == "`worker` writes `hits` while another thread in `worker` reads it, and both hold `lock` only as readers"'
is readers '.findings[0].fix | test("^hold `lock` as a writer at rwlock.c:[0-9]+$")'
is readers '.findings[0].places | length == 1 and .[0].what == "writes"'
is readers '.findings[0].guard == null'
# How to replay it is said by the page as by the text, though it has no schedule.
for format in text html; do
	"$racetrace" analyze --fail-on never -f $format "$tmp/readers.zst" 2>/dev/null | grep -q 'racetrace replay .*readers.zst --finding F1' ||
		{ echo "readers: $format does not say how to replay it"; fail=1; }
done

# Two deadlocks of locks that one function acquires for its callers, or a header of the library, are two: at the lines
# that call it.
cat >"$tmp/order.cpp" <<'C'
#include <mutex>
#include <pthread.h>
struct guarded { pthread_mutex_t m; };
static guarded a = {PTHREAD_MUTEX_INITIALIZER}, b = {PTHREAD_MUTEX_INITIALIZER}, c = {PTHREAD_MUTEX_INITIALIZER};
struct shared { std::mutex m; };
static void take(guarded *g) { pthread_mutex_lock(&g->m); }
static void drop(guarded *g) { pthread_mutex_unlock(&g->m); }
static void both(guarded *x, guarded *y)
{
	take(x);
	take(y);
	drop(y);
	drop(x);
}
static void *up(void *arg)
{
	take(&a);
	take(&b); /* @up */
	drop(&b);
	drop(&a);
	both(&b, &c);
	return arg;
}
static void *down(void *arg)
{
	take(&b);
	take(&a); /* @down */
	drop(&a);
	drop(&b);
	both(&c, &b);
	return arg;
}
static void pair(shared *from, shared *to)
{
	std::lock_guard<std::mutex> first(from->m);
	std::lock_guard<std::mutex> second(to->m); /* @second */
}
static void lists(shared *from, shared *to)
{
	std::lock_guard<std::mutex> first(from->m);
	std::lock_guard<std::mutex> second(to->m); /* @lists */
}
static shared *heap[4];
static void *there(void *arg) { pair(heap[0], heap[1]); lists(heap[2], heap[3]); return arg; }
static void *back(void *arg) { pair(heap[1], heap[0]); lists(heap[3], heap[2]); return arg; }
int main()
{
	void *(*routines[])(void *) = {up, down, there, back};
	pthread_t threads[4];
	for (auto &object : heap)
		object = new shared;
	for (int i = 0; i < 4; i += 2) {
		pthread_create(&threads[i], NULL, routines[i], NULL);
		pthread_create(&threads[i + 1], NULL, routines[i + 1], NULL);
		pthread_join(threads[i], NULL);
		pthread_join(threads[i + 1], NULL);
	}
	for (auto object : heap)
		delete object;
}
C
at() { sed -n "/@$1 /=" "$tmp/order.cpp"; }
for level in -O0 -O2; do
	# One thread after the other, as else the program would deadlock now and then.
	g++ -g $level -fno-ipa-icf -fsanitize=thread "$tmp/order.cpp" -o "$tmp/order" -pthread && "$racetrace" record --serial=1 -o "$tmp/order.zst" "$tmp/order" >/dev/null
	analyze 1 "$tmp/order.zst"
	is "order $level" '.findings | length == 4 and all(.kinds == ["deadlock"] and .level == "error")'
	is "order $level" "[.findings[].places | map(.line)] | any(. == [$(at up), $(at down)] or . == [$(at down), $(at up)]) and any(. == [$(at second)]) and any(. == [$(at lists)])"
	is "order $level" 'any(.findings[].title; . == "`pair` acquires `to->m` while it holds `from->m`, both `shared::m`, and another thread in `pair` does so the other way round")'
done

# What copies a structure accesses its members at one place of a line: that is one variable, and one finding.
cat >"$tmp/copied.c" <<'C'
#include <pthread.h>
#include <string.h>
struct packet { unsigned id; unsigned short length; unsigned char payload[20]; };
static struct ring { struct packet slots[4]; int first, second; } ring;
static void *put(void *arg)
{
	const struct packet *p = arg;
	for (int i = 0; i < 4; i++)
		ring.slots[i] = *p; /* @put */
	ring.first = 1; ring.second = 2;
	return NULL;
}
int main(void)
{
	pthread_t t;
	struct packet packet = {1, 2, {3}}, copy[4];
	pthread_create(&t, NULL, put, &packet);
	for (int i = 0; i < 4; i++)
		copy[i] = ring.slots[i]; /* @get */
	int sum = ring.first + ring.second;
	pthread_join(t, NULL);
	return sum + copy[3].payload[0] == 99;
}
C
record copied "$tmp/copied.c"
analyze 1 "$tmp/copied.zst"
is copied '[.findings[].places | map(.line)] | length == 3 and all(length == 2)'

# What two functions hand by its address to a third one is a variable of each: two findings.
cat >"$tmp/lent.c" <<'C'
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>
static void set(volatile char *byte) { *byte = 1; }
#define LENT(name, size)                                                                                               \
	static char *volatile lent_##name;                                                                             \
	static void *name(void *second)                                                                                \
	{                                                                                                              \
		volatile char own[size];                                                                               \
		if (!second) {                                                                                         \
			__atomic_store_n(&lent_##name, (char *)own, __ATOMIC_RELEASE);                                 \
			usleep(20000);                                                                                 \
			own[0] = 1;                                                                                    \
			usleep(40000);                                                                                 \
			return NULL;                                                                                   \
		}                                                                                                      \
		char *other;                                                                                           \
		while (!(other = __atomic_load_n(&lent_##name, __ATOMIC_ACQUIRE)))                                     \
			usleep(1000);                                                                                  \
		set(other);                                                                                            \
		return NULL;                                                                                           \
	}
LENT(one, 16)
LENT(two, 32)
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i < 2 ? one : two, i % 2 ? t : NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
record lent "$tmp/lent.c"
analyze 1 "$tmp/lent.zst"
is lent '[.findings[].places | map(.function)] | map(sort) | sort == [["one", "set"], ["set", "two"]]'

# A finding has the fingerprint that baselines and suppressions of older versions know it by.
printf 'main|fork(T1)|run.c:9\nmain|w(counter)|run.c:10\nT1|w(counter)|run.c:20\n' >"$tmp/lasting.std"
analyze 1 "$tmp/lasting.std"
is lasting '[.findings[].fingerprint] == ["ba7358b4641d0e53"]'

# Of several locks that a thread holds, the deadlock is of the one that the other thread waits for, not of the innermost.
cat >"$tmp/between.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
struct node { pthread_mutex_t m; };
static struct node *x, *y, *between;
static void *up(void *arg)
{
	pthread_mutex_lock(&x->m);
	pthread_mutex_lock(&between->m);
	pthread_mutex_lock(&y->m);
	pthread_mutex_unlock(&y->m);
	pthread_mutex_unlock(&between->m);
	pthread_mutex_unlock(&x->m);
	return arg;
}
static void *down(void *arg)
{
	pthread_mutex_lock(&y->m);
	pthread_mutex_lock(&x->m);
	pthread_mutex_unlock(&x->m);
	pthread_mutex_unlock(&y->m);
	return arg;
}
int main(void)
{
	struct node **all[] = {&x, &y, &between};
	void *(*routines[])(void *) = {up, down};
	pthread_t threads[2];
	for (int i = 0; i < 3; i++)
		pthread_mutex_init(&(*all[i] = malloc(sizeof **all[i]))->m, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, routines[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
C
gcc -g -fsanitize=thread "$tmp/between.c" -o "$tmp/between" -pthread && "$racetrace" record --serial=1 -o "$tmp/between.zst" "$tmp/between" >/dev/null
analyze 1 "$tmp/between.zst"
is between '[.findings[] | select(.kinds == ["deadlock"])] | length == 1 and all(.title | test("^`up` acquires `y->m` while it holds `x->m`, both `node::m`, and `down`|^`down` acquires `x->m` while it holds `y->m`, both `node::m`, and `up`"))'

# What the text says to replay can be replayed: not a use after the memory was handed out again.
record stale "$here/samples/more/stale_pointer.c"
"$racetrace" analyze -f text "$tmp/stale.zst" >"$tmp/text"
grep -q '^F1 error' "$tmp/text" || { echo "stale: no finding"; fail=1; }
for id in $(sed -n 's/^  replay: .* --finding //p' "$tmp/text"); do
	timeout 60 "$racetrace" replay --attempts 1 --timeout 10 "$tmp/stale.zst" --finding "$id" >/dev/null 2>"$tmp/err"
	[ $? -le 1 ] || { echo "stale: $id: $(head -3 "$tmp/err")"; fail=1; }
done

# The innermost lock may be the one that guards the variable, whichever lock the trace has first.
{
	printf '%s\n' 'T1|acq(inner)|1' 'T1|rel(inner)|2' 'T1|acq(outer)|3' 'T1|rel(outer)|4' 'T1|w(x)|5' \
		'T2|acq(outer)|6' 'T2|acq(inner)|7' 'T2|r(x)|8' 'T2|rel(inner)|9' 'T2|rel(outer)|10'
	for _ in 1 2 3 4 5 6; do
		printf '%s\n' 'T2|acq(inner)|11' 'T2|r(x)|12' 'T2|rel(inner)|13' 'T1|r(x)|14'
	done
	echo 'T2|r(x)|12'
} >"$tmp/innermost.std"
analyze 1 "$tmp/innermost.std"
is innermost '[.findings[].title] == ["location 5 writes `x` without `inner`, which location 8 holds while it reads it"]'

# A lock that is held for another reason says nothing of what is done under it: a note, and no failure.
printf '%s\n' 'T1|acq(outer)|1' 'T1|acq(inner)|2' 'T1|r(x)|3' 'T1|rel(inner)|4' 'T1|acq(inner)|5' 'T1|w(x)|6' \
	'T1|rel(inner)|7' 'T1|rel(outer)|8' 'T2|acq(inner)|9' 'T2|w(x)|10' 'T2|rel(inner)|11' >"$tmp/outer.std"
analyze 0 "$tmp/outer.std"
is outer '.summary.atomicity.proved > 0 and all(.findings[]; .level == "note")'
analyze 1 "$tmp/outer.std" --fail-on note
analyze 1 "$tmp/outer.std" --fail-on proved
analyze 0 "$tmp/outer.std" --fail-on warning
text "$tmp/outer.std"
prints '^findings: 0 errors, 0 warnings, [1-9][0-9]* notes? \(--anomalies lists all\)$'

# One line against many is one finding; a guard that is forgotten once is named, and counted.
printf '%s\n' 'main|fork(T1)|1' 'main|fork(T2)|2' 'T1|acq(m)|3' 'T1|w(x)|4' 'T1|rel(m)|5' 'T2|acq(m)|6' 'T2|r(x)|7' \
	'T2|rel(m)|8' 'T1|acq(m)|9' 'T1|w(x)|10' 'T1|rel(m)|11' 'T2|r(x)|12' >"$tmp/many.std"
analyze 1 "$tmp/many.std"
is many '(.findings[0].guard | .lock == "m" and .held == 2 and .of == 3 and [.without[].text] == ["12"])'
is many '.findings | length == 1'
analyze 1 "$tmp/many.std" --anomaly R1
is "one anomaly" 'has("findings") | not'

# What an earlier report has is known: not listed, and no failure; what is new still is.
"$racetrace" analyze -f json "$tmp/cache.zst" >"$tmp/old.json"
analyze 0 "$tmp/cache.zst" --baseline "$tmp/old.json"
is baseline '.findings | length == 1 and .[0].known'
analyze 1 "$tmp/account.zst" --baseline "$tmp/old.json"
is baseline 'all(.findings[]; has("known") | not)'
text --baseline "$tmp/old.json" "$tmp/cache.zst"
prints '^findings: 0 errors, 0 warnings, 0 notes, 1 known$'
"$racetrace" analyze -f sarif --baseline "$tmp/old.json" "$tmp/cache.zst" >"$tmp/out"
is baseline '[.runs[0].results[].baselineState] == ["unchanged"]'
echo '{}' >"$tmp/no.json"
analyze 2 "$tmp/cache.zst" --baseline "$tmp/no.json"
grep -q "no.json' is not a JSON report with findings" "$tmp/err" || { echo "no message: $(cat "$tmp/err")"; fail=1; }

# Two blocks of one function, which two functions race on: two findings, which a baseline tells apart.
cat >"$tmp/blocks.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
static int *a, *b;
static void *other(void *unused) { *a = 1; *b = 1; return unused; }
int main(void)
{
	pthread_t t;
	a = malloc(sizeof *a);
	b = malloc(sizeof *b);
	pthread_create(&t, 0, other, 0);
	*a = 2;
	*b = 2;
	return pthread_join(t, 0);
}
C
record blocks "$tmp/blocks.c"
analyze 1 "$tmp/blocks.zst"
is blocks '(.findings | length) == 2 and ([.findings[].fingerprint] | unique | length) == 2'
jq -c '.findings |= .[:1]' "$tmp/out" >"$tmp/one.json"
analyze 1 "$tmp/blocks.zst" --baseline "$tmp/one.json"
is blocks '[.findings[] | select(.known)] | length == 1'

# A check in one critical section and its act in another: the function is named that makes both calls, and an ASV of the
# same call is the same bug.
cat >"$tmp/look.c" <<'C'
#include <pthread.h>
static struct { pthread_mutex_t lock; int valid, value; } cache = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int find(void)
{
	pthread_mutex_lock(&cache.lock);
	int valid = cache.valid;
	pthread_mutex_unlock(&cache.lock);
	return valid;
}
static void put(int value)
{
	pthread_mutex_lock(&cache.lock);
	cache.value = value;
	cache.valid = 1;
	pthread_mutex_unlock(&cache.lock);
}
static void ensure(int value)
{
	if (find() < 2)
		put(value);
}
static void *work(void *unused) { ensure(1); return unused; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
record look "$tmp/look.c"
"$racetrace" record --serial=1 -o "$tmp/look.zst" "$tmp/look" >/dev/null 2>&1 # running free, the threads may do it
analyze 0 "$tmp/look.zst"
is look '[.findings[] | select(.level != "note")] | length == 1 and .[0].level == "warning"'
is look '.findings[0].title | test("^.ensure. acts on what it read of .cache.valid. in an earlier critical section of .cache.lock., and .put. may write it in between$")'

# Members of one object whose lock one function forgets are one bug; those that follow another are listed under it.
record flags "$here/tests/cases/two_flags.c"
text "$tmp/flags.zst"
prints '^F1 error, observed: .job. writes .state. while '
prints '^  these follow from it, as nothing else orders their accesses:$'
prints '^    F[234]: .job. writes .b. while .main. reads it'
prints '^findings: 1 error, 0 warnings, 0 notes, 3 that follow from others$'
prints '^  replay: racetrace replay .*flags\.zst --finding F1$'
[ "$(grep -c '^F[0-9]' "$tmp/out")" = 1 ] || { echo "text: followers are listed by themselves"; fail=1; }
record list "$here/samples/pecan/list.c"
analyze 1 "$tmp/list.zst"
is list '[.findings[].title | select(contains("without `from.lock`"))] | length == 1'

# RacerX's questions as counts; a lock that is held nearly everywhere ranks a race above one that is held half the time.
{
	printf '%s\n' 'main|w(z)|1' 'main|fork(T)|2' 'main|fork(U)|3' 'main|fork(V)|4'
	for i in $(seq 12); do
		for t in T U; do printf '%s\n' "$t|acq(m)|10" "$t|w(x)|11" "$t|rel(m)|12"; done
		printf '%s\n' 'T|acq(m)|20' 'T|w(y)|21' 'T|rel(m)|22' 'U|w(y)|23'
	done
	echo 'V|w(x)|30'
} >"$tmp/rank.std"
analyze 1 "$tmp/rank.std"
is rank '.findings[0] | .variable.name == "x" and .guard.held == 23 and .guard.of == 24'
is rank '.findings[0].uses == {"accesses": 24, "writes": 24, "threads": 3, "reached": [2, 1]}'
is rank '[.anomalies[] | select(.variable.name == "x" and .kind == "race") | .why[] | select(startswith("nearly all"))] | length > 0'
is rank 'all(.anomalies[] | select(.variable.name == "y"); all(.why[]; startswith("nearly all") | not))'
text "$tmp/rank.std"
prints '^  used by 3 threads: 24 accesses while shared, 24 of them write; 2 of them reach the first place, one the second$'
# Each format says the guard of the same findings.
"$racetrace" analyze --fail-on never -f text="$tmp/g.txt" -f html="$tmp/g.html" -f sarif="$tmp/g.sarif" -f gcc="$tmp/g.gcc" -f json="$tmp/g.json" "$tmp/rank.std"
said=$(awk '/^F[0-9]+ / { id = $1 } /^  guard: / { print id, $2, $6, $8 }' "$tmp/g.txt" | tr -d '`')
[ "$said" = 'F1 m 23 24' ] || { echo "guards in the text: $said"; fail=1; }
[ "$(jq -r '.findings[] | select(.guard) | "\(.id) \(.guard.lock) \(.guard.held) \(.guard.of)"' "$tmp/g.json")" = "$said" ] ||
	{ echo "guards in JSON: $(jq -c '[.findings[].guard]' "$tmp/g.json")"; fail=1; }
[ "$(grep -oE 'id="F[0-9]+"|Guard: .*accesses' "$tmp/g.html" | sed -nE '/^id/{h;d}; H; x; s/id="(F[0-9]+)"\nGuard: <code>(.*)<\/code> is held at ([0-9]+) of ([0-9]+) .*/\1 \2 \3 \4/p')" = "$said" ] ||
	{ echo "guards on the page: $(grep -oE 'id="F[0-9]+"|Guard: .*' "$tmp/g.html")"; fail=1; }
[ "$(jq -r '.runs[0].results[] | .properties.id + " " + (.message.text | capture("Guard: `(?<l>.*)` is held at (?<h>[0-9]+) of (?<o>[0-9]+) ") | "\(.l) \(.h) \(.o)")' "$tmp/g.sarif")" = "$said" ] ||
	{ echo "guards in SARIF: $(jq -c '[.runs[0].results[].message.text]' "$tmp/g.sarif")"; fail=1; }
[ "$(sed -nE '/ \[F[0-9]+, /h; /note: guard: /{s/.*guard: `(.*)` is held at ([0-9]+) of ([0-9]+) .*/\1 \2 \3/; G; s/(.*)\n.*\[(F[0-9]+), .*/\2 \1/p}' "$tmp/g.gcc")" = "$said" ] ||
	{ echo "guards as lines: $(cat "$tmp/g.gcc")"; fail=1; }
# Of two locks that are held at as many accesses, the inner one guards the variable.
{
	printf '%s\n' 'main|fork(T)|1' 'main|fork(U)|2' 'main|fork(V)|3'
	for t in T U T U; do printf '%s\n' "$t|acq(outer)|10" "$t|acq(inner)|11" "$t|w(x)|12" "$t|rel(inner)|13" "$t|rel(outer)|14"; done
	echo 'V|r(x)|20'
} >"$tmp/nested.std"
analyze 1 "$tmp/nested.std"
is "the inner lock" '.findings[0] | .guard.lock == "inner" and (.title | contains("`inner`"))'
# That a lock is held at 1 of 1 accesses tells people nothing, nor that one is held at all of which a place lacks it.
analyze 1 "$here/tests/golden/random/107.std"
is "a guard of one access" 'any(.findings[].guard; . and .held == 1 and .of == 1)'
for format in text html; do
	"$racetrace" analyze -f $format --fail-on never "$here/tests/golden/random/107.std" >"$tmp/out"
	! grep -q 'is held at' "$tmp/out" || { echo "a guard of one access: $format"; fail=1; }
done
# A wait takes its mutex anew, inside of what is held meanwhile.
{
	printf '%s\n' 'main|fork(T)|1' 'main|fork(U)|2' 'main|fork(V)|3'
	for t in T U T U; do printf '%s\n' "$t|acq(inner)|10" "$t|acq(outer)|11" "$t|rel(inner)|12" "$t|acq(inner)|13" "$t|w(x)|14" "$t|rel(inner)|15" "$t|rel(outer)|16"; done
	echo 'V|r(x)|20'
} >"$tmp/wait.std"
"$racetrace" convert -t jsonl -o - "$tmp/wait.std" | sed -E '/"pc":"0x8000000[cd]"/s/"object":("[^"]*")/"object":"0x300000000000","arg":\1/
	/"pc":"0x8000000[cd]"/{s/"release"/"wait-begin"/; s/"acquire"/"wait-end"/}' >"$tmp/wait.jsonl"
[ "$(grep -c '"wait-end"' "$tmp/wait.jsonl")" = 4 ] || { echo "no waits: $(head -n 20 "$tmp/wait.jsonl")"; fail=1; }
analyze 1 "$tmp/wait.jsonl"
is "the lock of the wait" '.findings[0].guard.lock == "inner"'

# Each thread counts, however many there are.
{
	for i in $(seq 70); do echo "main|fork(T$i)|1"; done
	for i in $(seq 70); do echo "T$i|w(x)|2"; done
} >"$tmp/many.std"
analyze 1 "$tmp/many.std"
is "many threads" '.findings[0].uses == {"accesses": 69, "writes": 69, "threads": 70, "reached": [70, 70]}'

# Double-checked initialisation is named.
printf '%s\n' 'main|fork(T)|1' 'main|fork(U)|2' 'T|r(made)|10' 'T|acq(m)|11' 'T|r(made)|12' 'T|w(made)|13' 'T|rel(m)|14' \
	'U|r(made)|10' >"$tmp/dcl.std"
analyze 1 "$tmp/dcl.std"
is dcl '.findings[0].title | startswith("double-checked initialisation: ")'
is dcl '.findings[0].fix | test("acquire.*release")'

# By object: the same races, of which none is proved; objects that keep the rule are left out.
"$racetrace" analyze -f json --fail-on never --kinds race "$tmp/list.zst" | jq -c '[.anomalies[].fingerprint] | sort' >"$tmp/bytes"
[ "$(jq length "$tmp/bytes")" -gt 0 ] || { echo "by object: no races to compare"; fail=1; }
"$racetrace" analyze -f json --fail-on never --kinds race --granularity object --stats "$tmp/list.zst" >"$tmp/out" 2>"$tmp/err"
[ "$(jq -c '[.anomalies[].fingerprint] | sort' "$tmp/out")" = "$(cat "$tmp/bytes")" ] || { echo "by object: other races"; fail=1; }
is "by object" 'all(.anomalies[]; .verdict == "observed" or (.verdict == "predicted" and any(.reasons[]; .reason == "objects")))'
grep -qE '^refined-objects [0-9]+$' "$tmp/err" || { echo "by object: $(cat "$tmp/err")"; fail=1; }
analyze 2 "$tmp/list.zst" --granularity page

# What one critical section could be cut by is a note if it is only predicted: a likely race is a finding of its own.
printf '%s\n' 'main|fork(T)|1' 'main|fork(U)|2' 'T|acq(m)|3' 'T|r(x)|4' 'T|r(y)|5' 'T|w(x)|6' 'T|rel(m)|7' 'U|acq(n)|8' \
	'U|acq(m)|9' 'U|w(x)|10' 'U|rel(m)|11' 'U|rel(n)|12' 'U|w(x)|13' 'U|acq(m)|14' 'U|r(x)|15' 'U|rel(m)|16' >"$tmp/cut.std"
analyze 0 "$tmp/cut.std" --budget 1 --kinds atomicity
is cut '.findings | length > 0 and all(.[]; .verdict == "predicted" and .level == "note")'

# A lock that a reader of one thread happens to hold guards nothing: it is not what a writer lacks.
{
	printf '%s\n' 'main|fork(A)|1' 'main|fork(B)|2' 'main|fork(C)|3' 'B|r(x)|10' 'C|r(x)|11'
	for _ in $(seq 12); do
		printf '%s\n' 'A|acq(own)|20' 'A|r(x)|21' 'A|rel(own)|22'
	done
	echo 'main|w(x)|4'
} >tick.std
"$RACETRACE" analyze -f text --fail-on never tick.std >out 2>err
grep -qE '^F1 error, observed: location 4 writes `x` while location (10|11|21) reads it, and nothing orders them$' out || wrong "a lock of one reader: $(grep ^F out)"
grep -q 'fix: guard it by one lock at both places, or make both accesses atomic' out || wrong "its fix: $(grep fix: out)"

exit $fail
