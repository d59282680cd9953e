/* Memory of one thread that another still uses: a local variable of main, and a block that realloc moves. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *block;
static int *of_stack;

static void *user(void *unused)
{
	usleep(20000);
	of_stack[0]++; /* @stranger */
	return unused;
}

static void *mover(void *unused)
{
	block[0]++; /* @use */
	return unused;
}

int main(void)
{
	pthread_t a, b;
	int local[4] = {0};

	block = malloc(16);
	of_stack = local;
	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, mover, NULL);
	local[0] = 1; /* @owner */
	usleep(30000);
	block = realloc(block, 100000); /* @moved */
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(block);
	printf("%d\n", local[0]);
	return 0;
}
