/*
 * A static local whose initialisation takes a lock that others hold when they use it. In the recorded run it is
 * initialised before: after a sleep, which orders nothing, the others find that by a look at its guard.
 */
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex registry;
int loggers, lines;

struct Logger {
	Logger()
	{
#ifdef FIXED
		loggers = 1;
#else
		std::lock_guard<std::mutex> hold(registry); /* @initialise */
		loggers = 1;
#endif
	}
};

static Logger &logger()
{
	static Logger only; /* @only */
	return only;
}

static void start()
{
	logger();
}

static void log_later()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(300));
	std::lock_guard<std::mutex> hold(registry);
	logger();
	lines++;
}

int main()
{
	std::thread first(start), second(log_later);
	first.join();
	second.join();
	std::printf("%d\n", lines);
	return 0;
}
