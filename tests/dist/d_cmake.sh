#!/bin/bash
# The CMake package: a target that can be recorded, a test that fails on an error, and `ctest -T memcheck`.
set -eu
cp "$TOP/samples/pecan_fig1.c" racy.c
cp "$TOP/samples/pecan_fig1_fixed.c" fixed.c
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(Threads REQUIRED)
find_package(racetrace 0.1 REQUIRED)
racetrace_memcheck()
include(CTest)
foreach(name racy fixed)
	add_executable(${name} ${name}.c)
	target_link_libraries(${name} Threads::Threads)
	racetrace_target(${name})
	racetrace_add_test(race_${name} ${name})
	add_test(NAME plain_${name} COMMAND ${name})
endforeach()
CMAKE
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	cmake -S . -B $compiler -DCMAKE_C_COMPILER=$compiler -DCMAKE_PREFIX_PATH="$PREFIX" >log || { cat log; exit 1; }
	cmake --build $compiler >log || { cat log; exit 1; }
	cd $compiler
	ctest -R race_fixed >log || { cat log; exit 1; }
	! ctest -R race_racy --output-on-failure >log || { cat log; exit 1; }
	grep -q '^F1 error' log || { cat log; exit 1; }
	ctest -T memcheck -R plain_ >log 2>&1 || true
	cat log
	grep -qE 'plain_fixed.*(Passed|OK)' log || exit 1
	grep -q '^F1 error' Testing/Temporary/MemoryChecker.*.log || { head Testing/Temporary/MemoryChecker.*; exit 1; }
	cd ..
done
