/*
 * Waits for a future while a lock is held that the thread takes which is to set its result. In the recorded run the
 * result is there before: after a sleep, which orders nothing. In future_lock_fixed.cpp the lock is not held, or not
 * taken, or the wait gives up; or the thread takes the lock before it is known which one sets the result.
 */
#include <chrono>
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>

#ifdef FIXED
enum { fixed = 1 };
#else
enum { fixed = 0 };
#endif

static std::mutex accounts, reports, orders, queue;
int total;

static void later()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

static void by_promise()
{
	std::promise<int> sum;
	std::future<int> result = sum.get_future();
	std::thread adds([&] {
		accounts.lock(); /* @adds */
		total++;
		accounts.unlock();
		sum.set_value(1);
	});
	later();
	if (!fixed)
		accounts.lock();
	total += result.get(); /* @sum */
	if (!fixed)
		accounts.unlock();
	adds.join();
}

static int report()
{
	if (fixed)
		return 2;
	std::lock_guard<std::mutex> hold(reports); /* @report */
	return 2;
}

static void by_task()
{
	std::packaged_task<int()> task(report);
	std::shared_future<int> result = task.get_future().share();
	std::thread runs(std::move(task));
	later();
	reports.lock();
	result.wait(); /* @task */
	reports.unlock();
	runs.join();
}

/* A look that does not wait, with the lock; the wait is without. */
static void by_poll()
{
	std::promise<int> sum;
	std::future<int> result = sum.get_future();
	std::thread adds([&] {
		accounts.lock();
		accounts.unlock();
		sum.set_value(1);
	});
	later();
	accounts.lock();
	bool there = result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
	accounts.unlock();
	if (there)
		total += result.get();
	adds.join();
}

/* Another thread could take the task that the first one takes after it had the lock. */
static void by_pool()
{
	std::packaged_task<int()> task([] { return 3; }), *next = &task;
	std::future<int> result = task.get_future();
	auto work = [&] {
		orders.lock();
		orders.unlock();
		queue.lock();
		std::packaged_task<int()> *taken = next;
		next = nullptr;
		queue.unlock();
		if (taken)
			(*taken)();
	};
	std::thread first(work);
	later();
	std::thread second([&] {
		later();
		queue.lock();
		std::packaged_task<int()> *taken = next;
		queue.unlock();
		if (taken)
			(*taken)();
	});
	orders.lock();
	total += result.get();
	orders.unlock();
	first.join();
	second.join();
}

int main()
{
	by_promise();
	by_task();
	if (fixed) {
		by_poll();
		by_pool();
	}
	std::printf("%d\n", total);
	return 0;
}
