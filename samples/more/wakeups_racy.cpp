// A wake orders nothing: notify_one and a futex only end the wait for a value. What orders is how the value is stored
// and loaded. The racy one stores it relaxed.
#include <atomic>
#include <chrono>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#ifdef RACE_FREE
constexpr auto stores = std::memory_order_release;
#else
constexpr auto stores = std::memory_order_relaxed;
#endif

static void later()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

static void call(std::atomic<int> &word, int operation, int value)
{
	syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

static int by_notify;
static std::atomic<int> notified;
static void notifies()
{
	later();
	by_notify++; // @notifies
	notified.store(1, stores);
	notified.notify_one();
}
static void waits()
{
	notified.wait(0);
	by_notify++; // @waits
}

static int by_wake;
static std::atomic<int> event;
static void wakes()
{
	later();
	by_wake++; // @wakes
	event.store(1, stores);
	call(event, FUTEX_WAKE, 1);
}
static void sleeps()
{
	while (!event.load(std::memory_order_acquire))
		call(event, FUTEX_WAIT, 0);
	by_wake++; // @sleeps
}

// A mutex: 0 is free, 1 taken, 2 taken and waited for.
static int by_lock;
static std::atomic<int> mutex;
static void locks_and_unlocks()
{
	for (int i = 0; i < 3; i++) {
		while (mutex.exchange(2, std::memory_order_acquire))
			call(mutex, FUTEX_WAIT, 2);
		by_lock++; // @locked
		later();
		if (mutex.exchange(0, stores) == 2)
			call(mutex, FUTEX_WAKE, 1);
	}
}

// The library counts those that wait: who looks at that knows nothing of what they have done.
static int by_count;
static std::atomic<int> counted, here;
static void is_counted()
{
	by_count++; // @is_counted
	here.store(1, stores);
	counted.wait(0);
}
static void looks()
{
	later();
	while (!here.load(std::memory_order_acquire))
		later();
	counted.store(1);
	counted.notify_one();
	by_count++; // @looks
}

// Of a type that no futex has, each notification changes a version, which the next one reads.
static int by_version;
static std::atomic<long> versioned;
static std::atomic<int> there;
static void changes()
{
	by_version++; // @changes
	versioned.notify_all();
	there.store(1, stores);
}
static void changes_again()
{
	later();
	while (!there.load(std::memory_order_acquire))
		later();
	versioned.notify_all();
	by_version++; // @changes_again
}

static void both(void (*first)(), void (*second)())
{
	std::thread a(first), b(second);
	a.join();
	b.join();
}

int main()
{
	both(notifies, waits);
	both(wakes, sleeps);
	both(locks_and_unlocks, locks_and_unlocks);
	both(is_counted, looks);
	both(changes, changes_again);
	return 0;
}
