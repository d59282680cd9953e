#include <pthread.h>
#include <string.h>
void fill(int *);
int is_full(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int at, data, seen;
static char *what;
static void *filler(void *unused)
{
	data = 1;
	pthread_mutex_lock(&m);
	if (what[0] != 'n')
		fill(&at);
	pthread_mutex_unlock(&m);
	return unused;
}
static void *reader(void *unused)
{
	pthread_mutex_lock(&m);
	int found = what[0] == 'r' ? at : what[0] == 't' ? is_full() : 1;
	pthread_mutex_unlock(&m);
	if (found)
		seen = data;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	int other;
	what = argv[1];
	fill(&other);
	pthread_create(&a, 0, filler, 0);
	pthread_create(&b, 0, reader, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return seen != 1 || argc > 2;
}
