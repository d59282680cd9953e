#!/bin/bash
# t_finding_names.sh [BUILD]: what findings call variables, locks, functions and handlers, and what a stranger reads of them.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/findings.sh"

# Memory without a name is known by what is assigned to; OpenMP regions and lambdas by the function that has them.
cat >"$tmp/made.cpp" <<'C'
#include <thread>
#include <vector>
struct item { int pad[9], size; };
static void fill(item *it) { it->size += 2; }
int main()
{
	int sum = 0;
	auto *items = new item[4]();
	std::vector<std::thread> threads;
	for (int i = 0; i < 2; i++)
		threads.emplace_back([&] {
			sum++;
			fill(&items[3]);
		});
	for (auto &t : threads)
		t.join();
	delete[] items;
	return sum < 0;
}
C
record made "$tmp/made.cpp"
analyze 1 "$tmp/made.zst"
is made '[.findings[].title] | any(test("^.lambda #1 in main. writes .sum. ")) and any(test("^.fill. writes .item::size. "))'
is made '[.findings[].variable | [.written, .member]] | sort == [["it->size", "item::size"], ["sum", null]]'

# Types are those of the debug information: however far above a variable is declared, behind several steps, of what an
# object's own function names, and of a class that it inherits from. A local variable hides a member of its name.
cat >"$tmp/types.cpp" <<'C'
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
namespace app {
template <class T> struct base { T seen{}; std::mutex lock; };
struct part { int used = 0; };
struct shelf : base<int> {
	std::vector<std::unique_ptr<part>> parts;
	part first;
	int count = 0;
	void put()
	{
		std::lock_guard<std::mutex> g(lock);
		seen++;
		first.used++;
	}
	int look(int *count) { return seen + first.used + *count; }
};
struct store { shelf *shelves = new shelf[2]; } all;
}
static int peek(const std::vector<std::unique_ptr<app::part>> &of) { return of[0]->used; }
int main()
{
	auto &shelf = app::all.shelves[1];
	shelf.parts.push_back(std::make_unique<app::part>());
	std::thread a([&] { shelf.put(); shelf.parts[0]->used++; app::all.shelves->count++; });
	int sum = 0, n = 0;
	sum += shelf.look(&n) + peek(shelf.parts) + app::all.shelves->count;
	a.join();
	return sum < 0;
}
C
record types "$tmp/types.cpp"
analyze 1 "$tmp/types.zst"
is types '[.findings[].variable.member] | sort == ["base::seen", "part::used", "shelf::count"]'
is types '[.findings[].title] | map(select(test("`base::seen` without `base::lock`"))) | length == 1'
# As JSON lines a trace still has them, and names that it declares do not depend on the file's order.
"$racetrace" convert -t jsonl -o "$tmp/types.jsonl" "$tmp/types.zst" && "$racetrace" analyze -f json "$tmp/types.jsonl" | jq '.findings' >"$tmp/back"
"$racetrace" analyze -f json "$tmp/types.zst" | jq '.findings' | diff - "$tmp/back" || { echo "types: JSON lines lose names"; fail=1; }

# A container is known by the object that the user's line calls, its elements by the user who had them allocated.
cat >"$tmp/store.cpp" <<'C'
#include <mutex>
#include <thread>
#include <vector>
static struct store {
	std::mutex m;
	std::vector<int> values;
	void add(int v)
	{
		std::lock_guard<std::mutex> g(m);
		values.push_back(v);
	}
	int last() { return values.empty() ? 0 : values.back(); }
} all, *const all_ = &all;
int main()
{
	int sum = 0;
	all.values.reserve(99);
	std::thread a([] { for (int i = 0; i < 50; i++) all_->add(i); }), b([&sum] { for (int i = 0; i < 20; i++) sum += all_->last(); });
	a.join();
	b.join();
	return sum < 0;
}
C
for level in 0 1; do
	g++ -std=c++17 -g -O$level -fsanitize=thread "$tmp/store.cpp" -o "$tmp/store" && "$racetrace" record -o "$tmp/store.zst" -- "$tmp/store" 2>/dev/null
	analyze 1 "$tmp/store.zst"
	is "store -O$level" '[.findings[] | select(.title | test("^[^ ]* calls ")) | .title] | length > 0 and all(test("calls `std::vector<>::[a-z_]*` on `(all[.])?values`"))'
	is "store -O$level" '[.findings[] | .title, .variable.name] | any(test("std::__|std::allocator")) | not'
done
# What the library does inside to the nodes of a list or a map, and to a string, is seen: the look alone has no other access in common.
cat >"$tmp/nodes.cpp" <<'C'
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
static std::mutex m;
static std::list<int> all;
static std::map<int, int> rows;
static std::string text;
static int sum[3];
static void fill()
{
	for (int i = 0; i < 20; i++) {
		std::lock_guard<std::mutex> g(m);
		all.push_back(i);
		rows[i] = i;
		text.append(i, '+');
		if (i % 5 == 4) {
			all.pop_front();
			rows.erase(i - 1);
		}
	}
}
static void look_at_list()
{
	for (int i = 0; i < 20; i++)
		sum[0] += all.empty();
}
static void look_at_map()
{
	for (int i = 0; i < 20; i++)
		sum[1] += rows.begin() == rows.end();
}
static void look_at_text()
{
	for (int i = 0; i < 20; i++)
		sum[2] += text.empty();
}
int main()
{
	std::thread a(fill), b(look_at_list), c(look_at_map), d(look_at_text);
	a.join();
	b.join();
	c.join();
	d.join();
	for (auto &row : rows)
		sum[0] += row.second;
	return sum[0] + sum[1] < 0;
}
C
record nodes "$tmp/nodes.cpp"
analyze 1 "$tmp/nodes.zst"
is nodes '[.findings[] | select(.follows == null) | .title] | any(test("calls `std::list<>::empty` on `all`")) and any(test("calls `std::map<>::begin` on `rows`")) and any(test("`look_at_text` calls `std::basic_string<>::empty` on `text`|on `text` while `look_at_text`|`look_at_text` reads `text`|`text` while `look_at_text` reads"))'
is nodes '[.findings[].title] | all(test("double-checked") | not)'

# What is to be done about a container is no atomic operation.
cat >"$tmp/rows.cpp" <<'C'
#include <map>
#include <thread>
static std::map<int, int> rows;
static void put(int i) { rows[i] = i; }
int main()
{
	std::thread t(put, 1);
	put(2);
	t.join();
}
C
record rows "$tmp/rows.cpp"
analyze 1 "$tmp/rows.zst"
is rows '[.findings[].fix] | length > 0 and all(. == "guard both by one lock")'

# A lambda's constructor, which copies what it has captured, is the lambda; what no side names is not "it".
cat >"$tmp/captured.cpp" <<'C'
#include <string>
#include <thread>
static auto shared = [s = std::string("x")]() mutable {
	s += "y";
	return s.size();
};
static size_t sizes[2];
static void call()
{
	for (int i = 0; i < 20; i++)
		sizes[0] += shared();
}
static void copy()
{
	for (int i = 0; i < 20; i++) {
		auto own = shared;
		sizes[1] += own();
	}
}
int main()
{
	std::thread a(call), b(copy);
	a.join();
	b.join();
	return sizes[0] + sizes[1] == 0;
}
C
record captured "$tmp/captured.cpp"
# Not in each run: where the string grows depends on the turns.
for seed in 1 2 3 4 5 6; do
	"$racetrace" record --serial=$seed -o "$tmp/captured-$seed.zst" "$tmp/captured" 2>/dev/null
done
analyze 1 "$tmp/captured-1.zst" "$tmp"/captured-[2-6].zst
is captured '.findings | length > 0 and all(.title | test("`lambda #1` calls `std::basic_string<>::basic_string`") and (test("`<|[a-z]s it") | not))'

# Two lambdas of one function are two functions, inlined or not; one that is both is one.
cat >"$tmp/lambdas.cpp" <<'C'
#include <thread>
static int hits;
int main(int argc, char **)
{
	long total = 0;
	auto first = [] { hits++; };
	auto second = [] { hits++; };
	auto many = [&total](int n, const char *) { total += n; };
	void (*volatile called)() = first;
	std::thread a([&] { first(); called(); many(argc, ""); }), b([&] { second(); many(2, ""); });
	a.join();
	b.join();
	return total < 0;
}
C
for compiler in "g++ -fsanitize=thread -O0" "g++ -fsanitize=thread -O1" "g++ -fsanitize=thread -O2" "clang++ $("$racetrace" --cflags) -O1"; do
	libs=
	[ "${compiler%%+*}" = g ] || libs=$("$racetrace" --libs)
	# shellcheck disable=SC2086
	$compiler -g "$tmp/lambdas.cpp" -o "$tmp/lambdas" $libs -pthread && "$racetrace" record -o "$tmp/lambdas.zst" -- "$tmp/lambdas" 2>/dev/null
	analyze 1 "$tmp/lambdas.zst"
	many='^`(lambda[(]int, char const[*][)] #3|lambda [$]_2) in main` .* another thread in `(lambda[(]int, char const[*][)] #3|lambda [$]_2) in main`'
	is "$compiler" '[.findings[] | select(.title | contains("`total`")) | .title] | length == 1 and all(test("'"${many//\\/\\\\}"'"))'
	is "$compiler" '[.findings[] | select(.title | contains("`hits`")) | .title] | length == 1 and all(test("^`lambda #[12] in main` .* while `lambda #[12] in main` ") or test("^`lambda [$]_[01] in main` .* while `lambda [$]_[01] in main` "))'
	is "$compiler" '[.findings[] | select(.title | contains("`hits`")) | .places[].function] | unique | length == 2'
done

# So it is in a function that no other unit sees, of which the debug information has no parameters.
cat >"$tmp/inner.cpp" <<'C'
#include <functional>
#include <thread>
static int total;
__attribute__((noinline)) static void apply(const std::function<void(int)> &f, int n) { for (int i = 0; i < n; i++) f(i); }
static void work(int n)
{
	auto add = [&n](int v) {
		total += v + n;
	};
	if (n > 1)
		add(n);
	apply(add, n);
}
int main()
{
	std::thread a(work, 10), b(work, 11);
	a.join();
	b.join();
	return total < 0;
}
C
for level in 0 1 2; do
	g++ -g -O$level -fsanitize=thread "$tmp/inner.cpp" -o "$tmp/inner" -pthread && "$racetrace" record -o "$tmp/inner.zst" -- "$tmp/inner" 2>/dev/null
	analyze 1 "$tmp/inner.zst"
	is "inner -O$level" '[.findings[].places[].function] | unique | . == ["lambda(int) #1 in work"]'
done

# A member is named by its type, not by the parameter of a function that is not the one at hand.
cat >"$tmp/account.cpp" <<'C'
#include <mutex>
#include <thread>
#include <vector>
namespace bank {
class Account {
public:
	std::mutex m;
	long balance_ = 100;
	long total() const { return balance_; }
	void deposit(long n)
	{
		std::lock_guard<std::mutex> g(m);
		this->balance_ += n;
	}
};
static void transfer(Account &from, Account &to, long n)
{
	std::scoped_lock both(from.m, to.m);
	if (n < 0) {
		return;

	} else {
		from.balance_ -= n;
		to.balance_ += n;
	}
}
}
int main()
{
	std::vector<bank::Account> all(3);
	std::thread a([&] { for (int i = 0; i < 9; i++) bank::transfer(all[0], all[1], i); }),
	    b([&] { for (int i = 0; i < 9; i++) all[1].deposit(all[0].total()); });
	a.join();
	b.join();
}
C
record account "$tmp/account.cpp"
analyze 1 "$tmp/account.zst"
is account '[.findings[].title] | length > 0 and all(test("^`bank::Account::total` reads `Account::balance_` without `Account::m`, which `(bank::)?transfer` holds"))'

# Variables of one stack that one region writes are known apart by what the lines assign to.
cat >"$tmp/apart.c" <<'C'
int main(void)
{
	int sum = 0, counts[2] = {0};
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 30; i++) {
		sum += i;
		counts[i % 2]++;
		counts[0] = 0;
	}
	return sum + counts[1] < 0;
}
C
gcc -g -O0 -fopenmp -fsanitize=thread "$tmp/apart.c" -o "$tmp/apart" && "$racetrace" record -o "$tmp/apart.zst" "$tmp/apart" >/dev/null
analyze 1 "$tmp/apart.zst"
is apart '[.findings[].title | capture("writes `(?<name>[a-z]*)").name] | sort == ["counts", "sum"]'
# Without the source, or when it has changed, there is no such name.
echo '// changed' >>"$tmp/made.cpp"
analyze 1 "$tmp/made.zst"
is "made, changed" 'all(.findings[].variable; has("written") | not)'

# Locks in heap blocks have the name that an acquire's line gives them, also through a function that takes a pointer; of
# several that have one name each has a number. Memory of a pool is named by what is copied into it, or read of it.
cat >heap_locks.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct account {
	pthread_mutex_t m;
	long balance;
	char owner[16];
};
static struct account *accounts;
static void enter(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
}
static void move(struct account *from, struct account *to)
{
	pthread_mutex_lock(&from->m);
	pthread_mutex_lock(&to->m);
	from->balance--;
	to->balance++;
	pthread_mutex_unlock(&to->m);
	pthread_mutex_unlock(&from->m);
}
static void rename_owner(struct account *a, const char *name)
{
	enter(&a->m);
	memcpy(a->owner, name, 4);
	pthread_mutex_unlock(&a->m);
}
static int first_letter(struct account *a)
{
	return a->owner[0];
}
static void *work(void *unused)
{
	move(&accounts[0], &accounts[1]);
	rename_owner(&accounts[0], "ann");
	return unused;
}
static void *work_too(void *unused)
{
	move(&accounts[1], &accounts[2]);
	return unused;
}
int main(void)
{
	pthread_t t[2];
	accounts = calloc(3, sizeof *accounts);
	for (int i = 0; i < 3; i++)
		pthread_mutex_init(&accounts[i].m, 0);
	pthread_create(&t[0], 0, work, 0);
	pthread_create(&t[1], 0, work_too, 0);
	move(&accounts[2], &accounts[0]);
	rename_owner(&accounts[0], "bob");
	int letter = first_letter(&accounts[0]);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	free(accounts);
	return letter == 0;
}
C
gcc -g -O1 -fno-inline -fsanitize=thread heap_locks.c -o heap_locks -pthread || exit 1
timeout 60 "$RACETRACE" record --serial -o heap_locks.zst ./heap_locks >/dev/null 2>&1
"$RACETRACE" analyze -f text --fail-on never heap_locks.zst >out 2>err
grep -qE '^F[0-9]+ (error|warning), [a-z]+: (main[.0-9]*) acquires `to->m`, which (main[.0-9]*) holds; \3 acquires `to->m`, which (main[.0-9]*) holds; \4 acquires `to->m`, which \2 holds$' out ||
	wrong "the cycle: $(grep ^F out)"
grep -qE '^F[0-9]+ error, [a-z]+: `first_letter` reads `account::owner` without `account::m`, which `rename_owner` holds while it writes it$' out ||
	wrong "a member of a heap block: $(grep ^F out)"
grep -qE 'rename_owner: main(\.1)? writes, holding account::m \(a->m\)$' out || wrong "the lock of a place: $(cat out)"
"$RACETRACE" analyze -f json --fail-on never heap_locks.zst >out 2>err
holds '[.findings[].guard | select(. != null) | .written] | index("a->m") != null'
"$RACETRACE" analyze -f sarif --fail-on never heap_locks.zst >out 2>err
grep -q 'holding account::m (a->m)' out || wrong "the lock in SARIF"
"$RACETRACE" analyze -f html --fail-on never heap_locks.zst >out 2>err
grep -q 'holding account::m (a-&gt;m)' out || wrong "the lock on the page: $(grep -o 'holding [^.]*' out)"

# What a stranger reads: each thread of one place, a long line around the access, memory that only a function knows, what
# is freed, a thread that waits for itself, and the lock of the fix.
cat >stranger.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static int sum[2];
int hits;
static char *text;
static void *visit(void *a) { long me = (long)a; time_t now = 86400 * (me + 1); for (volatile int i = 0; i < 3; i++) sum[me] += i; hits = 1; sum[me] += localtime(&now)->tm_mday; return 0; }
static void *look(void *a)
{
	sum[1] += text[0];
	return a;
}
int main(void)
{
	pthread_t t[3];
	text = malloc(4);
	text[0] = 1;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], 0, visit, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	pthread_create(&t[2], 0, look, 0);
	free(text);
	pthread_join(t[2], 0);
	return 0;
}
C
gcc -g -O1 -fsanitize=thread stranger.c -o stranger -pthread || exit 1
timeout 60 "$RACETRACE" record --serial -o stranger.zst ./stranger >/dev/null 2>&1
"$RACETRACE" analyze -f text --fail-on never stranger.zst >out 2>err
grep -qE '^F[0-9]+ error, observed: `visit` writes `hits` while another thread in `visit` writes it, and nothing orders them$' out || wrong "$(grep ^F out)"
grep -qE '^  stranger\.c:7 in visit, the same line: main\.[12] writes, holding no lock$' out || wrong "the second thread of a place: $(cat out)"
grep -qE '^     7 \| \.\.\. .*hits = 1;' out || wrong "the long line: $(grep '     7 |' out)"
grep -qE '^F[0-9]+ error, observed: `visit` writes what `localtime` returns while another thread in `visit` writes it' out || wrong "memory of localtime: $(grep ^F out)"
grep -q "fix: call the variant of .localtime. that is given the memory of its result (.localtime_r.)" out || wrong "$(grep fix: out)"
grep -qE '^F[0-9]+ error, [a-z]+: `main` frees `text` while `look` may still use it' out || wrong "what is freed: $(grep ^F out)"
"$RACETRACE" analyze -f html --fail-on never stranger.zst >page.html 2>err
grep -q '<p>Fix: call the variant of <code>localtime</code>' page.html || wrong "the page's fix: $(grep Fix: page.html)"
awk '/what <code>localtime<\/code> returns/ { on = 1 } on && /class="place"/ { n++ } /<p>Fix:/ { on = 0 } END { exit n < 2 }' page.html || wrong "the page has one thread of a place"
# Where another call reads it, it is still the memory of the one that returns it.
cat >returned.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *note(void *out)
{
	time_t now = time(NULL);
	struct tm *tm = localtime(&now);
	pthread_mutex_lock(&m);
	fprintf(out, "%d:%d\n", tm->tm_hour, tm->tm_min);
	pthread_mutex_unlock(&m);
	return out;
}
int main(void)
{
	pthread_t t;
	FILE *out = fopen("/dev/null", "w");
	pthread_create(&t, NULL, note, out);
	note(out);
	return pthread_join(t, NULL);
}
C
gcc -g -O1 -fsanitize=thread returned.c -o returned -pthread || exit 1
timeout 60 "$RACETRACE" record --serial -o returned.zst ./returned >/dev/null 2>&1
"$RACETRACE" analyze -f json --fail-on never returned.zst >out 2>err
holds '[.findings[].title | select(contains("returns")) | capture("what `(?<f>[a-z]+)` returns").f] | unique == ["localtime"]'
cat >again.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	pthread_mutex_lock(&m);
	return pthread_mutex_lock(&m);
}
C
gcc -g -O1 -fsanitize=thread again.c -o again -pthread || exit 1
for seconds in 3 10 30 100; do # until it is at the second call, which on a busy machine may take long
	timeout -s INT $seconds "$RACETRACE" record -o again.zst ./again >/dev/null 2>&1
	"$RACETRACE" analyze -f text --fail-on never again.zst >out 2>err
	! grep -q '^F1' out || break
done
grep -qx 'F1 error, observed: main waits for `m`, which it holds itself: it cannot go on' out || wrong "waits for itself: $(grep ^F out)"
grep -q 'fix: do not acquire it again before it is released, or make it recursive' out || wrong "$(grep fix: out)"
gcc -g -O1 -fsanitize=thread "$top/tests/cases/bank_check_then_act.c" -o bank -pthread || exit 1
timeout 60 "$RACETRACE" record --serial=1 -o bank.zst ./bank >/dev/null 2>&1
"$RACETRACE" analyze -f text --fail-on never bank.zst >out 2>err
grep -q 'fix: keep both accesses of the one thread in one critical section of `a.m`' out || wrong "$(cat out)"
grep -qE '^  .*bank_check_then_act\.c:18 in add, the same line: main\.[12] (reads|updates|writes), holding a\.m' out || wrong "the act: $(cat out)"

# What a handler of a signal does is said to be that; what follows sigwait is in none.
cat >handler.c <<'C'
#include <pthread.h>
#include <signal.h>
int ticks, late;
static void count(void) { ticks++; }
static void on_usr1(int signal) { (void)signal; count(); }
static void *reset(void *arg) { ticks = 0; late = 1; return arg; }
static void seen(void) { late++; }
int main(void)
{
	pthread_t t;
	sigset_t set;
	int got;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR1, on_usr1);
	pthread_create(&t, NULL, reset, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigwait(&set, &got);
	seen();
	return pthread_join(t, NULL);
}
C
gcc -g -O0 -fsanitize=thread handler.c -o handler -pthread || exit 1
timeout 60 "$RACETRACE" record -o handler.zst ./handler >/dev/null 2>&1
"$RACETRACE" analyze -f text --fail-on never handler.zst >out 2>err
grep -qE '^F[0-9]+ error, observed: .*`count` \(in a handler of SIGUSR1\)' out || wrong "the handler: $(grep ^F out)"
grep -qE '^  handler\.c:4 in count: main, in a handler of SIGUSR1, (reads|writes|reads and writes|updates), holding no lock' out || wrong "the handler's place: $(cat out)"
grep -q 'fix: make it atomic and free of locks (a handler may not wait for one)' out || wrong "its fix: $(grep fix: out)"
grep -q 'handler of SIGUSR2' out && wrong "sigwait is a handler: $(cat out)"
"$RACETRACE" analyze -f json --fail-on never handler.zst >out 2>err
holds '[.anomalies[].events[].handler_of] | unique | . == [null, "SIGUSR1"]'

# Variables that an OpenMP region shares have their own names and findings, at whichever lines an optimised loop
# accesses them; in a converted trace, too.
cat >"$tmp/shares.c" <<'END'
#include <stdio.h>
int main(void)
{
	int sum = 0;
	int max = 0;
	int values[64];
	for (int i = 0; i < 64; i++)
		values[i] = 1 + i * 7 % 13;
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 64; i++) {
		sum += values[i];
		if (values[i] > max)
			max = values[i];
	}
	printf("%d %d\n", sum, max);
	return 0;
}
END
for level in 0 1 2; do
	gcc -g -O$level -fopenmp -fsanitize=thread "$tmp/shares.c" -o "$tmp/shares" && "$racetrace" record -o "$tmp/shares.zst" "$tmp/shares" >/dev/null
	"$racetrace" convert -o "$tmp/shares.jsonl" "$tmp/shares.zst" && "$racetrace" convert -o "$tmp/again.zst" "$tmp/shares.jsonl"
	for file in shares.zst again.zst; do
		analyze 1 "$tmp/$file"
		is "shares -O$level, $file" '[.findings[].title | capture("writes .(?<name>[^ ]*).( |,)").name] | sort == ["max", "sum"]'
	done
done

# Elements by the array, where the source computes which one; and what a library without debug information does is the
# deed of the lines that call it, one finding for all of its variables.
cat >elements.c <<'END'
#include <pthread.h>
void put(int), get(int);
static struct { struct { int seq, pair[2]; } slots[4]; char text[8]; } ring;
static int flags[4];
static void *writer(void *unused)
{
	for (int i = 0; i < 4; i++)
		ring.slots[i].seq = i;
	for (int i = 0; i < 4; i++)
		ring.text[i] = 1;
	flags[2] = 1;
	put(1);
	return unused;
}
static void *reader(void *unused)
{
	int sum = 0;
	for (int i = 0; i < 4; i++)
		sum += ring.slots[i].seq;
	for (int i = 0; i < 4; i++)
		sum += ring.text[i];
	sum += flags[2];
	get(sum);
	return unused;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, writer, 0), pthread_create(&t[1], 0, reader, 0);
	return pthread_join(t[0], 0) + pthread_join(t[1], 0);
}
END
echo 'static int used, last, slots[8]; void put(int n) { last = n; slots[n & 7] = n; used++; } void get(int n) { last += used; slots[n & 7] += last; }' >bare.c
gcc -O1 -fsanitize=thread -fPIC -shared bare.c -o libbare.so && strip libbare.so && gcc -g -O1 -fsanitize=thread elements.c ./libbare.so -o elements || wrong "cannot build elements.c"
"$racetrace" record -o elements.zst ./elements >/dev/null
"$RACETRACE" analyze -f text elements.zst >out
for name in 'ring.slots[].seq' 'ring.text' 'flags[2]'; do
	grep -qF "\`writer\` writes \`$name\` while \`reader\` reads it" out || wrong "$name: $(grep ^F out)"
done
grep -qF '`writer` calls `put` while `reader` calls `get`' out || wrong "the library: $(grep ^F out)"
[ "$(grep -c '^F' out)" = 4 ] || wrong "four bugs: $(grep ^F out)"

exit $fail
