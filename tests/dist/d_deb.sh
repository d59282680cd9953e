#!/bin/bash
# The Debian package: lintian finds nothing; as root it installs, records and analyzes a program, and leaves nothing when it is removed.
set -eu
fail() {
	echo "$*"
	exit 1
}
make -C "$TOP" BUILD="$PWD/build" deb
deb=$(ls build/deb/racetrace_*_amd64.deb)
# A build has no address of its own: a package for others is made with MAINTAINER.
lintian --allow-root --suppress-tags bogus-mail-host --fail-on error,warning "$deb" || fail "lintian finds something"
[ "$(id -u)" = 0 ] || {
	echo "not root: the package is not installed"
	exit 0
}
! dpkg-query -W racetrace >/dev/null 2>&1 || fail "racetrace is installed on this machine already"
trap 'dpkg --purge racetrace >/dev/null 2>&1 || true' EXIT
dpkg -i "$deb" || fail "it does not install"
[ "$(command -v racetrace)" = /usr/bin/racetrace ] || fail "racetrace is not on the path"
gcc $(pkg-config --cflags racetrace) "$TOP/samples/pecan_fig1.c" $(pkg-config --libs racetrace) -pthread -o program
status=0
racetrace run --no-confirm -f json -o report.json -- ./program || status=$?
[ $status = 1 ] && jq -e '.findings | length > 0' report.json >/dev/null || fail "it finds nothing: status $status"
dpkg -c "$deb" | grep -q ' ./usr/share/man/man1/racetrace-analyze.1.gz$' || fail "no man page"
dpkg -L racetrace >files
dpkg --purge racetrace
while read -r file; do
	[ -d "$file" ] && continue
	[ ! -e "$file" ] || fail "$file is left"
done <files
[ ! -e /usr/lib/racetrace ] || fail "/usr/lib/racetrace is left"
