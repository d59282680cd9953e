/*
 * Semaphores that are used as locks: each begins with 1, and the thread that took it posts. Threads take them in
 * opposite orders, one thread long after the other, so that the recorded run ends well.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t disk, net, log_file, ready, fork_a, fork_b, fork_c;
static sem_t *const forks[3] = {&fork_a, &fork_b, &fork_c};
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
int copies, lines, meals, jobs;

static void sleep_well(void)
{
	usleep(300000);
}

static void run(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a, b;

	pthread_create(&a, NULL, first, NULL);
	sleep_well();
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void *upload(void *arg)
{
	sem_wait(&disk);
	sem_wait(&net); /* @upload */
	copies++;
	sem_post(&net);
	sem_post(&disk);
	return arg;
}

static void *download(void *arg)
{
#ifdef FIXED
	sem_wait(&disk);
	sem_wait(&net);
#else
	sem_wait(&net);
	sem_wait(&disk); /* @download */
#endif
	copies++;
	sem_post(&disk);
	sem_post(&net);
	return arg;
}

/* A mutex and a semaphore. */
static void *insert(void *arg)
{
	pthread_mutex_lock(&table);
	sem_wait(&log_file); /* @insert */
	lines++;
	sem_post(&log_file);
	pthread_mutex_unlock(&table);
	return arg;
}

static void *rotate(void *arg)
{
#ifdef FIXED
	/* It does not wait while it has the log. */
	sem_wait(&log_file);
	if (pthread_mutex_trylock(&table) == 0) {
		lines = 0;
		pthread_mutex_unlock(&table);
	}
#else
	sem_wait(&log_file);
	pthread_mutex_lock(&table); /* @rotate */
	lines = 0;
	pthread_mutex_unlock(&table);
#endif
	sem_post(&log_file);
	return arg;
}

/* Three philosophers. */
static void *eat(void *seat)
{
	int i = (int)(size_t)seat, left = i, right = (i + 1) % 3;

#ifdef FIXED
	if (left > right) {
		left = right;
		right = i;
	}
#endif
	sem_wait(forks[left]);
	sem_wait(forks[right]); /* @eat */
	__atomic_fetch_add(&meals, 1, __ATOMIC_RELAXED);
	sem_post(forks[right]);
	sem_post(forks[left]);
	return NULL;
}

static void dine(void)
{
	pthread_t guests[3];

	for (int i = 0; i < 3; i++) {
		pthread_create(&guests[i], NULL, eat, (void *)(size_t)i);
		usleep(100000);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(guests[i], NULL);
}

/* This one is no lock: another thread posts it. */
static void *produce(void *arg)
{
	sem_wait(&disk);
	jobs++;
	sem_post(&disk);
	sem_post(&ready);
	return arg;
}

static void *consume(void *arg)
{
	sem_wait(&ready);
	sem_wait(&disk);
	jobs--;
	sem_post(&disk);
	return arg;
}

int main(void)
{
	sem_init(&disk, 0, 1);
	sem_init(&net, 0, 1);
	sem_init(&log_file, 0, 1);
	sem_init(&ready, 0, 0);
	for (int i = 0; i < 3; i++)
		sem_init(forks[i], 0, 1);
	run(upload, download);
	run(insert, rotate);
	dine();
	run(produce, consume);
	printf("%d copies, %d meals, %d jobs\n", copies, meals, jobs);
	return 0;
}
