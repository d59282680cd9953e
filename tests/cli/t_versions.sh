#!/bin/bash
# t_versions.sh [BUILD]: a program that was linked with GCC's libtsan gets the default version of each function of the C
# library, although libtsan made it forget the versions: the recorder has each that comes in several.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-${BUILD:-build}}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
libtsan=$("${CC:-gcc}" -print-file-name=libtsan.so)
[ -e "$libtsan" ] || { echo "no libtsan to compare with"; exit 1; }
libc=$(ldd "$build/bin/racetrace" | awk '$1 ~ /^libc\.so/ { print $3 }')

names() {
	nm -D --defined-only "$1" | awk 'NF == 3 { sub("@.*", "", $3); print $3 }' | sort -u
}
# Names of a library that stand for different code in different versions.
several() {
	nm -D --defined-only "$1" | awk 'NF == 3 { name = $3; sub("@.*", "", name)
		if (!((name, $1) in seen)) { seen[name, $1] = 1; if (++n[name] == 2) print name } }'
}
fail=0
for library in "$libc" "${libc/libc.so/libm.so}" "${libc/libc.so/librt.so}" "${libc/libc.so/libpthread.so}"; do
	[ -e "$library" ] || continue
	missing=$(comm -12 <(several "$library" | sort -u) <(comm -23 <(names "$libtsan") <(names "$build/lib/racetrace/libtsan.so.2")))
	[ -z "$missing" ] || { echo "an old version is taken of:" $missing; fail=1; }
done
# What libtsan has and no library the program would have had from its own part of the C library.
missing=$(comm -12 <(nm --defined-only "$("${CC:-gcc}" -print-file-name=libc_nonshared.a)" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u) \
	<(comm -23 <(names "$libtsan") <(names "$build/lib/racetrace/libtsan.so.2")))
missing=$(comm -23 <(printf '%s\n' $missing) <(names "$libc"))
[ -z "$missing" ] || { echo "a program cannot start that calls:" $missing; fail=1; }

cat >"$tmp/program.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	pthread_cond_t old, c;
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct timespec past = {0, 1};
	memset(&c, 0xff, sizeof c);
	memset(&old, 0, sizeof old);
	pthread_cond_init(&c, NULL);
	char *path = realpath("/../", NULL);
	pthread_mutex_lock(&m);
	return memcmp(&c, &old, sizeof c) || !path || strcmp(path, "/") || !pthread_cond_timedwait(&c, &m, &past);
}
END
"${CC:-gcc}" -g -fsanitize=thread "$tmp/program.c" -o "$tmp/program" -pthread || exit 1
"$build/bin/racetrace" record -o "$tmp/trace" -- "$tmp/program" || { echo "the program got old versions"; fail=1; }
exit $fail
