#!/bin/bash
# t_hidden.sh BUILD: atomic instructions that no hook shows are found in whatever way they come into the program, are
# named when it is recorded, and hold what they may order to predicted; also after conversion.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# ---- An assembler file, a library, and code that is not instrumented ----
cat >count.S <<'EOF'
	.text
	.globl	count_up
count_up:
	movl	$1, %eax
	lock xaddl %eax, (%rdi)
	ret
	.section .note.GNU-stack,"",@progbits
EOF
cat >parts.c <<'EOF'
#include <sched.h>
int count_up(int *p);
int library_up(int *p)
{
	return count_up(p);
}
__attribute__((no_sanitize("thread"))) int plain_up(int *p)
{
	return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
}
EOF
cat >main.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int library_up(int *p), plain_up(int *p), count_up(int *p);
static const char *how = "";
int done, data;
static __attribute__((noinline)) int up(int *p)
{
	if (!strcmp(how, "library"))
		return library_up(p);
	if (!strcmp(how, "plain"))
		return plain_up(p);
	return count_up(p);
}
static int maybe_up(int *p)
{
	return !strcmp(how, "none") || up(p);
}
static void *first(void *unused)
{
	data = 1;
	maybe_up(&done);
	return unused;
}
static void *second(void *unused)
{
	usleep(20000);
	if (maybe_up(&done))
		data = 2;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	how = argc > 1 ? argv[1] : how;
	pthread_create(&t[0], 0, first, 0);
	pthread_create(&t[1], 0, second, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}
EOF
build="gcc -g -fsanitize=thread -w"
$build -O1 -fPIC -shared count.S parts.c -o libparts.so && $build -O1 main.c -o app -L. -lparts -Wl,-rpath,"$PWD" -pthread ||
	exit 1
verdicts() {
	jq -c '[.anomalies[] | select(.kind == "race") | .verdict] | unique' "$1"
}
for how in library direct plain none; do
	"$racetrace" record -o t.zst ./app $how >out 2>err || wrong "$how: $(cat err)"
	grep -q 'atomic instructions in .*count_up.* are not recorded: .*racetrace_happens_before' err ||
		wrong "$how: the instruction is not named: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || wrong "$how: more than a line: $(cat err)"
	want='["predicted"]'
	[ $how != none ] || want='["observed"]'
	"$racetrace" convert --to jsonl t.zst >t.jsonl && "$racetrace" convert --to racetrace -o back.zst t.jsonl || wrong 'cannot convert'
	for file in t.zst t.jsonl back.zst; do
		"$racetrace" analyze --format json $file >report.json
		[ "$(jq -c '[.anomalies[] | select(.kind == "race" and (.subject // .variable | tostring | test("data"))) | .verdict] | unique' report.json)" = "$want" ] || wrong "$how: $file: $(verdicts report.json)"
	done
done

# ---- Several processes of one program: the functions are searched for once, and are each process's own ----
cat >count.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
static void note(const char *what)
{
	int fd = open(SEARCHES, O_WRONLY | O_CREAT | O_APPEND, 0600);
	write(fd, what, 1);
	close(fd);
}
int cs_open(int arch, int mode, void *handle)
{
	note("x");
	return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, "cs_open"))(arch, mode, handle);
}
/* Code that may install filters is looked through with details (CS_OPT_DETAIL), functions are searched for without. */
int cs_option(size_t handle, int option, size_t value)
{
	if (option == 2)
		note("d");
	return ((int (*)(size_t, int, size_t))dlsym(RTLD_NEXT, "cs_option"))(handle, option, value);
}
EOF
gcc -w -shared -fPIC -DSEARCHES="\"$PWD/searches\"" count.c -o count.so -ldl || exit 1
rm -f t.zst*
# (A sanitizer's runtime must come first.)
sanitized && preload= || preload=$PWD/count.so
LD_PRELOAD=$preload "$racetrace" record --preload -o t.zst sh -c './app none; ./app library; ./app none' 2>err ||
	wrong "three processes: $(cat err)"
[ -z "$preload" ] || [ $(($(tr -cd x <searches | wc -c) - $(tr -cd d <searches | wc -c))) = 1 ] || wrong "three processes: searched for as often as: $(cat searches)"
seen=0
for file in t.zst t.zst.*; do
	"$racetrace" dump --format jsonl "$file" 2>err | head -n 1 >header.json
	jq -e '.hidden_atomics' header.json >/dev/null || continue
	jq -c '.modules as $m | def n: explode | map(if . > 90 then . - 87 else . - 48 end) | .[2:] | reduce .[] as $d (0; . * 16 + $d);
		[.hidden_atomics[] | (.start | n) as $s | ($m[] | select((.start | n) <= $s and $s < (.end | n))) as $in |
			[.function, .module, ($in.path | sub(".*/"; ""))] + ([.start, .end, .from, .until] | map(n - $s))]' \
		header.json >relative.$seen
	cmp -s relative.0 relative.$seen && grep -q '"libparts.so"' relative.$seen && grep -q '"app"' relative.$seen ||
		wrong "$file: $(cat header.json)"
	"$racetrace" analyze --format json "$file" >report.json
	seen=$((seen + 1))
	[ "$(verdicts report.json)" = "$([ "$(jq -r '.command[1]' header.json)" = none ] && echo '["observed"]' || echo '["predicted"]')" ] ||
		wrong "$file: $(verdicts report.json)"
done
[ $seen = 3 ] || wrong "$seen of three processes have atomic instructions"

# ---- Fences that wait for the clock, what is no instruction, and what GCC counts for --coverage are none ----
cat >clean.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
static int data;
static unsigned long ticks(void)
{
	unsigned a, d;
	__asm__ volatile("lfence\n\trdtsc" : "=a"(a), "=d"(d));
	return a;
}
static void *f(void *unused)
{
	unsigned long code = 0xf0ff0ff0f0b10ff0ul; /* the bytes of a locked instruction */
	__asm__ volatile("" : "+r"(code));
	ticks();
	data += (int)code;
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, f, 0);
	data++;
	return pthread_join(t, 0);
}
EOF
for more in '' --coverage; do
	$build -O1 $more clean.c -o clean || exit 1
	rm -f t.zst.*
	"$racetrace" record -o t.zst ./clean 2>err || wrong "clean $more: $(cat err)"
	[ ! -s err ] || wrong "clean $more: $(cat err)"
	"$racetrace" analyze --format json t.zst >report.json
	[ "$(verdicts report.json)" = '["observed"]' ] || [ "$(verdicts report.json)" = '["observed","predicted"]' ] || wrong "clean $more: $(verdicts report.json)"
done

# ---- A library that is not instrumented keeps an order by calls, and by what it calls ----
cat >box.c <<'EOF'
#include <pthread.h>
#include <sched.h>
#ifdef LOCKED
#include <semaphore.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t one;
__attribute__((constructor)) static void begin(void) { sem_init(&one, 0, 1); }
static void lock(void) { LOCKED ? sem_wait(&one) : pthread_mutex_lock(&mutex); }
static void unlock(void) { LOCKED ? sem_post(&one) : pthread_mutex_unlock(&mutex); }
#define SET(n) (lock(), full = (n), unlock())
static int get(void)
{
	lock();
	int now = full;
	return unlock(), now;
}
#else
#define SET(n) __atomic_exchange_n(&full, n, __ATOMIC_ACQ_REL)
#define get() __atomic_fetch_or(&full, 0, __ATOMIC_ACQ_REL)
#endif
void put(void) { SET(1); }
void take(void) { while (!get()) sched_yield(); }
static void *serve(void *work)
{
	take();
	((void (*)(void))work)();
	SET(2);
	return 0;
}
void ask(void (*work)(void))
{
	pthread_t t;
	pthread_create(&t, 0, serve, (void *)work);
	pthread_detach(t);
}
void wait_for(void) { while (get() != 2) sched_yield(); }
EOF
sed -i 's/^#ifdef LOCKED$/static int full;\n&/' box.c
cat >boxes.c <<'EOF'
#include <pthread.h>
#include <string.h>
void put(void), take(void), ask(void (*)(void)), wait_for(void);
int data, other;
static void work(void) { data++; }
static void *f(void *unused)
{
	take();
	data = 2;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t;
	if (!strcmp(argv[1], "call")) {
		pthread_create(&t, 0, f, 0);
		data = 1;
		put();
		return pthread_join(t, 0);
	}
	ask(work);
	data = 1;
	put();
	wait_for();
	return data != 2 || argc > 2;
}
EOF
$build -O1 -c boxes.c -o boxes.o || exit 1
for how in atomic locked semaphore; do
	case $how in atomic) with= ;; locked) with=-DLOCKED=0 ;; semaphore) with=-DLOCKED=1 ;; esac
	gcc -g -O1 -fPIC -shared $with box.c -o libbox.so -pthread && $build boxes.o -o boxes ./libbox.so || exit 1
	for what in call callback; do
		rm -f t.zst*
		"$racetrace" record -o t.zst ./boxes $what 2>err || wrong "$how $what: $(cat err)"
		[ ! -s err ] || wrong "$how $what: $(cat err)"
		"$racetrace" analyze --format json t.zst >report.json
		want='["plain-module libbox.so"]'
		got=$(jq -c '[.anomalies[] | select(.kind == "race") | if .verdict == "predicted" then .reasons[] | select(.reason == "plain-module") | .reason + " " + .detail else .verdict end] | unique' report.json)
		[ "$got" = "$want" ] || wrong "$how $what: $got, not $want"
		"$racetrace" analyze --format text t.zst >report.txt
		grep -q '^  fix: record it with `racetrace record --recorder=valgrind`, which sees inside libbox.so; if it is still found, guard' report.txt ||
			wrong "$how $what: $(grep fix: report.txt)"
		# The program itself does not take its schedules: then it is a note.
		if [ "$how" = locked ]; then
			"$racetrace" run -f json -o report.json ./boxes $what 2>err || wrong "$how $what, run: $(cat err)"
			jq -e '[.findings[].level] | unique == ["note"]' report.json >/dev/null ||
				wrong "$how $what, run: $(jq -c '[.findings[] | [.level, .verdict]], [.anomalies[].replay.outcome]' report.json)"
		fi
		# What that says is so.
		[ $how != semaphore ] && [ -d "$(dirname "$racetrace")/../lib/racetrace/valgrind" ] || continue
		rm -f t.zst*
		"$racetrace" record --recorder=valgrind -o t.zst ./boxes $what 2>err || wrong "$how $what, Valgrind: $(cat err)"
		"$racetrace" analyze --format json t.zst >report.json
		"$racetrace" convert -t jsonl t.zst -o - | head -n 1 | jq -e 'has("hidden_atomics") | not' >/dev/null ||
			wrong "$how $what, Valgrind: an atomic instruction is no event"
		[ "$(verdicts report.json)" = '[]' ] || wrong "$how $what, Valgrind: $(verdicts report.json)"
	done
done

# ---- Such calls through pointers count, wherever these come from: data, dlsym, or code that is linked statically ----
cat >pointers.c <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
void put(void), take(void);
#ifdef DLSYM
static void (*volatile gives)(void), (*volatile takes)(void);
#else
static void (*volatile gives)(void) = put, (*volatile takes)(void) = take;
#endif
int data;
static void *f(void *racy)
{
	if (!racy)
		takes();
	data = 2;
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t;
#ifdef DLSYM
	void *box = dlopen("./libbox.so", RTLD_NOW);
	gives = (void (*)(void))dlsym(box, "put");
	takes = (void (*)(void))dlsym(box, "take");
#endif
	pthread_create(&t, 0, f, argc > 1 ? argv : 0);
	data = 1;
	gives();
	return pthread_join(t, 0);
}
EOF
gcc -g -O1 -fPIC -shared box.c -o libbox.so -pthread && gcc -g -O1 -c box.c -o box.o || exit 1
for from in data dlsym static; do
	case $from in data) with=./libbox.so ;; dlsym) with=-DDLSYM ;; static) with=box.o ;; esac
	$build -O1 pointers.c -o pointers $with -pthread -ldl || exit 1
	for racy in '' racy; do
		"$racetrace" record -o t.zst ./pointers $racy 2>err || wrong "$from $racy: $(cat err)"
		"$racetrace" analyze --format json t.zst >report.json
		[ "$(verdicts report.json)" = '["predicted"]' ] || { [ -n "$racy" ] && [ "$(verdicts report.json)" = '["observed"]' ]; } ||
			wrong "calls through pointers, $from $racy: $(verdicts report.json)"
	done
done

# ---- A static libstdc++ is no such code: it calls its own functions ----
cat >thrown.cpp <<'EOF'
#include <pthread.h>
struct base { virtual void go() = 0; };
static int data;
struct derived : base { void go() override { data++; } };
static base *volatile made = new derived;
static void *f(void *p)
{
	made->go();
	if (!p)
		throw 1;
	return p;
}
int main()
{
	pthread_t t;
	pthread_create(&t, 0, f, &t);
	f(&t);
	return pthread_join(t, 0);
}
EOF
g++ -g -O1 -w -fsanitize=thread -static-libstdc++ thrown.cpp -o thrown -pthread && "$racetrace" record -o t.zst ./thrown 2>err || wrong "thrown: $(cat err)"
"$racetrace" analyze --format json t.zst >report.json
[ "$(verdicts report.json)" = '["observed"]' ] || wrong "a static libstdc++: $(jq -c '[.anomalies[] | [.verdict, .reasons]]' report.json)"

# ---- What a library's own headers do, in a thread of the library, the library has ordered in all likelihood: a note ----
mkdir -p include/c++
printf 'int data;\nvoid work(void) { data++; }\n' >include/c++/work.h
cp box.c include/c++ && gcc -g -O1 -fPIC -shared -DLOCKED=0 include/c++/box.c -o libbox.so -pthread || exit 1
sed -i 's|^int data, other;$|#ifdef HEADER\n#include "include/c++/work.h"\n#else\nint data;|; s|^static void work.*|&\n#endif|' boxes.c
for header in -UHEADER -DHEADER; do
	$build -O1 $header boxes.c -o boxes ./libbox.so && "$racetrace" record -o t.zst ./boxes callback && "$racetrace" analyze -f json t.zst >report.json
	want='["warning"]'
	[ $header = -UHEADER ] || want='["note"]'
	[ "$(jq -c '[.findings[].level] | unique' report.json)" = "$want" ] || wrong "callback $header: $(jq -c '[.findings[] | [.level, .title]]' report.json)"
done

# ---- What it may have ordered is a race nevertheless if the stamps tell that no call came between ----
cat >stamps.c <<'EOF'
#include <pthread.h>
#include <string.h>
#include <unistd.h>
void put(void), take(void);
int data, ordered;
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void stamp(int i)
{
	pthread_mutex_lock(&mutexes[i]);
	pthread_mutex_unlock(&mutexes[i]);
}
static __attribute__((noinline)) void count(void *second)
{
	stamp(second != 0);
	usleep(300000);
	data++;
	stamp(second != 0);
}
/* Each thread's first stamp, and its call before it, comes before the other's last. */
static void *racy(void *second)
{
	put();
	count(second);
	put();
	return 0;
}
static void *giver(void *unused)
{
	stamp(0);
	ordered++;
	stamp(0);
	put();
	stamp(0);
	return unused;
}
static void *taker(void *unused)
{
	stamp(1);
	take();
	stamp(1);
	ordered++;
	stamp(1);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	int is_racy = argc > 1 && !strcmp(argv[1], "racy");
	pthread_create(&t[0], 0, is_racy ? racy : taker, 0);
	pthread_create(&t[1], 0, is_racy ? racy : giver, t);
	pthread_join(t[0], 0);
	return pthread_join(t[1], 0);
}
EOF
gcc -g -O1 -fPIC -shared box.c -o libbox.so -pthread && $build -O1 stamps.c -o stamps ./libbox.so || exit 1
# stamped HOW VERDICT: of the race in a recording.
stamped() {
	"$racetrace" record -o t.zst ./stamps "$1" 2>err || wrong "stamps $1: $(cat err)"
	"$racetrace" analyze --format json t.zst >report.json
	[ "$(verdicts report.json)" = "[\"$2\"]" ]
}
for try in 1 2 3 4 5; do # on a busy machine one thread may be late
	stamped racy observed && break
	[ $try != 5 ] || wrong "stamps racy: $(verdicts report.json)"
done
for _ in 1 2 3; do
	stamped handed predicted || wrong "stamps handed: $(verdicts report.json)"
done

# ---- Where a passage begins and ends, by hand ----
# judged VERDICT WHAT MAY_LOCK EVENT...: threads a, b and c; an event is THREAD:OP:PC[:OBJECT].
judged() {
	local want=$1 what=$2 lock=$3 event got
	shift 3
	{
		echo '{"schema":"racetrace.events/1","order":"stamped","threads":["main",{"name":"a","parent":"main"},{"name":"b","parent":"main"},{"name":"c","parent":"main"}],'\
			'"hidden_atomics":[{"function":"f","start":"0x100","end":"0x200","from":"0x140","until":"0x150","may_lock":'"$lock"'},'\
			'{"function":"f","start":"0x500","end":"0x500","from":"0x500","until":"0x500","may_lock":'"$lock"'}]}' | tr -d '\n'
		echo
		echo '{"op":"fork","thread":"main","object":"a"}'
		echo '{"op":"fork","thread":"main","object":"b"}'
		echo '{"op":"fork","thread":"main","object":"c"}'
		for event in "$@"; do
			IFS=: read -r thread op pc object <<<"$event"
			echo '{"op":"'"$op"'","thread":"'"$thread"'","pc":"'"$pc"'"'"${object:+,\"object\":\"$object\"}"'}'
		done
	} >hand.jsonl
	"$racetrace" analyze --format json --fail-on observed hand.jsonl >report.json
	got=$(jq -c '[.anomalies[] | select(.kind == "race") | .verdict]' report.json)
	[ "$got" = "[\"$want\"]" ] || wrong "$what: $got, not $want: $(cat hand.jsonl)"
}
judged predicted 'through f between the two' false a:enter:0x40 a:write:0x120:0x9000 a:leave:0x0 b:enter:0x40 b:write:0x180:0x9000 b:leave:0x0
judged predicted 'in a function with no event of its own' false a:write:0x40:0x9000 a:enter:0x500 a:leave:0x0 b:enter:0x500 b:leave:0x0 b:write:0x44:0x9000
judged observed 'after f' false a:enter:0x40 a:write:0x150:0x9000 a:leave:0x0 b:enter:0x40 b:write:0x180:0x9000 b:leave:0x0
judged predicted 'after f, which may have locked' true a:enter:0x40 a:write:0x150:0x9000 a:leave:0x0 b:enter:0x40 b:write:0x180:0x9000 b:leave:0x0
judged observed 'one thread alone' true a:enter:0x500 a:leave:0x0 a:write:0x40:0x9000 a:enter:0x500 a:leave:0x0 b:write:0x44:0x9000
judged predicted 'the other way round' false b:write:0x44:0x9000 b:enter:0x500 b:leave:0x0 a:enter:0x500 a:leave:0x0 a:write:0x40:0x9000
judged predicted 'f has not returned' false a:enter:0x40 a:write:0x120:0x9000 b:enter:0x40 b:write:0x180:0x9000
judged observed 'before f in both' false a:write:0x40:0x9000 b:write:0x44:0x9000 a:enter:0x500 a:leave:0x0 b:enter:0x500 b:leave:0x0
judged observed 'each between stamps of its own' false a:enter:0x500 a:leave:0x0 b:enter:0x500 b:leave:0x0 a:acquire:0x40:0x7000 b:acquire:0x40:0x7100 a:write:0x44:0x9000 b:write:0x44:0x9000 a:release:0x48:0x7000 b:release:0x48:0x7100 a:enter:0x500 a:leave:0x0 b:enter:0x500 b:leave:0x0
judged predicted 'no stamp behind the first call' false a:enter:0x500 a:leave:0x0 b:enter:0x500 b:leave:0x0 a:acquire:0x40:0x7000 a:write:0x44:0x9000 b:write:0x44:0x9000 a:release:0x48:0x7000 a:enter:0x500 a:leave:0x0 b:enter:0x500 b:leave:0x0
judged predicted 'a call between the stamps' false a:acquire:0x40:0x7000 a:release:0x40:0x7000 a:write:0x44:0x9000 a:enter:0x500 a:leave:0x0 b:enter:0x500 b:leave:0x0 a:acquire:0x40:0x7000 b:acquire:0x40:0x7100 b:write:0x44:0x9000
judged predicted 'a third thread hands it on' false a:write:0x44:0x9000 a:acquire:0x40:0x7000 a:release:0x40:0x7000 c:acquire:0x40:0x7000 c:release:0x40:0x7000 c:enter:0x500 c:leave:0x0 b:enter:0x500 b:leave:0x0 b:acquire:0x40:0x7100 b:write:0x44:0x9000
judged observed 'a third thread comes too late' false a:write:0x44:0x9000 a:acquire:0x40:0x7000 a:release:0x40:0x7000 b:enter:0x500 b:leave:0x0 b:acquire:0x40:0x7100 c:acquire:0x40:0x7000 c:release:0x40:0x7000 c:enter:0x500 c:leave:0x0 b:write:0x44:0x9000
judged observed 'another function from where it is called' false a:write:0x40:0x9000 a:enter:0x300 a:leave:0x0 b:enter:0x300 b:leave:0x0 b:write:0x44:0x9000
# ---- What such a module only reads and writes orders nothing, but a thread may go on by what it finds there ----
cat >store.c <<'EOF'
static int full;
void fill(int *at) { *at = full = 1; }
int is_full(void) { return full; }
EOF
cat >stores.c <<'EOF'
#include <pthread.h>
#include <string.h>
void fill(int *);
int is_full(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int at, data, seen;
static char what, bytes[32], copy[32];
static __attribute__((noinline)) void fill_it(void) { fill(&at); }
static __attribute__((noinline)) int ask(void) { return is_full(); }
static __attribute__((noinline)) void set(void) { memset(bytes, 1, sizeof bytes); }
static __attribute__((noinline)) int compare(void) { return !strcmp(bytes, "on"); }
static void *filler(void *unused)
{
	data = 1;
	pthread_mutex_lock(&m);
	if (what == 's')
		set();
	else if (what == 'c')
		strcpy(bytes, "on");
	else if (what != 'n')
		fill_it();
	memcpy(copy, bytes, sizeof copy); /* recorded */
	pthread_mutex_unlock(&m);
	return unused;
}
static void *reader(void *unused)
{
	pthread_mutex_lock(&m);
	int found = what == 's' ? bytes[5] : what == 'c' ? compare() : what == 'r' ? at : what == 't' ? ask() : 1;
	pthread_mutex_unlock(&m);
	if (found)
		seen = data;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	int other;
	what = argv[1][0];
	fill(&other);
	pthread_create(&a, 0, filler, 0);
	pthread_create(&b, 0, reader, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return seen != 1 || argc > 2;
}
EOF
gcc -g -O1 -fPIC -shared store.c -o libstore.so && $build -O2 stores.c -o stores ./libstore.so || exit 1
# The thread reads it, or is told; or reads what a memset left that the compiler wrote out, or by a strcmp of that kind. In the last case it asks for nothing, but `main` has called the module, too.
for what in reads:libstore.so told:libstore.so set:set compare:compare nothing; do
	"$racetrace" record --serial -o t.zst ./stores "${what%:*}" 2>err || wrong "stores $what: $(cat err)"
	"$racetrace" analyze --format json t.zst >report.json
	want='[["data","proved"]]'
	[ "$what" = nothing ] || want="[[\"data\",\"predicted\",\"${what#*:}\"]]"
	got=$(jq -c '[.anomalies[] | [.variable.name, .verdict, .reasons[]?.detail]]' report.json)
	[ "$got" = "$want" ] || wrong "stores $what: $got"
	"$racetrace" analyze --format text t.zst >report.txt
	[ "$what" != set:set ] || grep -q '^  fix: build it with -fno-builtin, so that it is recorded; if it is still found, guard' report.txt ||
		wrong "stores $what: $(grep fix: report.txt)"
done
exit $fail
