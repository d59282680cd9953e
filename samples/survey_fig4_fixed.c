/* The race-free twin of survey_fig4.c: double-checked locking as C11 allows it, the unlocked test being an acquire. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int object;
_Atomic(int *) x;

static void *thread(void *arg)
{
	if (atomic_load_explicit(&x, memory_order_acquire) == NULL) { /* @test */
		pthread_mutex_lock(&mutex);
		if (atomic_load_explicit(&x, memory_order_relaxed) == NULL) {
			atomic_store_explicit(&x, &object, memory_order_release); /* @set */
		}
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread, NULL);
	pthread_create(&t2, NULL, thread, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("x is %s\n", atomic_load(&x) == &object ? "set" : "not set");
	return 0;
}
