# Completion of racetrace for fish. What there is to complete, the program's own --help and messages tell.
function __racetrace_commands
	racetrace --help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*) +(.*)' '$1\t$2'
end
function __racetrace_options
	set -l words (commandline -opc)
	set -l option (commandline -ct | string match -r -- '^--[a-z-]+=(?:.*,)?') # with what a list has already
	if test -n "$option"
		racetrace $words[2] "$option?" 2>&1 | string replace -rf "^.*'\?' is not .*: there are " '' | string split ', ' |
			string replace -r '^' -- $option
	else
		racetrace $words[2] --help 2>/dev/null | string match -r -- '^ +(?:-.,)? +--[a-z-]+=?' | string match -r -- '--.*'
	end
end
# The values of the option before, if it has a list of them: the value is a word of its own.
function __racetrace_values
	set -l words (commandline -opc)
	set -l option (string match -r -- '^-[a-z-]+$' $words[-1])
	set -l before (commandline -ct | string match -r -- '^.*,') # what a list has already
	test (count $words) -gt 2 -a -n "$option"; or return 1
	string match -q -- '--*' $option; and set option "$option="
	racetrace $words[2] "$option$before?" 2>&1 | string replace -rf "^.*'\?' is not .*: there are " '' | string split ', ' |
		string replace -r '^' -- "$before"
end
complete -c racetrace -n '__fish_is_first_token' -f -a '(__racetrace_commands)'
complete -c racetrace -n 'not __fish_is_first_token; and string match -q -- "-*" (commandline -ct)' -f -a '(__racetrace_options)'
complete -c racetrace -n 'test (commandline -opc)[-1] = help' -f -a '(__racetrace_commands)'
complete -c racetrace -n 'test -n "$(__racetrace_values)"' -f -a '(__racetrace_values)'
