# What tests share; to be sourced: `. text.sh`, the test's own first argument being BUILD, if any. RACETRACE is the program; the working folder is scratch.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
RACETRACE=${RACETRACE:-$(cd "${1:-${BUILD:-$top/build}}" && pwd)/bin/racetrace}
made=
if [ -z "${SCRATCH:-}" ]; then
	made=$(mktemp -d) || exit 1
	SCRATCH=$made
	cd "$SCRATCH" || exit 1
fi
fail=0
# finish: at the test's end, whatever ends it; what else is to be done at the end comes before it in the trap.
finish() {
	local status=$?
	settle || status=1
	[ -z "$made" ] || rm -rf "$made"
	exit $status
}
trap finish EXIT

wrong() {
	echo "$*"
	fail=1
}
# check WHAT COMMAND...: the command succeeds.
check() {
	local what=$1
	shift
	"$@" || wrong "not so: $what"
}
# sanitized: the program is built with AddressSanitizer. (It has the name of its function in any build, as it looks for it in others.)
sanitized() {
	nm -D "$RACETRACE" | grep -q __asan_init
}
# run STATUS ARGUMENT...: runs racetrace, its output in out and err; the status must be STATUS.
run() {
	local want=$1 status
	shift
	"$RACETRACE" "$@" >out 2>err </dev/null
	status=$?
	[ $status = "$want" ] || wrong "racetrace $*: status $status, not $want: $(head -n 3 err)"
}
# says PATTERN: the last run's standard error does.
says() {
	grep -qE -- "$1" err || wrong "no '$1' in: $(cat err)"
}
quiet() {
	[ ! -s err ] || wrong "standard error is not empty: $(cat err)"
}
# prints TEXT: the last run's standard output is exactly this.
prints() {
	[ "$(cat out)" = "$1" ] || wrong "not '$1' but: $(cat out)"
}
# holds FILTER: the last output is JSON for which jq's filter is true.
holds() {
	claim "not so: $1" "$1" out
}
# claim MESSAGE FILTER FILE [DETAIL]: jq's filter is true of the file; else the message, and what the filter DETAIL makes of it. jq takes longer to start than
# to read a report: what a test claims is kept, as the file is now, and told at the test's end by one jq.
claims=() about=() kept=0
claim() {
	if [ "$BASHPID" != $$ ]; then # a subshell's arrays are lost
		judge "$@"
		return
	fi
	if [ $kept = 0 ] || ! cmp -s "$3" "$SCRATCH/.claimed.$kept"; then
		kept=$((kept + 1))
		cat "$3" >"$SCRATCH/.claimed.$kept"
	fi
	claims+=("$1" "$2" "${4:-}")
	about+=("$kept")
}
# judge MESSAGE FILTER FILE [DETAIL]: the same at once.
judge() {
	jq -e "$2" "$3" >/dev/null 2>&1 || wrong "$1${4:+: $(jq -c "$4" "$3" 2>&1 | head -c 2000)}"
}
# settle: all that is claimed is true. After each file comes its number: one that is no JSON, or more than one, is seen by that. If it is not all true, each
# claim is judged alone.
settle() {
	local i filter='[true' last=0 files=()
	for i in "${!about[@]}"; do
		if [ "${about[i]}" != $last ]; then
			[ $last = 0 ] || filter+="][]), input == \"end of $last\""
			last=${about[i]}
			files+=("$SCRATCH/.claimed.$last" "$SCRATCH/.claimed.$last.end")
			echo "\"end of $last\"" >"$SCRATCH/.claimed.$last.end"
			filter+=", (input | [true"
		fi
		# (A filter may end in a comment.)
		filter+=", ([${claims[3 * i + 1]}"$'\n''] | last)'
	done
	[ $last != 0 ] || return 0
	filter+="][]), input == \"end of $last\"] | all"
	echo "$filter" >"$SCRATCH/.claimed"
	cat "${files[@]}" | jq -en -f "$SCRATCH/.claimed" >/dev/null 2>&1 && return
	fail=0
	for i in "${!about[@]}"; do
		judge "${claims[3 * i]}" "${claims[3 * i + 1]}" "$SCRATCH/.claimed.${about[i]}" "${claims[3 * i + 2]}"
	done
	[ $fail = 0 ]
}
# limits REPORT: those of a report of JSON, which are one line of it, as JSON. jq takes seconds for the rest of a large report.
limits() {
	sed -n 's/^\("limits": .*\),$/{\1}/p' "$1"
}
# anomalies REPORT: how many it lists, each of which is a line, as a finding (F...) is.
anomalies() {
	grep -c '^{"id": "[^F]' "$1"
}
# one_line: standard error is one line and the output is empty.
one_line() {
	[ "$(wc -l <err)" = 1 ] || wrong "not one line: $(cat err)"
	[ ! -s out ] || wrong "there is output: $(head -n 3 out)"
}
# await PID COMMAND...: waits until the command is true; what it waits for comes from that process.
await() {
	local pid=$1 i
	shift
	for ((i = 0; i < 6000; i++)); do
		"$@" && return
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	"$@" || wrong "it never came: $*"
}
# larger SIZE FILE: the file is there, and larger.
larger() {
	[ "$(stat -c %s "$2" 2>/dev/null || echo 0)" -gt "$1" ]
}
