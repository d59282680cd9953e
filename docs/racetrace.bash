# Completion of racetrace for bash. What there is to complete, the program's own --help tells.
_racetrace()
{
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		words=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z-][a-z-]*\) .*/\1/p')
	elif [[ $current == -* ]]; then
		words=$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null | grep -oE '^ +(-.,)? +--[a-z-]+=?' | grep -oE -e '--.*')
	else
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _racetrace racetrace
