#!/bin/bash
# t_calls.sh [BUILD]: tests/recorder/calls*.c call each function of the recorder's table once: what they print is the same
# without the recorder, and no function is missing but for a reason.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${1:-${BUILD:-build}}" && pwd) || exit 1
racetrace=$build/bin/racetrace
sources=("$PWD"/tests/recorder/calls*.c)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
fail=0

# compile FOLDER FLAGS...
compile() {
	mkdir "$tmp/$1"
	"${CC:-gcc}" -g -D_GNU_SOURCE -w "${@:2}" "${sources[@]}" -o "$tmp/$1/app" -lm -pthread 2>"$tmp/warnings" || { cat "$tmp/warnings"; exit 1; }
}
# run FOLDER COMMAND...: in the folder; leaves what was printed in out, stdout and stderr.
run() {
	(cd "$tmp/$1" && echo input | "${@:2}" ./app out >stdout 2>stderr) || {
		echo "$1: ended with status $?: $(tail -n 1 "$tmp/$1/out" "$tmp/$1/stderr")"
		fail=1
	}
}
compile plain -O1
compile recorded -O1 -fsanitize=thread
compile checked -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fsanitize=thread
cp -r "$tmp/plain" "$tmp/preloaded"
run plain env
run recorded "$racetrace" record -o trace.zst --
run checked "$racetrace" record -o trace.zst --
run preloaded "$racetrace" record --sync-only -o trace.zst --
[ "$(wc -l <"$tmp/plain/out")" -gt 400 ] || { echo "the program calls too little: this test is broken"; fail=1; }
for variant in recorded checked preloaded; do
	for file in out stdout stderr; do
		diff "$tmp/plain/$file" "$tmp/$variant/$file" >"$tmp/diff" && continue
		echo "$variant: $file differs from that of a run without the recorder"
		head -n 10 "$tmp/diff"
		fail=1
	done
done

# Functions that the program does not call, as extended regular expressions.
cat >"$tmp/not_called" <<'END'
_IO_.*|__getdelim|__strxfrm_l|__wcsxfrm_l|__argz_.*|__mbrlen|__dc?gettext|[a-z]+f32(_r)?|[a-z]+f(32|64)x(_r)?|pthread_mutexattr_.etrobust_np    other names of what is called
.*64|.*64_r                     the same line as without 64: the same structures here
__x?l?x?f?(x|lx|fx)stat|ftime|gets|getwd|mktemp|tmpnam|tmpnam_r            for old programs: linking warns, or fails
__isoc23_.*|v?w?f?s?w?scanf|v?w?scanf|vf?w?scanf|vsw?scanf|__isoc99_vw?scanf    the same line, by the names of other standards
__[a-z_]*_chk                   called by the checked variant where the compiler calls them
__w?(over|u|under)flow          called by what the compiler inlines
.*_unlocked|getwchar|putwchar|vw?printf|vsprintf    the same line as another one; the standard streams are narrow
(canonicalize|[gs]etpayload|setpayloadsig)[fl]    called by a macro of calls_lists.c
_obstack_.*                     macros of obstack.h call them
adjtime|adjtimex|clock_adjtime|ntp_.*|clock_settime|settimeofday|sethostname|setgroups|chroot|initgroups|capset|shmctl    change the system, or need privileges
sched_set.*|pthread_setsched.*|pthread_setaffinity_np|pthread_attr_set(sched.*|scope|stack|affinity_np|inheritsched)    change scheduling
get(gr|pw|sp|host|net|proto|serv|rpc)ent(_r)?|getrpc.*|getpw|fgetspent(_r)?|get(host|net)by.*|f?getspnam(_r)?|fget(gr|pw)ent(_r)?|getservbyport_r|getspnam(_r)?    data bases that a machine may not have
getut.*|updwtmp|pututx?line|getusershell|getlogin(_r)?|getmntent(_r)?|hasmntopt|ptsname(_r)?|getpass|ether_(hostton|ntohost)    who is logged in, and other things that a machine may not have
inet_net.*|crypt(_r)?|arc4random_buf|name_to_handle_at|capget|vsyslog|tcsetattr|prctl|getcpu    not in all C libraries, or the system's own affair
[lf](get|set|list|remove)xattr|lutimes|lchmod|flistxattr|llistxattr    the same line as without the letter
pthread_(mutex|rwlock|cond|barrier)attr_.*|pthread_attr_getaffinity_np|pthread_get(cpuclockid|name_np)    the same line as other attributes
backtrace_symbols(_fd)?|getdate|getopt_long(_only)?|pclose|process_vm_writev|setbuf(fer)?|timer(fd)?_gettime|sched_rr_get_interval    like their kin
END
called=$(grep -ohE '\b(T|PATH)\([A-Za-z_0-9]+' "${sources[@]}" | sed 's/.*(//' | sort -u)
tables=$(nm "$build"/pic/recorder/intercept/{calls_*,stdio,printf,scanf}.o | sed -n 's/.* __interceptor_//p' | sort -u)
missing=$(comm -23 <(echo "$tables") <(echo "$called") | grep -vxEf <(sed -E 's/(    |\t).*//' "$tmp/not_called"))
[ -z "$missing" ] || { echo "in the table, but not called by calls*.c:" $missing; fail=1; }
exit $fail
