/* C11 threads. */
#include "named.h"

#include <errno.h>
#include <threads.h>

static mtx_t plain, recursive, timed;
static cnd_t c;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int ready, runs, destroyed;

static void run_once(void)
{
	runs++;
}

static void destroy(void *value)
{
	destroyed = *(int *)value;
}

// expect main.1: once-seen flag, acquire plain, signal c, release plain, acquire plain, broadcast c, release plain
static int worker(void *value)
{
	call_once(&flag, run_once);
	MUST(tss_set(key, value) == thrd_success);
	MUST(mtx_trylock(&timed) == thrd_busy);
	mtx_lock(&plain);
	ready = 1;
	MUST(cnd_signal(&c) == thrd_success);
	mtx_unlock(&plain);
	mtx_lock(&plain);
	MUST(cnd_broadcast(&c) == thrd_success);
	mtx_unlock(&plain);
	thrd_yield();
	thrd_exit(7);
}

int main(void)
{
	struct timespec past = {0, 1}, moment = {0, 1000}, realtime;
	thrd_t t;
	int result, five = 5;
	timespec_get(&realtime, TIME_UTC);
	realtime.tv_sec += 10;
	MUST(mtx_init(&plain, mtx_plain) == thrd_success && mtx_init(&timed, mtx_timed) == thrd_success);
	MUST(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success && cnd_init(&c) == thrd_success);
	MUST(tss_create(&key, destroy) == thrd_success);
	NAME(plain), NAME(recursive), NAME(timed), NAME(c), NAME(flag);

	// expect main: once-begin flag, once-end flag, once-seen flag
	call_once(&flag, run_once);
	call_once(&flag, run_once);
	// expect main: acquire recursive, release recursive
	mtx_lock(&recursive);
	MUST(mtx_trylock(&recursive) == thrd_success);
	mtx_unlock(&recursive), mtx_unlock(&recursive);
	// expect main: acquire timed+timed, acquire plain, wait-begin c=plain, wait-end c=plain
	MUST(mtx_timedlock(&timed, &realtime) == thrd_success);
	mtx_lock(&plain);
	MUST(thrd_create(&t, worker, &five) == thrd_success);
	MUST(cnd_wait(&c, &plain) == thrd_success && ready);
	// expect main: release plain, release timed
	mtx_unlock(&plain);
	MUST(thrd_join(t, &result) == thrd_success && result == 7 && destroyed == 5);
	mtx_unlock(&timed);
	// expect main: acquire plain+timed, wait-begin c=plain, wait-end c=plain+timed+timeout, release plain
	MUST(mtx_trylock(&plain) == thrd_success);
	MUST(cnd_timedwait(&c, &plain, &past) == thrd_timedout);
	mtx_unlock(&plain);
	MUST(thrd_sleep(&moment, NULL) == 0);
	return runs != 1;
}
