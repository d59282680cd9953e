#!/bin/bash
# t_record.sh [BUILD]: a recorded program does not notice it: input, output, arguments, environment, files, signals and
# exit status are its own.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

cat >shows.c <<'END'
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int shared;
int main(int argc, char **argv)
{
	char line[4096];
	shared = argc;
	for (int i = 0; i < argc; i++)
		printf("argument %s\n", argv[i]);
	for (char **e = environ; *e; e++)
		printf("environment %s\n", *e);
	printf("folder %s\n", getcwd(line, sizeof line));
	while (fgets(line, sizeof line, stdin))
		printf("input %s", line);
	DIR *fds = opendir("/proc/self/fd");
	for (struct dirent *d; (d = readdir(fds));)
		if (d->d_name[0] != '.')
			printf("file %s\n", d->d_name);
	FILE *status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof line, status))
		if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6) || !strncmp(line, "SigPnd", 6))
			fputs(line, stdout);
	fputs("to standard error\n", stderr);
	return 0;
}
END
cat >ends.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile int shared;
static void handler(int number)
{
	char text[] = "got 00\n";
	text[4] = (char)('0' + number / 10);
	text[5] = (char)('0' + number % 10);
	if (write(1, text, 7) == 7)
		_exit(40 + number);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 1000; i++)
		shared++;
	if (argc > 2 && !strcmp(argv[1], "exit"))
		exit(atoi(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "signal"))
		raise(atoi(argv[2]));
	if (argc > 1 && !strcmp(argv[1], "wait")) {
		signal(SIGTERM, handler);
		signal(SIGINT, handler);
		signal(SIGUSR1, handler);
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	if (argc > 1 && !strcmp(argv[1], "child")) {
		if (fork() == 0) { /* outlives its parent, until somebody reads */
			FILE *f = fopen("fifo", "w");
			fputs("child\n", f);
			fclose(f);
			_exit(0);
		}
	}
	return 0;
}
END
gcc -g -w -fsanitize=thread shows.c -o shows && gcc -g -w -fsanitize=thread ends.c -o ends || exit 1

# ---- What it sees ----
same() { # environment settings; the program must see the same with and without the recorder
	printf 'a\nb' | env "$@" TSAN_OPTIONS=report_bugs=0 ./shows x 'y z' '' >plain.out 2>plain.err
	printf 'a\nb' | env "$@" TSAN_OPTIONS=report_bugs=0 "$racetrace" record -o t.zst -- ./shows x 'y z' '' >recorded.out 2>recorded.err
	diff plain.out recorded.out && diff plain.err recorded.err
}
check 'a recorded program sees what it saw' same A=1
check 'its own LD_PRELOAD comes back' same LD_PRELOAD=libm.so.6
check 'an empty LD_PRELOAD stays empty' same LD_PRELOAD=
check 'ignored signals stay ignored' bash -c "trap '' HUP INT CHLD; $(declare -f same); racetrace=$racetrace; same B=2"
env ./shows <&- 2>&- >plain.out
env "$racetrace" record -o t.zst ./shows <&- 2>&- >recorded.out
check 'closed streams stay closed' diff plain.out recorded.out
check 'nothing but the trace goes into the trace' zstd -tq t.zst
mkdir in && cp ends in/found
PATH=$PWD/in:$PATH "$racetrace" record -o t.zst found exit 3
check 'the program is found by PATH' test $? = 3

# ---- How it ends ----
for status in 0 1 3 126 255; do
	"$racetrace" record -o t.zst ./ends exit $status
	check "status $status is passed on" test $? = $status
	check "status $status is in the trace" test "$("$racetrace" info --format json t.zst | jq .exit.status)" = $status
done
for number in 6 9 11 15; do
	bash -c "ulimit -c 0; exec '$racetrace' record -o t.zst ./ends signal $number" 2>/dev/null
	check "signal $number is passed on" test $? = $((128 + number))
	check "signal $number is in the trace" test "$("$racetrace" info --format json t.zst | jq .exit.signal)" = $number
	check "the trace of a program that ended by signal $number is whole" zstd -tq t.zst
done
check 'nothing half-written is left' test -z "$(find . -name '*.part')"

# ---- Signals from outside ----
for sent in TERM USR1; do
	mkfifo out
	"$racetrace" record -o t.zst ./ends wait >out &
	{ read -r _ && kill -$sent $!; read -r got; } <out
	wait $!
	status=$?
	check "SIG$sent is handed on" test "$got" = "got $(printf %02d "$(kill -l $sent)")"
	check "the program decides what follows SIG$sent" test $status = $((40 + $(kill -l $sent)))
	rm out
done
mkfifo out
setsid env --default-signal=INT "$racetrace" record -o t.zst ./ends wait >out &
{ read -r _ && kill -INT -- -$!; read -r got; } <out
wait $!
check 'an interrupt from the terminal reaches the program and does not end the recording' test "$? $got" = '42 got 02'
check 'its trace is whole' zstd -tq t.zst
rm out

# ---- Others ----
mkfifo fifo
"$racetrace" record --no-children -o t.zst ./ends child
check 'the recording of the first process alone ends with it, not with its children' test "$? $(cat fifo)" = '0 child'
check '--verbose says what was recorded' grep -q '^racetrace: t.zst: [0-9]* events' <("$racetrace" record -v -o t.zst ./ends 2>&1)
mkdir elsewhere && (cd elsewhere && "$racetrace" record ../ends)
check 'the trace is trace.zst in the current folder' test -s elsewhere/trace.zst
exit $fail
