# jq -n --slurpfile schema SCHEMA --slurpfile value FILE -f schema.jq: prints where FILE breaks the schema; nothing if it does not.
# It knows the keywords that the schemas in docs use; any other is an error.
def type_is($t): type as $k | $t == $k or ($t == "integer" and $k == "number" and . == floor);
def broken($s; $root; $at):
	. as $v
	| (($s | keys) - ["$schema", "$defs", "title", "description", "$ref", "type", "const", "enum", "required", "properties",
		"additionalProperties", "items", "minimum", "minItems", "maxItems"] | .[] | "keyword \(.)"),
	(if $s["$ref"] then $v | broken($root["$defs"][$s["$ref"] | ltrimstr("#/$defs/")]; $root; $at) else empty end),
	(if $s.type and ([$s.type] | flatten | any(. as $t | $v | type_is($t)) | not) then "\($at): not of type \($s.type)" else empty end),
	(if ($s | has("const")) and $v != $s.const then "\($at): not \($s.const)" else empty end),
	(if $s.enum and ($s.enum | index([$v]) | not) then "\($at): not one of \($s.enum)" else empty end),
	(if $s.minimum and ($v | type) == "number" and $v < $s.minimum then "\($at): below \($s.minimum)" else empty end),
	(if ($v | type) == "object" then
		($s.required // [] | .[] | select(. as $k | $v | has($k) | not) | "\($at): no \(.)"),
		($v | keys[] | . as $k | if $s.properties[$k] then $v[$k] | broken($s.properties[$k]; $root; "\($at).\($k)")
			elif $s.additionalProperties == false then "\($at): \($k) is not known" else empty end)
	else empty end),
	(if ($v | type) == "array" then
		(if $s.minItems and ($v | length) < $s.minItems then "\($at): too few" else empty end),
		(if $s.maxItems and ($v | length) > $s.maxItems then "\($at): too many" else empty end),
		(if $s.items then $v | to_entries[] | .key as $k | .value | broken($s.items; $root; "\($at)[\($k)]") else empty end)
	else empty end);
$value[] | broken($schema[0]; $schema[0]; "")
