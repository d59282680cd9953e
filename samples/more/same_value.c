/*
 * As same_value_racy, but what is accessed outside the sections is accessed inside, or what the later section reads
 * says that the earlier one has been.
 */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int ready, users, by_flag, by_count, by_sum, by_pointer;
double sum;
int *volatile current;

/* A flag that says more than before. */
static void set_again(void)
{
	by_flag = 1;
	pthread_mutex_lock(&lock);
	ready = 2;
	pthread_mutex_unlock(&lock);
}

static void look(void)
{
	pthread_mutex_lock(&lock);
	int is = ready == 2;
	pthread_mutex_unlock(&lock);
	if (is)
		by_flag = 2;
}

/* A count that goes up and down again. */
static void use(void)
{
	pthread_mutex_lock(&lock);
	by_count = 1;
	users++;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	users--;
	pthread_mutex_unlock(&lock);
}

static void reclaim(void)
{
	pthread_mutex_lock(&lock);
	if (!users)
		by_count = 2;
	pthread_mutex_unlock(&lock);
}

/* A sum that tells. */
static void add(double what)
{
	pthread_mutex_lock(&lock);
	sum += what;
	pthread_mutex_unlock(&lock);
}

static int added(void)
{
	pthread_mutex_lock(&lock);
	int is = sum > 0;
	pthread_mutex_unlock(&lock);
	return is;
}

static void *first(void *arg)
{
	set_again();
	use();
	by_sum = 1;
	add(1);
	by_pointer = 1;
	pthread_mutex_lock(&lock);
	current = NULL;
	current = &users;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *second(void *arg)
{
	usleep(100000);
	look();
	reclaim();
	if (added())
		by_sum = 2;
	pthread_mutex_lock(&lock);
	int *now = current;
	pthread_mutex_unlock(&lock);
	if (now == &users)
		by_pointer = 2;
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
