# What tests of replay share; to be sourced.
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
# Of its own, as it looks at what is left there.
mkdir temporary
export TMPDIR=$PWD/temporary

build() { # NAME [SOURCE]
	gcc -g -fsanitize=thread "${2:-$top/samples/$1.c}" -o "$(basename "$1")" -lpthread || wrong "$1 does not compile"
}
# recorded NAME [OPTION...]: builds the sample and records it to NAME.zst.
recorded() {
	local name
	name=$(basename "$1")
	build "$1"
	run 0 record "${@:2}" -o "$name.zst" "./$name"
}
# holds FILTER [FILE]: jq's filter is true of the last run's report.
holds() {
	claim "not so: $1" "$1" "${2:-out}" '[.anomalies[]? | [.id, .verdict, .replay]], .results?'
}
# left PATTERN: no process is left whose command line has it.
left() {
	local pid
	for pid in /proc/[0-9]*; do
		{ tr '\0' ' ' <"$pid/cmdline" | grep -q -- "$1"; } 2>/dev/null && wrong "still there: $(tr '\0' ' ' <"$pid/cmdline")"
	done
}
