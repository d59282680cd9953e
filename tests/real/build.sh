#!/bin/bash
# build.sh FOLDER: brings SQLite's and LevelDB's sources (they travel in the npm packages better-sqlite3 and leveldown)
# into FOLDER and builds a driver for each, plain and with -fsanitize=thread. Nothing is built twice.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

fetch() { # PACKAGE@VERSION, FOLDER inside the package, NAME
	[ -d "$3" ] && return
	local archive
	archive=$(npm pack --silent "$1" | tail -n 1)
	rm -rf package
	tar xzf "$archive" "package/$2"
	mv "package/$2" "$3"
	rm -rf package "$archive"
}
fetch better-sqlite3@12.11.1 deps/sqlite3 sqlite
fetch leveldown@6.1.1 deps/leveldb/leveldb-1.20 leveldb

sqlite() { # OUTPUT, FLAGS...
	local out=$1
	shift
	[ -x "$out" ] && return
	gcc -g -O1 "$@" -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -Isqlite -o "$out" "$here/sqlite_driver.c" \
		sqlite/sqlite3.c -lpthread -lm
}
leveldb() {
	local out=$1
	shift
	[ -x "$out" ] && return
	local sources
	sources=$(find leveldb/db leveldb/table leveldb/util leveldb/port -name '*.cc' |
		grep -vE '(_test|_bench|test_util|testharness|testutil|leveldbutil|env_win|port_win|_main)\.cc$')
	# shellcheck disable=SC2086
	g++ -g -O1 "$@" -std=c++11 -w -DOS_LINUX -DLEVELDB_PLATFORM_POSIX -DLEVELDB_ATOMIC_PRESENT -Ileveldb \
		-Ileveldb/include -o "$out" "$here/leveldb_driver.cc" $sources -lpthread
}
sqlite sqlite_plain &
one=$!
leveldb leveldb_plain
wait $one
sqlite sqlite_tsan -fsanitize=thread &
one=$!
leveldb leveldb_tsan -fsanitize=thread
wait $one
