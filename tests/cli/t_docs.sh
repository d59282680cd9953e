#!/bin/bash
# t_docs.sh [BUILD]: what the pages for people who change this name is there: files that links and quoted paths lead to, functions of the
# walks through the architecture, make targets.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

pages=("$top"/README.md "$top"/docs/*.md "$top"/tests/README.md "$top"/tests/*/README.md "$top"/samples/README.md "$top"/samples/*/README.md)
links=0
for page in "${pages[@]}"; do
	folder=$(dirname "$page")
	while read -r link; do
		links=$((links + 1))
		[ -e "$folder/${link%%#*}" ] || wrong "${page#"$top"/} links to $link, which is not there"
	done < <(grep -oP '\]\(\K[^)#][^)]*' "$page" | grep -v '://')
done
[ $links -gt 15 ] || wrong "only $links links: this test is broken"

# Quoted paths of the tree, from its top or, in tests/, from there. NAME, KIND and * stand for any name.
paths=0
for page in README.md docs/CONTRIBUTING.md docs/architecture.md tests/README.md; do
	while read -r path; do
		pattern=$(sed -E 's/NAME|KIND/*/g' <<<"$path")
		paths=$((paths + 1))
		[[ $page != tests/* ]] || [ -z "$(compgen -G "$top/tests/$pattern")" ] || continue
		[ -n "$(compgen -G "$top/$pattern")" ] || wrong "$page names $path, which is not there"
	done < <(grep -oP '`\K(\.\./)?(cmd|lib|recorder|tracefmt|tests|docs|samples|cli|unit|oracle|golden|differ|faults|fuzz|real|bench|recipes|e2e|cases)/[A-Za-z0-9_./*-]*(?=`)' \
		"$top/$page" | sed 's|^\.\./||')
done
[ $paths -gt 60 ] || wrong "only $paths paths: this test is broken"

# A change is one entry of the list: a merge that keeps two versions of it is seen by how they begin.
grep '^- ' "$top/docs/CHANGELOG.md" | cut -c1-40 | sort | uniq -d >twice
[ ! -s twice ] || wrong "CHANGELOG.md has entries that begin alike: $(tr '\n' ';' <twice)"
[ "$(grep -c '^- ' "$top/docs/CHANGELOG.md")" -gt 50 ] || wrong 'CHANGELOG.md has hardly an entry: this test is broken'

# Functions and tables that the architecture's walks name.
names=0
while read -r name; do
	names=$((names + 1))
	grep -rqwF "$name" "$top"/{lib,recorder,tracefmt,cmd} --include='*.[chS]' || wrong "architecture.md names $name, which is not there"
done < <(grep -oP '`\K[a-z_]+_[a-z_0-9]+(?=(\[\])?`)' "$top/docs/architecture.md" | grep -v '^__' | sort -u)
[ $names -gt 10 ] || wrong "only $names names: this test is broken"

make --no-print-directory -C "$top" help >targets
for target in $(grep -ohP '(^    |`)make \K[a-z][a-z-]*' "$top"/README.md "$top"/docs/CONTRIBUTING.md "$top"/tests/README.md); do
	grep -q "^  $target " targets || [[ $target = deps-* || $target = fuzz-* ]] || wrong "there is no 'make $target'"
done
# What the tests' page says of one suite and one case.
for name in $(grep -ohP 'CK_RUN_SUITE=\K\w+' "$top"/tests/README.md); do
	[ -f "$top/tests/unit/test_$name.c" ] || wrong "there is no suite $name"
done
for name in $(grep -ohP 'CK_RUN_CASE=\K\w+' "$top"/tests/README.md); do
	grep -rq "tcase_create(\"$name\")" "$top"/tests/unit || wrong "there is no case $name"
done
exit $fail
