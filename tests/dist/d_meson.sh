#!/bin/bash
# Meson: `meson test --wrapper` runs each test under racetrace.
set -eu
cp "$TOP/samples/pecan_fig1.c" racy.c
cp "$TOP/samples/pecan_fig1_fixed.c" fixed.c
cat >meson.build <<'MESON'
project('example', 'c')
threads = dependency('threads')
foreach name : ['racy', 'fixed']
  test(name, executable(name, name + '.c', dependencies: threads))
endforeach
MESON
CC=gcc meson setup -Db_sanitize=thread -Dbuildtype=debug build >log || { cat log; exit 1; }
cd build
wrapper="$PREFIX/bin/racetrace run --no-confirm --"
meson test --wrapper "$wrapper" fixed >log || { cat log; exit 1; }
! meson test --wrapper "$wrapper" racy >log || { cat log; exit 1; }
grep -q 'F1 error' meson-logs/testlog*.txt || { cat meson-logs/testlog*.txt; exit 1; }
