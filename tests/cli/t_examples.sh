#!/bin/bash
# t_examples.sh [BUILD]: the README's example prints what the README says, its make targets are there, and every command
# that the man pages and docs/ give as an example works.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
mkdir build bin && ln -s "$(dirname "$RACETRACE")" build/bin && ln -s "$top/samples" samples || exit 1

# ---- The README ----
# The block of its first section, and without what differs from run to run: addresses, places, callers in the C library,
# which thread's events have which numbers, and in how many steps of a schedule a thread's first events run.
sed -n '/^## An example/,/^## Commands/s/^    //p' "$top/README.md" >readme
[ "$(grep -c '^\$ ' readme)" = 3 ] || wrong "the README has not three commands: $(cat readme)"
same() {
	sed -E '/^$/d; / in libc\.so/d; s/0x[0-9a-f]+/ADDRESS/g; s/event [0-9]+$/event N/; s|/[^ ]*/samples/|samples/|g' "$1" |
		awk -F ': ' '/^ *schedule \([^:]*\): / {
			n = split($2, steps, ", ")
			for (i = 1; i <= n; i++) {
				split(steps[i], step, /[ -]/)
				if (step[2] != last[step[1]] + 1) print "a gap before " steps[i]
				last[step[1]] = step[3]
			}
			for (thread in last) print $1 ": " thread " 1-" last[thread] | "sort"
			close("sort")
			next
		} { print }'
}
example() {
	local line
	while read -r line; do
		echo "\$ $line"
		bash -c "$line" 2>&1
	done < <(sed -n 's/^\$ //p' readme)
}
# Sometimes the other thread is first.
for _ in {1..20}; do
	example >shown
	diff <(same readme) <(same shown) >differences && break
done
[ ! -s differences ] || wrong "the example prints something else: $(cat differences)"
# What the text below the example says of its schedule: how many events of each thread run, and which one each goal is.
said=$(sed -n '/^The schedule counts/,/^$/p' "$top/README.md" | tr '\n' ' ')
schedule=$(sed -n 's/^ *schedule ([^:]*): //p' readme)
while read -r thread number; do
	[[ $said =~ \`"$thread"\`\ (runs\ )?its\ first\ $number[,.] ]] || wrong "README: $thread's first $number events: $said"
	[[ $thread = main || $said =~ event\ $((number + 1))\ of\ \`"$thread"\` ]] || wrong "README: $thread's event $((number + 1)): $said"
done < <(sed 's/, /\n/g' <<<"$schedule" | sed -E 's/ 1-/ /')
[ "$(sed 's/, /\n/g' <<<"$schedule" | wc -l)" = 3 ] || wrong "README: a schedule of three steps: $schedule"
make --no-print-directory -C "$top" help >targets
for target in $(sed -n 's/^    make \([a-z-]*\) .*/\1/p' "$top/README.md" "$top/samples/README.md"); do
	grep -q "^  $target " targets || wrong "there is no 'make $target'"
done

# ---- Man pages and docs/ ----
# With the sample as the program app, and what else the examples name.
cp samples/hidden.c app.c
printf '#!/bin/sh\nexec cat\n' >bin/less
command -v dot >/dev/null || cp bin/less bin/dot
chmod +x bin/*
ln -s "$RACETRACE" bin/racetrace
export PATH=$PWD/bin:$PATH
gcc -g samples/hidden.c -o plain && gcc -g -fsanitize=thread samples/hidden.c -o app || exit 1
# Stands in for an interpreter: what is called python3 may be a script, which record refuses, or not be there.
cat >host.c <<'END'
#include <dlfcn.h>

int main(int argc, char **argv)
{
	return argc != 3 || !dlopen(argv[2], RTLD_NOW);
}
END
gcc -g host.c -o bin/python3 && gcc -g -fPIC -shared -fsanitize=thread samples/hidden.c -o libapp.so || exit 1
# Has what the examples of dump ask for.
gcc -g -fsanitize=thread samples/bounded_queue_racy.c -o queue && racetrace record -o queue.zst ./queue >/dev/null || exit 1
commands=0
for page in "$top"/docs/racetrace{,-record,-analyze,-schedule,-convert,-dump}.1 "$top"/docs/report-format.md; do
	racetrace record ./app >/dev/null || wrong "$page: no trace"
	[[ $page != *dump.1 ]] || cp queue.zst trace.zst
	while read -r line; do
		commands=$((commands + 1))
		line=${line//\/usr\/bin\/app/.\/plain}
		bash -o pipefail -c "${line//\/tmp\//}" >out 2>err
		status=$?
		# analyze says by 1 that something is found.
		[ $status = 0 ] || { [ $status = 1 ] && [[ $line == *analyze* ]]; } ||
			wrong "${page##*/}: '$line' ended with $status: $(cat err)"
	done < <(sed -E 's/\\-/-/g; s/^    //' "$page" | grep -E '^(racetrace (record|analyze|schedule|convert|dump) [^[]*|gcc .*|clang .*|for .*done)$' |
		grep -vE -- '--(idle|pid)') # a server: t_pid.sh
done
racetrace record ./app >/dev/null
sed -n '/^\.SH SCHEDULES/,/^\.EE/p' "$top/docs/racetrace-schedule.1" | grep -v '^\.' >schedule.json
run 0 schedule --verify schedule.json --trace trace.zst
prints valid
[ $commands -ge 20 ] || wrong "only $commands examples: this test is broken"
exit $fail
