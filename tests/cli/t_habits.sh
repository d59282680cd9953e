#!/bin/bash
# t_habits.sh [BUILD]: what people try: help in each form, a mistyped command, options in the environment and in .racetrace, a recording under
# the name of an earlier one with more processes.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

run 0 --help
mv out help
for word in -h help; do
	run 0 $word
	cmp -s out help || wrong "$word is another help"
done
run 0 -V
grep -q '^racetrace [0-9]' out || wrong "-V: $(cat out)"
run 0 analyze --help
mv out help
run 0 help analyze
cmp -s out help || wrong "help analyze is another help"
run 0 analyze -h
cmp -s out help || wrong "analyze -h is another help"
for word in analzye analyse anal ANALYZE; do
	run 2 $word x
	[ $word = ANALYZE ] || says "^racetrace: '$word' is not a command: did you mean 'analyze'$"
done
run 2 help recrod
says "did you mean 'record'"
run 2 nonsense
says "see 'racetrace --help'"
# What belongs to the program is the program's.
run 0 record --sync-only -o h.zst -- /bin/sh -c 'test "$1" = -h' sh -h
run 0 record --sync-only -o h.zst /bin/echo -h 2>/dev/null
[ "$(cat out)" = -h ] || wrong "the program's -h: $(cat out)"

# Options from elsewhere.
printf '%s\n' 'A|fork(B)|1' 'A|w(x)|2' 'B|w(x)|3' >race.std
export RACETRACE_OPTIONS='--format=text --fail-on=never  --no-such-option=1'
run 0 analyze race.std
grep -q '^F1 error' out || wrong "RACETRACE_OPTIONS: $(cat out)"
run 1 analyze --fail-on error -f json race.std
holds '.findings | length == 1'
run 0 info race.std
export RACETRACE_OPTIONS='-f text'
run 2 analyze race.std
says "RACETRACE_OPTIONS: '-f' is not --NAME"
unset RACETRACE_OPTIONS
mkdir -p source/deep/er source/.git
"$RACETRACE" analyze -f json race.std >race.json
"$RACETRACE" suppress race.json >source/known.txt
printf '%s\n' '# options' '' '  --suppressions=known.txt ' '--runs=3' >source/.racetrace
cd source/deep/er || exit 1
run 0 analyze ../../../race.std
holds '.findings[0].suppressed'
cd ../.. || exit 1
echo '--output=/tmp/x' >>.racetrace
run 2 analyze ../race.std
says "source/.racetrace' line 5: '--output=/tmp/x' cannot be set there"
for line in 'fail-on = never' 'fail-on never' '--fail-on never' 'fail-on=never' '--fail-on=never'; do
	echo "$line" >.racetrace
	run 0 analyze ../race.std
done
printf '%s\n' --fail-on=never >.racetrace
RACETRACE_OPTIONS=--fail-on=error run 1 analyze ../race.std
run 0 analyze ../race.std
cd .. || exit 1
run 1 analyze race.std

# A recording replaces the earlier one of its name, with all its processes.
gcc -D_GNU_SOURCE -g -O1 -fsanitize=thread "$top/tests/process/tree.c" -o tree -pthread || exit 1
run 3 record -o t.zst ./tree fork racy
quiet
[ "$(find . -name 't.zst.*' | wc -l)" = 1 ] || wrong "not two traces"
cp t.zst t.zst.note
echo text >t.zst.17
old=$(find . -name 't.zst.*' | grep -E '\.zst\.[0-9]+$' | grep -v '\.17$')
sleep 0.05
run 3 record -o t.zst ./tree fork racy
says "^racetrace: 1 old trace 't.zst.PID' of an earlier recording was removed$"
[ ! -e "$old" ] || wrong "$old is still there"
[ "$(find . -name 't.zst.*' | wc -l)" = 3 ] && [ -e t.zst.note ] && [ -e t.zst.17 ] || wrong "traces: $(echo t.zst*)"
run 1 analyze t.zst $(find . -name 't.zst.*' | grep -E '\.zst\.[0-9]+$' | grep -v '\.17$')
holds '(.runs | length) == 2'
exit $fail
