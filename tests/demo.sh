#!/bin/sh
# demo.sh BUILD: record a sample, say what another run of it could do, and make it do that.
set -eu
build=$1
sample=samples/hidden
mkdir -p "$build/demo"
# run STATUS COMMAND...: prints and runs it; anything but this status is an error.
run() {
	want=$1
	shift
	echo "\$ $*"
	status=0
	"$@" || status=$?
	[ "$status" = "$want" ]
}
run 0 gcc -g -fsanitize=thread "$sample.c" -o "$build/demo/app"
run 0 "$build/bin/racetrace" record -o "$build/demo/trace.zst" "$build/demo/app"
# 1: something was found, as it should be in this sample.
run 1 "$build/bin/racetrace" analyze --format text "$build/demo/trace.zst"
# 0: it was confirmed.
run 0 "$build/bin/racetrace" replay --format text "$build/demo/trace.zst"
