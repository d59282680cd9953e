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
	words=$("$racetrace" analyze --$option=? x 2>&1 | sed -n "s/.*'?' is not .*: there are //p" | tr -d ,)
	[ -n "$words" ] || wrong "analyze --$option lists no words"
	for word in $words; do
		plain "$top/docs/racetrace-analyze.1" | grep -E '^\.(BR?|RB) ' | grep -qw -e "$word" ||
			wrong "racetrace-analyze.1 does not tell of --$option=$word"
	done
done

if command -v groff >/dev/null; then
	for page in "$top"/docs/*.[15]; do
		groff -man -Tutf8 -ww -z "$page" >warnings 2>&1
		[ ! -s warnings ] || wrong "$(head -n 5 warnings)"
	done
else
	echo "no groff here: that the pages have no errors is not tested"
fi

# Bounds that the pages and the help quote are those of the report; docs/report-format.md explains each.
printf '%s\n' 'A|w(x)|1' 'A|acq(L)|2' 'A|rel(L)|3' 'B|acq(L)|4' 'B|rel(L)|5' 'B|w(x)|6' >bounds.std
"$racetrace" analyze --format json bounds.std >bounds.json
bound() {
	jq ".limits.$1.bound" bounds.json
}
"$racetrace" analyze --help | tr -s ' \n' ' ' | grep -qF "at most TOTAL for all ($(bound search_events),$(bound search_events_total))" ||
	wrong "analyze --help quotes another budget than $(bound search_events),$(bound search_events_total)"
for name in search_events search_events_total; do
	grep -qF "($(bound $name))" "$top/docs/racetrace-analyze.1" || wrong "racetrace-analyze.1 quotes another $name than $(bound $name)"
done
for name in $(jq -r '.limits | keys[]' bounds.json); do
	grep -qF "\`$name\`" "$top/docs/report-format.md" || wrong "report-format.md does not explain the limit $name"
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
[ "$(complete_words "$racetrace" '' | wc -w)" -ge "$(wc -w <<<"$commands")" ] || wrong "completion of nothing"
exit $fail
