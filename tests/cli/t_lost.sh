#!/bin/bash
# t_lost.sh [BUILD]: threads that could not be recorded. The trace says so, and nothing is observed of what they may have
# ordered.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE tmp=$SCRATCH
"${CC:-gcc}" -g -O1 -D_GNU_SOURCE -fsanitize=thread "$top/tests/recorder/lost.c" -o lost -pthread || exit 1

# verdicts TRACE: "variable verdict reasons" of each race.
verdicts() {
	"$racetrace" analyze --format json --kinds race "$1" 2>/dev/null |
		jq -r '.anomalies[] | "\(.variable.name // .subject.name // .name) \(.verdict) \([.reasons[]?.reason] | join(","))"' | sort
}

# check HOW OPTION...: what is recorded with the option, of a program that makes its third thread so.
check() {
	"$racetrace" record "${@:2}" -o t.zst -- ./lost "$1" 2>err || { echo "$1: status $?"; cat err; fail=1; }
	"$racetrace" info t.zst >info 2>/dev/null
	"$racetrace" dump --format jsonl t.zst >t.jsonl 2>/dev/null
	"$racetrace" convert -o back.zst t.jsonl 2>/dev/null
}

check pthread
grep -q '^complete *yes' info || { echo "nothing is lost: $(cat info)"; fail=1; }
[ "$(verdicts t.zst)" = "together observed " ] || { echo "all recorded: $(verdicts t.zst)"; fail=1; }

check pthread -t 2
grep -q '^complete *no' info || { echo "-t 2: $(cat info)"; fail=1; }
grep -q '"op":"lost","object":"0x3"' t.jsonl || { echo "-t 2: no lost event"; fail=1; }
for trace in t.zst t.jsonl back.zst; do
	[ "$(verdicts $trace)" = "handed predicted unrecorded-thread
together observed " ] || { echo "-t 2, $trace: $(verdicts $trace)"; fail=1; }
done

# A thread that shares its maker's thread-local memory: neither is recorded until it has returned.
for _ in 1 2 3; do
	check clone
	grep -q '^complete *no' info || { echo "clone: $(cat info)"; fail=1; }
	[ "$(grep -c '"op":"lost","object":"0x3"' t.jsonl)" -ge 2 ] || { echo "clone: no lost events"; fail=1; }
	"$racetrace" dump t.zst 2>/dev/null | grep -q ' main .* write *last' || { echo "main is not recorded again"; fail=1; }
	verdicts t.zst | grep -v predicted && fail=1
done

# A signal to the process may be handled by a thread that nothing has announced yet.
"${CC:-gcc}" -g -O1 -D_GNU_SOURCE -fsanitize=thread "$top/tests/recorder/early_signal.c" -o early_signal -pthread || exit 1
for _ in 1 2 3 4 5; do
	taskset -c 0 "$racetrace" record -o t.zst -- ./early_signal || fail=1
	handled=$("$racetrace" dump t.zst 2>/dev/null | grep -c 'write *handled')
	[ "$handled" = 50 ] || { echo "early_signal: $handled of 50 handlers, $("$racetrace" info t.zst | grep '^complete')"; fail=1; }
done

# Processes that clone() and syscall() make have traces of their own.
for how in fork syscall; do
	rm -f t.zst.*
	check $how
	grep -q '^complete *yes' info || { echo "$how: $(cat info)"; fail=1; }
	"$racetrace" dump t.zst.* | grep -q 'read *handed' || { echo "$how: the child is not recorded"; fail=1; }
	"$racetrace" dump t.zst | grep -q 'write *last' || { echo "$how: the parent is not recorded on"; fail=1; }
done
# What the kernel does by itself is not understood: nothing is observed of what it may have ordered.
"${CC:-gcc}" -g -O1 -fsanitize=thread "$top/tests/recorder/async_calls.c" -o async_calls -pthread || exit 1
"$racetrace" record -o t.zst -- ./async_calls 2>err
status=$?
if [ $status != 77 ]; then
	[ $status = 0 ] || { echo "async_calls: status $status"; cat err; fail=1; }
	"$racetrace" dump --format jsonl t.zst 2>/dev/null | grep -q '"op":"lost","object":"0x5"' || { echo "async_calls: no lost event"; fail=1; }
	"$racetrace" info t.zst | grep -q '^complete *no' || { echo "async_calls: complete"; fail=1; }
	verdicts t.zst | grep '^handed predicted unknown-call' >/dev/null || { echo "async_calls: $(verdicts t.zst)"; fail=1; }
	verdicts t.zst | grep -v predicted && fail=1
fi

# All that other threads have done comes before a finalizer, but no event of theirs says that.
"${CC:-gcc}" -g -O1 -fsanitize=thread "$top/tests/recorder/java_finalize.c" -o java_finalize -pthread || exit 1
"$racetrace" record -o t.zst -- ./java_finalize || fail=1
"$racetrace" info t.zst | grep -q '^complete *no' || { echo "java_finalize: complete"; fail=1; }
"$racetrace" dump --format jsonl t.zst >t.jsonl 2>/dev/null
for trace in t.zst t.jsonl; do
	[ "$(verdicts $trace)" = "early observed 
late observed 
object predicted unknown-order" ] || { echo "java_finalize, $trace: $(verdicts $trace)"; fail=1; }
done

# A request's function is recorded at thirty-two positions at most. The trace says that the threads of further ones are missing.
{
	printf '#include <aio.h>\n#include <fcntl.h>\n#include <semaphore.h>\n#include <signal.h>\n#include <stdlib.h>\nstatic sem_t done;\nstatic struct aiocb request;\nstatic char letter;\n'
	printf 'static void called(union sigval value)\n{\n\t(void)value;\n\tsem_post(&done);\n}\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\tchar path[] = "/tmp/lostXXXXXX";\n\tint file = mkstemp(path);\n'
	for i in $(seq 33); do
		printf '\tif (argc > 1 || %d < 33) {\n\t\trequest = (struct aiocb){.aio_fildes = file, .aio_buf = &letter, .aio_nbytes = 1, .aio_sigevent = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = called}};\n\t\tif (aio_write(&request) != 0)\n\t\t\treturn 1;\n\t\tsem_wait(&done);\n\t}\n' "$i"
	done
	printf '\treturn remove(path);\n}\n'
} >requests.c
sed -i 's/#include <stdlib.h>/&\n#include <stdio.h>/' requests.c
"${CC:-gcc}" -g -O1 -fsanitize=thread requests.c -o requests -pthread || exit 1
for more in '' more; do
	"$racetrace" record -o t.zst -- ./requests $more 2>/dev/null || { echo "requests: status $?"; fail=1; }
	"$racetrace" info t.zst | grep -q "^complete *$([ -n "$more" ] && echo no || echo yes)" || { echo "requests $more: $("$racetrace" info t.zst | grep complete)"; fail=1; }
done
exit $fail
