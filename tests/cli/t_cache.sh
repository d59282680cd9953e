#!/bin/bash
# t_cache.sh [BUILD]: what took long to prove is taken from TRACE.cache the next time, with the very same report; what is of
# another trace, of other options, damaged or not one's own is not.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

awk 'BEGIN {
	for (t = 1; t < 4; t++) print "T0|fork(T" t ")|1"
	s = 7
	for (i = 0; i < 200; i++) {
		s = (s * 1103515245 + 12345) % 2147483648; t = int(s / 65536) % 4
		s = (s * 1103515245 + 12345) % 2147483648; v = int(s / 65536) % 20
		print "T" t "|acq(L" v ")|" 10 + v "\nT" t "|r(v" v ")|" 100 + v "\nT" t "|w(v" v ")|" 200 + v "\nT" t "|rel(L" v ")|" 300 + v
		if (i % 9 == 0) print "T" t "|w(v" v ")|" 400 + v
	}
}' >proved.std

# The file that the cache is, if there is one.
file() {
	stat -c %i proved.std.cache 2>/dev/null
}

# same KNOWN OPTION...: the report is that of --no-cache; KNOWN: "all" results were known, or "none".
same() {
	local known=$1 count plain before
	shift
	plain=plain.$(cat proved.std - <<<"$*" | md5sum | cut -c 1-32)
	if [ ! -e "$plain" ]; then # once for the same trace and options
		before=$(file)
		run 0 analyze --fail-on never --no-cache --format json "$@" proved.std
		[ "$(file)" = "$before" ] || wrong "a cache with --no-cache: $*"
		mv out "$plain"
	fi
	run 0 analyze --fail-on never --stats --format json "$@" proved.std
	cmp -s "$plain" out || wrong "another report with the cache: $*"
	count=$(sed -n 's/^known-results //p' err)
	if [ "$known" = none ]; then
		[ -z "$count" ] || wrong "$count results were known: $*"
	else
		[ "${count:-0}" -ge "$(sed -n 's/^candidates //p' err)" ] || wrong "not all results were known, but ${count:-none}: $*"
	fi
}

same none
[ -s proved.std.cache ] || wrong "no cache"
same all
same all --all
same all --format text --anomalies -v
same all -j 2
same all --finding F1
# Other candidates, or other ways to prove them: the cache is that of the last ones.
same none --kinds race
same none --limit search_events=400000
same all --limit search_events=400000
same none
# Of several traces each has a share of the memory.
echo 'T0|w(x)|1' >small.std
run 0 analyze --fail-on never --max-memory 2G -j 2 proved.std small.std
same none --max-memory 2G
same all --max-memory 2G
same none
# Damaged.
for at in 100 $(($(stat -c %s proved.std.cache) / 2)) $(($(stat -c %s proved.std.cache) - 1)); do
	byte=$(od -An -tu1 -j "$at" -N 1 proved.std.cache)
	printf "\\$(printf %o $((255 - byte)))" | dd of=proved.std.cache bs=1 seek="$at" conv=notrunc 2>/dev/null
	same none
done
truncate -s -1 proved.std.cache
same none
same all
# Another trace: one more event.
echo 'T0|r(v0)|99' >>proved.std
same none
same all
# A file that others may write, and one that is no cache: neither is used, nor overwritten.
chmod g+w proved.std.cache
before=$(file)
same none
[ "$(file)" = "$before" ] || wrong "another's cache was replaced"
rm -f proved.std.cache
echo mine >proved.std.cache
same none
[ "$(cat proved.std.cache)" = mine ] || wrong "a file that is no cache was replaced"
rm -f proved.std.cache
# No file: standard input, though a file has its name, and a trace that is quick to prove.
cp proved.std ./-
for input in - /dev/stdin; do
	"$RACETRACE" analyze --fail-on never "$input" <proved.std >out 2>err || wrong "$input: $(cat err)"
	[ ! -e "$input.cache" ] || wrong "a cache of standard input: $input.cache"
	rm -f -- "$input.cache"
done
head -n 100 proved.std >quick.std
run 0 analyze --fail-on never quick.std
[ ! -e quick.std.cache ] || wrong "a cache of what is quick to prove"
# A folder of traces has no more traces by it.
mkdir -p folder
cp proved.std folder
run 0 analyze --fail-on never folder
mv out folder.json
run 0 analyze --fail-on never folder
[ -s folder/proved.std.cache ] || wrong "no cache in the folder"
cmp -s folder.json out || wrong "another report of the folder"
# A pattern of a trace's siblings has its cache as well; alone, that is no trace.
cp folder/proved.std folder/proved.std.7
run 0 analyze --fail-on never folder/proved.std folder/proved.std.*
run 3 analyze folder/proved.std.cache
# A trace that --trigger removes leaves none.
cat >quiet.c <<'END'
int main(void)
{
	return 0;
}
END
gcc -g -fsanitize=thread quiet.c -o quiet || exit 1
cp folder/proved.std.cache quiet.zst.cache
run 0 record --trigger finding -o quiet.zst ./quiet
[ ! -e quiet.zst ] && [ ! -e quiet.zst.cache ] || wrong "left by a trace without a finding: $(ls quiet.zst*)"
exit $fail
