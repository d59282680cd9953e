#!/bin/bash
# t_install.sh [BUILD]: what `make install` lays down works from where it is, for GCC's programs and for Clang's.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
build=${RACETRACE%/bin/racetrace}
work=$PWD
install_to() {
	env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$top" BUILD="$build" "$@" install >log 2>&1 ||
		wrong "make $* install: $(tail -n 5 log)"
}
# records PROGRAM: the installed program records it and finds its race.
records() {
	"$1/bin/racetrace" record -o "$2.zst" "./$2" >log 2>&1 || wrong "cannot record $2: $(cat log)"
	"$1/bin/racetrace" analyze --format json "$2.zst" >"$2.json" 2>log
	[ $? = 1 ] || wrong "nothing is found in $2: $(cat log)"
	jq -e '.anomalies[0].variable.name == "x"' "$2.json" >/dev/null || wrong "$2: not the race on x"
}

# A staged tree, as a packager makes it.
install_to DESTDIR="$work/root" PREFIX=/usr
prefix="$work/root/usr"
for file in bin/racetrace include/racetrace.h lib/racetrace/libtsan.so.2 lib/racetrace/libracetrace.so.1 lib/pkgconfig/racetrace.pc \
	share/man/man1/racetrace.1 share/man/man1/racetrace-schedule.1 share/bash-completion/completions/racetrace lib/pkgconfig/racetrace-clang.pc \
	share/zsh/vendor-completions/_racetrace share/fish/vendor_completions.d/racetrace.fish share/doc/racetrace/report-format.md \
	share/racetrace/report.schema.json lib/cmake/racetrace/racetrace-config.cmake; do
	[ -s "$prefix/$file" ] || wrong "$file is not installed"
done
for page in "$top"/docs/*.[15]; do
	[ -s "$prefix/share/man/man${page##*.}/${page##*/}" ] || wrong "${page##*/} is not installed"
done
grep -q "^prefix=/usr$" "$prefix/lib/pkgconfig/racetrace.pc" || wrong "racetrace.pc does not say where"
grep -q '@' "$prefix/lib/pkgconfig/racetrace.pc" && wrong "racetrace.pc is not filled in"
version=$("$prefix/bin/racetrace" --version)
grep -q "^.TH .*\"$version\"" "$prefix/share/man/man1/racetrace.1" || wrong "the man page is not of $version"
find "$prefix" -type f ! -perm -444 | grep . && wrong "not everybody may read these"
gcc -g -fsanitize=thread "$top/samples/pecan_fig1.c" -o by_gcc || wrong "cannot build by_gcc"
records "$prefix" by_gcc

# A tree of the user's own: Clang's objects, with what the program says, and with what pkg-config does.
install_to PREFIX="$work/own"
if command -v clang >/dev/null; then
	clang $("$work/own/bin/racetrace" --cflags) "$top/samples/pecan_fig1.c" $("$work/own/bin/racetrace" --libs) \
		-o by_clang 2>log || wrong "cannot build by_clang: $(cat log)"
	records "$work/own" by_clang
	./by_clang >log 2>&1 || wrong "by_clang does not run by itself: $(cat log)"
	if command -v pkg-config >/dev/null; then
		export PKG_CONFIG_PATH=$work/own/lib/pkgconfig
		clang -g $(pkg-config --cflags racetrace-clang) "$top/samples/pecan_fig1.c" $(pkg-config --libs racetrace-clang) \
			-o by_config 2>log || wrong "cannot build by_config: $(cat log)"
		records "$work/own" by_config
		[ "-g $(pkg-config --cflags-only-other racetrace-clang | xargs)" = "$("$work/own/bin/racetrace" --cflags | xargs)" ] ||
			wrong "pkg-config and --cflags differ"
		gcc -g $(pkg-config --cflags racetrace) "$top/samples/pecan_fig1.c" $(pkg-config --libs racetrace) -o by_gcc_config 2>log ||
			wrong "cannot build by_gcc_config: $(cat log)"
		records "$work/own" by_gcc_config
	else
		echo "no pkg-config here: its file is not tested"
	fi
else
	echo "no clang here: --cflags, --libs and the pkg-config file are not tested"
fi
exit $fail
