#!/bin/bash
# t_record_refused.sh [BUILD]: what cannot be recorded, or not be written, is refused in one line that names it, with the
# right status, and nothing is left behind that looks like a trace.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# refused STATUS PATTERN COMMAND...: one line on standard error that matches, nothing on standard output.
refused() {
	local status=$1 pattern=$2 got
	shift 2
	"$@" >out 2>err
	got=$?
	[ $got = "$status" ] || wrong "$*: status $got, not $status"
	grep -qE "$pattern" err || wrong "$*: no '$pattern' in: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || [ "$status" = 2 ] || wrong "$*: more than a line: $(cat err)"
	[ ! -s out ] || wrong "$*: wrote $(cat out)"
	[ -z "$(find . -name '*.zst*')" ] || { echo "$*: left $(find . -name '*.zst*')"; fail=1; rm -f ./*.zst*; }
}

cat >app.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int cells[1 << 20];
int main(int argc, char **argv)
{
	unsigned x = 1;
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 10); i++)
		cells[(x = x * 1664525 + 1013904223) >> 12] = i;
	puts("done");
	return 5;
}
END
gcc -g -fsanitize=thread app.c -o app && gcc app.c -o plain && gcc -static app.c -o static &&
	gcc -fsanitize=thread -static-libtsan app.c -o inside || exit 1
cp app not-executable && chmod -x not-executable
printf '#!/bin/sh\n./app\n' >script && chmod +x script
head -c 100 app >cut && chmod +x cut
cp app foreign && printf '\xb7' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null
: >empty && chmod +x empty

refused 3 "^racetrace: './plain' is not instrumented: build it with gcc -fsanitize=thread, record --preload if it loads a library that is, or record --sync-only$" "$racetrace" record --recorder=tsan ./plain
refused 3 "^racetrace: '/bin/true' is not instrumented|^racetrace: '/usr/bin/true' is not" "$racetrace" record --recorder=tsan true
refused 3 "'./static' is statically linked" "$racetrace" record ./static
refused 3 "^racetrace: './static' is statically linked: link it dynamically$" "$racetrace" record --sync-only ./static
refused 3 "^racetrace: '/lib64/ld-linux-x86-64.so.2' is a shared library, or the dynamic linker: name a program$" "$racetrace" record /lib64/ld-linux-x86-64.so.2 ./app
refused 3 "'./inside' has a runtime of ThreadSanitizer inside.*static-libtsan" "$racetrace" record ./inside
refused 3 "'./script' is a script" "$racetrace" record --recorder=tsan ./script
printf '#!  ./no-such -e\n' >lost && chmod +x lost
cp plain rights && chmod u+s rights
refused 3 "^racetrace: cannot execute './lost': its interpreter './no-such': No such file or directory$" "$racetrace" record ./lost
refused 3 "^racetrace: './rights' has a setuid or setgid bit or capabilities, .*: record a copy without$" "$racetrace" record ./rights
refused 3 "'./cut' is not an ELF executable|'./cut' is not instrumented|'./cut' is statically" "$racetrace" record ./cut
refused 3 "'./foreign' is built for another kind of machine" "$racetrace" record ./foreign
refused 3 "'./empty' is not an ELF executable" "$racetrace" record ./empty
refused 127 "cannot execute 'no-such-program': No such file" "$racetrace" record no-such-program
refused 127 "cannot execute './no-such': No such file" "$racetrace" record ./no-such
refused 127 "cannot execute '': No such file" "$racetrace" record ''
refused 126 "cannot execute './not-executable': Permission denied" "$racetrace" record ./not-executable
refused 126 "cannot execute '.': Permission denied|cannot execute './': Permission" "$racetrace" record ./
refused 3 "cannot write 'nowhere/t.zst.*': No such file" "$racetrace" record -o nowhere/t.zst ./app
refused 2 "cannot write '/dev/null': it is not a regular file" "$racetrace" record -o /dev/null ./app
refused 2 "cannot write '.': it is not a regular file" "$racetrace" record -o . ./app
refused 2 'no program given' "$racetrace" record
refused 2 'no program given' "$racetrace" record -o x --
refused 2 'power of two' "$racetrace" record --ring-size 100 ./app
refused 2 'must be a number' "$racetrace" record --threads=-1 ./app
refused 2 'unrecognized option' "$racetrace" record --no-such-option ./app
if command -v clang >/dev/null && clang -g -fsanitize=thread app.c -o clang-app 2>/dev/null; then
	refused 3 "'./clang-app' has a runtime of ThreadSanitizer inside.*cflags" "$racetrace" record ./clang-app
fi
if [ "$(id -u)" = 0 ]; then
	cp app setuid && chown 65534 setuid && chmod 4755 setuid
	refused 3 "'./setuid' runs with another user's rights" "$racetrace" record ./setuid
	refused 3 "'./setuid' runs with another user's rights" "$racetrace" record --sync-only ./setuid
fi

# A disk that fills up while the program runs: that is said at once, the program still runs to its end with its own status,
# and what was written can be read.
mkdir small
cat >on-small-disk <<END
mount -t tmpfs -o size=64k none small || exit 99
'$racetrace' record -o small/t.zst ./app 3000000
echo "status \$?"
ls -A small
'$racetrace' info small/t.zst
END
unshare -rm sh on-small-disk >out 2>err
if [ $? = 99 ] || ! grep -q status out; then
	echo "a full disk is not tried: $(cat err)"
else
	printf 'done\nstatus 5\nt.zst\n' | diff - <(head -n 3 out) || fail=1
	grep -qE '^complete +no' out || { cat out; fail=1; }
	grep -qx "racetrace: cannot write 'small/t.zst': No space left on device; what was written before stays there" err || { cat err; fail=1; }
fi

# A trace that was there stays what it was until the new one is whole.
echo old >kept.zst.old && cp kept.zst.old kept
"$racetrace" record --recorder=tsan -o kept ./plain 2>/dev/null
cmp kept kept.zst.old || fail=1
rm kept.zst.old
exit $fail
