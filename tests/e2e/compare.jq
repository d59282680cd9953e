# Compares a report (the input) and the status that analyze ended with ($status) with what is expected: of a sample the
# lines of $expect (samples/README.md), whose positions are markers in the comments of the source ($source, a file
# called $name); of one of tests/cases the word $case. Prints one line a difference: "wrong: ..." for what must not be,
# "unusual: ..." for a verdict that is tolerated but not the usual one. Nothing: all is as expected.

def verdicts: ["none", "refuted", "conditional", "predicted", "proved", "observed", "confirmed"];
def rank: . as $v | verdicts | index($v) // error("unknown verdict '\($v)' in the report");

# {"marker": [lines]}
def markers:
	[$source | split("\n") | to_entries[] | (.key + 1) as $line | .value | scan("@([A-Za-z0-9_]+)")[0] | {key: ., value: $line}]
	| group_by(.key) | map({key: .[0].key, value: map(.value)}) | from_entries;

# The order of a race's two events and of a deadlock's acquires is the run's, of all others' the pattern's.
def positions($kind): if $kind == "race" or $kind == "deadlock" or $kind == "hang" then sort else . end;

def expectations:
	markers as $at
	| [$expect | split("\n")[] | sub("#.*"; "") | [scan("[^ \t]+")]
	   | select(length > 0 and (.[0] | IN("kinds", "args", "status", "record", "bugs") | not))
	   | . as $words
	   | ($words | index("follows")) as $behind
	   | ($words[1] // "" | split("/") | map(split(","))) as $allowed
	   | {text: ($words | join(" ")), kind: $words[0], usual: $allowed[0], tolerated: ($allowed[1] // []), variable: $words[2],
	      follows: (if $behind then $words[$behind + 1:] else null end),
	      at: ($words[3:$behind // length] | map(if test("^:[0-9]+$") then "\($name)\(.)"
	                            elif ($at[.[1:]] // [] | length) == 1 then "\($name):\($at[.[1:]][0])"
	                            else error("'\(.)' of '\($words | join(" "))' marks no or several lines of \($name)") end)
	           | positions($words[0]))}
	   | if .usual + .tolerated - verdicts != [] or (.usual | length) == 0 or (.at | length) < (if .kind == "deadlock" or .kind == "hang" then 1 else 2 end)
	     then error("cannot understand '\(.text)'") else . end];

# Where an event is: its innermost frame in the program's own source, if it has one.
def place: first(.stack[]? | select((.file // "" | split("/") | last) == $name)) // .source;

def findings:
	(.anomalies | map({key: .id, value: .variable.name}) | from_entries) as $names
	| [.anomalies[] | . as $a
	 | {kind, pattern, verdict, doubtful: (.verdict == "predicted" and any(.reasons[]?; .reason | startswith("machine-"))),
	    follows: [.follows // empty | (.races[] | $names[.]), .atomics[].variable.name] | unique,
	    variable: (if .kind == "deadlock" or .kind == "hang" then [.events[] | .lock // .waits_for.object // .waits_for.thread // .waits_for.call] | sort | join(",") else .variable.name // "?" end),
	    at: [.events[] | place | "\(.file // "?" | split("/") | last):\(.line // 0)"] | positions($a.kind)}];

def matches_name($e): .variable as $v | $e.variable | if endswith("*") then .[:-1] as $p | $v | startswith($p) else . == $v end;

# Machine code may access several members at once, and does not tell plain accesses from atomic ones: what that makes
# doubtful need not be as certain as expected, and may be found where the language allows it. It is also one run of many.
def matches($e; $binary): .kind == $e.kind and .at == $e.at
	and if $binary then (.variable | split(".")[0]) as $v | ($e.variable | split(".")[0] | rtrimstr("*")) as $p | $v | startswith($p) else matches_name($e) end;

def show: "\(.verdict) \(.kind) \(.pattern) on \(.variable) at \(.at | join(" "))";

# What a case of tests/cases says in one word.
def wrong_for_case:
	if $case == "race" then if any(.kind == "race") then empty else "wrong: no race found" end
	elif $case == "norace" then .[] | select(.kind == "race" and (.verdict | rank) > ("predicted" | rank)) | "wrong: \(show)"
	elif $case == "nodeadlock" then .[] | select(.kind == "deadlock") | "wrong: \(show)"
	else "wrong: unknown expectation '\($case)'" end;

def wrong_for_sample($binary):
	. as $found | expectations as $expected
	| ($expected[] as $e
	   | [$found[] | select(matches($e; $binary))] as $hits
	   | ([$hits[].verdict] + ["none"] | max_by(rank)) as $best
	   | if $binary and any($hits[]; .doubtful) then empty
	     elif $e.usual + $e.tolerated | index($best) | not
	     then "wrong: expected '\($e.text)', found \(if $hits == [] then "nothing" else $hits | map(show) | join("; ") end)"
	     # A later read of a racing flag may follow from an earlier one, which then is at the same place.
	     elif $e.follows and ($hits | map(select(.verdict == "observed")) |
	          any(.[]; .follows != $e.follows and .follows - [.variable] != $e.follows) or
	          (length > 0 and all(.[]; .follows != $e.follows)))
	     then "wrong: expected '\($e.text)', found that it follows \($hits | map(.follows | join(",")) | join("; "))"
	     elif $binary then empty
	     elif $e.usual | index($best) | not then "unusual: \($e.text): \($best)"
	     else empty end),
	  ($found[] as $f | if any($expected[]; . as $e | $f | matches($e; $binary)) or ($binary and $f.doubtful) then empty else "wrong: not expected: \($f | show)" end);

findings as $found
| (.trace.binary == true) as $binary
| (if .schema != "racetrace.report/1" then "wrong: schema \(.schema)" else empty end),
  (if .trace.complete != true then "wrong: the trace is not complete" else empty end),
  ((if any($found[]; (.verdict | rank) > ("predicted" | rank)) then 1 else 0 end) as $due
   | if $status != $due then "wrong: analyze ended with status \($status), not \($due)" else empty end),
  ((reduce $found[] as $f ({}; .[$f.kind][$f.verdict] += 1)) as $counts
   | .summary as $summary
   | ($counts | keys[]) as $kind | ($counts[$kind] | keys[]) as $verdict
   | if $summary[$kind][$verdict] != $counts[$kind][$verdict]
     then "wrong: the summary counts \($summary[$kind][$verdict]) \($verdict) \($kind), there are \($counts[$kind][$verdict])"
     else empty end),
  ($found | if $case != "" then wrong_for_case else wrong_for_sample($binary) end)
