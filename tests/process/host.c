/* A program that is not instrumented and loads plugins: host LIBRARY racy|clean. Its own threads call the plugin too.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void (*count)(int);
static int racy;

static void *call(void *unused)
{
	count(racy);
	return unused;
}

int main(int argc, char **argv)
{
	void *plugin = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!plugin) {
		puts(argc > 2 ? dlerror() : "usage: host LIBRARY racy|clean");
		return 1;
	}
	racy = !strcmp(argv[2], "racy");
	int (*run)(int) = (int (*)(int))dlsym(plugin, "run");
	count = (void (*)(int))dlsym(plugin, "count");
	pthread_t t;
	pthread_create(&t, NULL, call, NULL);
	int counted = run(racy);
	pthread_join(t, NULL);
	puts(counted >= 2 ? "counted" : "lost");
	dlclose(plugin);
	return 7;
}
