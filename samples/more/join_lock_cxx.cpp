/* A std::jthread that goes out of scope while a lock is held that it takes. */
#include <chrono>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex table;
int entries;

static void sleep_well()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

static void write_table()
{
	std::scoped_lock hold(table); /* @write_table */
	entries++;
}

/* The thread is declared before the lock is taken and ends behind it, or the other way round. */
static void of_jthread()
{
#ifdef FIXED
	std::jthread writer(write_table);
	sleep_well();
	std::shared_lock<std::shared_mutex> hold(table);
#else
	std::shared_lock<std::shared_mutex> hold(table, std::defer_lock);
	std::jthread writer(write_table);
	sleep_well();
	hold.lock();
#endif
} /* @end_of_scope */

int main()
{
	of_jthread();
	std::printf("%d entries\n", entries);
	return 0;
}
