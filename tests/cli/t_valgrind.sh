#!/bin/bash
# The recorder under Valgrind: an instrumented program that is started with it says and returns what it does otherwise, and Valgrind has
# nothing to say. It has no channel here (Valgrind's own launcher would take it): what runs is its start, the hooks, the
# interposed functions and the ends of threads.
set -u
here=$(cd "$(dirname "$0")" && pwd)
library=$(cd "$(dirname "$RACETRACE")/../lib/racetrace" && pwd)
command -v valgrind >/dev/null || {
	echo "valgrind is not installed: not tested"
	exit 0
}
gcc -g -O1 -fsanitize=thread "$here/../../samples/bounded_queue.c" -o ./app -lpthread || exit 1
expected=$(./app) || exit 1
got=$(LD_LIBRARY_PATH=$library valgrind -q --error-exitcode=99 ./app 2>errors)
status=$?
if [ "$status" != 0 ] || [ "$got" != "$expected" ] || [ -s errors ]; then
	echo "status $status, output '$got' instead of '$expected'"
	head -40 errors
	exit 1
fi
# That it was the recorder and not GCC's runtime, which Valgrind cannot run at all.
LD_LIBRARY_PATH=$library ldd ./app | grep -q "$library/libtsan" || {
	echo "the program does not find the recorder"
	exit 1
}
