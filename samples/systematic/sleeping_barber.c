/* The sleeping barber (Dijkstra 1965): one chair, two customers; semaphores and a mutex. No race. */
#include <pthread.h>
#include <semaphore.h>

enum { CHAIRS = 1, CUSTOMERS = 2 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t customers, barber;
static int waiting, gone, cut, closed;
#ifdef RACY
int seen;
#endif

static void *customer(void *arg)
{
	pthread_mutex_lock(&m);
	if (waiting == CHAIRS) {
		gone++;
		pthread_mutex_unlock(&m);
		return arg;
	}
	waiting++;
	sem_post(&customers);
	pthread_mutex_unlock(&m);
	sem_wait(&barber);
	return arg;
}

static void *barbers_day(void *arg)
{
	for (;;) {
		sem_wait(&customers);
		pthread_mutex_lock(&m);
		if (closed && !waiting) {
			pthread_mutex_unlock(&m);
			return arg;
		}
		waiting--;
		sem_post(&barber);
		pthread_mutex_unlock(&m);
		cut++;
	}
}

int main(void)
{
	pthread_t t[CUSTOMERS], b;
	sem_init(&customers, 0, 0);
	sem_init(&barber, 0, 0);
	pthread_create(&b, NULL, barbers_day, NULL);
	for (int i = 0; i < CUSTOMERS; i++)
		pthread_create(&t[i], NULL, customer, NULL);
#ifdef RACY
	seen = cut;
#endif
	for (int i = 0; i < CUSTOMERS; i++)
		pthread_join(t[i], NULL);
	pthread_mutex_lock(&m);
	closed = 1;
	pthread_mutex_unlock(&m);
	sem_post(&customers);
	pthread_join(b, NULL);
	return cut + gone != CUSTOMERS;
}
