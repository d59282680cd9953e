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
	pthread_mutex_lock(&from->lock);
	from->balance -= amount; /* @pay */
	to->balance += amount;   /* @receive */
	pthread_mutex_unlock(&from->lock);
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
	total = 0;
	for (int i = 2; i < ACCOUNTS; i++)
		total += accounts[i].balance; /* @count */
	pthread_mutex_unlock(&audit_lock);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {forth, back, save, audit};

	run(argc, argv, parts, 4, 4);
	printf("%ld of %d\n", total, 2 * 1000);
	return 0;
}
