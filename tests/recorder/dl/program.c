/* Finds its plugin in its RUNPATH, by $ORIGIN and by a path; what dlsym could not find is still what dlerror says. */
#include "../named.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static int ended;

static void use(const char *name)
{
	void *plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		fprintf(stderr, "%s\n", dlerror());
	MUST(plugin);
	int (*run)(void) = (int (*)(void))dlsym(plugin, "plugin_run");
	int **plugin_ended = (int **)dlsym(plugin, "plugin_ended");
	MUST(run && plugin_ended);
	*plugin_ended = &ended;
	ended = 0;
	MUST(run() == 6);
	MUST(dlsym(plugin, "no_such_function") == NULL);
	char copy[512] = "";
	strncat(copy, "no_such_function", sizeof copy - 1);
	const char *error = dlerror();
	MUST(error && strstr(error, copy));
	MUST(ended == 0 && dlclose(plugin) == 0 && ended == 1);
	MUST(dlopen(name, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

int main(int argc, char **argv)
{
	MUST(argc == 2);
	use("plugin.so");
	use("$ORIGIN/plugins/plugin.so");
	use(argv[1]);
	MUST(dlopen("libracetrace-test-none.so", RTLD_NOW) == NULL && dlerror());
	return 0;
}
