#compdef racetrace
# Completion of racetrace for zsh. What there is to complete, the program's own --help and messages tell.
_racetrace() {
	local program=$words[1] command=$words[2] option
	local -a list
	if (( CURRENT == 2 )) || [[ CURRENT -eq 3 && $command == help ]]; then
		list=(${(f)"$($program --help 2>/dev/null | sed -n 's/^  \([a-z-][a-z-]*\)  *\(.*\)/\1:\2/p')"})
		_describe command list
	elif [[ $PREFIX == --*=* ]]; then
		option=${PREFIX%%=*}
		list=(${=${"$($program $command "$option=?" 2>&1 | sed -n "s/.*'?' is not .*: there are //p")"//,/}})
		compset -P '*='
		if (( $#list )); then compadd -a list; else _files; fi
	elif [[ $PREFIX != -* && CURRENT -gt 3 && $words[CURRENT-1] == -[a-z-]* ]]; then
		# The value is a word of its own.
		option=$words[CURRENT-1]
		[[ $option == --* ]] && option+='='
		list=(${=${"$($program $command "$option?" 2>&1 | sed -n "s/.*'?' is not .*: there are //p")"//,/}})
		if (( $#list )); then compadd -a list; else _files; fi
	elif [[ $PREFIX == -* ]]; then
		list=(${(f)"$($program $command --help 2>/dev/null | grep -oE '^ +(-.,)? +--[a-z-]+=?' | grep -oE -e '--.*')"})
		compadd -S '' -a list
	else
		_files
	fi
}
_racetrace "$@"
