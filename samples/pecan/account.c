/*
 * Account: money goes from one account to another, and an auditor counts that of the last two. After the program of
 * this name in PECAN's Table 1 (from IBM's ConTest suite).
 *
 * The bugs: a transfer takes the lock of the account that pays, and changes the other as well. So two transfers that go
 * opposite ways hold different locks and change the same two balances: money is lost. And the auditor, who has a lock
 * of its own, may count money twice that is on its way, or not at all.
 *
 * In the recorded run one comes after the other and all is well. That the second transfer overwrites the first one's
 * balance stays predicted: it would have to read another balance than it did, and what it does then no trace shows.
 */
#include "run.h"

#ifndef RACE_FREE
#define RACE_FREE 0 /* account_fixed.c: 1 */
#endif

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
	struct account *first = RACE_FREE && to < from ? to : from, *second = first == from ? to : from;

	pthread_mutex_lock(&first->lock);
	if (RACE_FREE)
		pthread_mutex_lock(&second->lock);
	from->balance -= amount; /* @pay */
	to->balance += amount;   /* @receive */
	if (RACE_FREE)
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
	for (int i = 2; RACE_FREE && i < ACCOUNTS; i++)
		pthread_mutex_lock(&accounts[i].lock);
	total = 0;
	for (int i = 2; i < ACCOUNTS; i++)
		total += accounts[i].balance; /* @count */
	for (int i = ACCOUNTS; RACE_FREE && i-- > 2;)
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
