/* A pointer published without synchronisation: the receiver may see it before what it points to. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

struct message {
	int length;
};

static struct message message;
struct message *volatile published;

static void *sender(void *arg)
{
	message.length = 5;   /* @fill */
	published = &message; /* @publish */
	return arg;
}

static void *receiver(void *arg)
{
	struct message *m;

	while (!(m = published)) /* @get */
		usleep(1000);
	return m->length == 5 ? arg : NULL; /* @use */
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, receiver, NULL);
	pthread_create(&t2, NULL, sender, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
