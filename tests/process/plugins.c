/*
 * plugins PLUGIN KIND: two threads load a plugin, use it and unload it, again and again and each for itself, so that
 * either may be the one that makes it come or go; with KIND "racy" they use it without its lock, and wait for one
 * another before, so that no end of the plugin comes between. What keeps the plugin's beginning and end apart from its
 * uses is the lock inside dlopen and dlclose.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *plugin;
static int racy;
static pthread_barrier_t loaded;

static void *work(void *unused)
{
	for (int i = 0; i < 20; i++) {
		void *handle = dlopen(plugin, RTLD_NOW);
		void (*use)(int) = handle ? (void (*)(int))dlsym(handle, "use") : NULL;
		if (!use) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		if (racy)
			pthread_barrier_wait(&loaded);
		use(racy);
		dlclose(handle);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	if (argc < 3)
		return 2;
	plugin = argv[1];
	racy = !strcmp(argv[2], "racy");
	pthread_barrier_init(&loaded, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
