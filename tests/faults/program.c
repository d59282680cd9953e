/*
 * A small program that has something of each kind to record and to find: a race, a check and act, an inverted pair of
 * locks (which two threads never take at once, or the program would never end), a waiting thread, an atomic,
 * allocations, and a child process. Makes the file that it is given, if any, and ends with status 7.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct account {
	int balance, limit;
} account = {100, 50};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool done;
static int counter, handed;
static volatile bool has_locked;

/* These two are not recorded, so they order nothing in the trace. */
__attribute__((no_sanitize("thread"))) static void say_locked(void)
{
	has_locked = true;
}

__attribute__((no_sanitize("thread"))) static void wait_for_locked(void)
{
	while (!has_locked)
		usleep(100);
}

static void take(int amount)
{
	pthread_mutex_lock(&lock);
	bool enough = account.balance >= amount;
	pthread_mutex_unlock(&lock);
	if (!enough)
		return;
	pthread_mutex_lock(&lock);
	account.balance -= amount;
	account.limit--;
	pthread_mutex_unlock(&lock);
}

static void *first(void *name)
{
	char *copy = strdup(name);

	take(60);
	counter++;
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&other);
	handed++;
	pthread_mutex_unlock(&other);
	pthread_mutex_unlock(&lock);
	say_locked();
	free(copy);
	return NULL;
}

static void *second(void *unused)
{
	take(70);
	counter++;
	wait_for_locked();
	pthread_mutex_lock(&other);
	pthread_mutex_lock(&lock);
	handed++;
	done = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&other);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		close(creat(argv[1], 0666));

	pthread_t a, b;
	int status = 0;

	pthread_create(&a, NULL, first, "first");
	pthread_create(&b, NULL, second, NULL);
	pthread_mutex_lock(&lock);
	while (!done)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED) ? 5 : 6);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 7 : 8;
}
