// Everything by which C++11 to C++20 synchronise, each with a variable of its own. In the racy program the second
// thread goes past it; cxxsync.cpp is the same without that.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif
using namespace std::chrono_literals;
static void later()
{
	std::this_thread::sleep_for(20ms);
}

// Two threads add to a variable while they hold a lock; the second, which is later, does not if there is to be a race.
#define GUARDED(name, lock)                                                                                            \
	static volatile int name;                                                                                      \
	static void name##_use(bool second)                                                                            \
	{                                                                                                              \
		if (!second || RACE_FREE) {                                                                            \
			if (second)                                                                                    \
				later();                                                                               \
			lock;                                                                                          \
			name = name + 1;                                                                               \
			return;                                                                                        \
		}                                                                                                      \
		later();                                                                                               \
		name = name + 1;                                                                                       \
	}

// One thread sets a variable and sends; the other receives and sets it, or sets it and receives if there is to be a
// race.
#define ORDERED(name, send, receive)                                                                                   \
	static volatile int name;                                                                                      \
	static void name##_use(bool second)                                                                            \
	{                                                                                                              \
		if (!second) {                                                                                         \
			name = 1;                                                                                      \
			send;                                                                                          \
			return;                                                                                        \
		}                                                                                                      \
		later();                                                                                               \
		if (!RACE_FREE)                                                                                        \
			name = 2;                                                                                      \
		receive;                                                                                               \
		if (RACE_FREE)                                                                                         \
			name = 2;                                                                                      \
	}

static std::mutex m, m2;
static std::recursive_mutex rm;
static std::timed_mutex tm;
static std::recursive_timed_mutex rtm;
static std::shared_mutex sm;
static std::shared_timed_mutex stm;
template <class M> struct tried {
	M &mutex;
	explicit tried(M &with) : mutex(with)
	{
		while (!mutex.try_lock())
			std::this_thread::yield();
	}
	~tried()
	{
		mutex.unlock();
	}
};
static void run_twice(std::recursive_mutex &r)
{
	std::lock_guard once(r), twice(r);
}
GUARDED(by_mutex, std::lock_guard hold(m))                     // @mutex
GUARDED(by_try, tried hold(m))                                 // @try
GUARDED(by_unique, std::unique_lock hold(m))                   // @unique
GUARDED(by_scoped, std::scoped_lock hold(m, m2))               // @scoped
GUARDED(by_recursive, std::lock_guard hold(rm); run_twice(rm)) // @recursive
GUARDED(by_timed, std::unique_lock hold(tm, 30s))              // @timed
GUARDED(by_recursive_timed, std::unique_lock hold(rtm, 30s))   // @recursive_timed
GUARDED(by_shared_mutex, std::unique_lock hold(sm))            // @shared_mutex
GUARDED(by_shared_timed, std::unique_lock hold(stm, 30s))      // @shared_timed

// Conditions
template <class C> struct word {
	std::mutex mutex;
	C condition;
	bool said = false;
	void say()
	{
		std::this_thread::sleep_for(40ms);
		std::lock_guard hold(mutex);
		said = true;
		condition.notify_all();
	}
	void hear()
	{
		std::unique_lock hold(mutex);
		condition.wait(hold, [this] { return said; });
	}
	void hear_in_time()
	{
		std::unique_lock hold(mutex);
		condition.wait_for(hold, 30s, [this] { return said; });
	}
};
static word<std::condition_variable> w1, w2;
static word<std::condition_variable_any> w3;
ORDERED(by_condition, w1.say(), w1.hear())          // @condition
ORDERED(by_timed_wait, w2.say(), w2.hear_in_time()) // @timed_wait
ORDERED(by_condition_any, w3.say(), w3.hear())      // @condition_any

// Futures
static std::promise<int> p1, p2;
static auto f1 = p1.get_future();
static auto f2 = p2.get_future().share();
static std::packaged_task<void()> task([] {});
static auto done = task.get_future();
ORDERED(by_promise, p1.set_value(1), f1.get())        // @promise
ORDERED(by_shared_future, p2.set_value(1), f2.wait()) // @shared_future
ORDERED(by_packaged, task(), done.get())              // @packaged

// What C++20 has
static std::counting_semaphore<8> tokens(0);
static std::binary_semaphore token(0);
static std::latch latch(1);
static std::barrier two(2);
static std::atomic<int> waited;
static std::atomic_flag flag;
ORDERED(by_counting, tokens.release(), tokens.acquire())                     // @counting
ORDERED(by_binary, token.release(), while (!token.try_acquire()) later())    // @binary
ORDERED(by_latch, latch.count_down(), latch.wait())                          // @latch
ORDERED(by_barrier, two.arrive_and_wait(), two.arrive_and_wait())            // @barrier
ORDERED(by_atomic_wait, (waited = 1, waited.notify_one()), waited.wait(0))   // @atomic_wait
ORDERED(by_flag, (flag.test_and_set(), flag.notify_all()), flag.wait(false)) // @flag

// What runs once
static std::once_flag once, thrown;
static int number()
{
	return 1;
}
static int instance()
{
	static int value = number();
	return value;
}
static void throw_once()
{
	try {
		std::call_once(thrown, [] { throw std::runtime_error("later"); });
	} catch (const std::runtime_error &) {
	}
}
ORDERED(by_once, std::call_once(once, [] {}), std::call_once(once, [] {})) // @once
ORDERED(by_thrown, throw_once(), std::call_once(thrown, [] {}))            // @thrown
ORDERED(by_static, instance(), instance())                                 // @static

// Owners: who gives the last one up sees what the others did
struct owned {
	std::atomic<int> *gone;
	~owned()
	{
		gone->store(1, std::memory_order_release);
	}
};
static std::atomic<int> gone;
static auto owner1 = std::make_shared<owned>(owned{&gone}), owner2 = owner1;
ORDERED(by_owner, owner1.reset(), owner2.reset(); while (!gone.load(std::memory_order_acquire)) later()) // @owner

int main()
{
	static void (*const parts[])(bool) = {
	    by_mutex_use,        by_try_use,           by_unique_use,          by_scoped_use,
	    by_recursive_use,    by_timed_use,         by_recursive_timed_use, by_shared_mutex_use,
	    by_shared_timed_use, by_condition_use,     by_timed_wait_use,      by_condition_any_use,
	    by_promise_use,      by_shared_future_use, by_packaged_use,        by_counting_use,
	    by_binary_use,       by_latch_use,         by_barrier_use,         by_atomic_wait_use,
	    by_flag_use,         by_once_use,          by_thrown_use,          by_static_use,
	    by_owner_use};
	for (auto part : parts) {
		std::jthread a(part, false), b(part, true);
	}
	// Threads themselves
	static volatile int by_thread, by_jthread, by_async;
	{
		std::thread t([] {
			by_thread = 1; /* @in_thread */
		});
		if (RACE_FREE)
			t.join();
		later();
		by_thread = 2; // @past_thread
		if (!RACE_FREE)
			t.join();
	}
	{
		std::jthread t([] {
			by_jthread = 1; /* @in_jthread */
		});
		if (RACE_FREE)
			t = std::jthread();
		later();
		by_jthread = 2; // @past_jthread
	}
	{
		auto result = std::async(std::launch::async, [] {
			by_async = 1; /* @in_async */
		});
		if (RACE_FREE)
			result.get();
		later();
		by_async = 2; // @past_async
	}
}
