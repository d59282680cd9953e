#!/bin/bash
# t_recipes.sh [BUILD]: the recipes of docs/CONTRIBUTING.md. Each patch of tests/recipes touches the files that its recipe lists; all of
# them together apply to a copy of the tree, which builds, and does what they add.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
build=$(cd "$(dirname "$RACETRACE")/.." && pwd)
contributing=$top/docs/CONTRIBUTING.md

# ---- The lists of files ----
# recipe TITLE PATCH: NAME and KIND in the list stand for what the patch chose.
recipe() {
	local listed file pattern touched
	listed=$(sed -n "/^### $1\$/,/^###* [^#]/p" "$contributing" | sed -n 's/^Files: //p' | grep -oE '`[^`]+`' | tr -d '`' | sort)
	touched=$(sed -n 's|^+++ b/||p' "$top/tests/recipes/$2.patch" | sort)
	[ -n "$listed" ] || wrong "CONTRIBUTING.md: '$1' has no list of files"
	[ "$(wc -l <<<"$listed")" = "$(wc -l <<<"$touched")" ] || wrong "'$1' lists $(wc -l <<<"$listed") files, $2.patch touches others: $touched"
	for file in $listed; do
		pattern=$(sed -E 's/\./\\./g; s/NAME|KIND/[a-z0-9_]+/' <<<"$file")
		grep -qxE "$pattern" <<<"$touched" || wrong "'$1': $2.patch does not touch $file"
	done
}
recipes=0
while IFS='|' read -r _ patch title _; do
	recipes=$((recipes + 1))
	recipe "$(sed 's/^ *//; s/ *$//' <<<"$title")" "$(tr -d ' `' <<<"${patch%.patch*}")"
done < <(grep '^| `' "$top/tests/recipes/README.md")
[ "$recipes" = "$(ls "$top"/tests/recipes/*.patch | wc -l)" ] || wrong "tests/recipes/README.md lists $recipes patches"
# The recipe of operations has a list of rules in place of a patch.
[ $((recipes + 1)) = "$(grep -c '^### ' "$contributing")" ] || wrong "CONTRIBUTING.md has $(grep -c '^### ' "$contributing") recipes, $recipes are followed"

# ---- The copy ----
if sanitized; then
	echo "built with a sanitizer: the copy is not built"
	exit $fail
fi
mkdir tree && tar -C "$top" --exclude='./build*' --exclude=./.git -cf - . | tar -C tree -xf - || exit 1
mkdir tree/build && cp -a "$build"/{obj,pic,lib,bin} tree/build/ || exit 1
[ ! -d "$build/tool" ] || cp -a "$build/tool" tree/build/ || exit 1
for patch in "$top"/tests/recipes/*.patch; do
	patch -d tree -p1 --no-backup-if-mismatch <"$patch" >log 2>&1 || wrong "${patch##*/} does not apply: $(cat log)"
done
# No option selects a strategy by name: this copy's record --serial takes the new one.
sed -i 's/: "random",/: "steady",/' tree/cmd/record/record.c
grep -q '"steady"' tree/cmd/record/record.c || wrong 'cmd/record/record.c does not select the strategy of --serial any more'
make -C tree BUILD=build all >log 2>&1 || {
	wrong "the patched tree does not build: $(grep -E 'error|\*\*\*' log | head -n 5)"
	exit 1
}
! grep -q 'warning:' log || wrong "the patched tree builds with warnings: $(grep 'warning:' log | head -n 5)"
RACETRACE=$PWD/tree/build/bin/racetrace

# ---- What they add ----
printf '%s\n' 'A|w(x)|1' 'A|acq(L)|2' 'A|rel(L)|3' 'B|acq(L)|4' 'B|rel(L)|5' 'B|r(x)|6' >ordered.std
run 0 analyze --orders hb --only-orders ordered.std
run 1 analyze --orders all --only-orders --every ordered.std
holds '[.anomalies[].events | map(.event)] == [[1, 6]]'
printf '%s\n' 'A|acq(L)|1' 'A|r(x)|2' 'A|w(x)|3' 'A|rel(L)|4' 'B|r(x)|6' >pattern.std
run 1 analyze --kinds atomicity --fail-on predicted --pattern r-r-w pattern.std
holds '[.anomalies[].pattern] == ["r-r-w"]'
run 0 analyze --kinds atomicity --fail-on predicted pattern.std
run 1 analyze --kinds race --format list pattern.std
grep -qxE 'R1 race (observed|proved) [0-9a-f]{16}' out || wrong "--format list prints: $(cat out)"
cat >classes.c <<'END'
#include <pthread.h>
#include <wctype.h>

static char name[] = "alpha";
static void *work(void *unused)
{
	name[0] = 'c';
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	wctype_t class = wctype(name);
	pthread_join(thread, 0);
	return class == (wctype_t)-1;
}
END
gcc -g -fsanitize=thread classes.c -o classes || exit 1
run 0 record -o classes.zst ./classes
run 1 analyze --kinds race classes.zst
holds '[.anomalies[].variable.name] == ["name"] or [.anomalies[].variable.name] == ["name[0]"]'
gcc -g -fsanitize=thread "$top/samples/hidden.c" -o hidden || exit 1
for i in 1 2; do
	run 0 record --serial=$i -o serial.zst ./hidden
	run 0 dump serial.zst
	sed 's/0x[0-9a-f]*/ADDRESS/g' out >serial.$i
done
# It draws nothing from the seed.
cmp serial.1 serial.2 >/dev/null || wrong "two runs by the strategy differ: $(diff serial.1 serial.2 | head -n 3)"
run 0 info --format json serial.zst
holds '.order == "exact" and .complete and (.threads | length == 3)'
# The man pages tell of them.
(mkdir man && cd man && SCRATCH=$PWD BUILD=$PWD/../tree/build bash "$PWD/../tree/tests/cli/t_man.sh" "$PWD/../tree/build") >log 2>&1 || wrong "t_man.sh in the patched tree: $(cat log)"

# ---- A synchronisation operation: the files that the compiler names ----
rules=$(sed -n 's/^Rules: //p' "$contributing" | grep -oE '`[^`]+`' | tr -d '`' | sort)
[ "$(wc -l <<<"$rules")" -ge 5 ] || wrong "CONTRIBUTING.md: no list of rules"
last=$(grep -nE '^	X\([A-Z_]+, "[^"]*", [A-Z]' tree/tracefmt/event.h | tail -n 1 | cut -d: -f1)
sed -i "$last i\\	X(RECIPE, \"recipe\", SEMAPHORE, RT_WAKES | RT_ON_OBJECT) \\\\" tree/tracefmt/event.h
flagged=$(sed -n '/^\$(patsubst .*\\$/{N;/-Wswitch-enum/p}' "$top/Makefile" | grep -oE '[a-z_]+(/[a-z_]+)+' | grep -v '^/' | sed 's/$/.c/' | grep -E '^(lib|tracefmt)/' | sort)
[ "$rules" = "$flagged" ] || wrong "CONTRIBUTING.md lists $rules; the Makefile compiles with -Wswitch-enum: $flagged"
for file in $rules; do
	(cd tree && gcc -std=gnu11 -I. -D_GNU_SOURCE -fsyntax-only -Wswitch-enum "$file" 2>&1) | grep -q 'RT_OP_RECIPE. not handled' ||
		wrong "the compiler does not miss a rule for a new operation in $file"
done
exit $fail
