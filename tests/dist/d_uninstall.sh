#!/bin/bash
# `make uninstall` removes what `make install` put there, and nothing else.
set -eu
mkdir -p prefix/bin prefix/share/man/man1
echo other >prefix/bin/other
make -C "$TOP" BUILD="$BUILD" PREFIX="$PWD/prefix" install
[ "$(find prefix -type f | wc -l)" -gt 20 ]
grep -qE '^\.TH RACETRACE\\-INFO 1 "20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]" "racetrace [0-9.]+"' prefix/share/man/man1/racetrace-info.1
jq -e '."$schema"' prefix/share/racetrace/report.schema.json
make -C "$TOP" BUILD="$BUILD" PREFIX="$PWD/prefix" uninstall
left=$(find prefix -type f)
[ "$left" = prefix/bin/other ] || {
	echo "left: $left"
	exit 1
}
