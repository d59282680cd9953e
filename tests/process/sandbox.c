/*
 * A program that confines itself: sandbox HOW. It makes only such system calls as its filter allows; any other one
 * would end it by SIGSYS. Its status is 5, or 77 if the machine does not allow what it is to do.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, CELLS = 30000, STATUS = 5, SKIPPED = 77 };
static volatile int cells[THREADS][CELLS], shared;
static int ready, go, done;
static int strict, raw;
static pthread_mutex_t recursive;

static int turn;
static pthread_t *closed; /* the threads, if they may do nothing but end */

/* By an instruction of this program's own, which nothing can intercept. */
static __attribute__((noinline)) long call(long number, long a, long b, long c)
{
	register long d __asm__("r10") = 0;
	register long e __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e)
	                 : "rcx", "r11", "memory");
	return result;
}

static void work(int thread)
{
	for (int i = 0; i < CELLS; i++)
		cells[thread][i] = i;
	/* One after the other: the C library waits for a lock that is held by a system call that is not allowed. */
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) && __atomic_load_n(&turn, __ATOMIC_ACQUIRE) != thread)
		;
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&recursive);
	shared++;
	pthread_mutex_unlock(&recursive);
	pthread_mutex_unlock(&recursive);
	__atomic_store_n(&turn, thread + 1, __ATOMIC_RELEASE);
}

static void *worker(void *arg)
{
	int thread = (int)(long)arg;

	__atomic_add_fetch(&ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		;
	if (strict && (raw ? call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0)
	                   : prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) != 0)
		_exit(SKIPPED);
	work(thread);
	/* Nor may two threads be at their ends at once, where it has a lock. */
	while (closed && thread > 0 && pthread_tryjoin_np(closed[thread - 1], NULL) == EBUSY)
		;
	__atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
	if (strict) /* a thread that returns makes calls that strict mode does not allow */
		syscall(SYS_exit, 0);
	return NULL;
}

/* Kills by whatever is not in the list, or is, if the list is of what is denied. */
static void confine(const int *calls, size_t n, int deny, int all)
{
	struct sock_filter code[100], *c = code;
	struct sock_fprog program = {.filter = code};

	*c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++) {
		*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		*c++ =
		    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, deny ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW);
	}
	*c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, deny ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS);
	program.len = (unsigned short)(c - code);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		_exit(SKIPPED);
	if (raw   ? call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, all ? SECCOMP_FILTER_FLAG_TSYNC : 0, (long)&program)
	    : all ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)
	          : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(SKIPPED);
}

static void start(pthread_t threads[THREADS])
{
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < THREADS)
		;
}

static void await(void)
{
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < THREADS)
		;
}

/* Threads that may do nothing but end. */
static void run_closed(void)
{
	/* What the C library calls when a thread ends. */
	const int calls[] = {SYS_write,   SYS_exit,   SYS_exit_group,    SYS_rt_sigreturn,
	                     SYS_madvise, SYS_munmap, SYS_rt_sigprocmask};
	static pthread_t threads[THREADS];

	start(threads);
	closed = threads;
	confine(calls, sizeof calls / sizeof *calls, 0, 1);
	await();
	struct timespec none;
	for (int i = 0; i < 3; i++)
		clock_gettime(CLOCK_MONOTONIC, &none);
}

static void run_strict(void)
{
	pthread_t threads[THREADS];

	strict = 1;
	start(threads);
	await();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static volatile sig_atomic_t handled;
static void handler(int sig)
{
	handled += sig;
}

/* Threads and signals are the program's own; what it does not call itself is denied. */
static void run_denied(void)
{
	const int calls[] = {
	    SYS_get_robust_list,   SYS_pidfd_open,   SYS_ppoll,  SYS_kill,       SYS_sched_yield, SYS_sched_getaffinity,
	    SYS_rt_tgsigqueueinfo, SYS_nanosleep,    SYS_openat, SYS_readlinkat, SYS_lseek,       SYS_newfstatat,
	    SYS_getdents64,        SYS_clock_gettime};
	pthread_t threads[THREADS];

	signal(SIGUSR1, handler);
	confine(calls, sizeof calls / sizeof *calls, 1, 0);
	start(threads);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 1000; i++)
		pthread_kill(threads[i % THREADS], SIGUSR1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Executes itself, and allows no more than starting a program takes. */
static void run_executed(char **argv)
{
	const int calls[] = {SYS_execve,          SYS_openat,    SYS_read,
	                     SYS_close,           SYS_pread64,   SYS_mmap,
	                     SYS_mprotect,        SYS_munmap,    SYS_brk,
	                     SYS_newfstatat,      SYS_fstat,     SYS_arch_prctl,
	                     SYS_set_tid_address, SYS_access,    SYS_set_robust_list,
	                     SYS_prlimit64,       SYS_getrandom, SYS_rseq,
	                     SYS_exit_group};

	confine(calls, sizeof calls / sizeof *calls, 0, 0);
	argv[1] = "executed";
	execv(argv[0], argv);
	_exit(1);
}

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The child does its work, and its own child too: with `before` done in between. */
static void run_processes(void (*before)(void))
{
	if (before)
		before();
	pid_t child = fork();
	if (child == 0) {
		shared = 1;
		pid_t grandchild = fork();
		if (grandchild == 0) {
			work(2);
			_exit(STATUS);
		}
		work(1);
		_exit(wait_for(grandchild));
	}
	if (wait_for(child) != STATUS)
		exit(1);
	work(0);
}

static void in_namespace(void)
{
	if (unshare(CLONE_NEWPID) != 0)
		exit(SKIPPED);
}
static void in_root(void)
{
	if (mkdir("root", 0755) != 0 || chroot("root") != 0 || chdir("/") != 0)
		exit(SKIPPED);
}
static void as_nobody(void)
{
	if (setgid(65534) != 0 || setuid(65534) != 0)
		exit(SKIPPED);
}
static void in_filter(void)
{
	const int calls[] = {SYS_openat, SYS_readlinkat, SYS_getpid, SYS_lseek};
	confine(calls, sizeof calls / sizeof *calls, 1, 0);
}
static void undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attributes);
	if (!strncmp(how, "raw-", 4)) {
		raw = 1;
		how += 4;
	}
	if (!strcmp(how, "run"))
		execvp(argv[2], argv + 2);
	else if (!strcmp(how, "executed"))
		work(0);
	else if (!strcmp(how, "execute"))
		run_executed(argv);
	else if (!strcmp(how, "closed"))
		run_closed();
	else if (!strcmp(how, "strict"))
		run_strict();
	else if (!strcmp(how, "denied"))
		run_denied();
	else
		run_processes(!strcmp(how, "namespace")    ? in_namespace
		              : !strcmp(how, "root")       ? in_root
		              : !strcmp(how, "nobody")     ? as_nobody
		              : !strcmp(how, "filter")     ? in_filter
		              : !strcmp(how, "undumpable") ? undumpable
		                                           : NULL);
	_exit(STATUS);
}
