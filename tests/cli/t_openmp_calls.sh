#!/bin/bash
# t_openmp_calls.sh [BUILD]: each function of GCC's OpenMP library that programs call is interposed by the recorder, or is
# here with the reason why not.
set -u
build=${1:-${BUILD:-build}}
libgomp=$("${CC:-gcc}" -print-file-name=libgomp.so.1)
[ -e "$libgomp" ] || { echo "skipped: no libgomp to compare with"; exit 0; }
fail=0

names() {
	nm -D --defined-only "$1" | awk 'NF == 3 { sub("@.*", "", $3); print $3 }' | grep -E '^(GOMP|omp)_' | sort -u
}

# PATTERN...: reason. Patterns are those of grep -E, of whole names.
cat >reasons <<'END'
GOMP_[0-9.]+ GOMP_PLUGIN_[0-9.]+: names of versions
GOMP_PLUGIN_.* GOMP_offload_.*: between the library and its plug-ins for devices
GOMP_alloc GOMP_free omp_(aligned_)?(alloc|calloc) omp_realloc omp_free omp_(init|destroy)_allocator.*: call the heap's functions, which are interposed
GOMP_loop_.*(static|doacross).*_(start|next) GOMP_scope_start: which thread gets which share is fixed, and orders no thread after another
GOMP_loop_end_nowait GOMP_sections_end_nowait: no barrier
GOMP_parallel_start GOMP_parallel_(loop|sections)_.*start GOMP_parallel_sections_start GOMP_parallel_end: called by what GCC before 4.9 compiled
GOMP_cancel GOMP_cancellation_point: what was done before is ordered by the barrier that ends the region
GOMP_taskyield: runs tasks of the thread's choice, which are wrapped
GOMP_taskgroup_reduction_(un)?register: the end of the group orders
GOMP_teams GOMP_teams4 GOMP_teams_reg: on the host the teams run one after another, in the calling thread
GOMP_target GOMP_target_data GOMP_target_data_ext GOMP_target_end_data GOMP_target_update: on the host they are calls
GOMP_error GOMP_warning: print
omp_(init|destroy)_(nest_)?lock_?: what they write is the library's; uses of a lock that are not ordered with them are not seen
omp_(get|set)_.* omp_in_.* omp_is_initial_device_?: settings of the calling thread
omp_(capture|display)_.* omp_pause_resource.*: order nothing
omp_target_.*: memory of devices
END
cut -d : -f 1 reasons | tr -s ' ' '\n' | grep . >left_out

theirs=$(names "$libgomp")
[ "$(wc -l <<<"$theirs")" -gt 200 ] || { echo "the library's functions are not found: this test is broken"; exit 1; }
ours=$(names "$build/lib/racetrace/libtsan.so.2")
missing=$(comm -23 <(echo "$theirs") <(echo "$ours") | grep -vxE -f left_out)
[ -z "$missing" ] || { echo "neither interposed nor left out for a reason:" $missing; fail=1; }
# What orders threads may not be left out by a pattern that is too wide.
for name in GOMP_barrier GOMP_parallel GOMP_task GOMP_taskwait GOMP_critical_start GOMP_ordered_start GOMP_single_copy_start \
	GOMP_target_ext GOMP_doacross_wait GOMP_taskgroup_end omp_set_lock omp_set_lock_ omp_unset_nest_lock_ omp_fulfill_event_; do
	grep -qx "$name" <<<"$ours" || { echo "not interposed: $name"; fail=1; }
done
exit $fail
