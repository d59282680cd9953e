#!/bin/bash
# t_alone.sh BUILD: what Valgrind cannot run, executed by a script or a program that it runs, runs by itself, and one line
# says so and how to mend it.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0
cat >app.c <<'C'
#include <pthread.h>
#include <stdio.h>
static void *work(void *arg) { return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	if (pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL))
		return 9;
	return argc == 1 || puts(argv[1]) < 0;
}
C
cat >small.s <<'S'
.globl _start
_start:
	mov $1, %eax
	mov $7, %ebx
	int $0x80
S
gcc -g -O1 app.c -o plain -pthread && gcc -g -O1 -static app.c -o static -pthread || exit 1
as --32 small.s -o small.o && ld -m elf_i386 small.o -o small || exit 1
cat >tracer.c <<'C'
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int stops = 0, status;
	pid_t child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		_exit(9);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_CONT, child, NULL, NULL);
	}
	return printf("%d\n", stops) < 0 || argc < 2;
}
C
gcc -g -O1 tracer.c -o tracer || exit 1
printf '#!/bin/sh\n./plain 1; ./static 2; ./static 3\n' >script
printf '#!%s/static\n' "$PWD" >by_static
printf 'all:\n\t@./static 4\n\t@./plain 5\n' >Makefile
chmod +x script by_static

# alone TRACES OUTPUT SAYS COMMAND...
alone() {
	local traces=$1 output=$2 says=$3
	shift 3
	rm -f t.zst*
	timeout 100 "$racetrace" record --recorder=valgrind -o t.zst -- "$@" >out 2>err </dev/null
	[ "$(tr '\n' ' ' <out)" = "$output" ] && [ "$(cat err)" = "$says" ] && [ "$(find . -name 't.zst*' | wc -l)" = "$traces" ] ||
		wrong "$*: $(cat out err), $(echo t.zst*)"
}
is_static="racetrace: './static' is statically linked and runs unrecorded: link it dynamically"
alone 2 '1 2 3 ' "$is_static" ./script
alone 1 '6 ' "$is_static" env A=1 ./static 6
alone 2 '7 ' '' sh -c './plain 7'
alone 2 '8 ' '' xargs -n 1 ./plain 8
alone 2 '4 5 ' "$is_static" make -s
alone 1 '' "racetrace: './small' is a 32-bit program and runs unrecorded: build it for x86-64" sh -c './small; true'
alone 0 '' "racetrace: './small' is a 32-bit program: build it for x86-64" ./small
alone 0 '' "racetrace: the interpreter '$PWD/static' of './by_static' is statically linked: link it dynamically" ./by_static
alone 1 '10 1 ' "racetrace: './plain' is run by a debugger, which would see Valgrind in its place, and runs unrecorded: record it without" ./tracer ./plain 10
exit $fail
