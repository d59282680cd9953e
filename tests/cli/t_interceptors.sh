#!/bin/bash
# t_interceptors.sh [BUILD]: each function that GCC's ThreadSanitizer interposes is interposed by the recorder as well, or
# is here with the reason why not.
set -u
build=${1:-${BUILD:-build}}
libtsan=$("${CC:-gcc}" -print-file-name=libtsan.so)
[ -e "$libtsan" ] || { echo "no libtsan to compare with"; exit 1; }
fail=0

names() {
	nm -D --defined-only "$1" | awk 'NF == 3 { sub("@.*", "", $3); print $3 }' | sort -u
}

# NAME...: reason
cat >reasons <<'END'
__isoc99_printf __isoc99_fprintf __isoc99_sprintf __isoc99_snprintf: the C library has no such functions
__isoc99_vprintf __isoc99_vfprintf __isoc99_vsprintf __isoc99_vsnprintf: the C library has no such functions
__res_iclose: internal to the C library, which does not call it through a name
__tls_get_addr: thread-local memory is known by each thread's own block; what it returns belongs to the calling thread
_exit abort: end the process; nothing of the caller's memory, and what a hook has written is not lost
bsearch: reads nothing itself; the comparison function is the program's
dl_iterate_phdr: the callback is the program's; the list is the linker's and locked by it
setgrent endgrent setpwent endpwent: move a position that the C library locks
mcheck mcheck_pedantic mprobe: heap checks of the C library, without memory of the caller's
mlock munlock mlockall munlockall: name memory, do not read or write it
mprotect: names memory, does not read or write it
pthread_exit: a thread's end is seen by the destructor of its key, however it ends
ptrace: debuggers, of other processes' memory
sigblock sigsetmask: take masks by value
sigsetjmp: a macro; __sigsetjmp is the function
strerror: constant, or each thread's own
xdr_bool xdr_bytes xdr_char xdr_destroy xdr_double xdr_enum xdr_float xdr_hyper xdr_int xdr_int16_t xdr_int32_t: of libtirpc; see below
xdr_int64_t xdr_int8_t xdr_long xdr_longlong_t xdr_quad_t xdr_short xdr_string xdr_u_char xdr_u_hyper xdr_u_int: of libtirpc; see below
xdr_u_long xdr_u_longlong_t xdr_u_quad_t xdr_u_short xdr_uint16_t xdr_uint32_t xdr_uint64_t xdr_uint8_t: of libtirpc; see below
xdrmem_create xdrrec_create xdrstdio_create: of libtirpc, and by old versions of the C library: one name could call the other's
END
cut -d : -f 1 reasons | tr -s ' ' '\n' | sort >left_out

interceptors=$(nm -D --defined-only "$libtsan" | awk 'NF == 3 && sub("^__interceptor_", "", $3) { sub("@.*", "", $3); print $3 }' | sort -u)
[ "$(wc -l <<<"$interceptors")" -gt 300 ] || { echo "ThreadSanitizer's interceptors are not found: this test is broken"; exit 1; }
ours=$(names "$build/lib/racetrace/libtsan.so.2")
missing=$(comm -23 <(echo "$interceptors") <(sort -u <(echo "$ours") left_out))
[ -z "$missing" ] || { echo "neither interposed nor left out for a reason:" $missing; fail=1; }
both=$(comm -12 <(echo "$ours") left_out)
[ -z "$both" ] || { echo "left out, but interposed:" $both; fail=1; }
twice=$(uniq -d left_out)
[ -z "$twice" ] || { echo "left out twice:" $twice; fail=1; }
exit $fail
