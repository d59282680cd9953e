/*
 * Sections of one lock between two accesses without it, and what the later section reads in them is what the earlier
 * one wrote: the same value as was there before. So the later one may as well come first, and then the accesses race;
 * only values tell (record --values).
 */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int ready, users, by_flag, by_count, by_sum, by_pointer;
double sum;
int *volatile current;

/* A flag that is set already. */
static void set_again(void)
{
	by_flag = 1; /* @flag1 */
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
}

static void look(void)
{
	pthread_mutex_lock(&lock);
	int is = ready;
	pthread_mutex_unlock(&lock);
	if (is)
		by_flag = 2; /* @flag2 */
}

/* A count that goes up and down again. */
static void use(void)
{
	by_count = 1; /* @count1 */
	pthread_mutex_lock(&lock);
	users++;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	users--;
	pthread_mutex_unlock(&lock);
}

static void reclaim(void)
{
	pthread_mutex_lock(&lock);
	int free = !users;
	pthread_mutex_unlock(&lock);
	if (free)
		by_count = 2; /* @count2 */
}

/* A sum to which nothing is added. */
static void add(double what)
{
	pthread_mutex_lock(&lock);
	sum += what;
	pthread_mutex_unlock(&lock);
}

static void *first(void *arg)
{
	set_again();
	use();
	by_sum = 1; /* @sum1 */
	add(0);
	by_pointer = 1; /* @pointer1 */
	pthread_mutex_lock(&lock);
	current = NULL;
	current = &ready;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *second(void *arg)
{
	usleep(100000);
	look();
	reclaim();
	add(0);
	by_sum = 2; /* @sum2 */
	pthread_mutex_lock(&lock);
	int *now = current;
	pthread_mutex_unlock(&lock);
	if (now)
		by_pointer = 2; /* @pointer2 */
	return arg;
}

int main(void)
{
	pthread_t a, b;

	ready = 1;
	current = &ready;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
