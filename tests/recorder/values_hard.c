/*
 * Memory that is gone when a value is to be read, under each action of SIGSEGV, and blocked: the program must do what
 * it does unrecorded. With an argument it ends by SIGSEGV.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile int cell;
static sigjmp_buf back;
static volatile sig_atomic_t caught;

static void jump(int sig)
{
	(void)sig;
	caught++;
	siglongjmp(back, 1);
}

static int *page(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Writes and then, without a hook in between, has the memory gone. */
static __attribute__((noinline, no_sanitize("thread"))) void gone(int *p)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_munmap), "D"(p), "S"(4096) : "rcx", "r11", "memory");
}

static void write_and_unmap(void)
{
	int *p = page();
	*p = 4;
	gone(p);
	cell = cell + 1;
}

int main(int argc, char **argv)
{
	int *volatile nowhere = NULL;
	struct sigaction old;
	sigset_t all;

	write_and_unmap(); /* the default action */
	sigaction(SIGSEGV, NULL, &old);
	if (old.sa_handler != SIG_DFL || old.sa_flags)
		puts("another action than the default is seen");
	signal(SIGSEGV, jump);
	write_and_unmap(); /* a handler */
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
	if (!sigsetjmp(back, 1))
		cell = *nowhere;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	write_and_unmap(); /* blocked */
	cell = 71;
	cell = cell + 1;
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	if (signal(SIGSEGV, SIG_IGN) != jump)
		puts("another handler than the program's is seen");
	write_and_unmap(); /* ignored */
	cell = 73;
	signal(SIGSEGV, SIG_DFL);
	write_and_unmap();
	cell = 74;
	printf("caught %d, cell %d\n", caught, cell);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "kill"))
		kill(getpid(), SIGSEGV);
	return argc > 1 ? *nowhere : 0;
}
