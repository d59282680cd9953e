/*
 * A virtual machine's finalizer: __tsan_java_finalize comes after all that other threads have done before. What is
 * made after it races, and so does what this thread writes before it.
 */
#include <pthread.h>
#include <unistd.h>

void __tsan_java_finalize(void);

int object, early, late;
static int step;

static void await(int value)
{
	while (__atomic_load_n(&step, __ATOMIC_RELAXED) != value)
		usleep(100);
}

static void *finalizer(void *unused)
{
	await(1);
	early = 2;
	__tsan_java_finalize();
	object = 2;
	__atomic_store_n(&step, 2, __ATOMIC_RELAXED);
	await(3);
	late = 2;
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, finalizer, NULL);
	object = 1;
	early = 1;
	__atomic_store_n(&step, 1, __ATOMIC_RELAXED);
	await(2);
	late = 1;
	__atomic_store_n(&step, 3, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	return 0;
}
