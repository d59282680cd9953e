// C++20: what is done after the promise was kept, the latch counted down, the semaphore released; and under a shared
// lock.
#include <chrono>
#include <future>
#include <latch>
#include <semaphore>
#include <shared_mutex>
#include <thread>

int by_promise, by_latch, by_semaphore, by_shared;

static void pause(int milliseconds)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

int main()
{
	std::promise<void> promise;
	auto future = promise.get_future();
	std::latch latch(1);
	std::binary_semaphore semaphore(0);
	std::shared_mutex mutex;
	std::thread t([&] {
		latch.count_down();
		semaphore.release();
		promise.set_value();
		by_promise = 1;   // @kept
		by_latch = 1;     // @counted
		by_semaphore = 1; // @released
		std::shared_lock lock(mutex);
		by_shared++; // @one
	});
	future.wait();
	latch.wait();
	semaphore.acquire();
	pause(20);
	by_promise++;   // @after_promise
	by_latch++;     // @after_latch
	by_semaphore++; // @after_semaphore
	{
		std::shared_lock lock(mutex);
		by_shared++; // @other
	}
	t.join();
}
