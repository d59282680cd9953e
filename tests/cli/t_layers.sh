#!/bin/bash
# t_layers.sh [BUILD]: the layers' arrows: cmd -> lib -> tracefmt, recorder/collect -> tracefmt; nothing points upwards.
set -u
cd "$(dirname "$0")/../.." || exit 1
fail=0

# may FOLDER ALLOWED...: sources in FOLDER include project headers from ALLOWED folders only.
may() {
	local folder=$1 file header top
	shift
	while IFS=: read -r file header; do
		top=${header%%/*}
		case " $* " in
		*" $top "*) ;;
		*)
			echo "$file includes $header: $folder may include only: $*"
			fail=1
			;;
		esac
	done < <(grep -rHoP '^\s*#\s*include\s+"\K[^"]+' "$folder" --include='*.[chS]')
}

may tracefmt tracefmt
may recorder recorder tracefmt
may lib lib tracefmt
may cmd cmd lib recorder tracefmt

# Only cmd/ prints or exits. (A forked child that is not to become another program, or cannot, has nothing left but _exit.)
if grep -nE '\b(exit|_exit|abort|printf|puts|perror)\(|\bf(printf|puts)\((stderr|stdout)' \
	$(find lib tracefmt recorder/collect -name '*.c') | grep -vE '^(recorder/collect/(program|inspect)|lib/witness/jobs)\.c:[0-9]+:\s*_exit\('; then
	echo "only cmd/ prints or exits"
	fail=1
fi
[ "$(grep -rlc 'include "tracefmt/' tracefmt | wc -l)" -gt 0 ] || {
	echo "the search for includes finds nothing: this test is broken"
	fail=1
}

# What the recorder does itself is none of the program's events: no file of it calls what another one interposes.
objects=() # not those whose source is gone
for object in "${1:-${BUILD:-build}}"/pic/recorder/*.o; do
	name=recorder/$(basename "$object" .o)
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
exit $fail
