#!/bin/bash
# clang-tidy over the sources of the program, and both compilers' warnings as errors.
set -u
flags=(-std=gnu11 -I. -D_GNU_SOURCE '-DRT_VERSION="0"' -O1)
warn=(-Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Werror -fsyntax-only)
sources=$(git ls-files 'tracefmt/*.c' 'lib/*.c' 'cmd/*.c' 'recorder/*.c')
status=0
for compiler in gcc clang; do
	# shellcheck disable=SC2086
	printf '%s\n' $sources | xargs -P 2 -n 8 "$compiler" "${flags[@]}" "${warn[@]}" || status=1
done
# shellcheck disable=SC2086
printf '%s\n' $sources | xargs -P 2 -n 4 sh -c 'clang-tidy --quiet "$@" -- '"${flags[0]} ${flags[1]} ${flags[2]} "'-DRT_VERSION=\"0\" 2>/dev/null' sh || status=1
[ "$status" = 0 ] && echo "1 passed, 0 failed" || echo "0 passed, 1 failed"
exit $status
