#!/bin/bash
# t_layers.sh [BUILD]: which folder may include which, and what else the layers promise. docs/architecture.md has the picture.
set -u
cd "$(dirname "$0")/../.." || exit 1
fail=0
checked=()

# may FOLDER ALLOWED...: the sources directly in FOLDER include headers from it and from ALLOWED folders only.
may() {
	local folder=$1 file header room
	checked+=("$folder")
	while IFS=: read -r file header; do
		room=${header%/*}
		case " $* " in
		*" $room "*) ;;
		*)
			echo "$file includes $header: $folder may include only: $*"
			fail=1
			;;
		esac
	done < <(grep -HoP '^\s*#\s*include\s+"\K[^"]+' "$folder"/*.[chS] 2>/dev/null)
}

# From the bottom up: a folder names none that comes after it, so that there is no circle.
may lib/base
may tracefmt lib/base
for format in native std jsonl; do
	may tracefmt/$format lib/base tracefmt
done
may lib/trace lib/base tracefmt
may lib/relation lib/base lib/trace
may lib/order lib/base lib/trace lib/relation
may lib/anomaly lib/base lib/trace lib/order
may lib/judge lib/base lib/trace lib/anomaly
may lib/prove/state lib/base lib/trace lib/relation lib/anomaly
may lib/prove lib/base lib/trace lib/relation lib/order lib/anomaly lib/judge lib/prove/state
may lib/search lib/base lib/trace lib/relation lib/order lib/anomaly lib/prove
may lib/analysis lib/base lib/trace lib/relation lib/order lib/anomaly lib/prove lib/search
may lib/schedule lib/base tracefmt lib/trace lib/relation lib/anomaly lib/judge lib/prove
may lib/report lib/base tracefmt lib/trace lib/anomaly lib/search lib/analysis lib/schedule
may lib/report/html lib/base lib/trace lib/anomaly lib/report
may lib/report/json lib/base lib/report
may lib/report/sarif lib/report
may lib/report/text lib/base lib/trace lib/report
may lib/explore lib/base tracefmt
may recorder tracefmt
may recorder/runtime recorder
may recorder/sched recorder tracefmt recorder/runtime
may recorder/hooks recorder recorder/runtime recorder/intercept
may recorder/intercept recorder recorder/runtime
may recorder/valgrind recorder recorder/runtime
may recorder/collector recorder lib/base tracefmt tracefmt/native
may cmd/base lib/base tracefmt lib/trace lib/analysis lib/report recorder/collector
may cmd/try lib/base tracefmt lib/anomaly lib/schedule lib/report recorder cmd/base
may cmd/explore lib/base tracefmt lib/trace lib/report lib/explore recorder cmd/base cmd/try
may cmd/replay lib/base lib/trace lib/schedule lib/report recorder/collector cmd/base cmd/try cmd/explore
may cmd/analyze lib/base lib/search lib/analysis lib/report cmd/base cmd/replay
may cmd/record lib/base tracefmt lib/trace lib/report recorder recorder/collector cmd/base cmd/analyze
may cmd lib/base tracefmt lib/analysis lib/schedule lib/report lib/report/text cmd/base cmd/try cmd/replay cmd/analyze

# docs/architecture.md has the same list.
diff <(sed -n 's/^may \([a-z/]*\) *\(.*\)$/\1: \2/p' tests/cli/t_layers.sh | sed 's/ *$//') \
	<(sed -n 's/^    \([a-z/]*:\)/\1/p' docs/architecture.md | sed 's/ *$//') || {
	echo "docs/architecture.md has another list of rooms (< this test, > the page)"
	fail=1
}

for folder in $(find lib tracefmt recorder cmd -name '*.[chS]' -printf '%h\n' | sort -u); do
	case " ${checked[*]} " in
	*" $folder "*) ;;
	*)
		echo "$folder: no rule says what it may include"
		fail=1
		;;
	esac
done

# No circles, whatever the rules above allow: each folder that includes another one's header comes after it.
includes() {
	grep -rHoP '^\s*#\s*include\s+"\K[^"]+/' lib tracefmt recorder cmd --include='*.[chS]' |
		sed -nE 's|^(.*)/[^/]*:(.*)/$|\1 \2|p' | awk '$1 != $2' | sort -u
}
circles=$(includes | tsort 2>&1 >/dev/null)
[ -z "$circles" ] || {
	echo "folders include one another: $(sed -n 's/^tsort: *//p' <<<"$circles" | tr '\n' ' ')"
	fail=1
}
[ "$(includes | wc -l)" -gt 20 ] || {
	echo "the search for includes between folders finds nothing: this test is broken"
	fail=1
}

# What is `proved` was judged by code that shares nothing with what built it: the judge alone gives that verdict, and what values writes left
# it works out for itself.
gives='verdict[[:space:]]*=[[:space:]]*VERDICT_PROVED|[?:][[:space:]]*VERDICT_PROVED'
if grep -rnE "$gives" lib cmd --include='*.[ch]' | grep -v '^lib/judge/proved\.c:'; then
	echo "only lib/judge/proved.c gives the verdict proved"
	fail=1
fi
[ "$(grep -cE "$gives" lib/judge/proved.c)" = 1 ] || {
	echo "the search for the verdict proved finds nothing: this test is broken"
	fail=1
}
if grep -n '#include "lib/trace/values' lib/judge/*; then
	echo "the judge shares the provers' values"
	fail=1
fi

# Only cmd/ prints or exits. (A forked child that is not to become another program, or cannot, has nothing left but _exit.)
if grep -nE '\b(exit|_exit|abort|printf|puts|perror)\(|\bf(printf|puts)\((stderr|stdout)' \
	$(find lib tracefmt recorder/collector -name '*.c') | grep -vE '^(recorder/collector/(program|inspect|resolve)|lib/prove/jobs)\.c:[0-9]+:\s*_exit\('; then
	echo "only cmd/ prints or exits"
	fail=1
fi
[ "$(grep -rlc 'include "tracefmt/' tracefmt | wc -l)" -gt 0 ] || {
	echo "the search for includes finds nothing: this test is broken"
	fail=1
}

# What the recorder does itself is none of the program's events: no file of it calls what another one interposes.
objects=() # not those whose source is gone
for object in $(find "${1:-${BUILD:-build}}/pic/recorder" -name '*.o'); do
	name=recorder/${object#*/pic/recorder/}
	name=${name%.o}
	[ ! -e "$name.c" ] && [ ! -e "$name.S" ] || objects+=("$object")
done
interposed() {
	nm --defined-only "${objects[@]}" | sed -n 's/.* __interceptor_//p' | sort -u
}
if nm -u "${objects[@]}" | awk 'NF == 2 { print $2 }' | sort -u | comm -12 - <(interposed) | grep .; then
	echo "the recorder calls these, which it interposes"
	fail=1
fi
[ "$(interposed | wc -l)" -gt 0 ] || {
	echo "the search for what is interposed finds nothing: this test is broken"
	fail=1
}

# The runtime calls what other rooms define by tables alone (RT_REAL, RT_CALL_AT), so it names no interceptor. (What
# recorder/sched defines is declared in runtime/turn.h.)
defined_beside_runtime() {
	nm --defined-only $(printf '%s\n' "${objects[@]}" | grep -vE '/recorder/(runtime|sched)/') | awk '$2 ~ /[TDBR]/ { print $3 }' | sort -u
}
if nm -u $(printf '%s\n' "${objects[@]}" | grep /recorder/runtime/) | awk 'NF == 2 { print $2 }' | sort -u |
	comm -12 - <(defined_beside_runtime) | grep .; then
	echo "recorder/runtime calls these, which other rooms define"
	fail=1
fi

# rt_ marks what leaves its layer: of the trace formats what others use, of the recorder (whose names must not meet those
# of the program that it is linked with) all but what programs call.
build=${1:-${BUILD:-build}}
of() { # of LIST LAYER...: the objects of these layers whose source is there
	local layer object
	for layer in "${@:2}"; do
		for object in $(find "$build/obj/$layer" -name '*.o' 2>/dev/null); do
			name=${object#"$build"/obj/}
			[ ! -e "${name%.o}.c" ] || printf '%s\n' "$object"
		done
	done | xargs -r nm "$1"
}
if of --defined-only tracefmt | awk '$2 ~ /[TDBR]/ { print $3 }' | sort -u |
	comm -12 - <(of -u lib cmd recorder | awk 'NF == 2 { print $2 }' | sort -u) | grep -v '^rt_'; then
	echo "other layers use these of tracefmt, without rt_"
	fail=1
fi
if nm --defined-only "${objects[@]}" | awk '$2 ~ /[TDBR]/ { print $3 }' | sort -u |
	comm -23 - <(nm -D --defined-only "$build/lib/racetrace/libracetrace.so.1" | awk '{ print $3 }' | sort -u) |
	grep -vE '^(rt_|__interceptor_)'; then
	echo "the recorder defines these, without rt_"
	fail=1
fi
[ "$(of --defined-only tracefmt | wc -l)" -gt 0 ] || {
	echo "the search for what tracefmt defines finds nothing: this test is broken"
	fail=1
}
exit $fail
