#!/bin/sh
# demo.sh BUILD: record a sample and say what another run of it could do.
set -eu
build=$1
sample=samples/hidden
mkdir -p "$build/demo"
run() {
	echo "\$ $*"
	"$@"
}
run gcc -g -fsanitize=thread "$sample.c" -o "$build/demo/app"
run "$build/bin/racetrace" record -o "$build/demo/trace.zst" "$build/demo/app"
status=0
run "$build/bin/racetrace" analyze --format text "$build/demo/trace.zst" || status=$?
# 1 says that something was found, as it should be in this sample.
[ "$status" = 1 ]
