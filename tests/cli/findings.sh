# What tests of findings share; to be sourced.
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
here=$top racetrace=$RACETRACE tmp=$SCRATCH

# record NAME SOURCE OPTION...: builds and records it. What is racy may crash: then once more.
record() {
	local name=$1 source=$2 compiler=gcc
	shift 2
	[[ $source == *.cpp ]] && compiler=g++
	"$compiler" -g -O1 -fsanitize=thread -Wno-tsan -I"$here/samples/pecan" "$source" -o "$tmp/$name" -pthread || return
	for _ in 1 2 3 4 5; do
		timeout 60 "$racetrace" record "$@" -o "$tmp/$name.zst" "$tmp/$name" >/dev/null 2>&1 && return
	done 2>/dev/null
	return 1
}

# analyze STATUS FILE OPTION...: into $tmp/out.
analyze() {
	local due=$1 file=$2 status
	shift 2
	timeout 60 "$racetrace" analyze -f json "$@" "$file" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status = "$due" ] || { echo "analyze $* ${file##*/}: status $status, not $due: $(head -3 "$tmp/err")"; fail=1; }
}

# is WHAT FILTER: the jq filter is true of the report.
is() {
	claim "$1: not so: $2" "$2" "$tmp/out" .findings
}

# text ARGUMENT...: the report as text, into $tmp/out.
text() {
	timeout 60 "$racetrace" analyze -f text "$@" >"$tmp/out" 2>&1
}
# prints PATTERN: a line of $tmp/out does.
prints() {
	grep -qE "$1" "$tmp/out" || { echo "text: no '$1' in: $(head -c 1500 "$tmp/out")"; fail=1; }
}
