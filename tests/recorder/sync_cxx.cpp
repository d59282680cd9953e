// C++: the standard library's locks, conditions and onces, guards of static locals, threads, operators new and delete.
#include "named.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <thread>

static std::mutex m;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::shared_timed_mutex shared_timed;
static std::condition_variable c;
static std::condition_variable_any any;
static std::once_flag flag, broken;
static bool ready;

static int tries;
struct thrower {
	int value;
	thrower()
	{
		if (++tries == 1)
			throw tries;
		value = tries;
	}
};

// The first byte of its guard is looked at before anything is called, here and by later threads.
extern char guard __asm__("_ZGVZL7guardedvE6object");
static int guarded()
{
	static thrower object;
	return object.value;
}

// expect main.1: once-seen flag, acquire m, signal c, release m
static void worker()
{
	std::call_once(flag, [] { ready = false; });
	std::lock_guard<std::mutex> hold(m);
	ready = true;
	c.notify_one();
}

int main()
{
	using namespace std::chrono_literals;
	NAME(m), NAME(recursive), NAME(timed), NAME(shared), NAME(shared_timed), NAME(c), NAME(flag), NAME(broken);
	NAME(guard);

	// expect main: once-begin flag, once-end flag
	std::call_once(flag, [] { ready = false; });
	// expect main: acquire m, wait-begin c=m, wait-end c=m, release m
	{
		std::unique_lock<std::mutex> hold(m);
		std::thread t(worker);
		while (!ready)
			c.wait(hold);
		hold.unlock();
		t.join();
	}
	// expect main: acquire m, wait-begin c=m, wait-end c=m+timed+timeout, broadcast c, release m
	{
		std::unique_lock<std::mutex> hold(m);
		MUST(c.wait_for(hold, 1ms) == std::cv_status::timeout);
		c.notify_all();
	}
	// expect main: acquire recursive, release recursive
	{
		std::lock_guard<std::recursive_mutex> one(recursive), two(recursive);
	}
	// expect main: acquire timed+timed, release timed, acquire m, acquire timed+timed, release m, release timed
	MUST(timed.try_lock_for(10s));
	timed.unlock();
	{
		std::scoped_lock both(m, timed);
	}
	// expect main: acquire shared, release shared, acquire-shared shared, release shared
	shared.lock(), shared.unlock();
	shared.lock_shared(), shared.unlock_shared();
	// expect main: acquire shared_timed+timed, release shared_timed
	// expect main: acquire-shared shared_timed+timed, release shared_timed
	MUST(shared_timed.try_lock_for(10s)), shared_timed.unlock();
	MUST(shared_timed.try_lock_shared_for(10s)), shared_timed.unlock_shared();

	// expect main: once-begin broken, hb-before broken, hb-after broken, once-begin broken, once-end broken
	int runs = 0;
	auto fail_once = [&] {
		if (++runs == 1)
			throw runs;
	};
	try {
		std::call_once(broken, fail_once);
		MUST(false);
	} catch (int) {
	}
	std::call_once(broken, fail_once);

	// expect main: atomic-load guard=1, hb-after guard, once-begin guard, hb-before guard
	try {
		guarded();
		MUST(false);
	} catch (int) {
	}
	// expect main: atomic-load guard=1, hb-after guard, once-begin guard, once-end guard, atomic-store guard=1
	// expect main: atomic-load guard=1
	MUST(guarded() == 2 && guarded() == 2);

	// Big enough to be mapped, so that no other block ever has these addresses.
	// expect main: alloc one=1000000, alloc many=1000001, alloc aligned=1024000
	void *one = operator new(1000000);
	char *many = new (std::nothrow) char[1000001];
	void *aligned = operator new(1024000, std::align_val_t(256));
	NAME_AT(one, "one");
	NAME_AT(many, "many");
	NAME_AT(aligned, "aligned");
	// expect main: write one=4096+free, free one, write many=4096+free, free many
	// expect main: write aligned=4096+free, free aligned
	operator delete(one);
	delete[] many;
	operator delete(aligned, std::align_val_t(256));
	try {
		volatile size_t too_much = ~size_t(0) / 2;
		operator delete(operator new(too_much));
		MUST(false);
	} catch (const std::bad_alloc &) {
	}
	return runs != 2;
}
