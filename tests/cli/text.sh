# What tests share; to be sourced: `. text.sh`, the test's own first argument being BUILD, if any. RACETRACE is the program; the working folder is scratch.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
RACETRACE=${RACETRACE:-$(cd "${1:-${BUILD:-$top/build}}" && pwd)/bin/racetrace}
if [ -z "${SCRATCH:-}" ]; then
	SCRATCH=$(mktemp -d) || exit 1
	trap 'rm -rf "$SCRATCH"' EXIT
	cd "$SCRATCH" || exit 1
fi
fail=0

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
	jq -e "$1" out >/dev/null 2>&1 || wrong "not so: $1"
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
