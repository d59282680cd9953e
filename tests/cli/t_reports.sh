#!/bin/bash
# t_reports.sh [BUILD]: several reports at once, each in the format that it was given or that its name ends in; files alone leave standard
# output empty.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

printf '%s\n' 'A|fork(B)|1' 'A|w(x)|2' 'B|w(x)|3' >race.std
mkdir due
for format in text json sarif html gcc; do
	"$RACETRACE" analyze -f $format race.std >due/$format
done
# same FILE FORMAT
same() {
	cmp -s "$1" "due/$2" || wrong "$1 is not the $2 report: $(head -n 3 "$1")"
}

run 1 analyze -f html=r.html -f sarif=out.x race.std
quiet
prints ''
same r.html html
same out.x sarif
run 1 analyze -f text -f json=r=1.json race.std
same out text
same r=1.json json
# By name; a format that is given for the file counts more.
run 1 analyze -o a.html -o b.sarif -o c.txt -o d.json -o e.other race.std
prints ''
same a.html html
same b.sarif sarif
same c.txt text
same d.json json
same e.other json
run 1 analyze -f text -o f.html race.std
same f.html text
prints ''
run 1 analyze -f gcc -f html=g.html -o h.json race.std
same g.html html
same h.json gcc
prints ''
run 1 analyze -o - race.std
same out json
run 1 analyze -f sarif=- -o i.html race.std
same out sarif
same i.html html

# What is wrong is said, and no file is left.
run 2 analyze -f nothing=x.html race.std
says "'nothing' is not a format: there are "
run 2 analyze -f html= race.std
says "no file given in 'html='"
run 2 analyze -o x.html -f json=x.html race.std
says "two reports for one file: 'x.html'"
run 2 analyze -o x.zst race.std
says "'x.zst' has the name of a trace, and a report would be written there"
run 3 analyze -o x.html -o none/y.json race.std
says "'none/y.json'"
[ ! -e x.html ] || wrong "a report is left that is not one of all"
printf 'A|w(x)|1\nno line\n' >bad.std
cp a.html old.html
run 3 analyze -o old.html -o x.json bad.std
same old.html html
[ ! -e x.json ] || wrong "a report of a trace that cannot be read"

# The other commands that report.
gcc -g -fsanitize=thread "$top/samples/hidden.c" -o hidden || exit 1
run 1 run --no-confirm -f text -o run.html -- ./hidden
run 1 run --no-confirm -f text -f html=run.html -f sarif=run.sarif --trace t.zst -- ./hidden
grep -q '^F1 error' out || wrong "run: no text: $(head -n 3 out)"
grep -q '<html' run.html || wrong "run: no page"
grep -q '"runs"' run.sarif || wrong "run: no SARIF"
run 0 replay -o replay.html -o replay.json t.zst
prints ''
grep -q '<html' replay.html || wrong "replay: no page"
grep -q '^<h3>Replay of R[0-9]*</h3>' replay.html && grep -q '^<pre>[a-z]* of line [0-9]* first: confirmed; then: exit status 0' replay.html ||
	wrong "replay: a page without outcomes"
jq -e '[.anomalies[].replay] | any(. != null)' replay.json >/dev/null || wrong "replay: no outcomes"

# Of the anomalies of one finding each has an outcome of its own.
gcc -g -fsanitize=thread -I"$top/samples/pecan" "$top/samples/pecan/critical.c" -o critical -pthread || exit 1
run 1 run -f text -- ./critical
grep -qE '^  replay of [A-Z][0-9]+: confirmed, in [0-9]+ of [0-9]+ runs' out || wrong "run: outcomes that do not say of what: $(grep 'replay' out)"
exit $fail
