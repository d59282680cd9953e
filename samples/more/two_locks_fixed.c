/* The race-free twin of two_locks.c: both hold the lock that belongs to the balance. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
int balance, other;

static void *deposit(void *arg)
{
	pthread_mutex_lock(&a);
	balance += 10; /* @deposit */
	pthread_mutex_unlock(&a);
	return arg;
}

static void *withdraw(void *arg)
{
	pthread_mutex_lock(&b);
	other++;
	pthread_mutex_lock(&a);
	balance -= 5; /* @withdraw */
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, deposit, NULL);
	pthread_create(&t2, NULL, withdraw, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("balance %d\n", balance);
	return 0;
}
