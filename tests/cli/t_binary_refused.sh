#!/bin/bash
# t_binary_refused.sh BUILD: what Valgrind cannot run is named in one line of racetrace's, with its mend.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0

# says STATUS PATTERN COMMAND...: one line of racetrace's, which matches; no pattern: none.
says() {
	local status=$1 pattern=$2 got
	shift 2
	"$@" >out 2>err
	got=$?
	[ $got = "$status" ] || wrong "$*: status $got, not $status"
	grep '^racetrace: ' err >own
	if [ -z "$pattern" ]; then
		[ ! -s own ] || wrong "$*: $(cat own)"
	else
		grep -qxE "$pattern" own && [ "$(wc -l <own)" = 1 ] || wrong "$*: no '$pattern' in: $(cat err)"
	fi
}

cat >app.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
static void ends(int signal)
{
	exit(signal);
}
int main(int argc, char **argv)
{
	size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 0) << 30;
	if (size)
		return mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? 3 : 0;
	signal(SIGILL, ends);
#ifdef VECTORS
	__asm__ volatile(".byte 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x00"); /* vmovups (%rax), %zmm0 */
#else
	__asm__ volatile("ud2");
#endif
	return 0;
}
END
gcc -g app.c -o app && gcc -g -DVECTORS app.c -o vectors && gcc -fsanitize=address app.c -o addresses || exit 1
record="$racetrace record --recorder=valgrind -o t.zst"
says 3 'racetrace: Valgrind, under which a program has 128 GB of addresses, refused to map 100 GB: .*-fsanitize=thread' $record ./app 100
says 0 '' $record ./app 2
says 4 'racetrace: Valgrind does not know an instruction \(62 f1 7c 48 10 00 of AVX-512\), .*-mno-avx512f.*' $record ./vectors
says 4 '' $record ./app
says 3 "racetrace: './addresses' is built with -fsanitize=address, .*: build it without, .*" $record ./addresses
says 3 "racetrace: Valgrind needs temporary files, and none can be written in './nowhere': No such file or directory: set TMPDIR" \
	env TMPDIR=./nowhere $record ./app

# Of a request of ioctl that Valgrind does not know there is nothing to say.
cat >terminal.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
int main(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	return fd >= 0 && unlockpt(fd) == 0 && ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY) < 0;
}
END
gcc -g terminal.c -o terminal || exit 1
says 0 '' $record ./terminal
[ ! -s err ] || wrong "a request of ioctl: $(cat err)"

# One that a script executes runs by itself.
printf '#!/bin/sh\n./addresses 1\n' >script && chmod +x script
says 0 "racetrace: './addresses' is built with -fsanitize=address and runs unrecorded: build it without" env -u LD_PRELOAD $record ./script
exit $fail
