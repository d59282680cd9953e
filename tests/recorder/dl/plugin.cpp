// A plugin in C++ for a program in C: its operators new and delete, its guards and its unloading.
#include <vector>

struct three {
	int x;
	three() : x(3)
	{
	}
};

static int plugin_variable;

extern "C" int plugin_run()
{
	static three t;
	std::vector<int> *v = new std::vector<int>{1, 2, 3};
	int n = static_cast<int>(v->size()) + t.x;
	delete v;
	plugin_variable = n;
	return n;
}
