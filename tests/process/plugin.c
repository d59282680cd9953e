/* A plugin with a constructor, a destructor, thread-local data and a count of its uses; see plugins.c. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int uses;
static char *table;
static __thread int own[100];

__attribute__((constructor)) static void begin(void)
{
	table = malloc(100);
	for (int i = 0; i < 100; i++)
		table[i] = (char)i;
	uses = 0;
}

__attribute__((destructor)) static void end(void)
{
	for (int i = 0; i < 100; i++)
		table[i] = (char)uses;
	free(table);
}

void use(int racy);
void use(int racy)
{
	for (int i = 0; i < 100; i++)
		own[i] += table[i];
	if (!racy)
		pthread_mutex_lock(&lock);
	uses++; /* @uses */
	if (!racy)
		pthread_mutex_unlock(&lock);
}
