#!/bin/bash
# t_binary.sh BUILD: programs that are not instrumented, recorded by the Valgrind tool: the order is exact, values are
# there, what is certain is said and nothing else. Where racetrace was built without Valgrind's files, record says so.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
tool=$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux

# verdicts REPORT: variable, verdict and lines of each race.
verdicts() {
	jq -r '[.anomalies[] | select(.kind == "race") | "\(.variable.name) \(.verdict) \([.events[].source.line] | sort | join(" "))"] | unique[]' "$1"
}

cat >app.cpp <<'END'
#include <atomic>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static std::atomic<int> flag;
static int guarded, sent, racy, counted, by_builtin;

static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		racy++; // @racy
}
static void caught()
{
	try {
		throw std::runtime_error("thrown");
	} catch (std::exception &e) {
		counted += std::string(e.what()).size(); // @counted
	}
}
static void *work(void *arg)
{
	pthread_mutex_lock(&mutex);
	guarded++;
	pthread_mutex_unlock(&mutex);
	deep(3);
	caught();
	__atomic_store_n(&by_builtin, 1, __ATOMIC_RELEASE); // @store
	return arg;
}
int main()
{
	pthread_t a, b;
	pthread_create(&a, nullptr, work, nullptr);
	pthread_create(&b, nullptr, work, nullptr);
	std::thread sender([] { sent = 1; flag.store(1, std::memory_order_release); });
	while (!flag.load(std::memory_order_acquire))
		;
	int got = sent + __atomic_load_n(&by_builtin, __ATOMIC_ACQUIRE); // @load
	sender.join();
	pthread_join(a, nullptr);
	pthread_join(b, nullptr);
	return got == 0 ? 1 : 7;
}
END
g++ -g -O1 app.cpp -o app -pthread || exit 1
line() {
	grep -n "@$1\$" app.cpp | cut -d: -f1
}

if [ ! -x "$tool" ]; then
	"$racetrace" record -o t.zst ./app >out 2>err
	[ $? = 3 ] && grep -q 'build racetrace where Valgrind is installed' err || wrong "without the tool: $(cat err)"
	exit $fail
fi

"$racetrace" record -o t.zst ./app >out 2>err
[ $? = 7 ] || wrong "not the program's own status: $(cat err)"
grep -q "^racetrace: './app' is not instrumented: Valgrind runs it" err || wrong "no word about the cost: $(cat err)"
[ "$("$racetrace" info --format json t.zst | jq -c '[.order, .values, .complete]')" = '["exact",true,true]' ] ||
	wrong "info: $("$racetrace" info t.zst)"

"$racetrace" analyze -f json t.zst >report.json
jq -e '.trace.binary' report.json >/dev/null || wrong 'the report does not say that it was no instrumentation'
# An update in one instruction is no atomic one; std::atomic orders what it is meant to; a builtin is not seen in the
# machine code, so the race is not certain, and says why.
verdicts report.json >got
grep -qx "racy observed $(line racy) $(line racy)" got || wrong "the race of the update: $(cat got)"
grep -qx "counted observed $(line counted) $(line counted)" got || wrong "the race behind the exception: $(cat got)"
grep -qE '^(guarded|sent|flag)' got && wrong "what is ordered is called a race: $(cat got)"
grep -E "^by_builtin" got | grep -qv ' predicted ' && wrong "what may be atomic is called certain: $(cat got)"
jq -e '[.anomalies[] | select(.variable.name == "by_builtin") | .reasons[].reason] | all(startswith("machine-"))' report.json >/dev/null ||
	wrong "why it is not certain: $(jq -c '[.anomalies[] | .reasons]' report.json)"
# The stack has the calls, and the source lines are those of the accesses.
jq -e '[.anomalies[] | select(.variable.name == "racy") | .events[].stack | [.[].function][:5] | join(" ")]
	| all(startswith("deep"))' report.json >/dev/null || wrong "stacks: $(jq -c '[.anomalies[].events[].stack | [.[].function]]' report.json)"

# What begins the program is called by nothing: no stack begins with the number of its arguments.
"$racetrace" dump t.zst | grep -E 'enter +0x[0-9a-f]{1,4}$' && wrong 'a call from nowhere'

# Written as JSON lines and read again it is the same trace.
"$racetrace" convert -t jsonl -o t.jsonl t.zst && "$racetrace" convert -t racetrace -o again.zst t.jsonl || wrong 'it cannot be converted'
diff <("$racetrace" dump t.zst) <("$racetrace" dump again.zst) >/dev/null || wrong 'it is another trace when it was converted twice'
"$racetrace" info --format json again.zst | jq -e '.order == "exact"' >/dev/null || wrong 'converted, it is not exact'

# A shared library that is loaded later, a signal's handler and a forked child.
cat >lib.c <<'END'
int loaded;
void touch(void) { loaded++; }
END
cat >more.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t handled;
static void handler(int sig) { handled = sig; }
static void *call(void *f) { ((void (*)(void))f)(); return NULL; }
int main(void)
{
	void *library = dlopen("./lib.so", RTLD_NOW);
	void *touch = library ? dlsym(library, "touch") : NULL;
	pthread_t a, b;
	if (!touch)
		return 1;
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	pthread_create(&a, NULL, call, touch);
	pthread_create(&b, NULL, call, touch);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(handled == SIGUSR1 ? 3 : 4);
	int status;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}
END
gcc -g -O1 -shared -fPIC lib.c -o lib.so && gcc -g -O1 more.c -o more -ldl -pthread || exit 1
"$racetrace" record --recorder=valgrind -o m.zst ./more >out 2>err
[ $? = 3 ] && [ ! -s err ] || wrong "more: $(cat err)"
"$racetrace" analyze -f json m.zst | jq -e '[.anomalies[] | select(.kind == "race" and .variable.name == "loaded" and .verdict == "observed")] != []' >/dev/null ||
	wrong 'the race in the library is not observed'
[ "$("$racetrace" info --format json m.zst.* | jq -c .command)" = '["./more"]' ] || wrong "no trace of the forked child: $(ls m.zst*)"

# An instrumented program with a plain library: the one by its hooks, the other by the tool; they race with each other.
cat >mixed.c <<'END'
#include <pthread.h>
extern int loaded;
void touch(void);
static int own;
static void *work(void *arg)
{
	own++;    /* @own */
	loaded++; /* @ours */
	touch();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
gcc -g -O1 -fsanitize=thread mixed.c -o mixed -L. -l:lib.so -Wl,-rpath,"$PWD" -pthread || exit 1
"$racetrace" record --recorder=valgrind -o x.zst ./mixed >out 2>err || wrong "mixed: $(cat err)"
"$racetrace" analyze -f json x.zst | jq -r '[.anomalies[] | select(.kind == "race" and .verdict == "observed") |
	"\(.variable.name) \([.events[].source | "\(.file | split("/")[-1]):\(.line)"] | unique | join(" "))"] | unique[]' >got
own=$(grep -n '@own' mixed.c | cut -d: -f1) ours=$(grep -n '@ours' mixed.c | cut -d: -f1)
for line in "own mixed.c:$own" "loaded mixed.c:$ours" "loaded lib.c:2 mixed.c:$ours"; do
	grep -qx "$line" got || wrong "no race '$line' in a mixed program: $(cat got)"
done
[ "$(grep -c '' got)" = 3 ] || wrong "other races in a mixed program: $(cat got)"

# A frame is left out if no other code can know where it is: whatever its function does in there, there is no event more.
# Where an address is taken, be it only where an exception is handled, all of the frame is seen.
cat >frames.cpp <<'END'
#include <pthread.h>
#include <stdlib.h>
static int *volatile shown, *volatile caught;
static int rounds, sum;
static int alone(int n)
{
	int own = 0, last = n;
	for (int i = 0; i < rounds; i++) {
		own += last * i;
		last = own;
	}
	return own;
}
static void *sums(void *arg)
{
	sum = alone(2);
	return arg;
}
static void fail(int n)
{
	if (n)
		throw n;
}
static void *owner(void *arg)
{
	int a = 1; /* @a */
	int b = 1; /* @b */
	shown = &a;
	try {
		fail(3);
	} catch (int) {
		caught = &b;
	}
	while (shown)
		;
	return arg;
}
static void *other(void *arg)
{
	while (!caught || !shown)
		;
	*shown = 2;  /* @shown */
	*caught = 2; /* @caught */
	shown = NULL;
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	rounds = argc > 1 ? atoi(argv[1]) : 1;
	pthread_create(&a, NULL, argc > 1 ? sums : owner, NULL);
	if (argc == 1) {
		pthread_create(&b, NULL, other, NULL);
		pthread_join(b, NULL);
	}
	pthread_join(a, NULL);
	return 0;
}
END
for level in 0 2; do
	g++ -g -O$level frames.cpp -o frames -pthread || exit 1
	"$racetrace" record --recorder=valgrind -o p.zst ./frames >out 2>err || wrong "frames: $(cat err)"
	"$racetrace" analyze --all --fail-on never -f json p.zst | jq -r '.anomalies[] | select(.kind == "race") | [.events[].source.line] | sort | join(" ")' | sort -u >got
	for lines in "$(grep -n '@a \*/' frames.cpp | cut -d: -f1) $(grep -n '@shown \*/' frames.cpp | cut -d: -f1)" \
		"$(grep -n '@b \*/' frames.cpp | cut -d: -f1) $(grep -n '@caught \*/' frames.cpp | cut -d: -f1)"; do
		grep -qx "$lines" got || wrong "-O$level: no race of lines $lines in a frame whose address is taken: $(paste -sd, got)"
	done
done
g++ -g -O0 frames.cpp -o frames -pthread || exit 1
for rounds in 20 2000; do
	"$racetrace" record --recorder=valgrind -o $rounds.zst ./frames $rounds >out 2>err || wrong "frames: $(cat err)"
	"$racetrace" info --format json $rounds.zst | jq -e .groups.memory >events.$rounds || wrong "frames: no count of accesses"
done
cmp -s events.20 events.2000 || wrong "accesses of a private frame are recorded: $(cat events.*)"

# A part of a function that is put elsewhere may make the frame, hand its address on, and jump back.
cat >parts.c <<'END'
int *volatile shown;
void stores(int parted);
__asm__(".text\nstores:\n.cfi_startproc\n test %edi, %edi\n jne .Lelsewhere\n sub $24, %rsp\n .cfi_adjust_cfa_offset 24\n"
	".Lback:\n movl $1, 8(%rsp)\n add $24, %rsp\n .cfi_adjust_cfa_offset -24\n ret\n.cfi_endproc\n"
	".Lelsewhere:\n.cfi_startproc\n sub $24, %rsp\n .cfi_adjust_cfa_offset 24\n lea 8(%rsp), %rax\n"
	" mov %rax, shown(%rip)\n jmp .Lback\n.cfi_endproc\n");
int main(void)
{
	stores(1);
	return !shown;
}
END
gcc -g -O1 -fno-pie -no-pie parts.c -o parts || exit 1
"$racetrace" record --recorder=valgrind -o p.zst ./parts >out 2>err || wrong "parts: $(cat err)"
"$racetrace" dump p.zst | grep -qE ' write .*=1 .* stores$' || wrong 'no store to a frame that another part of the function has made'

# Code that is in no file, as a compiler at run time makes it, is the program's as well.
cat >made.c <<'END'
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
static int counter;
static const unsigned char code[] = {
    0x48, 0x89, 0x7c, 0x24, 0xf8, /* mov %rdi, -8(%rsp) */
    0x48, 0x8b, 0x44, 0x24, 0xf8, /* mov -8(%rsp), %rax */
    0x83, 0x00, 0x01,             /* addl $1, (%rax) */
    0xc3};
static void *made;
static void *work(void *arg)
{
	((void (*)(int *))made)(&counter);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(made, code, sizeof code);
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return counter != 2;
}
END
gcc -g -O1 made.c -o made -pthread || exit 1
"$racetrace" record --recorder=valgrind -o j.zst ./made >out 2>err || wrong "code that is in no file: $(cat err)"
"$racetrace" analyze --fail-on never -f json j.zst >j.json
[ "$(verdicts j.json | cut -d' ' -f1 | sort -u)" = counter ] || wrong "the race in code that is in no file: $(verdicts j.json)"

# A coroutine that two threads resume in turn under a lock: its frame is handed over. And without the lock. Clang's binaries
# are recorded as well, and Valgrind has nothing to say about them.
cat >coroutine.cpp <<'END'
#include <coroutine>
#include <mutex>
#include <stdexcept>
#include <thread>
struct task {
	struct promise_type {
		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int) noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { thrown = true; }
		bool thrown = false;
	};
	std::coroutine_handle<promise_type> handle;
};
static std::mutex mutex;
static int guarded, racy;
static volatile bool first; /* is done: no lock, but one comes after the other */
static task counts(int n)
{
	for (int i = 0; i < n; i++) {
		guarded += i; // @guarded
		co_yield i;
	}
	throw std::runtime_error("over");
}
int main(int argc, char **)
{
	task t = counts(argc > 1 ? 9 : 6);
	auto resume = [&] {
		for (int i = 0; i < 4; i++) {
			if (argc == 1)
				mutex.lock();
			if (!t.handle.done())
				t.handle.resume();
			if (argc == 1)
				mutex.unlock();
			racy++; // @racy
		}
	};
	std::thread a([&] {
		resume();
		first = true;
	});
	while (argc > 1 && !first)
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	std::thread b(resume);
	a.join();
	b.join();
	bool over = t.handle.done() && t.handle.promise().thrown;
	t.handle.destroy();
	return over == (argc > 1);
}
END
for compiler in 'g++ -std=c++20' 'clang++ -std=c++20 -stdlib=libstdc++ -fcoroutines-ts'; do
	command -v ${compiler%% *} >/dev/null || continue
	$compiler -g -O1 coroutine.cpp -o coroutine -pthread 2>err || wrong "$compiler: $(cat err)"
	"$racetrace" record --recorder=valgrind -o o.zst ./coroutine >out 2>err || wrong "coroutine: $(cat err)"
	[ -s err ] && wrong "coroutine of $compiler: Valgrind says: $(cat err)"
	"$racetrace" analyze --fail-on never -f json o.zst >o.json
	[ "$(verdicts o.json | cut -d' ' -f1 | sort -u)" = racy ] || wrong "coroutine of $compiler: $(verdicts o.json)"
	"$racetrace" record --recorder=valgrind -o o.zst ./coroutine unlocked >out 2>err || wrong "coroutine: $(cat err)"
	"$racetrace" analyze --fail-on never -f json o.zst >o.json
	line=$(grep -n '@guarded$' coroutine.cpp | cut -d: -f1)
	verdicts o.json | grep -qx "guarded [a-z]* $line $line" || wrong "coroutine of $compiler without the lock: $(verdicts o.json)"
done

# A store and a fence, as some compilers store to an _Atomic variable: such a line calls nothing, and is not plain.
printf '#include <pthread.h>\n_Atomic int x;\nint y;\nstatic void *work(void *arg)\n{\n\tx = 1;\n\ty = 1;\n\treturn arg;\n}\n%s\n' \
	'int main(void) { pthread_t a, b; pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0); pthread_join(a, 0); return pthread_join(b, 0); }' >fenced.c
gcc -g -O1 -S fenced.c -o - | sed 's/xchgl\tx(%rip), \(%e[a-d]x\)/movl\t\1, x(%rip)\n\tmfence/' >fenced.s
grep -q mfence fenced.s && gcc fenced.s -o fenced -pthread || exit 1
"$racetrace" record -o f.zst ./fenced >out 2>err || wrong "fenced: $(cat err)"
"$racetrace" analyze -f json f.zst >f.json
[ "$(verdicts f.json)" = "x predicted 6 6
y observed 7 7" ] || wrong "a store and a fence: $(verdicts f.json)"

# What the tool keeps of repeats does not grow with the number of threads, however much each of them accesses.
cat >crowd.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
enum { THREADS = 100, PLACES = 1 << 16 };
static volatile int places[PLACES];
static pthread_barrier_t end;
static void *reads(void *arg)
{
	for (int i = 0; i < PLACES; i++)
		(void)places[i];
	pthread_barrier_wait(&end);
	return arg;
}
int main(void)
{
	pthread_t threads[THREADS];
	struct rusage usage;
	pthread_barrier_init(&end, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, reads, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_maxrss);
	return 0;
}
END
gcc -g -O1 crowd.c -o crowd -pthread || exit 1
"$racetrace" record --recorder=valgrind -o w.zst ./crowd >out 2>err || wrong "crowd: $(cat err)"
[ "$(cat out)" -lt 600000 ] || wrong "100 threads take $(cat out) KiB"
# More threads than are to be recorded run without it.
"$racetrace" record --recorder=valgrind --threads=10 -o w.zst ./crowd >out 2>err || wrong "more threads than are recorded: $(cat err)"
"$racetrace" info --format json w.zst | jq -e '.complete | not' >/dev/null || wrong 'threads that are not recorded are not said'

# A timer that fires more often than threads under the tool take turns lets them take turns nevertheless.
gcc -g -O1 "$top/samples/more/handlers_racy.c" -o handlers -pthread || exit 1
timeout 120 "$racetrace" record --serial=1 --recorder=valgrind -o i.zst ./handlers >out 2>err || wrong "handlers: $(cat err)"

# What it shows happens in a build that is instrumented.
gcc -g -O1 "$top/samples/hidden.c" -o hidden -pthread && gcc -g -O1 -fsanitize=thread "$top/samples/hidden.c" -o hidden_tsan -pthread || exit 1
"$racetrace" record -o h.zst ./hidden >out 2>err
"$racetrace" replay --format json h.zst -- ./hidden_tsan 2>err | jq -e '.summary.race.confirmed == 1' >/dev/null ||
	wrong "replay in the instrumented build: $(cat err)"

# Threads take turns under the tool too: a seed repeats a run, and a lost update happens in one of them.
cat >turns.c <<'END'
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static volatile double sum = 0.5;
static volatile int count;
static atomic_int relaxed;
static void *work(void *arg)
{
	double own = sqrt((double)(size_t)arg); /* in a register where the thread is stopped */
	int old = count;  /* @load */
	count = old + 1; /* @store */
	atomic_store_explicit(&relaxed, 1, memory_order_relaxed); /* @relaxed */
	printf("%.3f\n", sum + own);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, work, (void *)2);
	pthread_create(&b, NULL, work, (void *)3);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("count %d\n", count);
	return 0;
}
END
gcc -g -O1 turns.c -o turns -lm -pthread || exit 1
: >counts
for seed in $(seq 1 100); do
	"$racetrace" record --serial=$seed --at=all --recorder=valgrind -o s.zst ./turns >out 2>err || wrong "--serial: $(cat err)"
	[ "$(grep -v count out | sort)" = '1.914
2.232' ] || wrong "a thread that was stopped goes on with other registers: $(cat out)"
	tail -n 1 out >>counts
	[ "$(sort -u counts | grep -c '')" = 2 ] && break
done
[ "$(sort -u counts)" = 'count 1
count 2' ] || wrong "100 orders, and no update is lost or none is kept: $(sort counts | uniq -c)"
"$racetrace" record --serial=$seed --at=all --recorder=valgrind -o again.zst ./turns >out 2>err
diff <("$racetrace" dump s.zst) <("$racetrace" dump again.zst) >/dev/null || wrong 'the same seed gives another run'

# The program itself shows what its machine code predicts, in both orders; not where that may be two atomic accesses.
"$racetrace" run --trace=r.zst -f json -o run.json ./turns >out 2>err
[ $? = 1 ] || wrong "run: $(cat err)"
line() {
	grep -n "@$1 \*/" turns.c | cut -d: -f1
}
verdicts run.json >got
grep -qx "count confirmed $(line load) $(line store)" got || wrong "what is found in the program is not confirmed: $(cat got)"
grep -qE "^relaxed (predicted|conditional) $(line relaxed) $(line relaxed)$" got || wrong "atomic stores: $(cat got)"
[ "$(jq -r '[.anomalies[] | select(.variable.name == "count") | .replay.results[]?.output | select(. != null) | split("\n")[-2]] | unique | join(" ")' run.json)" = 'count 1 count 2' ] ||
	wrong "not both orders: $(jq -c '[.anomalies[].replay.results]' run.json)"
id=$(jq -r '.anomalies[] | select(.variable.name == "relaxed") | .id' run.json | head -n 1)
"$racetrace" replay --anomaly "$id" r.zst >out 2>err
[ $? = 2 ] && grep -q "does not tell whether its accesses are atomic" err || wrong "replay of atomic stores: $(cat err)"
"$racetrace" explore --runs 4 --seed 1 -f json -o explored.json ./turns >out 2>err
jq -e '[.anomalies[] | select(.variable.name == "count") | .verdict] | index("confirmed")' explored.json >/dev/null &&
	jq -e '[.anomalies[] | select(.variable.name == "relaxed") | .verdict] | index("confirmed") | not' explored.json >/dev/null ||
	wrong "explore: $(verdicts explored.json; cat err)"
"$racetrace" run -f text ./turns 2>/dev/null >out
grep -q '^the trace, which is not kept: [0-9]* events' out || wrong "run says nothing of its trace: $(tail -n 3 out)"
grep -E 'racetrace replay|--all|--anomal|trace\.zst' out && wrong 'run names a trace that it does not keep, or options that it has not'

# What cannot be.
"$racetrace" record --recorder=nothing -o s.zst ./app >out 2>err
[ $? = 2 ] && grep -q "is not a recorder: there are auto, tsan, valgrind, sync" err || wrong "--recorder: $(cat err)"
exit $fail
