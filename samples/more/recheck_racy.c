/*
 * Values that are set on first use: a look in one critical section, the setting in the next. The fixed ones look again
 * there, on the line that sets. Another thread resets them in between.
 */
#include "both.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long entry, level, count, sum, other;

static long next(void)
{
	return 7;
}

static long get(const long *from)
{
	pthread_mutex_lock(&lock);
	long value = *from; /* @look */
	pthread_mutex_unlock(&lock);
	return value;
}

/* One line each. */
/* clang-format off */
#ifdef FIXED
#define ENTER(x) if (!(x)) (x) = next()
#define AGAIN(again, act) again act
#else
#define ENTER(x) (x) = next()
#define AGAIN(again, act) act
#endif

/* The value of an expression under the lock. */
#define LOCKED(e) ({ pthread_mutex_lock(&lock); __typeof__(e) value = (e); pthread_mutex_unlock(&lock); value; })

static void set(void)
{
	if (get(&entry))
		return;
	pthread_mutex_lock(&lock);
#ifdef FIXED
	if (!entry) entry = next();
#else
	entry = next(); /* @entry */
#endif
	pthread_mutex_unlock(&lock);
}

static void set_by_macro(void)
{
	if (get(&level))
		return;
	pthread_mutex_lock(&lock);
	ENTER(level); /* @level */
	pthread_mutex_unlock(&lock);
}

static void count_to_one(void)
{
	if (get(&count) >= 1)
		return;
	pthread_mutex_lock(&lock);
#ifdef FIXED
	if (count < 1) count++;
#else
	count++; /* @count */
#endif
	pthread_mutex_unlock(&lock);
}

static void add_once(void)
{
	if (get(&sum) >= 5)
		return;
	pthread_mutex_lock(&lock);
#ifdef FIXED
	sum = sum ? sum : 5;
#else
	sum = sum + 5; /* @sum */
#endif
	pthread_mutex_unlock(&lock);
}

static void choose(void)
{
	LOCKED(other) ? 0 : LOCKED(AGAIN(other ? other :, (other = 3))); /* @other */
}
/* clang-format on */

PART(sets)
{
	set();
	set_by_macro();
	count_to_one();
	add_once();
	choose();
	return NULL;
}

PART(resets)
{
	LATER;
	pthread_mutex_lock(&lock);
	entry = level = count = sum = other = 0; /* @reset */
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	both(sets, resets);
	return 0;
}
