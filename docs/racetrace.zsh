#compdef racetrace
# Completion of racetrace for zsh. What there is to complete, the program's own --help and messages tell.
_racetrace() {
	local program=$words[1] command=$words[2] option before
	local -a list
	if (( CURRENT == 2 )) || [[ CURRENT -eq 3 && $command == help ]]; then
		list=(${(f)"$($program --help 2>/dev/null | sed -n 's/^  \([a-z-][a-z-]*\)  *\(.*\)/\1:\2/p')"})
		_describe command list
	elif [[ $PREFIX == --*=* ]]; then
		option=${PREFIX%%=*} before=
		[[ $PREFIX == *,* ]] && before=${${PREFIX#*=}%,*}, # a list's
		list=(${=${"$($program $command "$option=$before?" 2>&1 | sed -n "s/.*'?' is not .*: there are //p")"//,/}})
		compset -P '*='
		[[ -n $before ]] && compset -P '*,'
		if (( $#list )); then compadd -a list; else _files; fi
	elif [[ $PREFIX != -* && CURRENT -gt 3 && $words[CURRENT-1] == -[a-z-]* ]]; then
		# The value is a word of its own.
		option=$words[CURRENT-1]
		[[ $option == --* ]] && option+='='
		before=
		[[ $PREFIX == *,* ]] && before=${PREFIX%,*},
		list=(${=${"$($program $command "$option$before?" 2>&1 | sed -n "s/.*'?' is not .*: there are //p")"//,/}})
		[[ -n $before ]] && compset -P '*,'
		if (( $#list )); then compadd -a list; else _files; fi
	elif [[ $PREFIX == -* ]]; then
		list=(${(f)"$($program $command --help 2>/dev/null | grep -oE '^ +(-.,)? +--[a-z-]+=?' | grep -oE -e '--.*')"})
		compadd -S '' -a list
	else
		_files
	fi
}
_racetrace "$@"
