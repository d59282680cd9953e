#!/bin/bash
# t_updates.sh BUILD: reads whose value decides nothing but what their thread writes there next are found in the machine
# code, and only these; a schedule in which they see other writes is a proof.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# Each line marked `update` has one such read; each marked `used` has none, however it is compiled.
cat >app.c <<'END'
#include <pthread.h>
#include <setjmp.h>
pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
struct s { int a; double d; unsigned bits : 3; } s, *p = &s;
int count, list[10], x, y, z, swapped, out, position, returned, limit, condition, last, kept, passed;
int parted, resumed, arrayed, moved, stored, asked, jumped, popped, sized;
static __thread jmp_buf again;
int *volatile shown;
double sum;
int *at = list;
extern void take(int a, int b, int c, int d, int e, int f, int value);
__attribute__((noinline, weak)) void take(int a, int b, int c, int d, int e, int f, int value)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)value;
}
__attribute__((noinline)) static int next(void) { return returned++; } /* used */
/* What the compiler moves elsewhere, a second return, memory that is not instrumented. */
__attribute__((noinline, cold, weak)) void rare(int a) { (void)a; }
__attribute__((noinline)) static void parts(int k) { int t = parted; parted = t + 4; if (k > 2) { rare(k); rare(t); } } /* used */
__attribute__((noinline)) static void jump(void) { longjmp(again, 1); }
__attribute__((noinline)) static int resume(void)
{
	volatile int v = 0;
	if (_setjmp(again)) return v;
	v = resumed; resumed = 5; jump(); /* used */
	return 0;
}
__attribute__((noinline)) static int array(int n, int i)
{
	int a[n];
	int t = arrayed; arrayed = 4; a[n - 1] = t; /* used */
	a[0] = 1;
	int own = i;
	shown = &own;
	t = own; own = 4; a[0] = t; /* used */
	return a[i - 1] + own;
}
/* What instructions do without naming it. */
__attribute__((noinline)) static long instructions(void)
{
	long t, r = 1;
	t = stored; stored = 4; __asm__ volatile("mov %k1, %0" : "=m"(last) : "r"(t)); /* used */
	t = asked; asked = 4; /* used */
	register long fourth __asm__("r10") = t;
	__asm__ volatile("syscall" : "=a"(r) : "0"(-1L), "D"(0), "S"(0), "d"(0), "r"(fourth) : "rcx", "r11", "memory");
	t = jumped; jumped = 4; __asm__ volatile("jrcxz 1f; mov $2, %0; 1:" : "+r"(r) : "c"(t)); /* used */
	t = popped; __asm__ volatile("sub $144, %%rsp; mov %1, (%%rsp); pop %0; add $136, %%rsp" : "=r"(r) : "r"(t)); popped = 4; /* used */
	t = sized; sized = 4; take(((char *)__builtin_alloca(t & 63))[0], 2, 3, 4, 5, 6, 7); /* used */
	return r;
}
static void *work(void *arg)
{
	double by = arg ? 2.5 : 1.5;
	int k = arg ? 2 : 3, before;
	pthread_mutex_lock(&l);
	count++;                           /* update */
	sum += by;                         /* update */
	p->a += k;                         /* update */
	p->bits++;                         /* update */
	list[k] ^= 4;                      /* update */
	at += 1;                           /* update */
	before = x++;                      /* used */
	if (y++ == 3) last = 1;            /* used */
	list[position++ & 7] = 4;          /* used */
	int t = swapped; swapped = 0; out = t; /* used */
	take(list[z++ & 1], 2, 3, 4, 5, 6, 7); /* used */
	take(1, 2, 3, 4, 5, 6, passed++);  /* used */
	while (limit++ < 2) take(1, 2, 3, 4, 5, 6, 7); /* used */
	kept = condition++ ? 1 : 2;        /* used */
	pthread_mutex_unlock(&l);
	last = before;
	parts(k);
	last = resume() + array(k, k - 1) + (int)instructions();
	return (void *)(long)next();
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	return 0;
}
END

# lines: the source lines of the reads that the trace lists, each as often as it has one.
lines() {
	"$racetrace" dump --format jsonl t.zst >t.jsonl && "$racetrace" dump t.zst >t.txt || exit 1
	jq -rs '([.[0].updates[]? | {key: .read, value: .write}] | from_entries) as $u | [.[1:] | group_by(.thread)[] | . as $e
		| range(length - 1) as $i | $e[$i] | select(.op == "read" and [.object, .arg, $u[.pc], "write"] == ($e[$i + 1] | [.object, .arg, .pc, .op]))]
		| unique_by(.pc) | .[].number' t.jsonl |
		while read -r number; do
			awk -v n="$number" '$1 == n' t.txt | sed -nE 's/.*(app\.c|throws\.cpp):([0-9]+).*/\2/p'
		done
}

# Without hooks the instructions that access memory say it themselves (plain).
valgrind=$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux
for how in 'gcc -O0' 'gcc -O1' 'gcc -O2' 'gcc -Os' 'g++ -O2' 'gcc -O2 -fno-plt' 'gcc -O3 -fno-pie -no-pie' 'clang -O0' 'clang -O2' \
	'gcc -O0 -Dplain' 'gcc -O1 -Dplain' 'clang -O2 -Dplain'; do
	command -v "${how%% *}" >/dev/null || continue
	flags=-fsanitize=thread libs=
	[ "${how%% *}" != clang ] || { flags=$("$racetrace" --cflags) && libs=$("$racetrace" --libs); } || exit 1
	[ "${how##* }" != -Dplain ] || { [ -x "$valgrind" ] && flags= libs=; } || continue
	# shellcheck disable=SC2086
	$how -x "$([ "${how%% *}" = g++ ] && echo c++ || echo c)" -w -g $flags app.c -o app -x none -pthread $libs || exit 1
	"$racetrace" record -o t.zst ./app 2>err || exit 1
	lines >found
	while read -r line; do
		sed -n "${line}p" app.c | grep -q '/\* used \*/' && wrong "$how: line $line: $(sed -n "${line}p" app.c)"
	done <found
	[ "$(sed 's/$/p/' found | sed -n -f - app.c | grep -c '/\* update \*/')" -ge 4 ] || wrong "$how: only lines $(tr '\n' ' ' <found)"
	[ "$how" != 'gcc -O1' ] || [ "$(sed 's/$/p/' found | sed -n -f - app.c | grep -c '/\* update \*/')" = 6 ] ||
		wrong "$how: of six only lines $(tr '\n' ' ' <found)"
done

# Where exceptions go on, a register may still have the value.
cat >throws.cpp <<'END'
#include <exception>
#include <mutex>
#include <thread>
std::mutex l;
int counted, caught, kept, nested;
volatile int out;
__attribute__((noinline, weak)) void may(int k) { if (k > 90) throw k; }
struct Keeper { int value; ~Keeper() { if (std::uncaught_exceptions()) out = value; } };
__attribute__((noinline)) static void cleans(int k)
{
	std::lock_guard<std::mutex> held(l);
	counted++; /* update */
	may(k);
}
__attribute__((noinline)) static int catches(int k)
{
	int t = caught; caught = t + 1; /* used */
	try { may(k); } catch (int) { return t; }
	return 0;
}
__attribute__((noinline)) static void keeps(int k)
{
	Keeper keeper{kept}; kept = keeper.value + 1; /* used */
	may(k);
}
__attribute__((noinline)) static int goes_on(int k)
{
	int r = 1;
	nested += 2; /* update */
	try { may(k); } catch (int x) { r = x; }
	return r;
}
int main()
{
	auto work = [](int k) { cleans(k); out = catches(k); keeps(k); out = goes_on(k); };
	std::thread a(work, 1), b(work, 2);
	a.join();
	b.join();
	return 0;
}
END
for how in 'g++ -O0' 'g++ -O1' 'g++ -Os' 'g++ -O1 -fno-pie -no-pie' 'clang++ -O2'; do
	command -v "${how%% *}" >/dev/null || continue
	flags=-fsanitize=thread libs=
	[ "${how%% *}" != clang++ ] || { flags=$("$racetrace" --cflags) && libs=$("$racetrace" --libs); } || exit 1
	# shellcheck disable=SC2086
	$how -w -g $flags throws.cpp -o throws -pthread $libs && "$racetrace" record -o t.zst ./throws 2>err || exit 1
	lines | sort -u | sed 's/$/p/' | sed -n -f - throws.cpp >found
	! grep '/\* used \*/' found >more || wrong "$how: $(cat more)"
	[ "$(grep -c '/\* update \*/' found)" = 2 ] || wrong "$how: only $(cat found)"
done

# An argument in a register that functions do not change by convention (clang's regcall).
cat >sums.c <<'END'
#include <pthread.h>
long sent, shown;
__attribute__((noinline, regcall)) long sum(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k)
{
	return a + b + c + d + e + f + g + h + i + j * 3 + k * 5;
}
static void *work(void *arg)
{
	long t = sent;
	sent = 4;
	t = sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, t);
	shown = t;
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	return pthread_join(t, 0);
}
END
if command -v clang >/dev/null; then
	# shellcheck disable=SC2046
	clang -O1 -w $("$racetrace" --cflags) sums.c -o sums -pthread $("$racetrace" --libs) && "$racetrace" record -o t.zst ./sums || exit 1
	"$racetrace" dump --format jsonl t.zst | jq -se '(.[0].updates // []) == []' >found || wrong "regcall: $(cat found)"
fi

# trace HOW: two threads write x on either side of critical sections that count. HOW: listed, or not; before, behind: the
# second one reads in another way what it counts, before that or behind.
trace() {
	local updates='' more='' then=''
	[ "$1" = not ] || updates=',"updates":[{"read":"0x10","write":"0x18"}]'
	[ "$1" != before ] || more='{"thread":"b","op":"read","object":"n","arg":4,"pc":"0x50"}'
	[ "$1" != behind ] || then='{"thread":"b","op":"read","object":"n","arg":4,"pc":"0x50"}'
	echo '{"schema":"racetrace.events/1","order":"exact","model":"c11","threads":[{"name":"a"},{"name":"b"}]'"$updates}"
	section() {
		echo '{"thread":"'"$1"'","op":"acquire","object":"L","pc":"0x20"}'
		[ "$1" = a ] || [ -z "$more" ] || echo "$more"
		echo '{"thread":"'"$1"'","op":"read","object":"n","arg":4,"pc":"0x10"}'
		echo '{"thread":"'"$1"'","op":"write","object":"n","arg":4,"pc":"0x18"}'
		[ "$1" = a ] || [ -z "$then" ] || echo "$then"
		echo '{"thread":"'"$1"'","op":"release","object":"L","pc":"0x28"}'
	}
	echo '{"thread":"a","op":"write","object":"x","arg":4,"pc":"0x30"}'
	section a
	section b
	echo '{"thread":"b","op":"write","object":"x","arg":4,"pc":"0x40"}'
}
for how in listed:proved not:conditional before:conditional behind:conditional; do
	trace "${how%:*}" >t.jsonl
	verdict=$("$racetrace" analyze --all -f json t.jsonl | jq -r '[.anomalies[] | select(.kind == "race" and .variable.name == "x") | .verdict] | join(" ")')
	[ "$verdict" = "${how#*:}" ] || wrong "${how%:*}: the race of x is '$verdict'"
	"$racetrace" convert t.jsonl -o t.zst && "$racetrace" dump --format jsonl t.zst | jq -s -c '.[0].updates' >again || exit 1
	[ "${how%:*}" = not ] || [ "$(cat again)" = '[{"read":"0x10","write":"0x18"}]' ] || wrong "round trip: $(cat again)"
done
exit "$fail"
