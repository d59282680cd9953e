/*
 * What `record --serial` has to know of. KIND 1: a wait for a condition, not in a loop; prints EARLY if that
 * came by itself. 2: System V semaphores as locks and turns of two threads. 3: a forked child with threads of its own.
 * 4: threads that wait for a child by a System V semaphore. 5: a condition, its lock and a barrier that are mapped
 * twice.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef KIND
#define KIND 1
#endif

/* One page, at two addresses. */
static struct page {
	pthread_mutex_t m;
	pthread_cond_t c;
	pthread_barrier_t all;
	int set;
} * views[2];
static void *meets(void *arg)
{
	struct page *p = arg ? views[0] : views[1];
	pthread_barrier_wait(&p->all);
	p = views[1];
	pthread_mutex_lock(&p->m);
	p->set++;
	pthread_cond_broadcast(&p->c);
	while (p->set < 2)
		pthread_cond_wait(&p->c, &p->m);
	pthread_mutex_unlock(&p->m);
	return arg;
}
static int meet(void)
{
	FILE *file = tmpfile();
	pthread_t t[2];
	if (!file || ftruncate(fileno(file), 4096) != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		views[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	pthread_barrierattr_t shared;
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&views[0]->all, &shared, 2);
	pthread_mutex_init(&views[0]->m, NULL);
	pthread_cond_init(&views[0]->c, NULL);
	pthread_create(&t[0], NULL, meets, NULL);
	pthread_create(&t[1], NULL, meets, views);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int set, semaphores, count, order[16], orders;

static void *waits(void *arg)
{
	pthread_mutex_lock(&m);
	if (!set)
		pthread_cond_wait(&c, &m);
	if (!set)
		puts("EARLY");
	pthread_mutex_unlock(&m);
	return arg;
}

static void *sets(void *arg)
{
	pthread_mutex_lock(&m);
	set = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return arg;
}

static void add(int number, int by)
{
	struct sembuf o = {(unsigned short)number, (short)by, 0};

	if (semop(semaphores, &o, 1) != 0)
		perror("semop");
}

static void *takes_turns(void *arg)
{
	for (int i = 0; i < 4; i++) {
		add(0, -1);
		order[orders++] = ++count;
		add(0, 1);
	}
	add(1, 1);
	return arg;
}

static void *adds(void *arg)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&m);
		count++;
		pthread_mutex_unlock(&m);
	}
	return arg;
}

static void two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, second, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

static void *hears(void *arg)
{
	add(1, -1);
	return arg;
}

int main(void)
{
	int status = 0;

	if (KIND == 1)
		two(waits, sets);
	if (KIND == 2 || KIND == 4) {
		semaphores = semget(IPC_PRIVATE, 2, 0600);
		if (semaphores < 0)
			return 77;
		add(0, 1);
	}
	if (KIND == 5)
		return meet();
	if (KIND == 2) {
		two(takes_turns, takes_turns);
		add(1, -2);
		printf("%d\n", count);
	}
	if (KIND == 3 || KIND == 4) {
		pid_t child = fork();

		if (child == 0 && KIND == 4) {
			usleep(50000);
			add(1, 2);
			_exit(0);
		}
		if (child == 0) {
			two(adds, adds);
			exit(count == 8 ? 0 : 1);
		}
		two(KIND == 3 ? adds : hears, KIND == 3 ? adds : hears);
		waitpid(child, &status, 0);
	}
	if (KIND == 2 || KIND == 4)
		semctl(semaphores, 0, IPC_RMID);
	return WEXITSTATUS(status);
}
