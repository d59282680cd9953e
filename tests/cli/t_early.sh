#!/bin/bash
# t_early.sh BUILD: programs that die before the recorder starts, or right after it, are told as that; and what the
# recorder says goes to standard error as it was, not into a file that the program opened in its place.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# dies NAME: the program in NAME.c, recorded, ends by SIGSEGV as it does plainly.
dies() {
	way=$1
	gcc -g -O1 -fsanitize=thread "$1.c" -o "$1" || exit 1
	rm -f t.zst*
	(ulimit -c 0; exec "$racetrace" record -o t.zst "./$1") >out 2>err
	status=$?
	[ $status = 139 ] || wrong "$way: status $status: $(cat err)"
}

cat >preinit.c <<'C'
volatile int before;
static void crash(void)
{
	before = 1;
	*(volatile int *)8 = 1;
}
__attribute__((section(".preinit_array"), used)) static void (*const entry)(void) = crash;
int main(void) { return 0; }
C
cat >ifunc.c <<'C'
static int f(void) { return 1; }
__attribute__((no_sanitize("thread"))) static int (*resolve(void))(void)
{
	*(volatile int *)8 = 1;
	return f;
}
int g(void) __attribute__((ifunc("resolve")));
int main(void) { return g(); }
C
cat >constructor.c <<'C'
volatile int before;
__attribute__((constructor)) static void crash(void)
{
	before = 1;
	*(volatile int *)8 = 1;
}
int main(void) { return 0; }
C
dies ifunc
grep -q "died of signal 11 (Segmentation fault) before the recorder started" err || wrong "$way: it says: $(cat err)"
[ "$(wc -l <err)" = 1 ] && [ ! -e t.zst ] || wrong "$way: $(cat err; ls)"
for name in preinit constructor; do
	dies $name
	[ ! -s err ] || wrong "$way: it says: $(cat err)"
	"$racetrace" dump t.zst 2>/dev/null | grep -q 'write *before' || wrong "$way: what it did is not recorded"
done

cat >own.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *work(void *arg) { return arg; }
int main(int argc, char **argv)
{
	pthread_t threads[3];
	if (argc > 1) {
		close(2);
		if (open(argv[1], O_RDWR | O_CREAT, 0666) != 2)
			return 1;
	}
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 5;
}
C
gcc -g -O1 -fsanitize=thread own.c -o own -pthread || exit 1
"$racetrace" record -t 1 -o t.zst ./own >out 2>err
[ $? = 5 ] && grep -q 'too many threads' err || wrong "nothing is said: $(cat err)"
"$racetrace" record -t 1 -o t.zst ./own file >out 2>err
[ $? = 5 ] && [ -e file ] && [ ! -s file ] || wrong "it is in the program's file: $(cat file)"
[ "$fail" = 0 ]
