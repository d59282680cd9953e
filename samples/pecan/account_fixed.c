/*
 * account.c put right: a transfer takes the locks of both accounts, that of the lower address first, so that two that
 * go opposite ways do not wait for one another; the auditor takes those that it counts.
 */
#include "run.h"

enum { ACCOUNTS = 4 };

struct account {
	pthread_mutex_t lock;
	long balance;
};

struct account accounts[ACCOUNTS] = {
    {PTHREAD_MUTEX_INITIALIZER, 1000},
    {PTHREAD_MUTEX_INITIALIZER, 1000},
    {PTHREAD_MUTEX_INITIALIZER, 1000},
    {PTHREAD_MUTEX_INITIALIZER, 1000},
};
static pthread_mutex_t audit_lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void transfer(struct account *from, struct account *to, long amount)
{
	struct account *first = from < to ? from : to, *second = from < to ? to : from;

	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	from->balance -= amount;
	to->balance += amount;
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
}

static void forth(int thread, int round)
{
	(void)thread;
	(void)round;
	transfer(&accounts[0], &accounts[1], 10);
}

static void back(int thread, int round)
{
	(void)thread;
	(void)round;
	transfer(&accounts[1], &accounts[0], 10);
}

static void save(int thread, int round)
{
	(void)thread;
	(void)round;
	transfer(&accounts[2], &accounts[3], 10);
}

static void audit(int thread, int round)
{
	(void)thread;
	(void)round;
	pthread_mutex_lock(&audit_lock);
	for (int i = 2; i < ACCOUNTS; i++)
		pthread_mutex_lock(&accounts[i].lock);
	total = 0;
	for (int i = 2; i < ACCOUNTS; i++)
		total += accounts[i].balance;
	for (int i = ACCOUNTS; i-- > 2;)
		pthread_mutex_unlock(&accounts[i].lock);
	pthread_mutex_unlock(&audit_lock);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {forth, back, save, audit};

	run(argc, argv, parts, 4, 4);
	printf("%ld of %d\n", total, 2 * 1000);
	return 0;
}
