#!/bin/bash
# t_record_trace.sh [BUILD]: what the collector puts into the trace: every event, names as the source has them, and what
# becomes of a program whose collector is killed.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# ---- Every event ----
cat >counted.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define N 20000
int cells[4][N];
static void *write_all(void *row)
{
	for (int i = 0; i < N; i++)
		((volatile int *)row)[i] = i;
	return row;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, write_all, cells[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	if (argc > 1)
		_exit(3);
	return 0;
}
END
gcc -g -O1 -fsanitize=thread counted.c -o counted || exit 1
writes() {
	"$racetrace" dump --format jsonl t.zst | grep '"op":"write"' | grep -c '"thread":"main\.'
}
for ring in 4 256; do
	"$racetrace" record --ring-size $ring -o t.zst ./counted
	check "with rings of $ring KiB nothing is lost" test "$(writes)" = 80000
done
"$racetrace" record -o t.zst ./counted exit
check '_exit loses nothing' test "$(writes)" = 80000

# ---- Threads that are more than the slots ----
cat >turns.c <<'END'
#include <pthread.h>
static int shared;
static void *once(void *arg)
{
	shared++;
	return arg;
}
int main(void)
{
	for (int i = 0; i < 50; i++) {
		pthread_t t;
		pthread_create(&t, NULL, once, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
END
gcc -g -fsanitize=thread turns.c -o turns || exit 1
"$racetrace" record --threads 3 -o t.zst ./turns
check 'threads in turn share few slots' test "$("$racetrace" info --format json t.zst | jq -c '[.threads[].name] | [length, .[0], .[50]]')" = '[51,"main","main.50"]'

# ---- Names ----
cat >names.cc <<'END'
#include <thread>
namespace app {
template <class T> struct Queue {
	static int made;
	struct Node {
		T value;
		int next;
	};
	Node nodes[4];
	int size;
	void push(T v)
	{
		nodes[1].next = v;
	}
};
template <class T> int Queue<T>::made;
namespace {
volatile int hidden;
struct Local {
	static __attribute__((noinline)) void visit()
	{
		hidden = 1;
	}
};
}
Queue<long> queue;
struct Base {
	int id;
};
struct Derived : Base {
	int extra;
} derived;
}
static inline __attribute__((always_inline)) void inner()
{
	app::queue.push(7);
}
int main()
{
	std::thread t([] {
		inner();
		app::Queue<long>::made = 1;
		app::Local::visit();
		app::derived.id = 1;
		static volatile int seen;
		seen = 1;
	});
	t.join();
}
END
named() { # COMPILER...
	"$@" -g names.cc -o names || return 1
	"$racetrace" record -o t.zst ./names || return 1
	"$racetrace" dump --thread main.1 --kind write t.zst >found
	while read -r line; do
		grep -qE "$line" found || { echo "no '$line' in:"; cat found; return 1; }
	done <<'END'
app::queue\.nodes\[1\]\.next \[4\] .*/names.cc:13:.* app::Queue<long>::push$
app::Queue<long>::made \[4\] .*/names.cc:42:
app::\(anonymous namespace\)::hidden \[4\] .*/names.cc:22:.* app::\(anonymous namespace\)::Local::visit$
app::derived\.id \[4\] .*/names.cc:44:
seen \[4\] .*/names.cc:46:
END
}
inlined() { # is there a position whose frames are these functions?
	"$racetrace" dump --format jsonl t.zst | grep '"position"' | jq -r '[.frames[].function // "?"] | join(" < ")' | grep -qE "$1"
}
check 'C++ names are as the source has them, built by GCC with -O0' named g++ -O0 -fsanitize=thread
check 'C++ names are as the source has them, built by GCC with -O2' named g++ -O2 -fsanitize=thread
check 'inlined functions are frames of their own' inlined '^app::Queue<long>::push < inner < .*operator\(\)'
check 'C++ names are as the source has them, with DWARF 4' named g++ -O2 -gdwarf-4 -fsanitize=thread

# ---- Clang ----
if command -v clang++ >/dev/null; then
	# shellcheck disable=SC2046
	check 'Clang builds with --cflags and --libs' clang++ $("$racetrace" --cflags) -O1 names.cc -o names $("$racetrace" --libs) -lpthread
	check 'what Clang built runs unrecorded' ./names
	named_by_clang() { # shellcheck disable=SC2046
		clang++ $("$racetrace" --cflags) "$@" $("$racetrace" --libs) -lpthread
	}
	check 'C++ names are as the source has them, built by Clang' named named_by_clang -O1
fi

# ---- Separate and missing debug information ----
g++ -g -O1 -fsanitize=thread names.cc -o names && objcopy --only-keep-debug names names.debug &&
	strip --strip-debug names && objcopy --add-gnu-debuglink=names.debug names || exit 1
"$racetrace" record -o t.zst ./names
check 'a separate debug file is found' grep -q 'names.cc' <("$racetrace" dump t.zst)
rm names.debug
"$racetrace" record -o t.zst ./names
check 'without debug information functions have the names of their symbols' grep -q 'main' <("$racetrace" dump t.zst)
check 'without debug information variables have the names of their symbols' grep -q 'app::derived' <("$racetrace" dump t.zst)

# ---- The collector is killed ----
cat >goes_on.c <<'END'
#include <stdio.h>
volatile int cells[1 << 16];
int main(void)
{
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 1 << 20; i++)
		cells[i & 0xffff] = i;
	puts("at its end");
	return 0;
}
END
gcc -g -fsanitize=thread goes_on.c -o goes_on && mkfifo in out || exit 1
"$racetrace" record -o lost.zst ./goes_on <in >out 2>err &
exec 3>in 4<out
read -r line <&4
kill -9 $!
wait $! 2>/dev/null
echo >&3
read -r line <&4
check 'a program whose collector is killed goes on' test "$line" = 'at its end'
exec 3>&- 4<&-
check 'it says so once' test "$(cat err)" = 'racetrace: the collector is gone; the program goes on unrecorded'
check 'no trace looks whole' test ! -e lost.zst
exit $fail
