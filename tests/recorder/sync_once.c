/* pthread_once: who runs the routine, who comes later, who is cancelled in it, and one inside another. */
#include "named.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT,
                      broken = PTHREAD_ONCE_INIT;
static int value, tries;

static void initialise(void)
{
	value = 42;
}

// expect main.1: once-seen once
static void *late(void *unused)
{
	MUST(pthread_once(&once, initialise) == 0);
	MUST(value == 42);
	return unused;
}

static void initialise_inner(void)
{
	value++;
}

static void initialise_outer(void)
{
	pthread_once(&inner, initialise_inner);
}

static void initialise_broken(void)
{
	if (__atomic_fetch_add(&tries, 1, __ATOMIC_SEQ_CST) == 0)
		for (;;)
			sleep(1);
	value++;
}

// expect main.2: once-begin broken, hb-before broken
static void *cancelled(void *unused)
{
	pthread_once(&broken, initialise_broken);
	return unused;
}

int main(void)
{
	pthread_t t;
	void *result;
	NAME(once), NAME(outer), NAME(inner), NAME(broken);

	// expect main: once-begin once, once-end once, once-seen once
	MUST(pthread_once(&once, initialise) == 0 && pthread_once(&once, initialise) == 0);
	MUST(pthread_create(&t, NULL, late, NULL) == 0 && pthread_join(t, NULL) == 0);

	// expect main: once-begin outer, once-begin inner, once-end inner, once-end outer, once-seen inner
	MUST(pthread_once(&outer, initialise_outer) == 0 && pthread_once(&inner, initialise_inner) == 0);

	// expect main: hb-after broken, once-begin broken, once-end broken
	MUST(pthread_create(&t, NULL, cancelled, NULL) == 0);
	while (!__atomic_load_n(&tries, __ATOMIC_SEQ_CST))
		usleep(1000);
	MUST(pthread_cancel(t) == 0 && pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
	MUST(pthread_once(&broken, initialise_broken) == 0);
	return value != 44;
}
