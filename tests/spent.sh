# spent FILE: $spent becomes the processor time that this shell and all that it has waited for have taken, in seconds; the file is for that alone.
# To be sourced. In a subshell it would be that one's time.
spent=0
spent() {
	times >"$1"
	spent=$(awk -F '[ms \t]+' '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%d", sum + 0.5 }' "$1")
	rm -f "$1"
}
