/*
 * A thread goes on to the data only if it finds something in a string, under the lock by which another one has put it
 * there. libstdc++ itself does both: the compiler leaves neither access in the program. Here it looks without the
 * lock; the fixed one takes it.
 */
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::string text;
static int data;

static void put()
{
	data = 1; /* @write */
	std::lock_guard<std::mutex> guard(lock);
	text += "there are data"; /* @append */
}

static __attribute__((noinline)) bool is_there()
{
#ifdef FIXED
	std::lock_guard<std::mutex> guard(lock);
#endif
	return !text.empty(); /* @empty */
}

static void take()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(50));
	if (is_there())
		std::printf("%d\n", data); /* @read */
}

int main()
{
	std::thread writer(put), reader(take);
	writer.join();
	reader.join();
}
