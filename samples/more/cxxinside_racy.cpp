// What the C++ library keeps in order inside itself orders nothing else: its objects' contents, and who does not wait.
#include <chrono>
#include <exception>
#include <future>
#include <locale>
#include <stdexcept>
#include <thread>
#include <unistd.h>

int ready, shown;

struct Problem {
	int code = 3;
};

// Both change the one exception that they share.
static void exceptions()
{
	std::exception_ptr p;
	try {
		throw Problem();
	} catch (...) {
		p = std::current_exception();
	}
	auto first = [](std::exception_ptr q) {
		try {
			std::rethrow_exception(q);
		} catch (Problem &e) {
			e.code = 1; /* @code_first */
		}
	};
	auto second = [](std::exception_ptr q) {
		usleep(20000);
		try {
			std::rethrow_exception(q);
		} catch (Problem &e) {
			e.code = 2; /* @code_second */
		}
	};
	std::thread a(first, p), b(second, p);
	a.join();
	b.join();
}

// A reference where there should have been a copy.
static void messages()
{
	auto *e = new std::runtime_error(std::string(40, 'a'));
	std::thread t([e] {
		shown = e->what()[3]; /* @what */
	});
	usleep(20000);
	delete e; /* @delete */
	t.join();
}

// Asks whether it is ready, and goes on without.
static void exits()
{
	std::promise<int> p;
	auto f = p.get_future();
	std::thread t(
	    [](std::promise<int> own) {
		    ready = 1; /* @ready */
		    own.set_value_at_thread_exit(1);
		    usleep(40000);
	    },
	    std::move(p));
	usleep(20000);
	f.wait_for(std::chrono::seconds(0));
	ready++; /* @not_waited */
	t.join();
}

static std::locale used;
static void locales()
{
	std::thread t([] {
		used = std::locale("C"); /* @locale_first */
	});
	usleep(20000);
	used = std::locale("C"); /* @locale_second */
	t.join();
}

int main()
{
	exceptions();
	messages();
	exits();
	locales();
	return 0;
}
