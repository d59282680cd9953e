# How many bugs a sample has, and how it is run: samples/README.md. To be sourced.

# setting EXPECT WORD: what the line of the expectations that begins with the word says behind it.
setting() {
	sed -n "s/^$2 //p" "$1"
}

# bugs EXPECT: those that a reader of the source counts.
bugs() {
	local number
	read -r number _ < <(sed -n 's/^bugs //p' "$1")
	# A table of functions or of ways to synchronise, with a variable each.
	[ "$number" != variables ] || number=$(awk '/^(race|atomicity|asv|deadlock|hang|pattern) / && !seen[$3]++ { n++ } END { print n }' "$1")
	[ -n "$number" ] || number=$(($(grep -cE '^(race|atomicity|asv|deadlock|hang|pattern) ' "$1") > 0))
	echo "$number"
}

# findings_at_most EXPECT: how many findings may be made of them.
findings_at_most() {
	local number
	read -r _ number _ < <(sed -n 's/^bugs //p' "$1")
	[[ ${number-} =~ ^[0-9]+$ ]] && echo "$number" || bugs "$1"
}
