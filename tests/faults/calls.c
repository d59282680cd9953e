/*
 * Fails one system call of a command and of the processes that it makes, until they execute another program, which is
 * left alone: calls [-n N] COMMAND ARGUMENT...: without -n it prints on descriptor 3 a line "NUMBER PROCESS CALL" for
 * each call; with it the N-th is not made and returns an error that it may have (close is made, and returns one). Ends
 * as the command does. What ld.so does is not counted. By ptrace; the order of calls of several threads varies, so that
 * N is the same call in most runs, not in all.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TASKS = 4096,
	OPTIONS =
	    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC
};

static struct task {
	pid_t pid;
	bool used, inside, fail;
	long call;
} tasks[TASKS];
static unsigned long number, fail_at;

static void die(const char *what)
{
	fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
	exit(99);
}

static struct task *task_of(pid_t pid)
{
	struct task *free_one = NULL;

	for (unsigned i = 0; i < TASKS; i++) {
		if (tasks[i].used && tasks[i].pid == pid)
			return &tasks[i];
		if (!tasks[i].used && !free_one)
			free_one = &tasks[i];
	}
	if (!free_one)
		die("too many tasks");
	*free_one = (struct task){.pid = pid, .used = true};
	return free_one;
}

/* Cannot fail, or says it in another way, or does not return; or the C library ends the program where it does. */
static bool is_sure(const struct user_regs_struct *r)
{
	switch ((long)r->orig_rax) {
	case SYS_futex: /* but waiting can be interrupted */
		return ((int)r->rsi & FUTEX_CMD_MASK) != FUTEX_WAIT &&
		       ((int)r->rsi & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET;
	case SYS_brk:
	case SYS_exit:
	case SYS_exit_group:
	case SYS_rt_sigreturn:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_getppid:
	case SYS_rt_sigprocmask:
	case SYS_rt_sigaction:
	case SYS_set_robust_list:
	case SYS_sched_yield:
	case SYS_rseq:
		return true;
	default:
		return false;
	}
}

/* The kinds of errors; without one each call fails as it does most often. A short call does half of what it is asked.
 */
static const struct kind {
	const char *name;
	int error; /* 0: a short call */
	long calls[32];
} kinds[] = {
    {"EINTR",
     EINTR,
     {SYS_read,      SYS_open,    SYS_openat,          SYS_pread64,   SYS_write,           SYS_pwrite64, SYS_writev,
      SYS_close,     SYS_fsync,   SYS_ftruncate,       SYS_fallocate, SYS_futex,           SYS_wait4,    SYS_waitid,
      SYS_poll,      SYS_ppoll,   SYS_rt_sigtimedwait, SYS_nanosleep, SYS_clock_nanosleep, SYS_connect,  SYS_accept4,
      SYS_recvmsg,   SYS_sendmsg, SYS_recvfrom,        SYS_sendto,    SYS_select,          SYS_pselect6, SYS_epoll_wait,
      SYS_getrandom, SYS_flock}},
    {"EAGAIN",
     EAGAIN,
     {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_futex, SYS_execve, SYS_timer_create, SYS_rt_sigtimedwait,
      SYS_fcntl}},
    {"ENOMEM", ENOMEM, {SYS_open,         SYS_openat,     SYS_mmap,       SYS_mremap,  SYS_munmap,
                        SYS_mprotect,     SYS_clone,      SYS_clone3,     SYS_fork,    SYS_vfork,
                        SYS_execve,       SYS_poll,       SYS_ppoll,      SYS_pipe2,   SYS_socket,
                        SYS_memfd_create, SYS_stat,       SYS_newfstatat, SYS_rename,  SYS_mkdir,
                        SYS_readlink,     SYS_getdents64, SYS_socketpair, SYS_madvise, SYS_fcntl}},
    {"ENOSPC",
     ENOSPC,
     {SYS_open, SYS_openat, SYS_write, SYS_pwrite64, SYS_writev, SYS_ftruncate, SYS_fallocate, SYS_rename,
      SYS_renameat2, SYS_link, SYS_mkdir, SYS_fsync, SYS_close, SYS_copy_file_range}},
    {"EMFILE",
     EMFILE,
     {SYS_open, SYS_openat, SYS_pipe, SYS_pipe2, SYS_dup, SYS_dup2, SYS_dup3, SYS_memfd_create, SYS_socket,
      SYS_socketpair, SYS_eventfd2, SYS_timerfd_create, SYS_signalfd4, SYS_epoll_create1, SYS_pidfd_open, SYS_accept4,
      SYS_inotify_init1, SYS_fcntl}},
    {"EIO", EIO, {SYS_read,     SYS_open,       SYS_openat,    SYS_pread64, SYS_write,     SYS_pwrite64,
                  SYS_writev,   SYS_close,      SYS_fsync,     SYS_fstat,   SYS_stat,      SYS_newfstatat,
                  SYS_lseek,    SYS_ftruncate,  SYS_fallocate, SYS_rename,  SYS_renameat2, SYS_unlink,
                  SYS_unlinkat, SYS_getdents64, SYS_readlink,  SYS_link}},
    {"short", 0, {SYS_read, SYS_pread64, SYS_write, SYS_pwrite64, SYS_sendto, SYS_recvfrom}},
};
static const struct kind *kind;

/* Of a kind's calls, read is the first: its number is 0, as the rest of the array is. */
static bool is_of_kind(long call)
{
	if (!kind)
		return true;
	for (unsigned i = 0; i < sizeof kind->calls / sizeof *kind->calls; i++)
		if (kind->calls[i] == call && (call != SYS_read || i == 0))
			return true;
	return false;
}

static int error_of(long call)
{
	if (kind)
		return kind->error;
	switch (call) {
	case SYS_open:
	case SYS_openat:
	case SYS_pipe2:
	case SYS_dup:
	case SYS_memfd_create:
		return EMFILE;
	case SYS_mmap:
	case SYS_mremap:
	case SYS_munmap:
	case SYS_mprotect:
		return ENOMEM;
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		return EAGAIN;
	case SYS_write:
	case SYS_pwrite64:
	case SYS_ftruncate:
	case SYS_fallocate:
		return ENOSPC;
	case SYS_futex:
	case SYS_rt_sigtimedwait:
	case SYS_ppoll:
	case SYS_poll:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return EINTR;
	case SYS_execve:
		return E2BIG;
	case SYS_kill:
	case SYS_tgkill:
		return ESRCH;
	case SYS_wait4:
	case SYS_waitid:
		return ECHILD;
	case SYS_read:
	case SYS_pread64:
	case SYS_close:
	case SYS_fsync:
	case SYS_lseek:
		return EIO;
	default:
		return EPERM;
	}
}

/* Runs the new program up to its first own instruction. */
static void pass_loader(pid_t pid)
{
	char path[64];
	Elf64_auxv_t aux;
	uint64_t entry = 0;
	int status, fd;
	struct user_regs_struct r;

	snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY);
	while (fd >= 0 && read(fd, &aux, sizeof aux) == sizeof aux)
		if (aux.a_type == AT_ENTRY)
			entry = aux.a_un.a_val;
	if (!entry)
		die(path);
	close(fd);
	long word = ptrace(PTRACE_PEEKTEXT, pid, entry, NULL);
	ptrace(PTRACE_POKETEXT, pid, entry, (word & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		die("the command does not begin");
	ptrace(PTRACE_POKETEXT, pid, entry, word);
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	r.rip = entry;
	ptrace(PTRACE_SETREGS, pid, NULL, &r);
}

static void at_call(struct task *t, pid_t command)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &r) != 0)
		return;
	t->inside = !t->inside;
	if (t->inside) {
		t->call = (long)r.orig_rax;
		if (is_sure(&r) || !is_of_kind(t->call))
			return;
		number++;
		if (!fail_at)
			dprintf(3, "%lu %s %ld\n", number, t->pid == command ? "command" : "other", t->call);
		t->fail = number == fail_at;
		if (!t->fail)
			return;
		if (kind && !kind->error)
			r.rdx -= r.rdx / 2;
		else if (t->call != SYS_close)
			r.orig_rax = (unsigned long long)-1;
		ptrace(PTRACE_SETREGS, t->pid, NULL, &r);
		dprintf(3, "failed %ld\n", t->call);
		t->fail = !kind || kind->error;
	} else if (t->fail) {
		t->fail = false;
		r.rax = (unsigned long long)-(long long)error_of(t->call);
		ptrace(PTRACE_SETREGS, t->pid, NULL, &r);
	}
}

static int follow(pid_t command)
{
	int status, result = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct task *t = task_of(pid);
		int signal = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			t->used = false;
			if (pid == command)
				result = status;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			at_call(t, command);
		} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			ptrace(PTRACE_DETACH, pid, NULL, NULL);
			t->used = false;
			continue;
		} else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP) {
			signal = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, pid, NULL, signal);
	}
	return result;
}

int main(int argc, char **argv)
{
	int option, status;
	pid_t pid;

	while ((option = getopt(argc, argv, "+n:e:")) != -1) {
		if (option == 'n')
			fail_at = strtoul(optarg, NULL, 10);
		for (unsigned i = 0; option == 'e' && i < sizeof kinds / sizeof *kinds; i++)
			if (strcmp(optarg, kinds[i].name) == 0)
				kind = &kinds[i];
		if (option == '?' || (option == 'e' && !kind))
			die("usage: calls [-n N] [-e ERROR] COMMAND [ARGUMENT...]");
	}
	pid = fork();
	if (pid == 0) {
		close(3);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[optind], argv + optind);
		die(argv[optind]);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("cannot trace");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, OPTIONS) != 0)
		die("cannot trace");
	pass_loader(pid);
	*task_of(pid) = (struct task){.pid = pid, .used = true};
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	status = follow(pid);
	if (WIFSIGNALED(status)) {
		dprintf(3, "signal %d\n", WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}
