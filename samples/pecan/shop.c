/*
 * Shop: customers are told a price and its currency; a clerk changes them. After the program of this name in PECAN's
 * Table 1 (from IBM's ConTest suite).
 *
 * The bug: the price and the currency belong together, but a customer gets one in one critical section and the other in
 * another. In between the clerk may have changed both: 100 dollars become 100 yen. What a customer does is meant to be
 * atomic.
 *
 * In the recorded run the clerk comes when the customer has gone.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

enum currency { DOLLAR, YEN };
enum { GOODS = 4 };

struct tag {
	long price;
	enum currency currency;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct tag tags[GOODS] = {{100, DOLLAR}, {100, DOLLAR}, {100, DOLLAR}, {100, DOLLAR}};

static long price_of(const struct tag *t)
{
	long price;

	pthread_mutex_lock(&lock);
	price = t->price; /* @price */
	pthread_mutex_unlock(&lock);
	return price;
}

static enum currency currency_of(const struct tag *t)
{
	enum currency currency;

	pthread_mutex_lock(&lock);
	currency = t->currency; /* @currency */
	pthread_mutex_unlock(&lock);
	return currency;
}

static void customer(int thread, int round)
{
	const struct tag *t = &tags[round % GOODS];
	long price;
	enum currency currency;

	racetrace_region_begin();
	price = price_of(t);
	currency = currency_of(t);
	racetrace_region_end();
	if (!thread && !round)
		printf("%ld %s\n", price, currency == YEN ? "yen" : "dollars");
}

static void clerk(int thread, int round)
{
	struct tag *t = &tags[round % GOODS];
	int yen = (thread + round) % 2;

	pthread_mutex_lock(&lock);
	t->price = yen ? 15000 : 100;     /* @mark */
	t->currency = yen ? YEN : DOLLAR; /* @sign */
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {customer, clerk};

	run(argc, argv, parts, 2, 2);
	return 0;
}
