# Completion of racetrace for bash. What there is to complete, the program's own --help and messages tell.
# An option with a value that none has, behind those of a list that are there: the message lists the ones there are.
_racetrace_asked()
{
	[[ $1 == --* ]] && echo "$1=$2?" || echo "$1$2?"
}
_racetrace()
{
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD - 1]} option= list= words
	COMPREPLY=()
	# "--option=value" is three words, as = parts words.
	if [[ $before == --* && $current == = ]]; then
		option=$before current=
	elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $before == -[a-z-]* && $current != -* && $COMP_CWORD -gt 2 ]]; then
		option=$before # its value may be a word of its own
	fi
	if [ "$COMP_CWORD" = 1 ] || [[ $COMP_CWORD == 2 && $command == help ]]; then
		words=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z-][a-z-]*\) .*/\1/p')
	elif [ -n "$option" ]; then
		list=${current%"${current##*,}"} # "race," of "race,dead"
		words=$("${COMP_WORDS[0]}" "$command" "$(_racetrace_asked "$option" "$list")" 2>&1 | sed -n "s/.*'?' is not .*: there are //p" | tr -d ,)
	elif [[ $current == -* ]]; then
		words=$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null | grep -oE '^ +(-.,)? +--[a-z-]+=?' | grep -oE -e '--.*')
	else
		return
	fi
	mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${current#"$list"}")
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _racetrace racetrace
