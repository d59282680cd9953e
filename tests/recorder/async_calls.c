/* The kernel's own asynchronous input and output: what it orders is not understood. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int handed;
static unsigned long context;

static void *gives(void *unused)
{
	handed = 1;
	syscall(SYS_io_submit, context, 0L, NULL);
	return unused;
}

int main(void)
{
	pthread_t t;
	if (syscall(SYS_io_setup, 4, &context) != 0)
		return 77;
	pthread_create(&t, NULL, gives, NULL);
	usleep(50000);
	syscall(SYS_io_getevents, context, 0L, 0L, NULL, NULL);
	handed++;
	pthread_join(t, NULL);
	return 0;
}
