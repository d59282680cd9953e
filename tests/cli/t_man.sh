#!/bin/bash
# t_man.sh [BUILD]: the man pages tell of every command, option and word that the program has, and of no other option.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# A page as it is read.
plain() {
	sed -E 's/\\-/-/g; s/\\f[IRB]//g; s/\\&//g' "$1"
}
# Options that a list of --help has: "-o" and "--output".
options_of_help() {
	grep -E '^ +-' | grep -oE '^ +(-.,)? *(--[a-z-]+)?' | grep -oE -e '--[a-z-]+|-.' | sort -u
}
# Options that a page has: paragraphs that begin with them.
options_of_page() {
	plain "$1" | grep -A1 '^\.TP' | grep -E '^\.BR? -' | grep -oE -e '--[a-z-]+|-[a-z?]\b|-\?' | sort -u
}

commands=$("$racetrace" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 6 ] || wrong "--help lists too few commands: $commands"
for command in $commands; do
	page=$top/docs/racetrace-$command.1
	[ -f "$page" ] || {
		wrong "there is no man page of racetrace $command"
		continue
	}
	plain "$top/docs/racetrace.1" | grep -q "^.BR racetrace-$command (1)" ||
		wrong "racetrace.1 does not tell of $command"
	"$racetrace" "$command" --help | options_of_help >options.help
	options_of_page "$page" >options.page
	[ -s options.help ] || wrong "$command: no options in --help"
	diff options.help options.page >difference ||
		wrong "racetrace-$command.1 and --help differ in options (< help, > page): $(grep '^[<>]' difference)"
	summary=$("$racetrace" --help | sed -n "s/^  $command  *//p")
	plain "$page" | grep -qF "racetrace-$command - $summary" || wrong "racetrace-$command.1: not '$summary'"
done
for page in "$top"/docs/racetrace-*.1; do
	command=$(basename "$page" .1)
	case " $(echo $commands) " in
	*" ${command#racetrace-} "*) ;;
	*) wrong "$command.1 is of no command" ;;
	esac
done
"$racetrace" --help | options_of_help >options.help
for option in $(cat options.help) --help --version; do
	plain "$top/docs/racetrace.1" | grep -qE -e "^\.B $option\$" || wrong "racetrace.1 does not tell of $option"
done

# The words that options take: the program lists them when it is given another.
for option in format kinds orders fail-on regions; do
	words=$("$racetrace" analyze --$option=? 2>&1 | sed -n "s/.*'?' is not .*: there are //p" | tr -d ,)
	[ -n "$words" ] || wrong "analyze --$option lists no words"
	for word in $words; do
		plain "$top/docs/racetrace-analyze.1" | grep -E '^\.(BR?|RB) ' | grep -qw -e "$word" ||
			wrong "racetrace-analyze.1 does not tell of --$option=$word"
	done
done

# The other commands that write reports refer to that page for the formats: a format is in one page.
for command in run explore replay; do
	plain "$top/docs/racetrace-$command.1" | grep -A 3 '^Write the report in one of the formats' | grep -qx '.BR racetrace-analyze (1)' ||
		wrong "racetrace-$command.1 does not say where the formats are"
done

if command -v groff >/dev/null; then
	for page in "$top"/docs/*.[15]; do
		groff -man -Tutf8 -ww -z "$page" >warnings 2>&1
		[ ! -s warnings ] || wrong "$(head -n 5 warnings)"
	done
else
	echo "no groff here: that the pages have no errors is not tested"
fi

# Limits are those of the program's table: in the manual, in the description of the report and in reports.
for pair in 'man racetrace-analyze.1' 'markdown report-format.md'; do
	read -r form file <<<"$pair"
	bash "$top/tests/cli/limits.sh" "$racetrace" $form >limits.due || wrong 'analyze --limits prints other lines'
	[ "$(wc -l <limits.due)" -ge 20 ] || wrong "analyze --limits lists too few"
	sed -n '/Made by tests\/cli\/limits.sh/,/The end of LIMITS/p' "$top/docs/$file" | sed '1d;$d' >limits.page
	diff limits.due limits.page >difference ||
		wrong "$file lists other limits than the program (tests/cli/limits.sh $racetrace $form docs/$file makes the list): $(head -n 5 difference)"
done
printf '%s\n' 'A|w(x)|1' 'A|acq(L)|2' 'A|rel(L)|3' 'B|acq(L)|4' 'B|rel(L)|5' 'B|w(x)|6' >bounds.std
"$racetrace" analyze --exhaustive --format json bounds.std >bounds.json
for pair in $(jq -r '.limits | to_entries[] | "\(.key)=\(.value.bound)"' bounds.json); do
	"$racetrace" analyze --limits | grep -q "^$pair " || wrong "analyze --limits does not list $pair"
done
read -r _ events _ <<<"$("$racetrace" analyze --limits | tr = ' ' | grep '^search_events ')"
read -r _ total _ <<<"$("$racetrace" analyze --limits | tr = ' ' | grep '^search_events_total ')"
"$racetrace" analyze --help | tr -s ' \n' ' ' | grep -qF "at most TOTAL for all ($events,$total)" ||
	wrong "analyze --help quotes another budget than $events,$total"
# Each that can be set is.
name=
for name in $("$racetrace" analyze --limits | sed -n 's/^\([a-z_]*\)=.*(--limit.*/\1/p'); do
	every=()
	[ $name != anomalies_every ] || every=(--every)
	"$racetrace" analyze --exhaustive "${every[@]}" --model c11 --limit $name=7 --format json bounds.std >set.json
	jq -e --arg name "${name%_every}" '.limits[$name].bound == 7' set.json >/dev/null || wrong "--limit $name=7 does not set $name"
done
[ -n "$name" ] || wrong 'there is no limit to be set'
for limit in stack_frames=7 region=7 search_states search_states=0 search_states=x =7 ''; do
	"$racetrace" analyze --limit "$limit" bounds.std >out 2>err
	[ $? = 2 ] && [ "$(grep -c "'" err)" -ge 1 ] || wrong "--limit '$limit': $(head -n 1 err)"
done

# Completion knows the same.
. "$top/docs/racetrace.bash"
complete_words() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_racetrace 2>/dev/null
	echo "${COMPREPLY[@]}"
}
[ "$(complete_words "$racetrace" sche)" = schedule ] || wrong "completion of sche: $(complete_words "$racetrace" sche)"
[ "$(complete_words "$racetrace" schedule --ver)" = --verify ] || wrong "completion of --ver"
[ "$(complete_words "$racetrace" analyze --anomaly)" = --anomaly= ] || wrong "completion of --anomaly"
[ "$(complete_words "$racetrace" record --recorder = val)" = valgrind ] || wrong "completion of --recorder=val"
[ "$(complete_words "$racetrace" guards --format = cl)" = clang ] || wrong "completion of guards --format=cl"
[ "$(complete_words "$racetrace" convert --to = per)" = perfetto ] || wrong "completion of convert --to=per"
[ "$(complete_words "$racetrace" analyze --granularity = ob)" = object ] || wrong "completion of --granularity=ob"
[ "$(complete_words "$racetrace" analyze --format ht)" = html ] || wrong "completion of --format ht"
[ "$(complete_words "$racetrace" analyze -f ht)" = html ] || wrong "completion of -f ht"
[ "$(complete_words "$racetrace" analyze -v '')" = '' ] || wrong "completion behind -v"
[ "$(complete_words "$racetrace" help sche)" = schedule ] || wrong "completion of help sche"
# It reads no file of the folder, runs none and writes none.
mkdir complete
printf 'A|w(x)|1\n' >complete/x
(cd complete && complete_words "$racetrace" analyze --output = && complete_words "$racetrace" analyze -o '' && complete_words "$racetrace" record -o '') >/dev/null
[ "$(ls -A complete)" = x ] || wrong "completion writes a file: $(ls -A complete)"
[ "$(complete_words "$racetrace" '' | wc -w)" -ge "$(wc -w <<<"$commands")" ] || wrong "completion of nothing"
exit $fail
