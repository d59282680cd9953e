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

static int error_of(long call)
{
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
		if (is_sure(&r))
			return;
		number++;
		if (!fail_at)
			dprintf(3, "%lu %s %ld\n", number, t->pid == command ? "command" : "other", t->call);
		t->fail = number == fail_at;
		if (t->fail && t->call != SYS_close) {
			r.orig_rax = (unsigned long long)-1;
			ptrace(PTRACE_SETREGS, t->pid, NULL, &r);
		}
		if (t->fail)
			dprintf(3, "failed %ld\n", t->call);
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

	while ((option = getopt(argc, argv, "+n:")) != -1)
		fail_at = option == 'n' ? strtoul(optarg, NULL, 10) : 0;
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
