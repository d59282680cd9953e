#!/bin/bash
# t_words.sh [BUILD]: the tree speaks the field's words. What this project once called by words of its own does not come back, messages
# are no questions, and one mistake has one wording.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# ---- Words ----
# without PATTERN BETTER [FOLDER...]: no text of the folders (default: all) has it.
without() {
	local pattern=$1 better=$2 found
	shift 2
	[ $# -gt 0 ] || set -- lib tracefmt recorder cmd tests docs samples README.md Makefile
	found=$(cd "$top" && grep -rnP --include='*.[chS]' --include='*.cpp' --include='*.cc' --include='*.sh' --include='*.jq' --include='*.md' \
		--include='*.[15]' --include='*.json' --include='*.expect' --include=Makefile --exclude=t_words.sh -- "$pattern" "$@")
	[ $? -le 1 ] || wrong "the search for /$pattern/ fails: this test is broken"
	[ -z "$found" ] || wrong "say '$better' instead of /$pattern/: $(head -n 5 <<<"$found")"
}
code=(lib tracefmt recorder cmd)
without '(?<!["._`])\blean(s|ing|ed)?\b(?!")' 'depends on'
without '\bdoorman\b' acceptor
without '\bunheard\b' 'lost signal'
without '\bso.manieth\b' 'n-th'
without 'believ' validates
without '\bdear(er)?\b' expensive
without '\b[Bb]irths?\b' 'allocation race; child number'
without '\b[Ww]hoever\b' 'a thread that'
without '\b[Ss]o many\b' 'at most N; number of' "${code[@]}"
without '\b(lets?|letting)( it| them| the [a-z]+)? go(?! on)\b' 'releases' "${code[@]}" docs
without '\blet go\b' 'released' "${code[@]}" docs
without '\blies\b' 'is' "${code[@]}"
without '(?<!rusage_)\b(who|whom)\b(?!,|\), \(who)' 'the thread that; which' "${code[@]}"
without '/\* (Is|Are|Does|Do|Can|May|Has|Have|Was|Were|Would) [^*]*\?' 'True if' "${code[@]}"
without '\bbring(s)? about\b' 'makes possible' "${code[@]}"

# ---- Messages ----
no_question() {
	! grep -q '?' err || wrong "a question: $(cat err)"
}
for command in $("$RACETRACE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	run 2 "$command"
	says "^racetrace $command: no [a-z]* given: "
	no_question
	run 2 "$command" --no-such-option x
	no_question
done
for command in info dump convert schedule; do
	run 2 "$command" a b
	says "^racetrace $command: too many arguments: 'b'$"
	no_question
done
# In the sources, no text of an error ends in a question mark.
found=$(cd "$top" && grep -rnE '(rt_error_set|argp_error|argp_failure)\([^;]*\?"' lib tracefmt cmd recorder)
[ -z "$found" ] || wrong "a message is a question: $found"
exit $fail
