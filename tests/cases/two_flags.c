/* fio: each job's thread clears a plain runstate when done; main polls it, then reads what the job counted. One root race (state).
 * TSan reports the counters too. To be said: state observed, and the counters as well, which are read only after state was seen:
 * they follow it, and are listed under it. */
#include <pthread.h>
#include <unistd.h>
static volatile int state; static long a, b, c;
static void *job(void *p) { (void)p; a = 1; b = 2; c = 3; state = 1; return 0; }
int main(void)
{
	pthread_t t; pthread_create(&t, 0, job, 0);
	while (!state) usleep(1000);
	long s = a + b + c;
	pthread_join(t, 0);
	return s != 6;
}
