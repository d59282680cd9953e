// A plugin in C++ for a program in C: its operators new and delete, its guards, what it runs at its end.
#include <cstdlib>
#include <vector>

struct three {
	int x;
	three() : x(3)
	{
	}
};

static int plugin_variable;
extern "C" {
int *plugin_ended;
}

static void at_exit()
{
	++*plugin_ended;
}

extern "C" int plugin_run()
{
	static three t;
	std::vector<int> *v = new std::vector<int>{1, 2, 3};
	int n = static_cast<int>(v->size()) + t.x;
	delete v;
	plugin_variable = n;
	atexit(at_exit);
	return n;
}
