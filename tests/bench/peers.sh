#!/bin/bash
# peers.sh BUILD: racetrace beside its peers, in one run, as far as they are there. The table goes to BUILD/bench/peers.txt as well.
#
# RAPID: the folder of umangm/rapid, built there by
#   javac -nowarn -d bin -cp "$(find lib -name '*.jar' | tr '\n' ':')" $(find src -name '*.java')
# (openjdk-17-jdk). Each order is computed of the same STD files of EVENTS lines (1000000 10000000) with 8 threads: processor seconds,
# reading included, and the peer's divided by racetrace's. LIMIT: seconds for one run of a peer (600).
# ThreadSanitizer (gcc) and Helgrind (valgrind) run three programs; sizes are of the traces of these programs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/figures.sh"
build=$(cd "$1" && pwd) || exit 1
racetrace=$build/bin/racetrace
limit=${LIMIT:-600}
work=$build/bench
mkdir -p "$work"
cd "$work" || exit 1
export LC_ALL=C
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {if (a + 0 == a && b > 0) printf "%.1f", a / b; else print "-"}'; }
# limited COMMAND...: its processor seconds, or that it took longer than the limit, or failed.
limited() {
	local seconds
	rm -f status
	seconds=$(cpu sh -c '"$@"; echo $? >status' sh timeout "$limit" "$@")
	case $(cat status) in
	0) echo "${seconds%% *}" ;;
	124) echo ">$limit" ;;
	*) echo failed ;;
	esac
}

orders() {
	local classpath
	if [ -z "${RAPID:-}" ] || [ ! -d "$RAPID/bin" ] || ! command -v java >/dev/null; then
		echo "RAPID is not there: RAPID=FOLDER make bench-peers"
		return
	fi
	classpath=$RAPID/bin:$(find "$RAPID/lib" -name '*.jar' | tr '\n' ':')
	printf '%-10s %-7s %12s %10s %8s\n' lines order 'racetrace s' 'RAPID s' ratio
	for events in ${EVENTS:-1000000 10000000}; do
		local trace=peers-$events.std
		[ -f "$trace" ] || "$build/bin/gen_trace" -f std -n "$events" -t 8 "$trace"
		for pair in hb:HB shb:SHB wcp:WCP syncp:SyncPreserving; do
			local ours theirs
			ours=$(limited "$racetrace" analyze --fail-on never --orders "${pair%%:*}" --only-orders "$trace")
			theirs=$(limited java -Xmx8g -cp "$classpath" "${pair##*:}" -f=std -p="$trace")
			printf '%-10s %-7s %12s %10s %8s\n' "$events" "${pair%%:*}" "$ours" "$theirs" "$(ratio "$theirs" "$ours")"
		done
	done
}

programs() {
	printf '\n%-10s %8s %9s %9s %9s %8s %8s\n' program 'plain s' 'record s' 'libtsan s' 'helgrind' 'tsan/r' 'helgr/r'
	for run in 'matrix 300' 'counter 300000' 'queue 150000'; do
		set -- $run
		gcc -O2 -g -o "$1_plain" "$here/programs/$1.c" -lpthread
		gcc -O2 -g -fsanitize=thread -o "$1_tsan" "$here/programs/$1.c" -lpthread
		local p r t h=-
		p=$(limited "./$1_plain" "$2") r=$(limited "$racetrace" record -o "$1.peers.zst" -- "./$1_tsan" "$2")
		t=$(limited "./$1_tsan" "$2")
		command -v valgrind >/dev/null && h=$(limited valgrind --tool=helgrind --log-file=helgrind.log "./$1_plain" "$2")
		printf '%-10s %8s %9s %9s %9s %8s %8s\n' "$1" "$p" "$r" "$t" "$h" "$(ratio "$t" "$r")" "$(ratio "$h" "$r")"
	done
}

sizes() {
	printf '\n%-10s %10s %10s %10s %10s\n' 'B/event' events trace.zst STD 'STD.zst'
	for run in 'matrix 200' 'counter 30000' 'queue 15000'; do # shorter: as text each event takes a hundred bytes
		set -- $run
		local name=$1 events bytes=()
		"$racetrace" record -o sizes.zst -- "./$1_tsan" "$2" >/dev/null 2>&1
		events=$("$racetrace" info --format json sizes.zst | jq .events)
		"$racetrace" convert -t std -o sizes.std sizes.zst 2>/dev/null
		zstd -qf sizes.std -o sizes.std.zst
		for file in sizes.zst sizes.std sizes.std.zst; do
			bytes+=("$(awk -v n="$(stat -c %s "$file" 2>/dev/null || echo 0)" -v e="$events" 'BEGIN {printf "%.2f", n / e}')")
		done
		printf '%-10s %10s %10s %10s %10s\n' "$name" "$events" "${bytes[@]}"
		rm -f sizes.*
	done
}

{
	orders
	programs
	sizes
} | tee peers.txt
