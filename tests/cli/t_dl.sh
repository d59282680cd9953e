#!/bin/bash
# t_dl.sh [BUILD]: modules that come and go under the recorder: found as without it, seen to be loaded and unloaded, and
# their source positions known although they are gone at the end.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE tmp=$SCRATCH
cd "$top" || exit 1
mkdir "$tmp/plugins"
"${CXX:-g++}" -g -O1 -fsanitize=thread -shared -fPIC tests/recorder/dl/plugin.cpp -o "$tmp/plugins/plugin.so" &&
	"${CC:-gcc}" -g -O1 -D_GNU_SOURCE -fsanitize=thread tests/recorder/dl/program.c -o "$tmp/program" \
		-Wl,--enable-new-dtags,-rpath,"\$ORIGIN/plugins" || exit 1

"$racetrace" record -o "$tmp/trace" -- "$tmp/program" "$tmp/plugins/plugin.so" || {
	echo "the program ended with status $?"
	exit 1
}
"$racetrace" dump --format jsonl "$tmp/trace" >"$tmp/events" || exit 1

# is WHAT EXPECTED JQ-PROGRAM
is() {
	local got
	got=$(jq -rs "$3" "$tmp/events")
	[ "$got" = "$2" ] || { echo "$1: expected '$2', got '$got'"; fail=1; }
}
is 'loads' 3 'map(select(.op == "module-load")) | length'
is 'unloads' 3 'map(select(.op == "module-unload")) | length'
# Of the plugin's code, by positions that were looked up after it was gone.
in_plugin='(map(select(.frames and any(.frames[]; .module == "plugin.so" and .function == "plugin_run")) | {(.position): 1}) | add) as $in
	| map(select(.pc and $in[.pc]))'
is 'initialised once each time' 3 "$in_plugin"' | map(select(.op == "once-end")) | length'
is 'the vector is allocated by the plugin' 3 "$in_plugin"' | map(select(.op == "alloc" and .arg == 12)) | length'
is 'and freed by it' true "$in_plugin"' | (map(select(.op == "alloc" and .arg == 12) | .object)) as $blocks
	| map(select(.op == "free" and ([.object] | inside($blocks)))) | length >= 3'
# But that it calls what the program left to be called at the end.
is "of the recorder's own calls, nothing" 0 '
	(map(select(.frames and any(.frames[]; .module // "" | startswith("libtsan"))) | {(.position): 1}) | add // {}) as $in
	| map(select(.pc and .op != "enter" and $in[.pc])) | length'

# Two threads that load and unload the same plugin: what orders its beginning and end is inside the C library.
gcc -g -O1 -fsanitize=thread -shared -fPIC tests/process/plugin.c -o "$tmp/uses.so" &&
	gcc -g -O1 -D_GNU_SOURCE -fsanitize=thread tests/process/plugins.c -o "$tmp/users" || exit 1
line=$(grep -n '@uses' tests/process/plugin.c)
for kind in racy clean; do
	"$racetrace" record -o "$tmp/trace" -- "$tmp/users" "$tmp/uses.so" $kind || {
		echo "plugins $kind ended with status $?"
		fail=1
	}
	got=$("$racetrace" analyze --format json "$tmp/trace" |
		jq -c '[.anomalies[] | select(.kind == "race") | [.verdict, (.events | map(.source.line))]] | unique')
	[ $kind = clean ] && want='[]' || want="[[\"observed\",[${line%%:*},${line%%:*}]]]"
	[ "$got" = "$want" ] || { echo "plugins $kind: $got, not $want"; fail=1; }
done
exit $fail
