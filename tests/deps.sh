#!/bin/sh
# deps.sh PACKAGE...: installs the Debian packages among them that are missing; without root, prints the line that does.
set -u
missing=
for package in "$@"; do
	state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then
	sudo=
elif sudo -n true 2>/dev/null; then
	sudo=sudo
else
	echo "missing Debian packages; install them with:"
	echo "  apt-get install -y$missing"
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# The package lists may be old or absent: bring them only when something is missing.
$sudo apt-get update -q >/dev/null
# shellcheck disable=SC2086
$sudo apt-get install -qy --no-install-recommends $missing >/dev/null || {
	echo "cannot install:$missing" >&2
	exit 1
}
