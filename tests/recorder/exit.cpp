// A thread that is never joined makes a static object and registers a function: both are run by the main thread at
// exit, after the thread did what it did before that, and not after what it does later.
#include "named.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

static int before, later;
static std::atomic<bool> ready;

struct list {
	std::vector<int> items;
	~list()
	{
		if (items.size() == 1 && before == 2)
			write(1, "destroyed\n", 10);
	}
};

static list &instance()
{
	static list l;
	return l;
}

static void at_exit()
{
	before++;
	later++;
}

static void worker()
{
	before++;
	instance().items.push_back(1);
	MUST(atexit(at_exit) == 0);
	ready.store(true, std::memory_order_relaxed);
	later++;
	for (;;)
		sleep(100);
}

int main()
{
	std::thread(worker).detach();
	while (!ready.load(std::memory_order_relaxed))
		usleep(1000);
	usleep(200000); // for the worker to get on
	return 0;
}
