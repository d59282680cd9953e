#!/bin/bash
# clang-tidy over the sources of the program, which says clang's own warnings, too, and gcc's warnings: all of them as errors.
set -u
warn=(-Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes)
flags=(-std=gnu11 -I. -D_GNU_SOURCE '-DRT_VERSION="0"' "${warn[@]}")
status=0
# each N COMMAND...: the command with N sources at a time, as often at once as there are processors.
each() {
	git ls-files 'tracefmt/*.c' 'lib/*.c' 'cmd/*.c' 'recorder/*.c' | xargs -P "$(nproc)" -n "$1" "${@:2}" || status=1
}
each 8 gcc "${flags[@]}" -O1 -Werror -fsyntax-only
each 4 bash -c 'clang-tidy --quiet "$@" -- '"$(printf '%q ' "${flags[@]}")"' 2>/dev/null' bash
[ "$status" = 0 ] && echo "1 passed, 0 failed" || echo "0 passed, 1 failed"
exit $status
