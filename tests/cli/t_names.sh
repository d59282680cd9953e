#!/bin/bash
# t_names.sh BUILD: names of outputs: what -o stands for, two recordings of one name at once, links, folders that move, and
# what is left when a command is interrupted.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

cat >app.c <<'END_C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	FILE *wait = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (wait)
		fgetc(wait);
	printf("%ld\n", (long)getpid());
	if (getenv("CHILD") && fork() == 0)
		printf("child %ld\n", (long)getpid());
	return 5;
}
END_C
gcc -g -fsanitize=thread app.c -o app || exit 1

# ---- % sequences ----
pid=$("$racetrace" record -o '%n-%p-%q{HOW}-%q{UNSET}-%%.zst' ./app 2>err)
[ -f "app-$pid---%.zst" ] || wrong "names of process and program: $(echo *.zst)"
rm -f ./*.zst
HOW=so "$racetrace" record -o 'a-%q{HOW}-%t' ./app >/dev/null
[[ $(echo a-*) =~ ^a-so-[0-9]{8}-[0-9]{6}$ ]] || wrong "a variable and the time: $(echo a-*)"
rm -f a-*
CHILD=1 "$racetrace" record -o 'c-%p.zst' ./app >out
for pid in $(sed 's/child //' out); do
	[ -f "c-$pid.zst" ] || wrong "the trace of process $pid: $(echo c-*)"
done
rm -f c-*
for bad in '%x' 'a%' '%q' '%q{' '%q{}' '%qHOME'; do
	"$racetrace" record -o "$bad" ./app >out 2>err
	[ $? = 2 ] && grep -q "cannot name the trace by '$bad'" err && [ ! -s out ] || wrong "'$bad': $(cat err)"
done

# ---- Two at once ----
mkfifo one two
"$racetrace" record -o t.zst ./app one >out1 2>err1 &
first=$!
await $first [ -e t.zst.part ]
"$racetrace" record -o t.zst ./app two >out2 2>err2 &
second=$!
await $second [ -e t-2.zst.part ]
echo a >two
wait $second
[ $? = 5 ] || wrong 'the second status'
echo a >one
wait $first
[ $? = 5 ] || wrong 'the first status'
grep -qx "racetrace: another process writes 't.zst': the trace is 't-2.zst'" err2 || wrong "the second says: $(cat err2)"
[ ! -s err1 ] || wrong "the first says: $(cat err1)"
[ "$(echo t*.zst*)" = 't-2.zst t.zst' ] || wrong "traces of two: $(echo t*.zst*)"
for i in 1 2; do
	trace=t.zst
	[ $i = 1 ] || trace=t-2.zst
	"$racetrace" info --format json $trace | jq -e --argjson pid "$(cat out$i)" '.pid == $pid and .complete' >/dev/null ||
		wrong "$trace is not of process $(cat out$i)"
done

# ---- What a killed one left, and links that another process made ----
echo precious >precious
ln -s precious t.zst.part
"$racetrace" record -o t.zst ./app >/dev/null 2>err || [ $? = 5 ] || wrong 'a link in the way'
[ "$(cat precious)" = precious ] && [ ! -L t.zst.part ] || wrong 'a link was written through'
echo rest >t.zst.part
"$racetrace" record -o t.zst ./app >/dev/null 2>err || [ $? = 5 ] || wrong 'a rest in the way'
[ ! -e t.zst.part ] && zstd -tq t.zst && [ ! -s err ] || wrong "a rest stays: $(cat err)"
mkdir elsewhere
ln -s elsewhere/real.zst link.zst && touch elsewhere/real.zst
"$racetrace" record -o link.zst ./app >/dev/null
[ -L link.zst ] && zstd -tq elsewhere/real.zst || wrong 'a link to another folder'

# ---- A folder that moves ----
mkdir folder
"$racetrace" record -o folder/t.zst ./app one >/dev/null 2>err &
first=$!
await $first [ -e folder/t.zst.part ]
mv folder moved
echo a >one
wait $first
[ $? = 5 ] && zstd -tq moved/t.zst || wrong "the folder moved: $(cat err) $(ls moved)"

# ---- Only regular files are replaced ----
mkfifo pipe
for to in /dev/null pipe; do
	"$racetrace" convert -t racetrace -o $to t.zst 2>err
	[ $? = 2 ] && grep -qx "racetrace: cannot write '$to': it is not a regular file" err || wrong "convert to $to: $(cat err)"
done
[ -c /dev/null ] && [ -p pipe ] || wrong 'a device or a pipe was replaced'

# ---- An interrupted command leaves nothing ----
printf 'T1|w(x)|1\n' >x.std
mkdir empty
for to in racetrace std; do
	(exec "$racetrace" convert -t $to -o empty/out.$to /dev/stdin) <one 2>/dev/null &
	convert=$!
	exec 9>one
	cat x.std >&9
	sleep 0.2
	kill -TERM $convert
	wait $convert 2>/dev/null
	[ $? = 143 ] || wrong "conversion to $to was not interrupted"
	exec 9>&-
	[ -z "$(ls -A empty)" ] || wrong "an interrupted conversion left $(ls -A empty)"
done
exit $fail
