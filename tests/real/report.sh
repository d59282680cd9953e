#!/bin/bash
# report.sh RACETRACE TRACE [TRACE...]: what others say of the reports: axe of the page, in headless Chromium, and the SARIF multitool, which
# has the official schema (both from the npm registry), and the page by the keyboard alone. Of a page with very many anomalies the size. Exits with 0 if they find nothing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
racetrace=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail=0
wrong() {
	echo "$*"
	fail=1
}
(cd "$work" && npm install --no-audit --no-fund axe-core@4 @microsoft/sarif-multitool-linux@5 >npm.log 2>&1) || {
	tail -n 5 "$work/npm.log"
	exit 1
}
multitool=$work/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool
chmod +x "$multitool"
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

# axe PAGE: opens all that is folded and lists what axe finds.
axe() {
	{
		sed '/Content-Security-Policy/d; /^<\/body>$/,$d' "$1"
		echo '<script>'
		cat "$work/node_modules/axe-core/axe.min.js"
		echo '</script><script>document.querySelectorAll("details").forEach(d => d.open = true);'
		echo 'axe.run().then(r => { document.title = "AXE " + JSON.stringify(r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 120)])) })'
		echo '</script></body></html>'
	} >"$work/axe.html"
	timeout 120 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=60000 --dump-dom "file://$work/axe.html" 2>/dev/null |
		grep -o '<title>AXE .*</title>'
}
for trace; do
	for options in '' --anomalies; do
		# shellcheck disable=SC2086
		"$racetrace" analyze $options -f html="$work/page.html" -f sarif="$work/report.sarif" "$trace"
		[ $? -le 1 ] || wrong "$trace: not analyzed"
		size=$(stat -c %s "$work/page.html")
		[ "$size" -lt 2000000 ] || wrong "$trace $options: the page has $size bytes"
		found=$(axe "$work/page.html")
		[ "$found" = '<title>AXE []</title>' ] || wrong "$trace $options: axe finds $found"
		# The page's own script ran under its policy: the filter is there.
		timeout 60 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --dump-dom "file://$work/page.html" \
			2>/dev/null >"$work/dom.html"
		! grep -q '<form' "$work/page.html" || grep -q '<output>[0-9]* shown</output>' "$work/dom.html" || wrong "$trace $options: the filter does not run"
		keys=$(timeout 300 node "$here/keyboard.js" chromium "$work/page.html") || wrong "$trace $options: by the keyboard: $keys"
		# Of anomalies t_formats checks the SARIF; there are thousands.
		[ -z "$options" ] || continue
		timeout 300 "$multitool" validate "$work/report.sarif" --rule-kind 'Sarif;Ghas' --level 'Error;Warning' --kind Fail >"$work/rules" 2>&1
		! grep -E ': (error|warning) ' "$work/rules" || wrong "$trace $options: the multitool finds these"
		grep -q 'Analysis completed successfully' "$work/rules" || wrong "$trace $options: the multitool: $(tail -n 3 "$work/rules")"
	done
done
exit $fail
