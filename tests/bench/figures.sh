# What the benchmarks share; to be sourced.

# cpu COMMAND...: processor seconds and wall seconds of one run, the run's output thrown away.
cpu() {
	local TIMEFORMAT='%U %S %R'
	{ time "$@" >/dev/null 2>run.err; } 2>&1 | awk '{printf "%.3f %.3f\n", $1 + $2, $3}'
}
# median: of the first numbers of the input's lines.
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
