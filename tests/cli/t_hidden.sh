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

# ---- Fences that wait for the clock, and what is no instruction, are none ----
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
$build -O1 clean.c -o clean || exit 1
"$racetrace" record -o t.zst ./clean 2>err || wrong "clean: $(cat err)"
[ ! -s err ] || wrong "clean: $(cat err)"
"$racetrace" analyze --format json t.zst >report.json
[ "$(verdicts report.json)" = '["observed"]' ] || [ "$(verdicts report.json)" = '["observed","predicted"]' ] || wrong "clean: $(verdicts report.json)"
exit $fail
