#!/bin/bash
# t_no_memory.sh [BUILD]: one allocation fails (tests/faults/allocations.c), each place that allocates in turn: what is
# printed is the same as ever, or there is status 3, one line that says so, and no file. One of RT_FAULTS (5) places.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0:allocator_may_return_null=1
# What the loader keeps of a library that is loaded at run time.
echo 'leak:dl_open_worker' >suppressions
export LSAN_OPTIONS=${LSAN_OPTIONS:-}:suppressions=$PWD/suppressions:print_suppressions=0

"${CC:-gcc}" -O1 -g -D_GNU_SOURCE -fPIC -shared "$top/tests/faults/allocations.c" -o allocations.so -ldl || exit 1
gcc -g -O1 -fsanitize=thread "$top/tests/faults/program.c" -o program -pthread || exit 1
"$RACETRACE" record -o t.zst -- ./program || [ $? = 7 ] || exit 1
"$RACETRACE" dump --format jsonl t.zst >t.jsonl || exit 1
"$RACETRACE" convert -t std -o t.std t.zst 2>/dev/null || exit 1

# each OPTION...: racetrace with them; its output goes to the file "written" where it has -o.
share=${RT_FAULTS:-5}
places=0
told=0
each() {
	local want got said n begin=$((RANDOM % share))
	rm -rf written got
	mkdir got
	"$RACETRACE" "$@" >want.out 2>want.err
	want=$?
	[ ! -e written ] || mv written want.written
	LD_PRELOAD=$PWD/allocations.so RT_FAULT_LIST=1 "$RACETRACE" "$@" 2>&1 >/dev/null | awk '/^allocation / { print $2 }' >numbers
	rm -f written
	[ -s numbers ] || wrong "$*: it allocates nothing"
	awk -v begin="$begin" -v share="$share" 'NR % share == begin' numbers >some && [ -s some ] && mv some numbers
	LD_PRELOAD=$PWD/allocations.so RT_FAULT_EACH=numbers "$RACETRACE" "$@" </dev/null || wrong "$*: it cannot be run"
	while read -r n got; do
		places=$((places + 1))
		IFS= read -rd '' said <"got/$n.err"
		if [[ $got = 3 && $said =~ ^racetrace:' '[^$'\n']*('no memory'|'Cannot allocate memory')[^$'\n']*$'\n'$ && ! -e got/$n.written ]]; then
			told=$((told + 1))
			continue
		fi
		if [ $got = $want ] && cmp -s want.out "got/$n.out" && cmp -s want.err "got/$n.err" &&
			{ [ ! -e "got/$n.written" ] || cmp -s "got/$n.written" want.written; }; then
			continue
		fi
		wrong "racetrace $*: allocation $n: status $got: ${said:0:2000}"
	done <got/ends
	[ "$(wc -l <got/ends)" = "$(wc -l <numbers)" ] || wrong "$*: only $(wc -l <got/ends) of $(wc -l <numbers) allocations failed"
	[ -z "$(find . -name '*.part')" ] || wrong "racetrace $*: there are temporary files: $(find . -name '*.part')"
}

for format in json text sarif html; do
	each analyze --all --format $format -o written t.zst
done
each analyze --anomaly R1 --format dot t.zst
each analyze --all --format json t.std
each analyze --all --format json t.jsonl
each analyze --exhaustive --format json t.std
each schedule --anomaly R1 t.zst
each analyze --every --all --format json t.zst
"$RACETRACE" analyze --all --format json t.zst >new.json
"$RACETRACE" analyze --all --format json t.std >old.json
"$RACETRACE" schedule --anomaly R1 t.zst >schedule.json
each schedule --expand schedule.json
each schedule --verify schedule.json
each guards t.zst
each guards --format json t.zst
each diff old.json new.json
each merge -o written old.json new.json
each suppress new.json
each info --format json t.jsonl
each info t.zst
each dump --format text t.zst
each dump --format jsonl t.zst
each convert -t std -o written t.zst
each convert -t jsonl t.std
each convert -t racetrace -o written t.jsonl

# survives STEP STATUSES OPTION...: the same of commands that run the program, which do not always allocate the same: each
# STEPth place, up to allocation $last if that is set; the status is one of these, or 3 with a line that says so. (The
# program itself has all memory.)
survives() {
	local step=$1 statuses=$2 n got
	shift 2
	LD_PRELOAD=$PWD/allocations.so RT_FAULT_LIST=1 "$RACETRACE" "$@" 2>&1 >/dev/null | awk '/^allocation / { print $2 }' >numbers
	step=$((share == 1 ? 1 : (step * share + 4) / 5))
	awk -v step="$step" -v last="${last:-0}" 'NR % step == 0 && (!last || $1 <= last)' numbers >some
	[ -s some ] || wrong "$*: it allocates nothing"
	while read -r n; do
		timeout 60 env LD_PRELOAD="$PWD/allocations.so" RT_FAULT_AT="$n" "$RACETRACE" "$@" >got.out 2>got.err </dev/null
		got=$?
		[ $got = 3 ] && grep -qE '^racetrace: .*(no memory|Cannot allocate memory)' got.err && continue
		[ $got = 1 ] && grep -q '"outcome": "failed"' got.out && continue # that of `record`, whose run is told as none
		[[ " $statuses " = *" $got "* ]] || wrong "racetrace $*: allocation $n: status $got: $(tail -c 2000 got.err)"
	done <some
}
# Until the recorder starts; without memory a thread cannot be made, which is another message. (A sanitizer's thread ends
# the process then.)
sanitized || last=40 survives 1 '3 7 126' record --serial -o written ./program
survives 20 0 replay t.zst --anomaly R1 -- ./program
survives 40 '0 1' explore --strategy random --runs 2 -- ./program
[ "$told" -gt $((4000 / share)) ] || wrong "only $told of $places allocations were missed"
exit $fail
