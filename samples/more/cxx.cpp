// C++11 to C++20: what a thread may synchronise with. No race.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

int by_thread, by_async, by_promise, by_packaged, by_semaphore, by_latch, by_once, by_wait, by_shared, by_scoped,
    by_static;
int phases[3], sums[3];

static int &instance()
{
	static int value = ++by_static;
	return value;
}

static void semaphore_latch()
{
	std::binary_semaphore ready(0);
	std::counting_semaphore<4> tokens(1);
	std::latch done(2);
	auto work = [&] {
		ready.acquire();
		by_semaphore++;
		ready.release();
		tokens.acquire();
		by_latch++;
		tokens.release();
		done.count_down();
	};
	std::jthread a(work), b(work);
	by_semaphore = 1;
	ready.release();
	done.wait();
	by_latch++;
}

static void barrier()
{
	std::barrier all(3);
	std::vector<std::jthread> threads;
	for (int i = 0; i < 3; i++)
		threads.emplace_back([i, &all] {
			for (int round = 0; round < 2; round++) {
				phases[i] = i + round;
				all.arrive_and_wait();
				sums[i] += phases[(i + 1) % 3];
				all.arrive_and_wait();
			}
		});
}

static void futures()
{
	auto deferred = std::async(std::launch::deferred, [] { return 1; });
	auto result = std::async(std::launch::async, [] { return by_async = 1; });
	by_async += result.get() + deferred.get();

	std::promise<int> promise;
	auto future = promise.get_future();
	std::thread keeper([&] {
		by_promise = 1;
		promise.set_value(1);
	});
	by_promise += future.get();
	keeper.join();

	std::packaged_task<void()> task([] { by_packaged = 1; });
	auto packaged = task.get_future();
	std::thread(std::move(task)).detach();
	packaged.wait();
	by_packaged++;
}

static void once_and_shared()
{
	std::once_flag flag;
	auto owned = std::make_shared<std::vector<int>>(3);
	std::shared_mutex mutex;
	std::mutex other;
	std::atomic<int> go{0};
	auto work = [&, owned] {
		std::call_once(flag, [] { by_once = 1; });
		int once = by_once + instance();
		go.wait(0);
		int waited = by_wait;
		{
			std::shared_lock lock(mutex);
			once += by_shared;
		}
		std::scoped_lock both(mutex, other);
		by_shared += (int)owned->size();
		by_scoped += once + waited;
	};
	{
		std::jthread a(work), b(work);
		owned.reset();
		by_wait = 1;
		go.store(1);
		go.notify_all();
	}
}

static void stop()
{
	std::condition_variable_any condition;
	std::mutex mutex;
	int count = 0;
	std::jthread worker([&](std::stop_token token) {
		std::unique_lock lock(mutex);
		condition.wait(lock, token, [] { return false; });
		count++;
		by_thread++;
	});
	worker.request_stop();
	worker.join();
	by_thread += count;
}

int main()
{
	std::thread t([] { by_thread = 1; });
	t.join();
	by_thread++;
	semaphore_latch();
	barrier();
	futures();
	once_and_shared();
	stop();
	std::printf("%d %d\n", by_thread, sums[0]);
}
