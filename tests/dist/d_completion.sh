#!/bin/bash
# Completion of commands, options and their values, in bash, zsh and fish.
set -u
export PATH=$PREFIX/bin:$PATH
fail=0
# is SHELL GOT WANTED...: what was offered has each.
is() {
	local shell=$1 got=" $2 " word
	shift 2
	for word; do
		[[ $got == *" $word "* ]] || {
			echo "$shell: '$word' is not offered:$got"
			fail=1
		}
	done
}
offer_bash() {
	bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _racetrace 2>/dev/null; echo ${COMPREPLY[@]}' \
		"$PREFIX/share/bash-completion/completions/racetrace" "$@"
}
is bash "$(offer_bash racetrace ana)" analyze
is bash "$(offer_bash racetrace analyze --for)" --format=
is bash "$(offer_bash racetrace analyze --format = s)" sarif
is bash "$(offer_bash racetrace analyze --format =)" sarif html text
is bash "$(offer_bash racetrace analyze --fail-on = w)" warning
is bash "$(offer_bash racetrace explore --strategy =)" random pct
is bash "$(offer_bash racetrace analyze --kinds = race,dead)" race,deadlock
is bash "$(offer_bash racetrace analyze --kinds race,asv,)" race,asv,deadlock
[ -z "$(offer_bash racetrace analyze --format = html,)" ] || { echo "bash: a list of formats is offered"; fail=1; }

# The builtins of completion work within zsh's editor only: functions of their names print what they are given.
offer_zsh() {
	zsh -f -c 'PREFIX=$@[-1]; compadd() { print -- ${(P)@[-1]} }; _describe() { print -- ${(P)2} }; _files() { print FILES }; compset() { PREFIX=${PREFIX#*=} }
		words=("$@"); CURRENT=$#; functions[complete_it]="$(<$0)"; functions[complete_it]=${functions[complete_it]%_racetrace*}; complete_it; _racetrace' \
		"$PREFIX/share/zsh/vendor-completions/_racetrace" "$@" | tr '\n' ' '
}
is zsh "$(offer_zsh racetrace ana)" 'analyze:report'
is zsh "$(offer_zsh racetrace analyze --for)" --format= --suppressions=
is zsh "$(offer_zsh racetrace analyze --format=)" sarif html text
is zsh "$(offer_zsh racetrace analyze --format ht)" sarif html text
is zsh "$(offer_zsh racetrace analyze -f ht)" sarif html text
is zsh "$(offer_zsh racetrace analyze --kinds=race,dead)" deadlock
is zsh "$(offer_zsh racetrace analyze --kinds race,dead)" deadlock
is zsh "$(offer_zsh racetrace help sche)" schedule:print
is zsh "$(offer_zsh racetrace analyze trace)" FILES

offer_fish() {
	HOME=$PWD fish --no-config -c "source '$PREFIX/share/fish/vendor_completions.d/racetrace.fish'; complete -C '$1'" | cut -f 1 | tr '\n' ' '
}
is fish "$(offer_fish 'racetrace ana')" analyze
is fish "$(offer_fish 'racetrace analyze --for')" --format=
is fish "$(offer_fish 'racetrace analyze --format=')" --format=sarif --format=html
is fish "$(offer_fish 'racetrace analyze --format ')" sarif html
is fish "$(offer_fish 'racetrace analyze -f ht')" html
is fish "$(offer_fish 'racetrace analyze --kinds=race,dead')" --kinds=race,deadlock
is fish "$(offer_fish 'racetrace analyze --kinds race,dead')" race,deadlock
is fish "$(offer_fish 'racetrace help sche')" schedule
exit $fail
