/*
 * The rest of what a program built for a sanitizer may call (sanitizer/common_interface_defs.h, linux_syscall_hooks.h,
 * coverage, reports from inside the program): present, so that every program starts; without effect, as there are no
 * reports at run time.
 */
#include "recorder/runtime/recorder.h"

RT_DEFINE(long, rt_sanitizer_nothing, (void))
{
	return 0;
}

#define NOTHING(name)                                                                                                  \
	RT_EXPORT extern __typeof__(rt_sanitizer_nothing) name __attribute__((alias("rt_sanitizer_nothing")));

/* clang-format off */
#define SYSCALLS(X) \
	X(accept) X(accept4) X(access) X(acct) X(add_key) X(adjtimex) X(alarm) X(bdflush) X(bind) \
	X(brk) X(capget) X(capset) X(chdir) X(chmod) X(chown) X(chown16) X(chroot) X(clock_adjtime) \
	X(clock_getres) X(clock_gettime) X(clock_nanosleep) X(clock_settime) X(close) X(connect) \
	X(creat) X(delete_module) X(dup) X(dup2) X(dup3) X(epoll_create) X(epoll_create1) X(epoll_ctl) \
	X(epoll_pwait) X(epoll_pwait2) X(epoll_wait) X(eventfd) X(eventfd2) X(exit) X(exit_group) \
	X(faccessat) X(fanotify_init) X(fanotify_mark) X(fchdir) X(fchmod) X(fchmodat) X(fchown) \
	X(fchown16) X(fchownat) X(fcntl) X(fcntl64) X(fdatasync) X(fgetxattr) X(flistxattr) X(flock) \
	X(fork) X(fremovexattr) X(fsetxattr) X(fstat) X(fstat64) X(fstatat64) X(fstatfs) X(fstatfs64) \
	X(fsync) X(ftruncate) X(futimesat) X(get_mempolicy) X(get_robust_list) X(getcpu) X(getcwd) \
	X(getdents) X(getdents64) X(getegid) X(getegid16) X(geteuid) X(geteuid16) X(getgid) X(getgid16) \
	X(getgroups) X(getgroups16) X(gethostname) X(getitimer) X(getpeername) X(getpgid) X(getpgrp) \
	X(getpid) X(getppid) X(getpriority) X(getrandom) X(getresgid) X(getresgid16) X(getresuid) \
	X(getresuid16) X(getrlimit) X(getrusage) X(getsid) X(getsockname) X(getsockopt) X(gettid) \
	X(gettimeofday) X(getuid) X(getuid16) X(getxattr) X(init_module) X(inotify_add_watch) \
	X(inotify_init) X(inotify_init1) X(inotify_rm_watch) X(io_cancel) X(io_destroy) X(io_getevents) \
	X(io_setup) X(io_submit) X(ioctl) X(ioperm) X(ioprio_get) X(ioprio_set) X(ipc) X(kexec_load) \
	X(keyctl) X(kill) X(lchown) X(lchown16) X(lgetxattr) X(link) X(linkat) X(listen) X(listxattr) \
	X(llistxattr) X(llseek) X(lookup_dcookie) X(lremovexattr) X(lseek) X(lsetxattr) X(lstat) \
	X(lstat64) X(madvise) X(mbind) X(migrate_pages) X(mincore) X(mkdir) X(mkdirat) X(mknod) \
	X(mknodat) X(mlock) X(mlockall) X(mmap_pgoff) X(mount) X(move_pages) X(mprotect) \
	X(mq_getsetattr) X(mq_notify) X(mq_open) X(mq_timedreceive) X(mq_timedsend) X(mq_unlink) \
	X(mremap) X(msgctl) X(msgget) X(msgrcv) X(msgsnd) X(msync) X(munlock) X(munlockall) X(munmap) \
	X(name_to_handle_at) X(nanosleep) X(newfstat) X(newfstatat) X(newlstat) X(newstat) X(newuname) \
	X(ni_syscall) X(nice) X(old_getrlimit) X(old_mmap) X(old_readdir) X(old_select) X(oldumount) \
	X(olduname) X(open) X(open_by_handle_at) X(openat) X(pause) X(pciconfig_iobase) \
	X(pciconfig_read) X(pciconfig_write) X(perf_event_open) X(personality) X(pipe) X(pipe2) \
	X(pivot_root) X(poll) X(ppoll) X(pread64) X(preadv) X(prlimit64) X(process_vm_readv) \
	X(process_vm_writev) X(pselect6) X(ptrace) X(pwrite64) X(pwritev) X(quotactl) X(read) \
	X(readlink) X(readlinkat) X(readv) X(reboot) X(recv) X(recvfrom) X(recvmmsg) X(recvmsg) \
	X(remap_file_pages) X(removexattr) X(rename) X(renameat) X(request_key) X(restart_syscall) \
	X(rmdir) X(rt_sigaction) X(rt_sigpending) X(rt_sigprocmask) X(rt_sigqueueinfo) \
	X(rt_sigtimedwait) X(rt_tgsigqueueinfo) X(sched_get_priority_max) X(sched_get_priority_min) \
	X(sched_getaffinity) X(sched_getparam) X(sched_getscheduler) X(sched_rr_get_interval) \
	X(sched_setaffinity) X(sched_setparam) X(sched_setscheduler) X(sched_yield) X(select) X(semctl) \
	X(semget) X(semop) X(semtimedop) X(send) X(sendfile) X(sendfile64) X(sendmmsg) X(sendmsg) \
	X(sendto) X(set_mempolicy) X(set_robust_list) X(set_tid_address) X(setdomainname) X(setfsgid) \
	X(setfsgid16) X(setfsuid) X(setfsuid16) X(setgid) X(setgid16) X(setgroups) X(setgroups16) \
	X(sethostname) X(setitimer) X(setns) X(setpgid) X(setpriority) X(setregid) X(setregid16) \
	X(setresgid) X(setresgid16) X(setresuid) X(setresuid16) X(setreuid) X(setreuid16) X(setrlimit) \
	X(setsid) X(setsockopt) X(settimeofday) X(setuid) X(setuid16) X(setxattr) X(sgetmask) X(shmat) \
	X(shmctl) X(shmdt) X(shmget) X(shutdown) X(sigaction) X(sigaltstack) X(signal) X(signalfd) \
	X(signalfd4) X(sigpending) X(sigprocmask) X(socket) X(socketcall) X(socketpair) X(splice) \
	X(spu_create) X(spu_run) X(ssetmask) X(stat) X(stat64) X(statfs) X(statfs64) X(stime) \
	X(swapoff) X(swapon) X(symlink) X(symlinkat) X(sync) X(syncfs) X(sysctl) X(sysfs) X(sysinfo) \
	X(syslog) X(tee) X(tgkill) X(time) X(timer_create) X(timer_delete) X(timer_getoverrun) \
	X(timer_gettime) X(timer_settime) X(timerfd_create) X(timerfd_gettime) X(timerfd_settime) \
	X(times) X(tkill) X(truncate) X(umask) X(umount) X(uname) X(unlink) X(unlinkat) X(unshare) \
	X(uselib) X(ustat) X(utime) X(utimensat) X(utimes) X(vfork) X(vhangup) X(vmsplice) X(wait4) \
	X(waitid) X(waitpid) X(write) X(writev)

#define COVERAGE(X) \
	X(8bit_counters_init) X(bool_flag_init) X(dump) X(load1) X(load16) X(load2) X(load4) X(load8) \
	X(pcs_init) X(reset) X(store1) X(store16) X(store2) X(store4) X(store8) X(trace_cmp) \
	X(trace_cmp1) X(trace_cmp2) X(trace_cmp4) X(trace_cmp8) X(trace_cmpd) X(trace_cmpf) \
	X(trace_const_cmp1) X(trace_const_cmp2) X(trace_const_cmp4) X(trace_const_cmp8) X(trace_div4) \
	X(trace_div8) X(trace_gep) X(trace_pc) X(trace_pc_guard) X(trace_pc_guard_init) \
	X(trace_pc_indir) X(trace_switch)
/* clang-format on */

#define X(name) NOTHING(__sanitizer_syscall_pre_impl_##name) NOTHING(__sanitizer_syscall_post_impl_##name)
SYSCALLS(X)
#undef X
#define X(name) NOTHING(__sanitizer_cov_##name)
COVERAGE(X)
#undef X

/* The allocator's interface; the allocator is libc's. */
NOTHING(__sanitizer_get_current_allocated_bytes)
NOTHING(__sanitizer_get_free_bytes)
NOTHING(__sanitizer_get_heap_size)
NOTHING(__sanitizer_get_unmapped_bytes)
NOTHING(__sanitizer_get_ownership)
NOTHING(__sanitizer_get_allocated_size)
NOTHING(__sanitizer_install_malloc_and_free_hooks)
NOTHING(__sanitizer_purge_allocator)
NOTHING(__sanitizer_print_memory_profile)
RT_DEFINE(size_t, __sanitizer_get_estimated_allocated_size, (size_t size))
{
	return size;
}

NOTHING(__sanitizer_acquire_crash_state)
NOTHING(__sanitizer_annotate_contiguous_container)
NOTHING(__sanitizer_dump_coverage)
NOTHING(__sanitizer_dump_trace_pc_guard_coverage)
NOTHING(__sanitizer_finish_switch_fiber)
NOTHING(__sanitizer_start_switch_fiber)
NOTHING(__sanitizer_get_module_and_offset_for_pc)
NOTHING(__sanitizer_print_stack_trace)
NOTHING(__sanitizer_sandbox_on_notify)
NOTHING(__sanitizer_set_death_callback)
NOTHING(__sanitizer_set_report_fd)
NOTHING(__sanitizer_set_report_path)
RT_DEFINE(const char *, __sanitizer_get_report_path, (void))
{
	return "";
}

static void empty(char *buffer, size_t size)
{
	if (size)
		*buffer = 0;
}
RT_DEFINE(void, __sanitizer_symbolize_pc, (void *pc, const char *format, char *buffer, size_t size))
{
	(void)pc, (void)format;
	empty(buffer, size);
}
RT_DEFINE(void, __sanitizer_symbolize_global, (void *address, const char *format, char *buffer, size_t size))
{
	(void)address, (void)format;
	empty(buffer, size);
}

/* Queries of reports from inside the program. */
NOTHING(__tsan_flush_memory)
NOTHING(__tsan_get_alloc_stack)
NOTHING(__tsan_get_current_report)
NOTHING(__tsan_get_report_data)
NOTHING(__tsan_get_report_loc)
NOTHING(__tsan_get_report_loc_object_type)
NOTHING(__tsan_get_report_mop)
NOTHING(__tsan_get_report_mutex)
NOTHING(__tsan_get_report_stack)
NOTHING(__tsan_get_report_tag)
NOTHING(__tsan_get_report_thread)
NOTHING(__tsan_get_report_unique_tid)
NOTHING(__tsan_testonly_shadow_stack_current_size)
NOTHING(__tsan_symbolize_external)
NOTHING(__tsan_symbolize_external_ex)
RT_DEFINE(const char *, __tsan_locate_address,
          (const void *p, char *name, size_t size, void **region, size_t *region_size))
{
	(void)p, (void)region, (void)region_size;
	empty(name, size);
	return "";
}

/* Functions that a program may define, and the defaults if it does not. */
#define WEAK_NOTHING(name) __attribute__((weak)) NOTHING(name)
WEAK_NOTHING(__sanitizer_free_hook)
WEAK_NOTHING(__sanitizer_malloc_hook)
WEAK_NOTHING(__sanitizer_on_print)
WEAK_NOTHING(__sanitizer_report_error_summary)
WEAK_NOTHING(__sanitizer_weak_hook_memcmp)
WEAK_NOTHING(__sanitizer_weak_hook_memmem)
WEAK_NOTHING(__sanitizer_weak_hook_strcasecmp)
WEAK_NOTHING(__sanitizer_weak_hook_strcasestr)
WEAK_NOTHING(__sanitizer_weak_hook_strcmp)
WEAK_NOTHING(__sanitizer_weak_hook_strncasecmp)
WEAK_NOTHING(__sanitizer_weak_hook_strncmp)
WEAK_NOTHING(__sanitizer_weak_hook_strstr)
WEAK_NOTHING(__tsan_on_report)
WEAK_NOTHING(__tsan_on_initialize)
WEAK_NOTHING(__tsan_on_finalize)
WEAK_NOTHING(__tsan_default_options)
WEAK_NOTHING(__tsan_default_suppressions)

/* ThreadSanitizer's own tests line their threads up with these. */
RT_DEFINE(void, __tsan_testonly_barrier_init, (uint64_t * barrier, unsigned count))
{
	*barrier = count;
}
RT_DEFINE(void, __tsan_testonly_barrier_wait, (uint64_t * barrier))
{
	unsigned count = (unsigned)(*barrier & 0xff);
	uint64_t arrived = __atomic_fetch_add(barrier, 256, __ATOMIC_SEQ_CST) >> 8;

	while (count && (__atomic_load_n(barrier, __ATOMIC_SEQ_CST) >> 8) / count == arrived / count)
		rt_emit_time();
}
