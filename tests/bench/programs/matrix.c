/* Matrix product by two threads: nothing but plain accesses in hot loops. Usage: matrix [N] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX = 1024 };
static double a[MAX][MAX], b[MAX][MAX], c[MAX][MAX];
static int n = 400;

static void *rows(void *arg)
{
	for (int i = (int)(size_t)arg; i < n; i += 2)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
				c[i][j] += a[i][k] * b[k][j];
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		n = atoi(argv[1]);
	if (n < 1 || n > MAX)
		return 2;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
	pthread_t thread;
	pthread_create(&thread, NULL, rows, (void *)1);
	rows(NULL);
	pthread_join(thread, NULL);
	printf("%g\n", c[n - 1][n - 1]);
	return 0;
}
