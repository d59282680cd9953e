#!/bin/bash
# t_interceptors.sh [BUILD]: each function that GCC's ThreadSanitizer interposes is interposed by the recorder as well, or
# is here with the reason why not. So is each function of the C library's headers that is given a pointer.
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

# Extended regular expressions, for whole names, and the reason.
cat >header_reasons <<'END'
__pthread_(un)?register_cancel.*|__pthread_unwind_next|_dl_.*|__nss_.*|__sched_cpu.*|__cmsg_nxthdr: what headers expand to; of the caller's own frame
__asprintf: a name for old programs, which headers do not use any more
__f.*|dirfd|rewinddir|seekdir|telldir: of a stream or folder, which the C library locks
(get|set|make|swap)context|sigreturn: save and restore the registers of the calling function itself
(dl|dlv)sym|dladdr1?|dlinfo|dlmopen|dl_iterate_phdr|tss_(create|set)|pthread_(exit|setspecific): nothing of the caller's memory that others see
bsearch|twalk|tdestroy|n?ftw(64)?|fts(64)?_.*|alphasort(64)?|versionsort(64)?: what they read is passed on to a function of the program's, or is their own
m(un)?lock2?|(pkey_)?mprotect|(posix_|process_)?madvise|msync|remap_file_pages|mcheck(_pedantic)?|mprobe|profil|malloc_info: name memory, do not read or write it
aio_.*|gai_.*: requests that threads of the C library's own work on, whose accesses are not recorded
free(addrinfo|ifaddrs)|if_freenameindex: free what the C library allocated
v?errx?|error(_at_line)?|argp_.*|psig(nal|info)|herror|fmtmsg|addseverity: messages, at the end of a program
mount.*|umount2?|move_mount|open_tree|fs(config|open|pick)|swapo(n|ff)|acct|quotactl|setdomainname|klogctl|revoke|fanotify_mark: settings of the system
(get|set|end|add)mntent|getfs.*|getttynam|[fs]?getsg.*|putsgent|getalias.*|(set|get|in)netgr.*|log(in|out|wtmp)|utmpx?name|setlogin|cuserid: lists of the system's, which its manager reads
r(cmd|exec|resvport)(_af)?|i?ruserok(_af)?|bindresvport|forkpty|[gs]tty|sigstack|setstate|inet_nsap_.*|inet6_.*|ntp_gettime: obsolete
res_.*|dn_.*|ns_.*|.*sourcefilter: names and messages of one's own resolver
totalorder.*: an older version takes its numbers by value; one name would get both calls
.*f128(_l|_r)?|(nan|wcsto|strto)f.*: of number types that C++ and most compilers have not
strfmon(_l)?: no function takes its arguments as a list
printf_size(_info)?|register_printf_.*: for the program's own conversions
re_(match_2|search_2|set_registers): of two texts at once
c8rtomb|mbrtoc8: not in all versions of the C library
cat(gets|open)|wc(type|trans)(_l)?|wcswcs|openlog|futimesat|shm_unlink|prlimit64|getdirentries64: constant names
posix_spawn_file_actions_add(closefrom|tcsetpgrp)_np: not in all versions of the C library
pthread_(attr_[gs]etstackaddr|mutex_consistent(_np)?|mutex_[gs]etprioceiling): of an object that its users lock
END
headers='aio aliases argp argz arpa/inet arpa/nameser crypt dirent dlfcn envz err errno error execinfo fcntl fenv fmtmsg fnmatch fstab fts ftw glob grp gshadow
iconv ifaddrs inttypes langinfo libgen libintl link locale malloc math mcheck mntent monetary mqueue net/if netdb netinet/ether netinet/in nl_types
nss obstack poll printf pthread pty pwd regex resolv sched search semaphore setjmp sgtty shadow signal spawn stdio stdio_ext stdlib string strings
sys/acct sys/epoll sys/eventfd sys/fanotify sys/file sys/inotify sys/ioctl sys/ipc sys/klog sys/mman sys/mount sys/msg sys/prctl sys/ptrace sys/quota
sys/random sys/resource sys/select sys/sem sys/sendfile sys/shm sys/signalfd sys/socket sys/stat sys/statfs sys/statvfs sys/swap sys/sysinfo sys/time
sys/timeb sys/timerfd sys/times sys/timex sys/uio sys/utsname sys/wait sys/xattr syslog termios threads time ttyent uchar ucontext unistd utime utmp
utmpx wchar wctype wordexp'
{
	echo '#include <stdarg.h>'
	for header in stdio sys/types time $headers; do
		printf '#if __has_include(<%s.h>)\n#include <%s.h>\n#endif\n' "$header" "$header"
	done
} >headers.c
"${CC:-gcc}" -w -D_GNU_SOURCE -D__NO_INLINE__ -fsyntax-only -aux-info prototypes headers.c 2>/dev/null
sed -nE 's,^/\* [^ ]*:NC \*/ extern (.*[ *])?([A-Za-z_][A-Za-z0-9_]*) \((.*[*[].*)\);.*$,\2,p' prototypes | sort -u >pointed
for library in libc.so.6 libm.so.6; do
	names "$("${CC:-gcc}" -print-file-name=$library)"
done | sort -u >library
comm -12 pointed library >given
[ "$(wc -l <given)" -gt 900 ] || { echo "only $(wc -l <given) functions of headers are found: this test is broken"; exit 1; }
echo "$ours" | comm -23 given - | comm -23 - left_out | grep -Evx "$(sed 's/: .*//' header_reasons | paste -sd '|')" >missing
[ ! -s missing ] || { echo "given pointers, but neither interposed nor left out for a reason:" $(cat missing); fail=1; }
exit $fail
