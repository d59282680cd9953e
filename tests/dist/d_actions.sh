#!/bin/bash
# The example for GitHub Actions: its racetrace commands do what its later steps take for granted.
set -eu
example=$TOP/docs/github-actions.yml
export PATH=$PREFIX/bin:$PATH
gcc -g -fsanitize=thread "$TOP/samples/pecan_fig1.c" -o test-program -pthread
# The two steps, as they are in the file.
sed -n '/- name: record/,/- name: analyze/p' "$example" | sed -n 's/^          //p' >record.sh
sed -n 's/^        run: \(racetrace analyze .*\)/\1/p' "$example" >analyze.sh
[ -s record.sh ] && [ "$(wc -l <analyze.sh)" = 1 ]
bash -e record.sh
status=0
bash -e analyze.sh >text || status=$?
[ $status = 1 ]
grep -q '^F1 error' text
files=$(sed -n 's/^ *\(sarif_file\|path\): //p' "$example")
[ "$(wc -w <<<"$files")" = 2 ]
for file in $files; do
	[ -s "$file" ] || {
		echo "$file is not there"
		exit 1
	}
done
jq -e '.runs[0].results | length > 0' races.sarif
# What the upload wants: a file and a line of each result, at most 25,000 results.
jq -e 'all(.runs[0].results[]; .locations[0].physicalLocation | .artifactLocation.uri and .region.startLine > 0)' races.sarif
