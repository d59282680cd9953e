/*
 * Accesses that fault. Those that a handler leaves by siglongjmp did not take place: two threads that probe the same
 * address do not race there. Those that it lets be tried again did.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static char *guarded, *never; /* two pages: one opens at the first fault, one stays closed */
static __thread sigjmp_buf back;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void fault(int number, siginfo_t *info, void *context)
{
	char *at = info->si_addr;
	(void)number, (void)context;
	if (at >= guarded && at < guarded + PAGE)
		mprotect(guarded, PAGE, PROT_READ | PROT_WRITE);
	else
		siglongjmp(back, 1);
}

static int probe(char *at, int how)
{
	if (sigsetjmp(back, 1))
		return 1;
	if (how == 0)
		*at = 1;
	else if (how == 1)
		++*at;
	else
		memset(at, how, 100);
	return 0;
}

static void *work(void *unused)
{
	for (int i = 0; i < 6; i++)
		if (!probe(never + 8, i % 3))
			puts("no fault");
	if (!probe((char *)0x123400000000, 0))
		puts("no fault");
#ifdef FIXED
	pthread_mutex_lock(&mutex);
#endif
	*(int *)guarded = 1; // @retried
#ifdef FIXED
	pthread_mutex_unlock(&mutex);
#endif
	return unused;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
	pthread_t threads[2];
	guarded = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	never = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&mutex);
	return 0;
}
