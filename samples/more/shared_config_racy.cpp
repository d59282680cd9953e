// An object that threads get by std::atomic<std::shared_ptr>: what its maker writes before it is stored they may read,
// what it writes later races. libstdc++ of GCC 12 releases the pointer's lock by a relaxed operation once it has read
// it; what the library does under that lock is no race.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

struct config {
	int size = 1, uses = 0;
};

static std::atomic<std::shared_ptr<config>> current;

static void later()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

static void replaces()
{
	for (int i = 0; i < 3; i++) {
		auto made = std::make_shared<config>();
		made->size = i;
		current.store(made);
		later();
#ifndef RACE_FREE
		made->uses = i; // @written
#endif
	}
}

static void reads(int *sum)
{
	for (int i = 0; i < 30; i++) {
		auto seen = current.load();
		*sum += seen->size + seen->uses; // @read
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
}

int main()
{
	int sums[2] = {};
	current.store(std::make_shared<config>());
	std::thread a(reads, &sums[0]), b(reads, &sums[1]), c(replaces);
	a.join();
	b.join();
	c.join();
	return sums[0] < 0 || sums[1] < 0;
}
