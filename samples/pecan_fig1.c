/*
 * Figure 1 of "Persuasive Prediction of Concurrency Access Anomalies" (Huang and Zhang 2011, PECAN): three races on two
 * variables, (2,5), (2,6) and (3,7), the last of which leads to the error at 4. The paper's run is 1 5 2 3 6 7; its
 * schedule 1 5 2 6 7 3 reaches the error. The @numbers are the figure's lines.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int x, y;

static void *thread1(void *arg)
{
	usleep(20000);         /* 1: after 5 */
	x = 1;                 /* @2 */
	if (y == 1)            /* @3 */
		puts("ERROR"); /* 4 */
	return arg;
}

static void *thread2(void *arg)
{
	x = 0;         /* @5 */
	usleep(60000); /* lets 2 and 3 go before 6 */
	if (x == 1)    /* @6 */
		y = 1; /* @7 */
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread1, NULL);
	pthread_create(&t2, NULL, thread2, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("x = %d, y = %d\n", x, y);
	return 0;
}
