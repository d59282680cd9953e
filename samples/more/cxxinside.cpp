// What the C++ library does inside itself, where there are no hooks: references that it counts, futures that it makes
// ready when a thread ends. Each in both orders: the one or the other thread drops the last reference.
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <future>
#include <locale>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

static void check(bool good)
{
	if (!good)
		_exit(1);
}

static void later(bool wait)
{
	if (wait)
		usleep(20000);
}

struct Problem {
	int code;
	explicit Problem(int c) : code(c)
	{
	}
	~Problem()
	{
		code = 0;
	}
};

static void exceptions(bool wait)
{
	std::exception_ptr p;
	try {
		throw Problem(3);
	} catch (...) {
		p = std::current_exception();
	}
	auto look = [](std::exception_ptr q, bool w) {
		try {
			std::rethrow_exception(q);
		} catch (Problem &e) {
			check(e.code == 3);
		}
		later(w);
	};
	std::thread a(look, p, wait), b(look, p, !wait);
	p = nullptr;
	a.join();
	b.join();
}

static void messages(bool wait)
{
	auto *e = new std::runtime_error(std::string(40, 'a'));
	auto look = [](std::runtime_error copy, bool w) {
		check(copy.what()[3] == 'a');
		later(w);
	};
	std::thread a(look, *e, wait), b(look, *e, !wait);
	delete e;
	a.join();
	b.join();
}

static void caught(bool wait)
{
	std::promise<int> p;
	auto f = p.get_future().share();
	auto look = [wait](std::shared_future<int> s, bool w) {
		try {
			s.get();
		} catch (std::out_of_range &e) {
			check(e.what()[0] == 'o');
		}
		later(w);
	};
	std::thread a(look, f, wait), b(look, f, !wait);
	try {
		throw std::out_of_range("out of it");
	} catch (...) {
		p.set_exception(std::current_exception());
	}
	f = {};
	a.join();
	b.join();
}

struct Comma : std::numpunct<char> {
	int *uses = new int(5);
	~Comma() override
	{
		*uses = 0;
		delete uses;
	}
	char do_decimal_point() const override
	{
		return *uses == 5 ? ',' : '.';
	}
};

static void locales(bool wait)
{
	std::locale l(std::locale::classic(), new Comma);
	auto write = [](std::locale own, bool w) {
		std::ostringstream out;
		out.imbue(own);
		out << 1.5;
		check(out.str() == "1,5");
		later(w);
	};
	std::thread a(write, l, wait), b(write, l, !wait);
	l = std::locale::classic();
	a.join();
	b.join();
}

static void exits(bool wait)
{
	int before = 0;
	std::promise<int> p;
	auto f = p.get_future();
	std::thread t(
	    [&before, wait](std::promise<int> own) {
		    before = 4;
		    own.set_value_at_thread_exit(1);
		    later(wait);
	    },
	    std::move(p));
	check(f.get() == 1 && before == 4);
	std::packaged_task<int()> task([] { return 3; });
	auto g = task.get_future();
	std::thread u([](std::packaged_task<int()> own) { own.make_ready_at_thread_exit(); }, std::move(task));
	check(g.get() == 3);
	{ // no thread waits
		std::promise<int> q;
		std::thread v([](std::promise<int> own) { own.set_value_at_thread_exit(2); }, std::move(q));
		v.join();
	}
	t.join();
	u.join();
}

static void notified()
{
	std::mutex m;
	std::condition_variable c;
	bool done = false;
	int data = 0;
	std::thread t([&] {
		thread_local struct Last {
			int *p;
			~Last()
			{
				*p = 7;
			}
		} last{&data};
		std::unique_lock<std::mutex> l(m);
		done = true;
		std::notify_all_at_thread_exit(c, std::move(l));
	});
	{
		std::unique_lock<std::mutex> l(m);
		c.wait(l, [&] { return done; });
	}
	check(data == 7);
	t.join();
}

static void directories(bool wait)
{
	std::filesystem::directory_iterator it("/proc/self");
	auto look = [](std::filesystem::directory_iterator own, bool w) {
		check(!own->path().empty());
		later(w);
		own = {};
	};
	std::thread a(look, it, wait), b(look, it, !wait);
	it = {};
	a.join();
	b.join();
}

int main()
{
	for (bool wait : {false, true}) {
		exceptions(wait);
		messages(wait);
		caught(wait);
		locales(wait);
		exits(wait);
		directories(wait);
	}
	notified();
}
