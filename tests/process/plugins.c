/*
 * plugins PLUGIN KIND: two threads load a plugin, use it and unload it, again and again and each for itself, so that
 * either may be the one that makes it come or go; with KIND "racy" they use it without its lock. What keeps the
 * plugin's beginning and end apart from its uses is the lock inside dlopen and dlclose.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *plugin;
static int racy;

static void *work(void *unused)
{
	for (int i = 0; i < 20; i++) {
		void *handle = dlopen(plugin, RTLD_NOW);
		void (*use)(int) = handle ? (void (*)(int))dlsym(handle, "use") : NULL;
		if (!use) {
			fprintf(stderr, "%s\n", dlerror());
			return plugin ? (void *)1 : unused;
		}
		use(racy);
		dlclose(handle);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	void *result, *failed = NULL;
	if (argc < 3)
		return 2;
	plugin = argv[1];
	racy = !strcmp(argv[2], "racy");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &result);
		if (result)
			failed = result;
	}
	return failed != NULL;
}
