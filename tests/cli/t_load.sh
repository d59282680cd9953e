#!/bin/bash
# t_load.sh [BUILD]: many threads, processes and descriptors: everything is there, counted, and nothing is said.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
gcc -O2 -g -fsanitize=thread "$top/tests/bench/programs/load.c" -o load -pthread || exit 1

# recorded KIND N: the run is recorded, without a word and without a loss.
recorded() {
	rm -f t.zst t.zst.*
	run 0 record -o t.zst -- ./load "$@"
	quiet
	run 0 info --format json t.zst
	holds '.complete and .lost == 0'
}
for how in once turn; do
	recorded $how 2000
	holds '.kinds.fork == 2000 and .kinds.join == 2000 and .kinds.begin == 2001 and (.threads | length) == 2001'
	holds '.kinds.acquire == 2000 and .kinds.release == 2000'
done
recorded forks 60
[ "$(find . -name 't.zst.*' ! -name '*.part' | wc -l)" = 60 ] || wrong "not 60 traces: $(find . -name 't.zst.*' | wc -l)"
for trace in t.zst.*; do
	"$RACETRACE" info --format json "$trace" >out
	holds '.complete and .lost == 0 and .kinds.write == 1'
done
descriptors=$(ulimit -Hn)
[ "$descriptors" != unlimited ] && [ "$descriptors" -lt 4100 ] || descriptors=4100
recorded descriptors $((descriptors - 100))
recorded random 300000
holds '.kinds.write + .left_out >= 300000 and .bytes_per_event < 5'
recorded walk 300000
holds '.kinds.write + .kinds.read + .left_out >= 300000 and .bytes_per_event < 1'
recorded long 1
exit $fail
